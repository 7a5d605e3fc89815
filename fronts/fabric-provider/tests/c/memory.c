/* Two endpoints of one process use each other's memory in all the ways that the provider "hostwire"
 * offers: addresses that are offsets and keys of the user; addresses and keys of the provider.
 * Prints "ok". */
#include <complex.h>
#include <errno.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"

struct end {
    struct fid_ep *ep;
    struct fid_cq *tx, *rx;
    struct fid_av *av;
    char name[64];
    size_t name_bytes;
};

#define BYTES (1 << 20)
#define BASIC (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct end ends[2];
static int mode;
/* A domain is opened with this mode, whatever the hints were. */
static int insists;
/* Memory of end 1, of which end 0 may read and write `memory`. */
static char memory[BYTES] __attribute__((aligned(64)));
static char in[BYTES], out[BYTES];
static struct fid_mr *region;
/* Counters: writes of end 0, its reads, writes at end 1, and writes to the region. */
static struct fid_cntr *wrote, *read_, *written, *to_region;
static char contexts[8][64];

/* For users of version 1.5 no mode bit of `mr_mode` is needed; older ones choose one of two modes. */
static int gives(void)
{
    return mode == FI_MR_BASIC || mode == FI_MR_SCALABLE ? mode : 0;
}

static struct fi_info *hints(void)
{
    struct fi_info *hints = fi_allocinfo();
    CHECK(hints);
    hints->fabric_attr->prov_name = strdup("hostwire");
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_RMA | FI_ATOMIC | FI_RMA_EVENT;
    hints->domain_attr->mr_mode = mode;
    return hints;
}

static int asks(struct fi_info *hints)
{
    struct fi_info *info = NULL;
    int result = fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, &info);
    if (info)
        fi_freeinfo(info);
    fi_freeinfo(hints);
    return result;
}

static void what_is_offered(void)
{
    struct fi_info *asked = hints(), *info;
    uint64_t all = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    asked->domain_attr->mr_mode = mode | FI_MR_LOCAL | FI_MR_ENDPOINT | FI_MR_MMU_NOTIFY;
    if (gives())
        asked->domain_attr->mr_mode = mode;
    asked->tx_attr->msg_order = FI_ORDER_STRICT | FI_ORDER_ATOMIC_RAW | FI_ORDER_RMA_WAW;
    asked->tx_attr->rma_iov_limit = 4;
    asked->ep_attr->max_order_waw_size = 1 << 30;
    IS(0, fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, asked, &info));
    IS(gives(), info->domain_attr->mr_mode);
    IS(all, info->caps & all);
    IS(8, info->domain_attr->mr_key_size);
    CHECK(info->ep_attr->max_order_war_size >= 4096);
    IS(-1, info->ep_attr->max_order_waw_size);
    fi_freeinfo(info);
    fi_freeinfo(asked);
    asked = hints(), asked->caps |= FI_READ;
    IS(0, fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, asked, &info));
    IS(FI_READ, info->caps & all);
    fi_freeinfo(info);
    fi_freeinfo(asked);
    asked = hints(), asked->ep_attr->max_order_war_size = 1 << 20;
    IS(-FI_ENODATA, asks(asked));
    asked = hints(), asked->tx_attr->rma_iov_limit = 5;
    IS(-FI_ENODATA, asks(asked));
    asked = hints(), asked->caps |= FI_RMA_PMEM;
    IS(-FI_ENODATA, asks(asked));
}

