/* Waiting, counting and progress of the provider "hostwire". Prints "ok". */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "line %d: %s\n", __LINE__, #what); \
            exit(1); \
        } \
    } while (0)
#define IS(expected, call) \
    do { \
        long long gives_ = (long long)(call), want_ = (long long)(expected); \
        if (gives_ != want_) { \
            fprintf(stderr, "line %d: %s gives %lld, not %lld\n", __LINE__, #call, gives_, want_); \
            exit(1); \
        } \
    } while (0)

struct end {
    struct fid_ep *ep;
    struct fid_cq *tx, *rx;
    struct fid_cntr *sent, *received;
    struct fid_av *av;
    fi_addr_t address[2];
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct end ends[2];
static char big_out[1 << 20], big_in[1 << 20];

static struct fi_info *hints(void)
{
    struct fi_info *hints = fi_allocinfo();
    CHECK(hints);
    hints->fabric_attr->prov_name = strdup("hostwire");
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_TAGGED;
    return hints;
}

static int asks(struct fi_info *hints)
{
    struct fi_info *found = NULL;
    int result = fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, &found);
    if (found)
        fi_freeinfo(found);
    fi_freeinfo(hints);
    return result;
}

static void open_domain(enum fi_progress progress)
{
    struct fi_info *asked = hints();
    asked->domain_attr->data_progress = asked->domain_attr->control_progress = progress;
    IS(0, fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, asked, &info));
    IS(progress == FI_PROGRESS_AUTO ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL,
       info->domain_attr->data_progress);
    IS(info->domain_attr->data_progress, info->domain_attr->control_progress);
    IS(0, fi_fabric(info->fabric_attr, &fabric, NULL));
    IS(0, fi_domain(fabric, info, &domain, NULL));
    fi_freeinfo(asked);
}

static void close_domain(void)
{
    IS(0, fi_close(&domain->fid));
    IS(0, fi_close(&fabric->fid));
    fi_freeinfo(info);
}

/* Two ends that know each other; their receive queues wait as `wait` says. */
static void open_ends(enum fi_wait_obj wait, struct fid_wait *set)
{
    struct fi_cq_attr tx = {.format = FI_CQ_FORMAT_CONTEXT};
    struct fi_cq_attr rx = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = wait, .wait_set = set};
    struct fi_cntr_attr counts = {.wait_obj = FI_WAIT_UNSPEC};
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    char names[2][64];
    size_t bytes = sizeof names[0];
    int i, j;
    for (i = 0; i < 2; i++, bytes = sizeof names[0]) {
        struct end *end = &ends[i];
        IS(0, fi_endpoint(domain, info, &end->ep, NULL));
        IS(0, fi_cq_open(domain, &tx, &end->tx, &end->tx));
        IS(0, fi_cq_open(domain, &rx, &end->rx, &end->rx));
        IS(0, fi_cntr_open(domain, &counts, &end->sent, &end->sent));
        IS(0, fi_cntr_open(domain, &counts, &end->received, &end->received));
        IS(0, fi_av_open(domain, &av, &end->av, NULL));
        IS(0, fi_ep_bind(end->ep, &end->av->fid, 0));
        IS(0, fi_ep_bind(end->ep, &end->tx->fid, FI_TRANSMIT | FI_SELECTIVE_COMPLETION));
        IS(0, fi_ep_bind(end->ep, &end->rx->fid, FI_RECV));
        IS(-FI_EINVAL, fi_ep_bind(end->ep, &end->sent->fid, 0));
        IS(0, fi_ep_bind(end->ep, &end->sent->fid, FI_SEND));
        IS(0, fi_ep_bind(end->ep, &end->received->fid, FI_RECV));
        IS(0, fi_enable(end->ep));
        IS(0, fi_getname(&end->ep->fid, names[i], &bytes));
    }
    for (i = 0; i < 2; i++)
        for (j = 0; j < 2; j++)
            IS(1, fi_av_insert(ends[i].av, names[j], 1, &ends[i].address[j], 0, NULL));
}

