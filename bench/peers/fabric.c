/* Bare libfabric between two hosts, as a limit for the wire fabric.
 *
 *     fabric PROVIDER OWN-IP latency|bandwidth BYTES COUNT [OTHER-IP]
 *
 * The side with OTHER-IP begins, and prints: latency, half a round trip of writes in ns, where each
 * side waits for the last byte; bandwidth, the rate of writes in GB/s until the last is delivered.
 * Names and keys go over a TCP connection, port 13997. Compile: cc -O2 fabric.c -lfabric
 */
#include <arpa/inet.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PORT = 13997, WINDOW = 16 };

#define CHECK(call)                                                          \
    do {                                                                     \
        long status = (call);                                                \
        if (status < 0) {                                                    \
            fprintf(stderr, "fabric: %s: %s\n", #call, fi_strerror(-status)); \
            exit(1);                                                         \
        }                                                                    \
    } while (0)

struct card {
    uint64_t base, key;
    size_t len;
    char name[256];
};

static struct fid_cq *cq;
static uint64_t completed;

static void look(void)
{
    struct fi_cq_msg_entry entries[16];
    ssize_t got = fi_cq_read(cq, entries, 16);
    if (got > 0)
        completed += got;
    else if (got != -FI_EAGAIN)
        CHECK(got);
}

static int meet(const char *other)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(PORT) };
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (!other) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(fd, (void *)&at, sizeof at) || listen(fd, 1)) {
            perror("fabric: listen");
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

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return 2;
    const char *provider = argv[1], *ip = argv[2], *other = argc > 6 ? argv[6] : NULL;
    int is_latency = !strcmp(argv[3], "latency");
    size_t bytes = strtoul(argv[4], NULL, 0), count = strtoul(argv[5], NULL, 0);

    struct fi_info *hints = fi_allocinfo(), *info;
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_WAW;
    CHECK(fi_getinfo(FI_VERSION(1, 9), ip, NULL, FI_SOURCE, hints, &info));
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_ep *ep;
    struct fid_mr *mr;
    CHECK(fi_fabric(info->fabric_attr, &fabric, NULL));
    CHECK(fi_domain(fabric, info, &domain, NULL));
    struct fi_av_attr av_attr = { .type = info->domain_attr->av_type };
    struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_MSG, .size = 1024 };
    CHECK(fi_av_open(domain, &av_attr, &av, NULL));
    CHECK(fi_cq_open(domain, &cq_attr, &cq, NULL));
    CHECK(fi_endpoint(domain, info, &ep, NULL));
    CHECK(fi_ep_bind(ep, &av->fid, 0));
    CHECK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    CHECK(fi_enable(ep));
    volatile unsigned char *here = aligned_alloc(4096, (bytes + 4095) & ~4095ul);
    unsigned char *source = aligned_alloc(4096, (bytes + 4095) & ~4095ul);
    memset((void *)here, 0, bytes);
    CHECK(fi_mr_reg(domain, (void *)here, bytes, FI_REMOTE_WRITE | FI_REMOTE_READ, 0, 7, 0, &mr, NULL));

    struct card own = { .key = fi_mr_key(mr), .len = sizeof own.name }, its;
    own.base = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)here : 0;
    CHECK(fi_getname(&ep->fid, own.name, &own.len));
    int fd = meet(other);
    if (write(fd, &own, sizeof own) != sizeof own || read(fd, &its, sizeof its) != sizeof its)
        return 1;
    fi_addr_t to;
    CHECK(fi_av_insert(av, its.name, 1, &to, 0, NULL) - 1);

    static struct fi_context2 contexts[WINDOW];
    uint64_t posted = 0;
    ssize_t status;
    if (is_latency) {
        double begin = 0;
        /* Only the side that begins connects. */
        for (size_t turn = 0; turn < count + count / 10; turn++) {
            unsigned char value = turn % 255 + 1;
            if (turn == count / 10)
                begin = now_ns();
            for (int side = 0; side < 2; side++) {
                if ((side == 0) == !!other) {
                    memset(source, value, bytes);
                    if (bytes <= info->tx_attr->inject_size) {
                        while ((status = fi_inject_write(ep, source, bytes, to, its.base, its.key)) == -FI_EAGAIN)
                            look();
                    } else {
                        while ((status = fi_write(ep, source, bytes, NULL, to, its.base, its.key, &contexts[posted % WINDOW])) == -FI_EAGAIN)
                            look();
                        posted++;
                    }
                    CHECK(status);
                } else {
                    while (here[bytes - 1] != value || here[0] != value)
                        look();
                }
            }
        }
        if (other)
            printf("%.0f\n", (now_ns() - begin) / count / 2);
    } else if (other) {
        double begin = 0;
        size_t warm = count / 10;
        memset(source, 1, bytes);
        for (size_t turn = 0; turn < count + warm; turn++) {
            int is_edge = turn + 1 == warm || turn + 1 == count + warm;
            struct iovec iov = { source, bytes };
            struct fi_rma_iov there = { its.base, bytes, its.key };
            struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .addr = to, .rma_iov = &there, .rma_iov_count = 1, .context = &contexts[posted % WINDOW] };
            while (posted - completed >= WINDOW)
                look();
            while ((status = fi_writemsg(ep, &msg, is_edge ? FI_COMPLETION | FI_DELIVERY_COMPLETE : FI_COMPLETION)) == -FI_EAGAIN)
                look();
            CHECK(status);
            posted++;
            if (is_edge) {
                while (completed < posted)
                    look();
                if (turn + 1 == warm)
                    begin = now_ns();
            }
        }
        printf("%.3f\n", count * (double)bytes / (now_ns() - begin));
    }
    /* The other side makes progress until this one has read all. */
    char end = 0;
    if (other)
        return write(fd, &end, 1) != 1;
    while (recv(fd, &end, 1, MSG_DONTWAIT) < 0)
        look();
    return 0;
}