static void open_all(void)
{
    struct fi_info *asked = hints(), *info;
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED};
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    int i, j;
    IS(0, fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, asked, &info));
    if (insists)
        info->domain_attr->mr_mode = mode;
    IS(0, fi_fabric(info->fabric_attr, &fabric, NULL));
    IS(0, fi_domain(fabric, info, &domain, NULL));
    IS(0, fi_cntr_open(domain, NULL, &wrote, NULL));
    IS(0, fi_cntr_open(domain, NULL, &read_, NULL));
    IS(0, fi_cntr_open(domain, NULL, &written, NULL));
    IS(0, fi_cntr_open(domain, NULL, &to_region, NULL));
    for (i = 0; i < 2; i++) {
        struct end *end = &ends[i];
        IS(0, fi_endpoint(domain, info, &end->ep, NULL));
        IS(0, fi_cq_open(domain, &cq, &end->tx, NULL));
        IS(0, fi_cq_open(domain, &cq, &end->rx, NULL));
        IS(0, fi_av_open(domain, &av, &end->av, NULL));
        IS(0, fi_ep_bind(end->ep, &end->av->fid, 0));
        IS(0, fi_ep_bind(end->ep, &end->tx->fid, FI_TRANSMIT));
        IS(0, fi_ep_bind(end->ep, &end->rx->fid, FI_RECV));
        if (i == 0) {
            IS(0, fi_ep_bind(end->ep, &wrote->fid, FI_WRITE));
            IS(0, fi_ep_bind(end->ep, &read_->fid, FI_READ));
        } else {
            IS(0, fi_ep_bind(end->ep, &written->fid, FI_REMOTE_WRITE));
        }
        IS(0, fi_enable(end->ep));
        end->name_bytes = sizeof end->name;
        IS(0, fi_getname(&end->ep->fid, end->name, &end->name_bytes));
    }
    for (i = 0; i < 2; i++)
        for (j = 0; j < 2; j++)
            IS(1, fi_av_insert(ends[i].av, ends[j].name, 1, NULL, 0, NULL));
    fi_freeinfo(asked);
    fi_freeinfo(info);
}

static void close_all(void)
{
    int i;
    IS(0, fi_close(&region->fid));
    for (i = 0; i < 2; i++) {
        IS(0, fi_close(&ends[i].ep->fid));
        IS(0, fi_close(&ends[i].tx->fid));
        IS(0, fi_close(&ends[i].rx->fid));
        IS(0, fi_close(&ends[i].av->fid));
    }
    IS(0, fi_close(&wrote->fid));
    IS(0, fi_close(&read_->fid));
    IS(0, fi_close(&written->fid));
    IS(0, fi_close(&to_region->fid));
    IS(0, fi_close(&domain->fid));
    IS(0, fi_close(&fabric->fid));
}

/* The address that peers use for byte `at` of registered memory that begins at `base`. */
static uint64_t place(const char *base, uint64_t at)
{
    return mode == FI_MR_BASIC || insists ? (uint64_t)(uintptr_t)base + at : at;
}

/* The completion of an operation of end 0; the other end makes progress. */
static struct fi_cq_tagged_entry ended(void *context)
{
    struct fi_cq_tagged_entry entry;
    char none[64];
    ssize_t got;
    while ((got = fi_cq_read(ends[0].tx, &entry, 1)) == -FI_EAGAIN)
        IS(-FI_EAGAIN, fi_cq_read(ends[1].rx, none, 0));
    if (got < 0) {
        struct fi_cq_err_entry error = {0};
        fi_cq_readerr(ends[0].tx, &error, 0);
        fprintf(stderr, "error %d\n", error.err);
    }
    IS(1, got);
    CHECK(entry.op_context == context);
    return entry;
}

static void fails(int with, uint64_t flags, void *context)
{
    struct fi_cq_err_entry error = {0};
    char none[64];
    ssize_t got;
    while ((got = fi_cq_read(ends[0].tx, none, 1)) == -FI_EAGAIN)
        IS(-FI_EAGAIN, fi_cq_read(ends[1].rx, none, 0));
    IS(-FI_EAVAIL, got);
    IS(1, fi_cq_readerr(ends[0].tx, &error, 0));
    IS(with, error.err);
    IS(flags, error.flags);
    CHECK(error.op_context == context);
}