static void close_ends(void)
{
    int i;
    for (i = 0; i < 2; i++) {
        IS(0, fi_close(&ends[i].ep->fid));
        IS(0, fi_close(&ends[i].av->fid));
        IS(0, fi_close(&ends[i].tx->fid));
        IS(0, fi_close(&ends[i].rx->fid));
        IS(0, fi_close(&ends[i].sent->fid));
        IS(0, fi_close(&ends[i].received->fid));
    }
}

/* End 0 sends one byte to end 1; only its counter shows it. */
static void send_one(void)
{
    ssize_t sent;
    do {
        sent = fi_tsend(ends[0].ep, big_out, 1, NULL, ends[0].address[1], 7, NULL);
        fi_cntr_read(ends[0].sent);
    } while (sent == -FI_EAGAIN);
    IS(0, sent);
}

static void receive_one(void *context)
{
    IS(0, fi_trecv(ends[1].ep, big_in, 1, NULL, FI_ADDR_UNSPEC, 7, 0, context));
}

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void nap_us(long us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

/* In another thread, some time later. */
static void *later(void *act)
{
    nap_us(20000);
    ((void (*)(void))act)();
    return NULL;
}

static pthread_t begin(void (*act)(void))
{
    pthread_t thread;
    IS(0, pthread_create(&thread, NULL, later, (void *)act));
    return thread;
}

static void refusals(void)
{
    struct fi_info *asked;
    struct fid_ep *ep;
    struct fid_stx *stx;
    struct fid_cq *cq;
    struct fid_wait *set;
    struct fi_cq_attr mutex = {.wait_obj = FI_WAIT_MUTEX_COND}, none = {.wait_obj = FI_WAIT_SET};
    struct fi_cntr_attr bytes = {.events = 1};
    struct fi_wait_attr pollfd = {.wait_obj = FI_WAIT_POLLFD};
    struct fid_cntr *counter;
    IS(-FI_ENOSYS, fi_scalable_ep(domain, info, &ep, NULL));
    IS(-FI_ENOSYS, fi_stx_context(domain, info->tx_attr, &stx, NULL));
    IS(-FI_ENOSYS, fi_srx_context(domain, info->rx_attr, &ep, NULL));
    IS(-FI_ENOSYS, fi_cq_open(domain, &mutex, &cq, NULL));
    IS(-FI_EINVAL, fi_cq_open(domain, &none, &cq, NULL));
    IS(-FI_ENOSYS, fi_cntr_open(domain, &bytes, &counter, NULL));
    IS(-FI_ENOSYS, fi_wait_open(fabric, &pollfd, &set));
    asked = hints(), asked->ep_attr->tx_ctx_cnt = FI_SHARED_CONTEXT;
    IS(-FI_ENODATA, asks(asked));
    asked = hints(), asked->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
    IS(-FI_ENODATA, asks(asked));
    asked = hints(), asked->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
    IS(0, asks(asked));
}

static void counters(void)
{
    struct fi_cq_tagged_entry entry;
    struct fi_cq_err_entry error;
    struct fid_ep *ep;
    struct fid_cntr *both;
    struct fid *count;
    struct fid_av *av;
    struct fi_av_attr table = {.type = FI_AV_TABLE};
    int i, context;
    for (i = 0; i < 5; i++)
        receive_one(NULL);
    for (i = 0; i < 3; i++)
        send_one();
    IS(0, fi_tinject(ends[0].ep, big_out, 1, ends[0].address[1], 7));
    IS(0, fi_cntr_wait(ends[0].sent, 4, -1));
    IS(0, fi_cntr_wait(ends[1].received, 4, -1));
    IS(4, fi_cntr_read(ends[0].sent));
    IS(4, fi_cntr_read(ends[1].received));
    IS(-FI_EAGAIN, fi_cq_read(ends[0].tx, &entry, 1));
    for (i = 0; i < 4; i++)
        IS(1, fi_cq_read(ends[1].rx, &entry, 1));
    IS(-FI_ETIMEDOUT, fi_cntr_wait(ends[1].received, 5, 10));
    /* One receive is left. */
    IS(0, fi_cancel(&ends[1].ep->fid, NULL));
    IS(4, fi_cntr_read(ends[1].received));
    /* A reader of one of both values has not read the other. */
    count = &ends[1].received->fid;
    IS(-FI_EAGAIN, fi_trywait(fabric, &count, 1));
    IS(1, fi_cntr_readerr(ends[1].received));
    IS(0, fi_trywait(fabric, &count, 1));
    IS(0, fi_cntr_add(ends[1].received, 1));
    IS(1, fi_cntr_readerr(ends[1].received));
    IS(-FI_EAGAIN, fi_trywait(fabric, &count, 1));
    IS(5, fi_cntr_read(ends[1].received));
    IS(0, fi_trywait(fabric, &count, 1));
    IS(0, fi_cntr_set(ends[1].received, 4));
    IS(-FI_EAVAIL, fi_cq_read(ends[1].rx, &entry, 1));
    memset(&error, 0, sizeof error);
    IS(1, fi_cq_readerr(ends[1].rx, &error, 0));
    IS(FI_ECANCELED, error.err);
    IS(0, fi_cntr_add(ends[1].received, 10));
    IS(14, fi_cntr_read(ends[1].received));
    IS(0, fi_cntr_adderr(ends[1].received, 2));
    IS(3, fi_cntr_readerr(ends[1].received));
    IS(0, fi_cntr_set(ends[1].received, 0));
    IS(0, fi_cntr_seterr(ends[1].received, 0));
    IS(0, fi_cntr_read(ends[1].received));
    IS(0, fi_cntr_readerr(ends[1].received));
    /* A counter alone is enough. */
    IS(0, fi_endpoint(domain, info, &ep, &context));
    IS(0, fi_av_open(domain, &table, &av, NULL));
    IS(0, fi_cntr_open(domain, NULL, &both, NULL));
    IS(0, fi_ep_bind(ep, &av->fid, 0));
    IS(-FI_ENOCQ, fi_enable(ep));
    IS(0, fi_ep_bind(ep, &both->fid, FI_SEND | FI_RECV | FI_READ | FI_REMOTE_WRITE));
    IS(0, fi_enable(ep));
    IS(0, fi_close(&ep->fid));
    IS(0, fi_close(&both->fid));
    IS(0, fi_close(&av->fid));
}

static void fail_one(void)
{
    IS(0, fi_cancel(&ends[1].ep->fid, &ends[1]));
}

static void waits_of_counters(void)
{
    struct fi_cq_err_entry error;
    pthread_t thread;
    receive_one(NULL);
    thread = begin(send_one);
    IS(0, fi_cntr_wait(ends[1].received, fi_cntr_read(ends[1].received) + 1, -1));
    pthread_join(thread, NULL);
    /* Any error ends a wait. */
    receive_one(&ends[1]);
    thread = begin(fail_one);
    IS(-FI_EAVAIL, fi_cntr_wait(ends[1].received, 1000, -1));
    pthread_join(thread, NULL);
    {
        struct fi_cq_tagged_entry entry;
        IS(1, fi_cq_read(ends[1].rx, &entry, 1));
    }
    memset(&error, 0, sizeof error);
    IS(1, fi_cq_readerr(ends[1].rx, &error, 0));
}

static void signal_one(void)
{
    IS(0, fi_cq_signal(ends[1].rx));
}

/* Calls of libfabric that block. */
static void blocking_reads(void)
{
    struct fi_cq_tagged_entry entry;
    pthread_t thread;
    int i;
    for (i = 0; i < 3; i++) {
        receive_one(&thread);
        thread = begin(send_one);
        IS(1, fi_cq_sread(ends[1].rx, &entry, 1, NULL, -1));
        CHECK(entry.op_context == &thread);
        pthread_join(thread, NULL);
    }
    thread = begin(signal_one);
    IS(-FI_EAGAIN, fi_cq_sread(ends[1].rx, &entry, 1, NULL, -1));
    pthread_join(thread, NULL);
    IS(-FI_EAGAIN, fi_cq_sread(ends[1].rx, &entry, 1, NULL, 5));
}

static volatile int asked_for, rounds_done;

/* Sends one each time that the reader is about to sleep. */
static void *sender(void *unused)
{
    int round;
    volatile int spins;
    (void)unused;
    for (round = 1; round <= rounds_done; round++) {
        while (__atomic_load_n(&asked_for, __ATOMIC_ACQUIRE) < round)
            sched_yield();
        /* Before, while and after it falls asleep. */
        if (round % 8 == 0)
            nap_us(100);
        for (spins = round * 37 % 20000; spins > 0; spins--)
            ;
        send_one();
    }
    return NULL;
}

#define ROUNDS 1000

static int descriptor(struct fid *fid)
{
    int fd = -1, kind = -1;
    IS(0, fi_control(fid, FI_GETWAITOBJ, &kind));
    IS(FI_WAIT_FD, kind);
    IS(0, fi_control(fid, FI_GETWAIT, &fd));
    CHECK(fd >= 0);
    return fd;
}

/* Whatever the two do at the same time, the descriptor becomes readable. One second later it does so
 * in any case: that happens at most if the machine has other things to do. */
static void descriptors(struct fid *fid)
{
    struct pollfd ready = {.fd = descriptor(fid), .events = POLLIN};
    struct fi_cq_tagged_entry entry;
    pthread_t thread;
    int round, slow = 0, idle = 0;
    for (round = 0; round < 50 && !idle; round++)
        if (fi_trywait(fabric, &fid, 1) == 0)
            idle = poll(&ready, 1, 5) == 0;
    /* Nothing comes: then it sleeps. */
    CHECK(idle);
    asked_for = 0, rounds_done = ROUNDS;
    IS(0, pthread_create(&thread, NULL, sender, NULL));
    for (round = 1; round <= ROUNDS; round++) {
        int got = 0;
        receive_one(NULL);
        __atomic_store_n(&asked_for, round, __ATOMIC_RELEASE);
        while (!got) {
            int safe = fi_trywait(fabric, &fid, 1);
            CHECK(safe == 0 || safe == -FI_EAGAIN);
            if (safe == 0) {
                long long begin = now_ms();
                IS(1, poll(&ready, 1, 20000));
                slow += now_ms() - begin >= 900;
                CHECK(slow <= 3);
            }
            got = fi_cq_read(ends[1].rx, &entry, 1) == 1;
        }
    }
    pthread_join(thread, NULL);
}

static struct fid_eq *events;

static void write_one(void)
{
    struct fi_eq_entry event = {.data = 42};
    IS(sizeof event, fi_eq_write(events, FI_NOTIFY, &event, sizeof event, 0));
}

static void event_queues(void)
{
    struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};
    struct fi_eq_entry event = {0};
    struct pollfd ready = {.events = POLLIN};
    struct fid *fid;
    pthread_t thread;
    uint32_t number = 99;
    IS(0, fi_eq_open(fabric, &attr, &events, NULL));
    fid = &events->fid, ready.fd = descriptor(fid);
    IS(-FI_EAGAIN, fi_eq_sread(events, &number, &event, sizeof event, 5, 0));
    thread = begin(write_one);
    IS(sizeof event, fi_eq_sread(events, &number, &event, sizeof event, -1, FI_PEEK));
    IS(FI_NOTIFY, number);
    IS(42, event.data);
    pthread_join(thread, NULL);
    IS(-FI_EAGAIN, fi_trywait(fabric, &fid, 1));
    IS(sizeof event, fi_eq_read(events, &number, &event, sizeof event, 0));
    IS(0, fi_trywait(fabric, &fid, 1));
    IS(0, poll(&ready, 1, 0));
    thread = begin(write_one);
    IS(1, poll(&ready, 1, 20000));
    pthread_join(thread, NULL);
    IS(0, fi_close(&events->fid));
}

