/* Tagged messages over a provider of libfabric, a send and a receive in a function of its own: callgrind knows it by its name.
 *
 *     tagged [PROVIDER [few]]
 *
 * One thread has both ends, each in a domain of its own, so that neither makes progress for the other one. A send has its
 * completion read; a receive is posted when the message has come, and has its completion read. */
#define _GNU_SOURCE
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "maps.h"
#include "turns.h"

#define CHECK(call)                                                          \
    do {                                                                     \
        long status = (call);                                                \
        if (status < 0) {                                                    \
            fprintf(stderr, "tagged: %s: %s\n", #call, fi_strerror(-status)); \
            exit(1);                                                         \
        }                                                                    \
    } while (0)

/* The last ones are announced. So few that none of them is copied another way to find out which one is faster. */
enum { BYTES = 1024, LONG_BYTES = 65536, LONG_WARM_UP = 2, LONG_COUNTED = 5 };
/* As in pair.rs, for lackey. */
enum { FEW_WARM_UP = 16, FEW_COUNTED = 64 };

struct end {
    struct fid_domain *domain;
    struct fid_ep *ep;
    struct fid_cq *cq;
    struct fid_av *av;
    char name[512];
    size_t name_bytes;
    fi_addr_t other;
};

static struct end ends[2];
static char out[LONG_BYTES], in[LONG_BYTES];
static struct fi_context2 context[2];

static void complete(struct end *end)
{
    struct fi_cq_tagged_entry entry;
    ssize_t got;
    while ((got = fi_cq_read(end->cq, &entry, 1)) == -FI_EAGAIN)
        ;
    CHECK(got);
}

static int is_complete(struct end *end)
{
    struct fi_cq_tagged_entry entry;
    ssize_t got = fi_cq_read(end->cq, &entry, 1);
    if (got != -FI_EAGAIN)
        CHECK(got);
    return got == 1;
}

/* The length is a constant, so no two rows are the same code. */
static inline void send(size_t bytes)
{
    CHECK(fi_tsend(ends[0].ep, out, bytes, NULL, ends[0].other, bytes, &context[0]));
    complete(&ends[0]);
}

static inline void receive(size_t bytes)
{
    CHECK(fi_trecv(ends[1].ep, in, bytes, NULL, ends[1].other, bytes, 0, &context[1]));
    complete(&ends[1]);
}

/* A receive that is posted before its message, which a look does not find yet. */
static inline void post(size_t bytes)
{
    struct fi_cq_tagged_entry entry;
    CHECK(fi_trecv(ends[1].ep, in, bytes, NULL, ends[1].other, bytes, 0, &context[1]));
    if (fi_cq_read(ends[1].cq, &entry, 1) != -FI_EAGAIN)
        abort();
}

static void send_8(void) { send(8); }
static void send_1024(void) { send(BYTES); }

ROW void row_fi_tsend_8(void) { send(8); }
ROW void row_fi_trecv_8(void) { receive(8); }
ROW void row_fi_tsend_64(void) { send(64); }
ROW void row_fi_trecv_64(void) { receive(64); }
ROW void row_fi_tsend_1024(void) { send(BYTES); }
ROW void row_fi_trecv_1024(void) { receive(BYTES); }
ROW void row_fi_post_8(void) { post(8); }
ROW void row_fi_take_8(void) { complete(&ends[1]); }
ROW void row_fi_post_1024(void) { post(BYTES); }
/* Not the same code as that of 8 bytes. */
ROW void row_fi_take_1024(void)
{
    complete(&ends[1]);
    __asm__ volatile("");
}

/* Both ends take part, in turn: each call is the announcement or the receive, or one look. */
ROW void row_fi_tsend_65536(void)
{
    if (under_way[0]) {
        under_way[0] = !is_complete(&ends[0]);
        return;
    }
    CHECK(fi_tsend(ends[0].ep, out, LONG_BYTES, NULL, ends[0].other, LONG_BYTES, &context[0]));
    under_way[0] = 1;
}
ROW void row_fi_trecv_65536(void)
{
    if (under_way[1]) {
        under_way[1] = !is_complete(&ends[1]);
        return;
    }
    CHECK(fi_trecv(ends[1].ep, in, LONG_BYTES, NULL, ends[1].other, LONG_BYTES, 0, &context[1]));
    under_way[1] = 1;
}

static turn_rows rows[] = {
    {NULL, row_fi_tsend_8, row_fi_trecv_8},
    {NULL, row_fi_tsend_64, row_fi_trecv_64},
    {NULL, row_fi_tsend_1024, row_fi_trecv_1024},
    {row_fi_post_8, send_8, row_fi_take_8},
    {row_fi_post_1024, send_1024, row_fi_take_1024},
};
static turn_rows long_rows = {NULL, row_fi_tsend_65536, row_fi_trecv_65536};

/* libfabric looks for two functions among those of the kernel when it starts, and takes 60 million instructions for that: here
 * there are none to read. */
FILE *fopen(const char *path, const char *mode)
{
    return strcmp(path, "/proc/kallsyms") ? fopen64(path, mode) : NULL;
}

static void open_end(struct fid_fabric *fabric, struct fi_info *info, struct end *end)
{
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED, .size = 1024};
    struct fi_av_attr av = {.type = info->domain_attr->av_type};
    CHECK(fi_domain(fabric, info, &end->domain, NULL));
    CHECK(fi_endpoint(end->domain, info, &end->ep, NULL));
    CHECK(fi_cq_open(end->domain, &cq, &end->cq, NULL));
    CHECK(fi_av_open(end->domain, &av, &end->av, NULL));
    CHECK(fi_ep_bind(end->ep, &end->av->fid, 0));
    CHECK(fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV));
    CHECK(fi_enable(end->ep));
    end->name_bytes = sizeof end->name;
    CHECK(fi_getname(&end->ep->fid, end->name, &end->name_bytes));
}