static void registrations(void)
{
    uint64_t both = FI_REMOTE_READ | FI_REMOTE_WRITE;
    struct iovec part = {memory, BYTES}, two[2] = {{in, 1}, {out, 1}};
    struct fi_mr_attr attr = {.mr_iov = &part, .iov_count = 1, .access = both, .requested_key = 9};
    struct fid_mr *mr;
    IS(0, fi_mr_regattr(domain, &attr, 0, &region));
    if (mode == FI_MR_BASIC || insists) {
        /* The provider chooses the key, whatever the caller asks for. */
        IS(0, fi_mr_regattr(domain, &attr, 0, &mr));
        CHECK(fi_mr_key(mr) != fi_mr_key(region));
        IS(0, fi_close(&mr->fid));
    } else {
        IS(9, fi_mr_key(region));
        IS(-FI_ENOKEY, fi_mr_regattr(domain, &attr, 0, &mr));
    }
    IS(0, fi_mr_bind(region, &ends[1].ep->fid, 0));
    IS(0, fi_mr_bind(region, &to_region->fid, FI_REMOTE_WRITE));
    IS(-FI_EINVAL, fi_mr_bind(region, &to_region->fid, FI_REMOTE_WRITE));
    IS(-FI_EINVAL, fi_mr_bind(region, &to_region->fid, FI_WRITE));
    IS(0, fi_mr_enable(region));
    CHECK(fi_mr_desc(region) == NULL);
    IS(-FI_EINVAL, fi_mr_regv(domain, two, 2, both, 0, 1, 0, &mr, NULL));
    IS(0, fi_mr_regv(domain, two, 1, both, 0, 1, 0, &mr, NULL));
    IS(0, fi_close(&mr->fid));
}

static void writes_and_reads(void)
{
    struct fi_cq_tagged_entry entry;
    struct iovec here[2] = {{out, 3}, {out + 10, 70000}}, back[2] = {{in, 70000}, {in + 80000, 3}};
    struct fi_rma_iov there[2] = {{place(memory, 500), 50000, fi_mr_key(region)},
                                  {place(memory, 4), 20003, fi_mr_key(region)}};
    struct fi_msg_rma msg = {.msg_iov = here, .iov_count = 2, .addr = 1, .rma_iov = there,
                             .rma_iov_count = 2, .context = contexts[1]};
    uint64_t key = fi_mr_key(region);
    size_t len;
    int i;
    for (i = 0; i < BYTES; i++)
        out[i] = (char)(i * 7 + i / 256);
    for (len = 1; len <= BYTES; len *= 4) {
        memset(memory, 0, len);
        IS(0, fi_write(ends[0].ep, out, len, NULL, 1, place(memory, 0), key, contexts[0]));
        entry = ended(contexts[0]);
        IS(FI_RMA | FI_WRITE, entry.flags);
        CHECK(!memcmp(memory, out, len));
        memset(in, 0, len);
        IS(0, fi_read(ends[0].ep, in, len, NULL, 1, place(memory, 0), key, contexts[1]));
        entry = ended(contexts[1]);
        IS(FI_RMA | FI_READ, entry.flags);
        CHECK(!memcmp(in, out, len));
    }
    /* Vectors on both sides. */
    memset(memory, 0, BYTES);
    IS(0, fi_writemsg(ends[0].ep, &msg, FI_COMPLETION | FI_TRANSMIT_COMPLETE));
    ended(contexts[1]);
    /* The second place has the front of the first. */
    CHECK(!memcmp(memory + 4, out + 10 + 49997, 20003));
    CHECK(!memcmp(memory + 20007, out + 10 + 19504, 30493));
    IS(0, fi_writev(ends[0].ep, here, NULL, 2, 1, place(memory, 100), key, contexts[2]));
    ended(contexts[2]);
    CHECK(!memcmp(memory + 100, out, 3) && !memcmp(memory + 103, out + 10, 70000));
    IS(0, fi_readv(ends[0].ep, back, NULL, 2, 1, place(memory, 100), key, contexts[3]));
    ended(contexts[3]);
    CHECK(!memcmp(in, memory + 100, 70000) && !memcmp(in + 80000, memory + 70100, 3));
    msg.msg_iov = back;
    IS(0, fi_readmsg(ends[0].ep, &msg, FI_COMPLETION));
    entry = ended(contexts[1]);
    IS(FI_RMA | FI_READ, entry.flags);
    CHECK(!memcmp(in, memory + 500, 50000) && !memcmp(in + 50000, memory + 4, 20000));
    CHECK(!memcmp(in + 80000, memory + 20004, 3));
    /* An injected write has no completion; later operations come after it. */
    memset(memory, 0, 4096);
    IS(0, fi_inject_write(ends[0].ep, out, 4096, 1, place(memory, 0), key));
    IS(-FI_EMSGSIZE, fi_inject_write(ends[0].ep, out, 4097, 1, place(memory, 0), key));
    IS(0, fi_read(ends[0].ep, in, 4096, NULL, 1, place(memory, 0), key, contexts[3]));
    ended(contexts[3]);
    CHECK(!memcmp(in, out, 4096));
    IS(-FI_EAGAIN, fi_cq_read(ends[0].tx, in, 1));
    /* An endpoint uses its own memory. */
    IS(0, fi_write(ends[0].ep, "own", 4, NULL, 0, place(memory, 8), key, contexts[0]));
    ended(contexts[0]);
    CHECK(!strcmp(memory + 8, "own"));
}