static void wait_sets(void)
{
    struct fi_wait_attr attr = {.wait_obj = FI_WAIT_FD};
    struct fi_eq_attr member = {.wait_obj = FI_WAIT_SET};
    struct fi_eq_entry event = {0};
    struct fi_cq_tagged_entry entry;
    struct fid_wait *set;
    struct pollfd ready = {.events = POLLIN};
    struct fid *fid;
    pthread_t thread;
    uint32_t number;
    IS(0, fi_wait_open(fabric, &attr, &set));
    member.wait_set = set;
    IS(0, fi_eq_open(fabric, &member, &events, NULL));
    open_ends(FI_WAIT_SET, set);
    fid = &set->fid, ready.fd = descriptor(fid);
    IS(-FI_EBUSY, fi_close(&set->fid));
    IS(-FI_ETIMEDOUT, fi_wait(set, 10));
    thread = begin(write_one);
    IS(0, fi_wait(set, -1));
    IS(sizeof event, fi_eq_read(events, &number, &event, sizeof event, 0));
    pthread_join(thread, NULL);
    receive_one(NULL);
    thread = begin(send_one);
    IS(0, fi_wait(set, -1));
    IS(1, fi_cq_read(ends[1].rx, &entry, 1));
    pthread_join(thread, NULL);
    receive_one(NULL);
    while (fi_trywait(fabric, &fid, 1) != 0)
        ;
    thread = begin(send_one);
    IS(1, poll(&ready, 1, 20000));
    IS(1, fi_cq_sread(ends[1].rx, &entry, 1, NULL, -1));
    pthread_join(thread, NULL);
    close_ends();
    IS(0, fi_close(&events->fid));
    IS(0, fi_close(&set->fid));
}