/* The first message: the ends may have to hear of each other before one can be sent. */
static void meet(void)
{
    struct fi_cq_tagged_entry entry;
    int done = 0;
    ssize_t status;
    CHECK(fi_trecv(ends[1].ep, in, 1, NULL, ends[1].other, 1, 0, &context[1]));
    while ((status = fi_tsend(ends[0].ep, out, 1, NULL, ends[0].other, 1, &context[0])) == -FI_EAGAIN)
        for (int i = 0; i < 2; i++)
            done += fi_cq_read(ends[i].cq, &entry, 1) == 1;
    CHECK(status);
    while (done < 2)
        for (int i = 0; i < 2; i++)
            done += fi_cq_read(ends[i].cq, &entry, 1) == 1;
}

int main(int argc, char **argv)
{
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fid_fabric *fabric;
    int is_few = argc > 2;
    hints->fabric_attr->prov_name = strdup(argc > 1 ? argv[1] : "hostwire");
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_TAGGED | FI_DIRECTED_RECV;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    CHECK(fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, &info));
    CHECK(fi_fabric(info->fabric_attr, &fabric, NULL));
    for (int i = 0; i < 2; i++)
        open_end(fabric, info, &ends[i]);
    for (int i = 0; i < 2; i++)
        CHECK(fi_av_insert(ends[i].av, ends[1 - i].name, 1, &ends[i].other, 0, NULL) - 1);
    memset(out, 7, sizeof out);
    meet();
    if (is_few)
        print_maps();
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        warm_up(rows[i], is_few ? FEW_WARM_UP : WARM_UP);
        count(rows[i], is_few ? FEW_COUNTED : COUNTED);
    }
    warm_up(long_rows, LONG_WARM_UP);
    count(long_rows, LONG_COUNTED);
    if (memcmp(out, in, sizeof in))
        abort();
    for (int i = 0; i < 2; i++) {
        fi_close(&ends[i].ep->fid);
        fi_close(&ends[i].cq->fid);
        fi_close(&ends[i].av->fid);
        fi_close(&ends[i].domain->fid);
    }
    fi_close(&fabric->fid);
    fi_freeinfo(info);
}