static void data_beside(void)
{
    uint64_t key = fi_mr_key(region);
    struct fi_cq_tagged_entry entry;
    fi_addr_t from;
    ssize_t got;
    int i;
    IS(0, fi_writedata(ends[0].ep, "abc", 3, NULL, 77, 1, place(memory, 0), key, contexts[0]));
    IS(0, fi_inject_writedata(ends[0].ep, "x", 1, 0, 1, place(memory, 1), key));
    IS(0, fi_writedata(ends[0].ep, NULL, 0, NULL, ~0ull, 1, 0, 0, contexts[1]));
    for (i = 0; i < 3; i++) {
        uint64_t data[3] = {77, 0, ~0ull};
        while ((got = fi_cq_readfrom(ends[1].rx, &entry, 1, &from)) == -FI_EAGAIN)
            IS(-FI_EAGAIN, fi_cq_read(ends[0].rx, in, 0));
        IS(1, got);
        IS(data[i], entry.data);
        IS(FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA, entry.flags);
        IS(i == 0 ? 3 : i == 1 ? 1 : 0, entry.len);
        IS(0, from);
    }
    CHECK(!memcmp(memory, "axc", 3));
    ended(contexts[0]);
    ended(contexts[1]);
}

static void refusals(void)
{
    uint64_t key = fi_mr_key(region), operand = 1;
    struct fid_mr *mr;
    IS(0, fi_write(ends[0].ep, out, 8, NULL, 1, place(memory, 0), key + 1000, contexts[0]));
    fails(FI_EKEYREJECTED, FI_RMA | FI_WRITE, contexts[0]);
    IS(0, fi_write(ends[0].ep, out, 8, NULL, 1, place(memory, BYTES - 7), key, contexts[1]));
    fails(FI_EACCES, FI_RMA | FI_WRITE, contexts[1]);
    IS(0, fi_read(ends[0].ep, in, 8, NULL, 1, place(memory, -8), key, contexts[2]));
    fails(FI_EACCES, FI_RMA | FI_READ, contexts[2]);
    IS(0, fi_mr_reg(domain, in, 64, FI_REMOTE_READ, 0, 100, 0, &mr, NULL));
    memset(in, 5, 64);
    IS(0, fi_write(ends[0].ep, out, 8, NULL, 1, place(in, 0), fi_mr_key(mr), contexts[3]));
    fails(FI_EACCES, FI_RMA | FI_WRITE, contexts[3]);
    IS(0, fi_atomic(ends[0].ep, &operand, 1, NULL, 1, place(in, 0), fi_mr_key(mr), FI_UINT64, FI_SUM,
                    contexts[4]));
    fails(FI_EACCES, FI_ATOMIC | FI_WRITE, contexts[4]);
    CHECK(in[0] == 5 && in[7] == 5);
    key = fi_mr_key(mr);
    IS(0, fi_close(&mr->fid));
    IS(0, fi_read(ends[0].ep, out, 8, NULL, 1, place(in, 0), key, contexts[0]));
    fails(FI_EKEYREJECTED, FI_RMA | FI_READ, contexts[0]);
    IS(-FI_EINVAL, fi_write(ends[0].ep, out, 8, NULL, 7, 0, key, contexts[1]));
    IS(-FI_EINVAL, fi_write(ends[0].ep, NULL, 8, NULL, 1, place(memory, 0), key, contexts[1]));
    IS(-FI_EINVAL, fi_read(ends[0].ep, NULL, 8, NULL, 1, place(memory, 0), key, contexts[1]));
}