static void poll_sets(void)
{
    struct fi_poll_attr attr = {0};
    struct fi_cq_tagged_entry entry;
    struct fid_poll *set;
    void *found[4];
    int count;
    IS(0, fi_poll_open(domain, &attr, &set));
    IS(0, fi_poll_add(set, &ends[1].rx->fid, 0));
    IS(-FI_EINVAL, fi_poll_add(set, &ends[1].rx->fid, 0));
    IS(-FI_EINVAL, fi_poll_add(set, &ends[1].ep->fid, 0));
    IS(0, fi_poll(set, found, 4));
    receive_one(NULL);
    send_one();
    while ((count = fi_poll(set, found, 4)) == 0)
        ;
    IS(1, count);
    CHECK(found[0] == &ends[1].rx);
    /* A queue is found as long as it has completions. */
    IS(1, fi_poll(set, found, 4));
    IS(1, fi_cq_read(ends[1].rx, &entry, 1));
    IS(0, fi_poll(set, found, 4));
    /* A counter is found once after each change. */
    IS(0, fi_poll_add(set, &ends[1].received->fid, 0));
    IS(1, fi_poll(set, found, 4));
    CHECK(found[0] == &ends[1].received);
    IS(0, fi_poll(set, found, 4));
    IS(0, fi_cntr_add(ends[1].received, 1));
    IS(0, fi_poll(set, found, 4));
    receive_one(NULL);
    send_one();
    while ((count = fi_poll(set, found, 1)) == 0)
        ;
    IS(1, count);
    IS(0, fi_poll_del(set, &ends[1].rx->fid, 0));
    IS(-FI_EINVAL, fi_poll_del(set, &ends[1].rx->fid, 0));
    IS(1, fi_poll(set, found, 4));
    CHECK(found[0] == &ends[1].received);
    IS(0, fi_close(&set->fid));
    IS(1, fi_cq_read(ends[1].rx, &entry, 1));
}

