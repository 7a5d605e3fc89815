/* Four processes talk to each other over the provider "hostwire" in all ways, and one is killed. The
 * others get an error for what needs it, and nothing else: they go on with each other. Prints "ok".
 * The first argument is a network namespace, that of another host, in which half of them are; or empty. The
 * second is the seed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define PROCESSES 4
#define ROUNDS 12
/* Long enough for all protocols of a message. */
#define LONGEST 200000
#define KEY 7
/* Every peer has a piece of the registered memory, with a number behind it that it adds to. */
#define PIECE (LONGEST + 8)
/* A process that hangs ends by a signal, and the test with it. */
#define LIMIT_S 120

enum { DATA = 1, BYE };

struct peer {
    fi_addr_t address;
    /* Their addresses tell the two operations apart in completions. */
    struct fi_context in, out;
    unsigned char *received, *sent, *read;
    uint64_t result;
    int lost, receives, acts, said_bye, heard_bye;
    size_t reads;
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_ep *ep;
static struct fid_cq *cq;
static struct fid_av *av;
static struct fid_mr *mr;
static unsigned char *memory;
static struct peer peers[PROCESSES];
static uint64_t state;
static int own;

static uint64_t any(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

static void open_all(void)
{
    struct fi_info *asked = fi_allocinfo();
    struct fi_cq_attr queue = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC};
    struct fi_av_attr table = {.type = FI_AV_TABLE};
    uint64_t rights = FI_REMOTE_READ | FI_REMOTE_WRITE;

    CHECK(asked);
    asked->fabric_attr->prov_name = strdup("hostwire");
    asked->ep_attr->type = FI_EP_RDM;
    asked->caps = FI_TAGGED | FI_RMA | FI_ATOMIC | FI_DIRECTED_RECV;
    IS(0, fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, asked, &info));
    fi_freeinfo(asked);
    IS(0, fi_fabric(info->fabric_attr, &fabric, NULL));
    IS(0, fi_domain(fabric, info, &domain, NULL));
    IS(0, fi_cq_open(domain, &queue, &cq, NULL));
    IS(0, fi_av_open(domain, &table, &av, NULL));
    IS(0, fi_endpoint(domain, info, &ep, NULL));
    IS(0, fi_ep_bind(ep, &av->fid, 0));
    IS(0, fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    IS(0, fi_enable(ep));
    CHECK(memory = calloc(PROCESSES, PIECE));
    IS(0, fi_mr_reg(domain, memory, PROCESSES * PIECE, rights, 0, KEY, 0, &mr, NULL));
}

static void close_all(void)
{
    IS(0, fi_close(&ep->fid));
    IS(0, fi_close(&mr->fid));
    IS(0, fi_close(&cq->fid));
    IS(0, fi_close(&av->fid));
    IS(0, fi_close(&domain->fid));
    IS(0, fi_close(&fabric->fid));
    fi_freeinfo(info);
}

/* All bytes of a message are equal to its first one. */
static void fill(unsigned char *bytes, size_t len)
{
    unsigned char first = (unsigned char)any();
    size_t i;
    for (i = 0; i < len; i++)
        bytes[i] = (unsigned char)(first + i % 251);
}

static void check(const unsigned char *bytes, size_t len)
{
    size_t i;
    for (i = 0; i < len; i++)
        CHECK(bytes[i] == (unsigned char)(bytes[0] + i % 251));
}

static size_t some_bytes(void)
{
    static const size_t most[] = {64, 9000, LONGEST};
    return 1 + any() % most[any() % 3];
}

static void lose(struct peer *peer)
{
    peer->lost = 1;
}

/* Whether an operation with this peer has begun, by the status of the call. */
static int begins(struct peer *peer, ssize_t said)
{
    if (said == -FI_EAGAIN)
        return 0;
    if (said == -FI_ECONNRESET || said == -FI_EHOSTUNREACH) {
        lose(peer);
        return 0;
    }
    IS(0, said);
    return 1;
}

static void receive(struct peer *peer)
{
    peer->receives = begins(peer, fi_trecv(ep, peer->received, LONGEST, NULL, peer->address, 0,
                                           UINT64_MAX, &peer->in));
}

static void act(struct peer *peer, int last)
{
    uint64_t at = (uint64_t)own * PIECE;
    size_t len = some_bytes();
    ssize_t said;

    if (last) {
        said = fi_tsend(ep, peer->sent, 0, NULL, peer->address, BYE, &peer->out);
        peer->acts = peer->said_bye = begins(peer, said);
        return;
    }
    peer->reads = 0;
    fill(peer->sent, len);
    switch (any() % 5) {
    case 0:
        said = fi_write(ep, peer->sent, len, NULL, peer->address, at, KEY, &peer->out);
        break;
    case 1:
        /* Its own piece there, which no other process writes to: it is whole, or not written yet. */
        said = fi_read(ep, peer->read, 1, NULL, peer->address, at, KEY, &peer->out);
        peer->reads = 1;
        break;
    case 2:
        peer->result = 1;
        said = fi_fetch_atomic(ep, &peer->result, 1, NULL, &peer->result, NULL, peer->address,
                               at + LONGEST, KEY, FI_UINT64, FI_SUM, &peer->out);
        break;
    default:
        said = fi_tsend(ep, peer->sent, len, NULL, peer->address, DATA, &peer->out);
    }
    peer->acts = begins(peer, said);
}

static struct peer *whose(void *context, int *in)
{
    int i;
    for (i = 0; i < PROCESSES; i++) {
        *in = context == &peers[i].in;
        if (*in || context == &peers[i].out)
            return &peers[i];
    }
    CHECK(!"a completion that belongs to nobody");
    return NULL;
}

static void completed(const struct fi_cq_tagged_entry *entry)
{
    int in;
    struct peer *peer = whose(entry->op_context, &in);
    if (!in) {
        peer->acts = 0;
        return;
    }
    peer->receives = 0;
    if (entry->tag == BYE)
        peer->heard_bye = 1;
    else
        check(peer->received, entry->len);
}

static void failed(void)
{
    struct fi_cq_err_entry error = {0};
    struct peer *peer;
    int in;
    IS(1, fi_cq_readerr(cq, &error, 0));
    peer = whose(error.op_context, &in);
    /* A receive may report the loss with the same error as a call. */
    if (!in || error.err != FI_EHOSTUNREACH)
        IS(error.flags & (FI_RMA | FI_ATOMIC) ? FI_ESHUTDOWN : FI_ECONNRESET, error.err);
    *(in ? &peer->receives : &peer->acts) = 0;
    lose(peer);
}

/* Runs until one peer is lost and all others have learnt it. Returns the lost one. */
static int talk(void)
{
    for (;;) {
        struct fi_cq_tagged_entry entry;
        int i, lost = -1, done = 1;
        ssize_t got;

        for (i = 0; i < PROCESSES; i++)
            if (i != own && peers[i].lost) {
                CHECK(lost < 0);
                lost = i;
            }
        for (i = 0; i < PROCESSES; i++) {
            struct peer *peer = &peers[i];
            if (i == own || peer->lost)
                continue;
            if (!peer->receives && !peer->heard_bye)
                receive(peer);
            if (!peer->acts && !peer->said_bye && !peer->lost)
                act(peer, lost >= 0);
            done = done && !peer->acts && peer->said_bye && peer->heard_bye;
        }
        if (lost >= 0 && done && !peers[lost].acts && !peers[lost].receives)
            return lost;
        /* Some ranks sleep, others poll. */
        got = own % 2 ? fi_cq_sread(cq, &entry, 1, NULL, 10) : fi_cq_read(cq, &entry, 1);
        if (got == 1)
            completed(&entry);
        else if (got == -FI_EAVAIL)
            failed();
        else
            IS(-FI_EAGAIN, got);
    }
}

/* From now on this process is on the other host. */
static void move(const char *host)
{
    int namespace = open(host, O_RDONLY | O_CLOEXEC);
    CHECK(namespace >= 0);
    IS(0, setns(namespace, CLONE_NEWNET));
    IS(0, unshare(CLONE_NEWUTS));
    IS(0, sethostname("fb", 2));
    close(namespace);
}

/* One of the processes: its name goes to the parent, and all names come back. */
static void process(int to_parent, int from_parent)
{
    char name[64] = {0}, all[PROCESSES][64];
    size_t len = sizeof name;
    int i;
    char lost;

    alarm(LIMIT_S);
    open_all();
    IS(0, fi_getname(&ep->fid, name, &len));
    IS(sizeof name, write(to_parent, name, sizeof name));
    IS(sizeof all, read(from_parent, all, sizeof all));
    for (i = 0; i < PROCESSES; i++) {
        struct peer *peer = &peers[i];
        IS(1, fi_av_insert(av, all[i], 1, &peer->address, 0, NULL));
        CHECK(peer->received = malloc(LONGEST));
        CHECK(peer->sent = malloc(LONGEST));
        CHECK(peer->read = malloc(LONGEST));
    }
    lost = (char)talk();
    IS(1, write(to_parent, &lost, 1));
    close_all();
}

/* A round: all of them begin, one is killed, the others say which one and end. */
static void one_round(const char *host)
{
    int to[PROCESSES][2], from[PROCESSES][2], i, status;
    struct timespec moment = {.tv_nsec = (long)(any() % 60) * 1000000};
    int victim = (int)(any() % PROCESSES);
    char all[PROCESSES][64], lost;
    pid_t pids[PROCESSES];

    for (i = 0; i < PROCESSES; i++) {
        IS(0, pipe(to[i]));
        IS(0, pipe(from[i]));
        any();
        fflush(NULL);
        CHECK((pids[i] = fork()) >= 0);
        if (pids[i] == 0) {
            own = i;
            if (*host && own >= PROCESSES / 2)
                move(host);
            process(from[i][1], to[i][0]);
            exit(0);
        }
        close(from[i][1]);
        close(to[i][0]);
    }
    for (i = 0; i < PROCESSES; i++)
        IS(sizeof all[i], read(from[i][0], all[i], sizeof all[i]));
    for (i = 0; i < PROCESSES; i++)
        IS(sizeof all, write(to[i][1], all, sizeof all));
    nanosleep(&moment, NULL);
    IS(0, kill(pids[victim], SIGKILL));
    for (i = 0; i < PROCESSES; i++) {
        if (i != victim) {
            IS(1, read(from[i][0], &lost, 1));
            IS(victim, lost);
        }
        IS(pids[i], waitpid(pids[i], &status, 0));
        IS(i == victim ? SIGKILL : 0, status);
        close(from[i][0]);
        close(to[i][1]);
    }
}

int main(int argc, char **argv)
{
    int i;
    state = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);
    state |= 1;
    fprintf(stderr, "seed %llu\n", (unsigned long long)state);
    for (i = 0; i < ROUNDS; i++)
        one_round(argc > 1 ? argv[1] : "");
    puts("ok");
    return 0;
}