/* Begins operations without a look at the queue: at last they are refused, and none is lost. */
static void a_flood(void)
{
    uint64_t key = fi_mr_key(region), one = 1, refused = 0;
    struct fi_cq_tagged_entry entry;
    int started = 0, done = 0;
    memset(memory, 0, 8);
    while (done < 5000) {
        ssize_t got = -FI_EAGAIN;
        if (started < 5000)
            got = fi_atomic(ends[0].ep, &one, 1, NULL, 1, place(memory, 0), key, FI_UINT64, FI_SUM,
                            contexts[0]);
        if (!got)
            started++;
        else
            refused++;
        if (got == -FI_EAGAIN && fi_cq_read(ends[0].tx, &entry, 1) == 1)
            done++;
        else if (got)
            IS(-FI_EAGAIN, fi_cq_read(ends[1].rx, in, 0));
    }
    CHECK(refused > 0);
    IS(5000, *(uint64_t *)memory);
}

static void atomics(void)
{
    uint64_t key = fi_mr_key(region);
    int32_t *numbers = (int32_t *)memory, was[2], operands[2] = {5, -7}, compares[2] = {15, 3};
    double *doubles = (double *)(memory + 64), add = 0.25, old;
    float complex *pairs = (float complex *)(memory + 128), by = 2 - 1 * I;
    uint8_t *byte = (uint8_t *)(memory + 203), mask = 0x0f, value = 0xa5;
    struct fi_ioc here = {operands, 2}, there_was = {was, 2};
    struct fi_rma_ioc there[2] = {{place(memory, 4), 1, key}, {place(memory, 0), 1, key}};
    struct fi_msg_atomic msg = {.msg_iov = &here, .iov_count = 1, .addr = 1, .rma_iov = there,
                                .rma_iov_count = 2, .datatype = FI_INT32, .op = FI_MAX,
                                .context = contexts[5]};
    struct fi_cq_tagged_entry entry;
    numbers[0] = 10, numbers[1] = 20;
    IS(0, fi_atomic(ends[0].ep, operands, 2, NULL, 1, place(memory, 0), key, FI_INT32, FI_SUM,
                    contexts[0]));
    entry = ended(contexts[0]);
    IS(FI_ATOMIC | FI_WRITE, entry.flags);
    CHECK(numbers[0] == 15 && numbers[1] == 13);
    IS(0, fi_compare_atomic(ends[0].ep, operands, 2, NULL, compares, NULL, was, NULL, 1,
                            place(memory, 0), key, FI_INT32, FI_CSWAP, contexts[1]));
    entry = ended(contexts[1]);
    IS(FI_ATOMIC | FI_READ, entry.flags);
    CHECK(was[0] == 15 && was[1] == 13 && numbers[0] == 5 && numbers[1] == 13);
    IS(0, fi_fetch_atomic(ends[0].ep, NULL, 2, NULL, was, NULL, 1, place(memory, 0), key, FI_INT32,
                          FI_ATOMIC_READ, contexts[2]));
    ended(contexts[2]);
    CHECK(was[0] == 5 && was[1] == 13);
    IS(0, fi_fetch_atomicmsg(ends[0].ep, &msg, &there_was, NULL, 1, FI_COMPLETION));
    ended(contexts[5]);
    /* The first operand is for the second number. */
    CHECK(was[0] == 13 && was[1] == 5 && numbers[1] == 13 && numbers[0] == 5);
    IS(0, fi_inject_atomic(ends[0].ep, operands, 1, 1, place(memory, 0), key, FI_INT32, FI_PROD));
    *doubles = 0.5;
    IS(0, fi_fetch_atomic(ends[0].ep, &add, 1, NULL, &old, NULL, 1, place(memory, 64), key, FI_DOUBLE,
                          FI_SUM, contexts[3]));
    ended(contexts[3]);
    CHECK(old == 0.5 && *doubles == 0.75 && numbers[0] == 25);
    *pairs = 1 + 1 * I;
    IS(0, fi_atomic(ends[0].ep, &by, 1, NULL, 1, place(memory, 128), key, FI_FLOAT_COMPLEX, FI_PROD,
                    contexts[4]));
    ended(contexts[4]);
    CHECK(*pairs == 3 + 1 * I);
    *byte = 0x3c;
    IS(0, fi_compare_atomic(ends[0].ep, &value, 1, NULL, &mask, NULL, was, NULL, 1, place(memory, 203),
                            key, FI_UINT8, FI_MSWAP, contexts[4]));
    ended(contexts[4]);
    IS(0x35, *byte);
}

