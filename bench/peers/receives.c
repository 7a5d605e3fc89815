/* The cost of a message in bare libfabric, with one posted receive for each message, beside one buffer for
 * many (FI_MULTI_RECV). docs/wire/fabric.md says what follows from it.
 *
 *     receives PROVIDER OWN-IP single|multi latency|rate BYTES COUNT [OTHER-IP]
 *
 * The side with OTHER-IP begins, and prints: latency, half a round trip in ns; rate, messages per second of one sender
 * that does not wait. The other side prints medians, which are useful on a busy machine, too: the time to post a
 * receive and to read completions, for each message, with the receives that are posted meanwhile. Names go over a TCP
 * connection, port 13996. Compile: cc -O2 receives.c -lfabric
 */
#include <arpa/inet.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* As many receives, of as many bytes, as the wire has. With FI_MULTI_RECV the same memory makes two buffers. */
enum { PORT = 13996, RECEIVES = 64, MESSAGE = 8192, HALF = RECEIVES * MESSAGE / 2 };

#define CHECK(call)                                                            \
    do {                                                                       \
        long status = (call);                                                  \
        if (status < 0) {                                                      \
            fprintf(stderr, "receives: %s: %s\n", #call, fi_strerror(-status)); \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

static struct fid_ep *ep;
static struct fid_cq *cq;
static char *buffers;
static struct fi_context2 contexts[RECEIVES];
static int is_multi;
static uint64_t received;
static char taken[MESSAGE];
/* The time of posts, and of polls for each message. */
enum { SAMPLES = 1 << 20 };
static double posts[SAMPLES], looks[SAMPLES];
static size_t posted, looked;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static double median(double *samples, size_t count)
{
    qsort(samples, count, sizeof *samples, compare);
    return count ? samples[count / 2] : 0;
}

static void post(int which)
{
    size_t len = is_multi ? HALF : MESSAGE;
    struct iovec iov = { buffers + which * len, len };
    struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &contexts[which] };
    double begin = now_ns();
    ssize_t status;
    while ((status = is_multi ? fi_recvmsg(ep, &msg, FI_MULTI_RECV) : fi_recv(ep, iov.iov_base, len, NULL, FI_ADDR_UNSPEC, msg.context)) == -FI_EAGAIN)
        ;
    CHECK(status);
    if (posted < SAMPLES)
        posts[posted++] = now_ns() - begin;
}

static void look(void)
{
    struct fi_cq_data_entry entries[16];
    double begin = now_ns();
    ssize_t got = fi_cq_read(cq, entries, 16);
    if (got == -FI_EAGAIN)
        return;
    CHECK(got);
    for (ssize_t i = 0; i < got; i++) {
        int which = (struct fi_context2 *)entries[i].op_context - contexts;
        if (entries[i].flags & FI_RECV) {
            memcpy(taken, is_multi ? entries[i].buf : buffers + which * MESSAGE, entries[i].len);
            received++;
        }
        if (is_multi ? entries[i].flags & FI_MULTI_RECV : entries[i].flags & FI_RECV)
            post(which);
    }
    if (looked < SAMPLES)
        looks[looked++] = (now_ns() - begin) / got;
}

static int meet(const char *other)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(PORT) };
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (!other) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(fd, (void *)&at, sizeof at) || listen(fd, 1)) {
            perror("receives: listen");
            exit(1);
        }
        return accept(fd, NULL, NULL);
    }
    inet_pton(AF_INET, other, &at.sin_addr);
    while (connect(fd, (void *)&at, sizeof at)) {
        close(fd);
        usleep(20000);
        fd = socket(AF_INET, SOCK_STREAM, 0);
    }
    return fd;
}

static void send_one(const char *bytes, size_t len, fi_addr_t to)
{
    ssize_t status;
    while ((status = fi_inject(ep, bytes, len, to)) == -FI_EAGAIN)
        look();
    CHECK(status);
}

static void until(uint64_t count)
{
    while (received < count)
        look();
}

int main(int argc, char **argv)
{
    if (argc < 7)
        return 2;
    const char *ip = argv[2], *other = argc > 7 ? argv[7] : NULL;
    is_multi = !strcmp(argv[3], "multi");
    int is_latency = !strcmp(argv[4], "latency");
    size_t bytes = strtoul(argv[5], NULL, 0), count = strtoul(argv[6], NULL, 0);

    struct fi_info *hints = fi_allocinfo(), *info;
    hints->caps = FI_MSG | FI_RMA | (is_multi ? FI_MULTI_RECV : 0);
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup(argv[1]);
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    CHECK(fi_getinfo(FI_VERSION(1, 9), ip, NULL, FI_SOURCE, hints, &info));
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    CHECK(fi_fabric(info->fabric_attr, &fabric, NULL));
    CHECK(fi_domain(fabric, info, &domain, NULL));
    struct fi_av_attr av_attr = { .type = info->domain_attr->av_type };
    struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA, .size = 1024 };
    CHECK(fi_av_open(domain, &av_attr, &av, NULL));
    CHECK(fi_cq_open(domain, &cq_attr, &cq, NULL));
    CHECK(fi_endpoint(domain, info, &ep, NULL));
    CHECK(fi_ep_bind(ep, &av->fid, 0));
    CHECK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    CHECK(fi_enable(ep));
    if (is_multi) {
        size_t least = MESSAGE;
        CHECK(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least));
    }
    buffers = aligned_alloc(4096, RECEIVES * MESSAGE);
    for (int which = 0; which < (is_multi ? 2 : RECEIVES); which++)
        post(which);

    struct { size_t len; char name[256]; } own = { .len = sizeof own.name }, its;
    CHECK(fi_getname(&ep->fid, own.name, &own.len));
    int fd = meet(other);
    if (write(fd, &own, sizeof own) != sizeof own || read(fd, &its, sizeof its) != sizeof its)
        return 1;
    fi_addr_t to;
    CHECK(fi_av_insert(av, its.name, 1, &to, 0, NULL) - 1);
    static char source[MESSAGE];
    size_t warm = count / 10;
    double begin = 0;
    if (is_latency) {
        for (size_t turn = 0; turn < count + warm; turn++) {
            if (turn == warm)
                begin = now_ns();
            if (other)
                send_one(source, bytes, to);
            until(turn + 1);
            if (!other)
                send_one(source, bytes, to);
        }
        if (other)
            printf("%.0f\n", (now_ns() - begin) / count / 2);
    } else if (other) {
        send_one(source, bytes, to);
        until(1);
        begin = now_ns();
        for (size_t turn = 0; turn < count; turn++)
            send_one(source, bytes, to);
        until(2);
        printf("%.0f\n", count / (now_ns() - begin) * 1e9);
    } else {
        until(1);
        send_one(source, bytes, to);
        until(1 + count);
        send_one(source, bytes, to);
    }
    /* The other side makes progress until this one has read all. */
    char end = 0;
    if (other)
        return write(fd, &end, 1) != 1;
    while (recv(fd, &end, 1, MSG_DONTWAIT) < 0)
        look();
    printf("%zu receives posted, %.0f ns; a message %.0f ns\n", posted, median(posts, posted), median(looks, looked));
    return 0;
}