/* Sends to that end with FI_DELIVERY_COMPLETE: it completes when that end has taken the message, and not
 * before. That end buffers a short message without a receive; it always buffers one to itself. */
static void delivered_to(int to, size_t bytes)
{
    int is_kept = !to || bytes <= 5000;
    struct iovec iov = {big_out, bytes};
    struct fi_msg_tagged msg = {
        .msg_iov = &iov, .iov_count = 1, .addr = ends[0].address[to], .tag = 9, .context = &iov};
    struct fi_cq_tagged_entry entry;
    struct fi_cq_entry end;
    ssize_t got;
    int i, has_sent = 0, has_received = 0;
    memset(big_in, 0, sizeof big_in);
    IS(0, fi_tsendmsg(ends[0].ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
    for (i = 0; to && i < 2000; i++)
        IS(-FI_EAGAIN, fi_cq_read(ends[0].tx, &end, 1));
    for (i = 0; i < 2000; i++) {
        IS(-FI_EAGAIN, fi_cq_read(ends[to].rx, &entry, 1));
        got = fi_cq_read(ends[0].tx, &end, 1);
        CHECK(got == -FI_EAGAIN || (got == 1 && end.op_context == &iov && !has_sent));
        has_sent |= got == 1;
    }
    IS(is_kept, has_sent);
    IS(0, fi_trecv(ends[to].ep, big_in, sizeof big_in, NULL, FI_ADDR_UNSPEC, 9, 0, &entry));
    while (!has_sent || !has_received) {
        got = fi_cq_read(ends[0].tx, &end, 1);
        CHECK(got == 1 || got == -FI_EAGAIN);
        if (got == 1)
            CHECK(end.op_context == &iov && !has_sent++ && !memcmp(big_in, big_out, bytes));
        got = fi_cq_read(ends[to].rx, &entry, 1);
        CHECK(got == 1 || got == -FI_EAGAIN);
        if (got == 1) {
            CHECK(!has_received);
            has_received = 1;
            IS(bytes, entry.len);
            CHECK(!memcmp(big_in, big_out, bytes));
        }
    }
}

/* The receive is posted before. */
static void delivered_at_once(int to)
{
    struct iovec iov = {big_out, 8};
    struct fi_msg_tagged msg = {
        .msg_iov = &iov, .iov_count = 1, .addr = ends[0].address[to], .tag = 9, .context = &iov};
    struct fi_cq_tagged_entry entry;
    struct fi_cq_entry end;
    IS(0, fi_trecv(ends[to].ep, big_in, 8, NULL, FI_ADDR_UNSPEC, 9, 0, &entry));
    IS(0, fi_tsendmsg(ends[0].ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE | FI_INJECT));
    while (fi_cq_read(ends[0].tx, &end, 1) != 1)
        fi_cntr_read(ends[to].received);
    while (fi_cq_read(ends[to].rx, &entry, 1) != 1)
        ;
}

static void deliveries(void)
{
    size_t bytes[] = {0, 8, 5000, sizeof big_out};
    size_t i;
    for (i = 0; i < sizeof big_out; i++)
        big_out[i] = (char)(i * 13 + i / 1000 + 1);
    for (i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        delivered_to(1, bytes[i]);
        delivered_to(0, bytes[i]);
    }
    delivered_at_once(1);
    delivered_at_once(0);
}

/* The threads of this process whose names begin so; all of them block the signals of programs. */
static int threads(const char *name)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    int count = 0;
    CHECK(tasks);
    while ((task = readdir(tasks))) {
        char path[300], line[200];
        FILE *status;
        int is_it = 0;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
        /* Some threads end meanwhile. */
        if (!(status = fopen(path, "r")))
            continue;
        while (fgets(line, sizeof line, status)) {
            unsigned long long blocked;
            if (sscanf(line, "Name: %199s", path) == 1)
                is_it = !strncmp(path, name, strlen(name));
            if (is_it && sscanf(line, "SigBlk: %llx", &blocked) == 1) {
                CHECK(blocked >> (SIGUSR1 - 1) & 1);
                CHECK(blocked >> (SIGTERM - 1) & 1);
                CHECK(!(blocked >> (SIGSEGV - 1) & 1));
                count++;
            }
        }
        fclose(status);
    }
    closedir(tasks);
    return count;
}

/* A thread gets its name a moment after its start, and leaves the list a moment after its end. */
static void there_are(int count, const char *name)
{
    int tries;
    for (tries = 0; tries < 10000 && threads(name) != count; tries++)
        nap_us(1000);
    IS(count, threads(name));
}

/* End 1 calls nothing; long messages arrive, and the send completes. */
static void automatic(void)
{
    struct fi_cq_tagged_entry entry;
    struct fid *fid;
    struct pollfd ready = {.events = POLLIN};
    int i;
    open_domain(FI_PROGRESS_AUTO);
    open_ends(FI_WAIT_FD, NULL);
    there_are(2, "hostwire-progre");
    for (i = 0; i < 10; i++) {
        memset(big_in, 0, sizeof big_in);
        IS(0, fi_trecv(ends[1].ep, big_in, sizeof big_in, NULL, FI_ADDR_UNSPEC, 9, 0, NULL));
        IS(0, fi_tsend(ends[0].ep, big_out, sizeof big_out, NULL, ends[0].address[1], 9, NULL));
        IS(0, fi_cntr_wait(ends[0].sent, i + 1, -1));
        fid = &ends[1].rx->fid, ready.fd = descriptor(fid);
        while (fi_cq_read(ends[1].rx, &entry, 1) != 1)
            if (fi_trywait(fabric, &fid, 1) == 0)
                IS(1, poll(&ready, 1, 20000));
        CHECK(!memcmp(big_in, big_out, sizeof big_in));
    }
    descriptors(&ends[1].rx->fid);
    there_are(0, "hostwire-watch");
    close_ends();
    there_are(0, "hostwire-progre");
    close_domain();
}

/* Two ends share one queue: no thread sleeps on the doorbell of only one of them. */
static void one_queue_for_two(void)
{
    struct fi_cq_attr both = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC};
    struct fi_av_attr table = {.type = FI_AV_TABLE};
    struct fi_cq_tagged_entry entry;
    struct fid_cq *cq;
    struct fid_ep *eps[2];
    struct fid_av *av;
    pthread_t thread;
    char name[64];
    size_t bytes = sizeof name;
    fi_addr_t known = ends[0].address[1];
    int i;
    IS(0, fi_cq_open(domain, &both, &cq, NULL));
    IS(0, fi_av_open(domain, &table, &av, NULL));
    for (i = 0; i < 2; i++, bytes = sizeof name) {
        IS(0, fi_endpoint(domain, info, &eps[i], NULL));
        IS(0, fi_ep_bind(eps[i], &av->fid, 0));
        IS(0, fi_ep_bind(eps[i], &cq->fid, FI_TRANSMIT | FI_RECV));
        IS(0, fi_enable(eps[i]));
    }
    for (i = 0; i < 2; i++, bytes = sizeof name) {
        IS(0, fi_getname(&eps[i]->fid, name, &bytes));
        IS(1, fi_av_insert(ends[0].av, name, 1, &ends[0].address[1], 0, NULL));
        IS(0, fi_trecv(eps[i], big_in, 1, NULL, FI_ADDR_UNSPEC, 7, 0, &eps[i]));
        thread = begin(send_one);
        IS(1, fi_cq_sread(cq, &entry, 1, NULL, -1));
        CHECK(entry.op_context == &eps[i]);
        pthread_join(thread, NULL);
    }
    ends[0].address[1] = known;
    for (i = 0; i < 2; i++)
        IS(0, fi_close(&eps[i]->fid));
    IS(0, fi_close(&cq->fid));
    IS(0, fi_close(&av->fid));
}

int main(void)
{
    open_domain(FI_PROGRESS_UNSPEC);
    refusals();
    event_queues();
    wait_sets();
    open_ends(FI_WAIT_FD, NULL);
    there_are(2, "hostwire-statio");
    there_are(0, "hostwire-watch");
    counters();
    waits_of_counters();
    blocking_reads();
    poll_sets();
    one_queue_for_two();
    descriptors(&ends[1].rx->fid);
    there_are(1, "hostwire-watch");
    deliveries();
    close_ends();
    there_are(0, "hostwire-watch");
    close_domain();
    automatic();
    puts("ok");
    return 0;
}