/* The source of an atomic read may be memory that is read-only. */
static void atomic_reads(void)
{
    size_t bytes = 65536;
    char *constant = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t one = 1, two[2] = {1, 1};
    uint32_t half = 1;
    struct fid_mr *mr;
    uint64_t key;
    CHECK(constant != MAP_FAILED);
    IS(0, fi_mr_reg(domain, constant, bytes, FI_REMOTE_READ, 0, 200, 0, &mr, NULL));
    key = fi_mr_key(mr);
    IS(0, fi_fetch_atomic(ends[0].ep, NULL, 1, NULL, &one, NULL, 1, place(constant, 8), key, FI_UINT64,
                          FI_ATOMIC_READ, contexts[0]));
    ended(contexts[0]);
    IS(0, fi_fetch_atomic(ends[0].ep, NULL, 1, NULL, &half, NULL, 1, place(constant, 4), key, FI_UINT32,
                          FI_ATOMIC_READ, contexts[1]));
    ended(contexts[1]);
    IS(0, fi_fetch_atomic(ends[0].ep, NULL, 2, NULL, two, NULL, 1, place(constant, 3), key, FI_UINT64,
                          FI_ATOMIC_READ, contexts[2]));
    ended(contexts[2]);
    CHECK(one == 0 && half == 0 && two[0] == 0 && two[1] == 0);
    IS(0, fi_close(&mr->fid));
    IS(0, munmap(constant, bytes));
}

/* A thread that reads a counter makes the progress that is counted, of both ends. */
static void counts(void)
{
    uint64_t key = fi_mr_key(region), operand = 1, old;
    uint64_t writes = fi_cntr_read(wrote), reads = fi_cntr_read(read_), there = fi_cntr_read(written);
    uint64_t here = fi_cntr_read(to_region), failed = fi_cntr_readerr(wrote);
    IS(0, fi_inject_write(ends[0].ep, out, 8, 1, place(memory, 0), key));
    IS(0, fi_write(ends[0].ep, out, 100000, NULL, 1, place(memory, 0), key, contexts[0]));
    IS(0, fi_fetch_atomic(ends[0].ep, &operand, 1, NULL, &old, NULL, 1, place(memory, 0), key, FI_UINT64,
                          FI_SUM, contexts[1]));
    while (fi_cntr_read(to_region) < here + 3)
        ;
    while (fi_cntr_read(written) < there + 3)
        ;
    while (fi_cntr_read(wrote) < writes + 2 || fi_cntr_read(read_) < reads + 1)
        ;
    ended(contexts[0]);
    ended(contexts[1]);
    IS(0, fi_inject_write(ends[0].ep, out, 8, 1, place(memory, 0), key + 1000));
    while (fi_cntr_readerr(wrote) < failed + 1)
        IS(-FI_EAGAIN, fi_cq_read(ends[1].rx, in, 0));
    IS(-FI_EAGAIN, fi_cq_read(ends[0].tx, in, 1));
    IS(writes + 2, fi_cntr_read(wrote));
    IS(reads + 1, fi_cntr_read(read_));
    IS(there + 3, fi_cntr_read(written));
    IS(here + 3, fi_cntr_read(to_region));
}

/* Operations that the provider reports as valid are done; all others are refused at once. */
static void what_is_valid(void)
{
    uint64_t key = fi_mr_key(region), flags[3] = {0, FI_FETCH_ATOMIC, FI_COMPARE_ATOMIC};
    char zero[16] = {0};
    int type, op, form, offered = 0;
    for (type = 0; type < FI_DATATYPE_LAST + 3; type++)
        for (op = 0; op < FI_ATOMIC_OP_LAST + 2; op++)
            for (form = 0; form < 3; form++) {
                struct fi_atomic_attr attr = {0};
                size_t count = 0;
                int valid = form == 0   ? fi_atomicvalid(ends[0].ep, type, op, &count)
                            : form == 1 ? fi_fetch_atomicvalid(ends[0].ep, type, op, &count)
                                        : fi_compare_atomicvalid(ends[0].ep, type, op, &count);
                ssize_t got;
                IS(valid, fi_query_atomic(domain, type, op, &attr, flags[form]));
                if (form == 0)
                    got = fi_atomic(ends[0].ep, zero, 1, NULL, 1, place(memory, 0), key, type, op,
                                    contexts[0]);
                else if (form == 1)
                    got = fi_fetch_atomic(ends[0].ep, zero, 1, NULL, in, NULL, 1, place(memory, 0), key,
                                          type, op, contexts[0]);
                else
                    got = fi_compare_atomic(ends[0].ep, zero, 1, NULL, zero, NULL, in, NULL, 1,
                                            place(memory, 0), key, type, op, contexts[0]);
                IS(valid, got);
                if (valid) {
                    IS(-FI_EOPNOTSUPP, valid);
                    continue;
                }
                offered++;
                CHECK(count == attr.count && count * attr.size >= 1024);
                ended(contexts[0]);
            }
    /* 8 integer types with 19 operations, 2 float types with 15, 2 complex types with 9. A base
     * operation that reads is none; a fetching one does what a base operation does. */
    IS(8 * (11 + 12 + 7) + 2 * (8 + 9 + 6) + 2 * (6 + 7 + 2), offered);
    IS(-FI_EMSGSIZE, fi_atomic(ends[0].ep, out, 4096, NULL, 1, place(memory, 0), key, FI_UINT64, FI_SUM,
                               contexts[0]));
}

int main(void)
{
    int modes[5] = {0, BASIC, FI_MR_BASIC, FI_MR_SCALABLE, BASIC};
    int i;
    for (i = 0; i < 5; i++) {
        mode = modes[i];
        insists = i == 4;
        what_is_offered();
        open_all();
        registrations();
        writes_and_reads();
        data_beside();
        refusals();
        atomics();
        atomic_reads();
        counts();
        what_is_valid();
        a_flood();
        close_all();
    }
    puts("ok");
    return 0;
}
