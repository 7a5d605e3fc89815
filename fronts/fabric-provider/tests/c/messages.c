/* Two endpoints of one process do all that the provider "hostwire" offers. Prints "ok". */
#include <errno.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

struct end {
    struct fid_ep *ep;
    struct fid_cq *tx, *rx;
    struct fid_av *av;
    char name[64];
    size_t name_bytes;
    /* The addresses of both ends, by index. */
    fi_addr_t address[2];
};

static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct end ends[2];
static char contexts[64][64];
static char big_out[1 << 20], big_in[1 << 20];

static struct fi_info *hints(void)
{
    struct fi_info *hints = fi_allocinfo();
    CHECK(hints);
    hints->fabric_attr->prov_name = strdup("hostwire");
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_TAGGED | FI_DIRECTED_RECV | FI_SOURCE | FI_MULTI_RECV;
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

/* Capabilities that the provider lacks are not offered. */
static void refusals(void)
{
    struct fi_info *asked;
    IS(0, asks(hints()));
    asked = hints(), asked->caps |= FI_TRIGGER;
    IS(-FI_ENODATA, asks(asked));
    asked = hints(), asked->caps |= FI_COLLECTIVE;
    IS(-FI_ENODATA, asks(asked));
    asked = hints(), asked->ep_attr->type = FI_EP_MSG;
    IS(-FI_ENODATA, asks(asked));
    asked = hints(), asked->tx_attr->inject_size = 1 << 20;
    IS(-FI_ENODATA, asks(asked));
    asked = hints(), asked->domain_attr->name = strdup("another");
    IS(-FI_ENODATA, asks(asked));
    asked = hints(), asked->domain_attr->threading = FI_THREAD_DOMAIN;
    asked->domain_attr->av_type = FI_AV_TABLE, asked->domain_attr->cq_data_size = 8;
    IS(0, asks(asked));
}

static void open_all(void)
{
    struct fi_info *asked = hints(), *info;
    struct fi_cq_attr tx = {.format = FI_CQ_FORMAT_CONTEXT}, rx = {.format = FI_CQ_FORMAT_TAGGED};
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    int i, j;

    IS(0, fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, asked, &info));
    CHECK(!strcmp(info->fabric_attr->prov_name, "hostwire"));
    IS(8, info->domain_attr->cq_data_size);
    IS(0, info->domain_attr->mr_mode);
    IS(0, fi_fabric(info->fabric_attr, &fabric, NULL));
    IS(0, fi_domain(fabric, info, &domain, NULL));
    for (i = 0; i < 2; i++) {
        struct end *end = &ends[i];
        IS(0, fi_endpoint(domain, info, &end->ep, NULL));
        IS(0, fi_cq_open(domain, &tx, &end->tx, NULL));
        IS(0, fi_cq_open(domain, &rx, &end->rx, NULL));
        IS(0, fi_av_open(domain, &av, &end->av, NULL));
        IS(-FI_ENOAV, fi_enable(end->ep));
        IS(0, fi_ep_bind(end->ep, &end->av->fid, 0));
        IS(-FI_ENOCQ, fi_enable(end->ep));
        IS(0, fi_ep_bind(end->ep, &end->tx->fid, FI_TRANSMIT));
        IS(0, fi_ep_bind(end->ep, &end->rx->fid, FI_RECV));
        IS(0, fi_enable(end->ep));
        end->name_bytes = 0;
        IS(-FI_ETOOSMALL, fi_getname(&end->ep->fid, NULL, &end->name_bytes));
        CHECK(end->name_bytes <= sizeof end->name);
        IS(0, fi_getname(&end->ep->fid, end->name, &end->name_bytes));
    }
    for (i = 0; i < 2; i++)
        for (j = 0; j < 2; j++) {
            IS(1, fi_av_insert(ends[i].av, ends[j].name, 1, &ends[i].address[j], 0, NULL));
            IS(j, ends[i].address[j]);
        }
    fi_freeinfo(asked);
    fi_freeinfo(info);
}

static void copy_name(const char *name, void **addr, size_t *bytes)
{
    *addr = malloc(*bytes = 64);
    CHECK(*addr);
    memcpy(*addr, name, 64);
}

/* Before an endpoint is open, its source address has only the host, and no peer. The wanted destination is kept. */
static void addresses_of_hints(void)
{
    struct fi_info *asked = hints(), *info, *again;
    struct fid_ep *ep;
    fi_addr_t unknown;
    copy_name(ends[1].name, &asked->dest_addr, &asked->dest_addrlen);
    IS(0, fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, asked, &info));
    CHECK(info->dest_addrlen == 64 && !memcmp(info->dest_addr, ends[1].name, 64));
    CHECK(info->src_addrlen == 64 && !memcmp(info->src_addr, ends[1].name, 6));
    IS(0, fi_av_insert(ends[0].av, info->src_addr, 1, &unknown, 0, NULL));
    CHECK(unknown == FI_ADDR_NOTAVAIL);
    again = fi_dupinfo(info);
    IS(0, fi_endpoint(domain, again, &ep, NULL));
    IS(0, fi_close(&ep->fid));
    IS(0, asks(again));
    memcpy(info->src_addr, ends[1].name, 64);
    IS(-FI_EADDRNOTAVAIL, fi_endpoint(domain, info, &ep, NULL));
    IS(-FI_ENODATA, asks(fi_dupinfo(info)));
    fi_freeinfo(info);
    asked->dest_addrlen = 16;
    IS(-FI_ENODATA, asks(asked));
}

/* The next completion of a receive at one end, and who sent it. Both make progress. */
static struct fi_cq_tagged_entry received(int at, fi_addr_t *from)
{
    struct fi_cq_tagged_entry entry;
    struct fi_cq_err_entry error;
    long tries;
    for (tries = 0; tries < 100000000; tries++) {
        char other[64];
        ssize_t got = fi_cq_readfrom(ends[at].rx, &entry, 1, from);
        if (got == 1)
            return entry;
        if (got == -FI_EAVAIL) {
            fi_cq_readerr(ends[at].rx, &error, 0);
            fprintf(stderr, "error %d\n", error.err);
        }
        IS(-FI_EAGAIN, got);
        /* Makes progress, and takes nothing. */
        IS(-FI_EAGAIN, fi_cq_read(ends[1 - at].rx, other, 0));
    }
    CHECK(!"nothing came");
    return entry;
}

static struct fi_cq_err_entry failed(int at)
{
    struct fi_cq_err_entry error;
    char entry[64], other[64];
    ssize_t got;
    memset(&error, 0, sizeof error);
    do {
        got = fi_cq_read(ends[at].rx, entry, 1);
        fi_cq_read(ends[1 - at].rx, other, 0);
    } while (got == -FI_EAGAIN);
    IS(-FI_EAVAIL, got);
    IS(1, fi_cq_readerr(ends[at].rx, &error, 0));
    return error;
}

static void sent(int at, void *context)
{
    struct fi_cq_entry entry;
    char other[64];
    ssize_t got;
    while ((got = fi_cq_read(ends[at].tx, &entry, 1)) == -FI_EAGAIN)
        fi_cq_read(ends[1 - at].rx, other, 0);
    IS(1, got);
    CHECK(entry.op_context == context);
}

static void plain_and_tagged(void)
{
    struct fi_cq_tagged_entry entry;
    fi_addr_t from;
    char in[64];
    IS(0, fi_recv(ends[1].ep, in, 64, NULL, FI_ADDR_UNSPEC, contexts[1]));
    IS(0, fi_tsend(ends[0].ep, "tagged", 7, NULL, 1, 5, contexts[2]));
    IS(0, fi_send(ends[0].ep, "plain", 6, NULL, 1, contexts[3]));
    entry = received(1, &from);
    CHECK(entry.op_context == contexts[1] && entry.len == 6 && !strcmp(in, "plain"));
    IS(FI_MSG | FI_RECV, entry.flags);
    IS(0, from);
    sent(0, contexts[2]);
    sent(0, contexts[3]);
    /* Tag bits that are ignored; data that are 0; no completion of an injected message. */
    IS(0, fi_tinjectdata(ends[0].ep, "data", 5, 0, 1, 0xabc5));
    IS(0, fi_trecv(ends[1].ep, in, 64, NULL, FI_ADDR_UNSPEC, 0xf005, 0xfff0, contexts[4]));
    entry = received(1, &from);
    CHECK(entry.tag == 5 && !strcmp(in, "tagged"));
    IS(FI_TAGGED | FI_RECV, entry.flags);
    IS(0, fi_trecv(ends[1].ep, in, 64, NULL, 0, 0xa005, 0xfff0, contexts[4]));
    entry = received(1, &from);
    CHECK(entry.tag == 0xabc5 && entry.data == 0 && !strcmp(in, "data"));
    IS(FI_TAGGED | FI_RECV | FI_REMOTE_CQ_DATA, entry.flags);
    IS(-FI_EAGAIN, fi_cq_read(ends[0].tx, in, 1));
    /* To itself. */
    IS(0, fi_tsend(ends[0].ep, "self", 5, NULL, 0, 6, contexts[5]));
    IS(0, fi_trecv(ends[0].ep, in, 64, NULL, 0, 6, 0, contexts[6]));
    entry = received(0, &from);
    CHECK(from == 0 && !strcmp(in, "self"));
    sent(0, contexts[5]);
}

static void long_ones_and_vectors(void)
{
    struct iovec out[2] = {{big_out, 1000}, {big_out + 1000, sizeof big_out - 1000}};
    struct iovec in[2] = {{big_in, 7}, {big_in + 7, sizeof big_in - 7}};
    struct fi_cq_tagged_entry entry;
    size_t i;
    for (i = 0; i < sizeof big_out; i++)
        big_out[i] = (char)(i * 31 + i / 4096);
    IS(0, fi_tsendv(ends[0].ep, out, NULL, 2, 1, 1, contexts[1]));
    IS(0, fi_trecvv(ends[1].ep, in, NULL, 2, 0, 1, 0, contexts[2]));
    entry = received(1, NULL);
    CHECK(entry.len == sizeof big_in && !memcmp(big_in, big_out, sizeof big_in));
    sent(0, contexts[1]);
    memset(big_in, 0, sizeof big_in);
    IS(0, fi_recv(ends[0].ep, big_in, sizeof big_in, NULL, 1, contexts[2]));
    IS(0, fi_send(ends[1].ep, big_out, sizeof big_out, NULL, 0, contexts[1]));
    entry = received(0, NULL);
    CHECK(entry.len == sizeof big_in && !memcmp(big_in, big_out, sizeof big_in));
    sent(1, contexts[1]);
    IS(-FI_EMSGSIZE, fi_inject(ends[0].ep, big_out, 5000, 1));
}

static void what_is_too_long(void)
{
    struct fi_cq_err_entry error;
    char in[4];
    IS(0, fi_tsend(ends[0].ep, "0123456789", 10, NULL, 1, 3, contexts[1]));
    IS(0, fi_trecv(ends[1].ep, in, 4, NULL, 0, 3, 0, contexts[2]));
    error = failed(1);
    IS(FI_ETRUNC, error.err);
    CHECK(error.op_context == contexts[2] && error.len == 4 && error.olen == 6 && error.tag == 3);
    CHECK(!memcmp(in, "0123", 4));
    sent(0, contexts[1]);
}

static void peeks(void)
{
    struct fi_cq_tagged_entry entry;
    struct iovec iov = {big_in, 100};
    struct fi_msg_tagged msg = {.addr = FI_ADDR_UNSPEC, .ignore = ~0ULL, .context = contexts[9]};
    int i;
    IS(0, fi_trecvmsg(ends[1].ep, &msg, FI_PEEK));
    IS(FI_ENOMSG, failed(1).err);
    for (i = 0; i < 4; i++)
        IS(0, fi_tinject(ends[0].ep, "abcd", i + 1, 1, i));
    IS(0, fi_trecvmsg(ends[1].ep, &msg, FI_PEEK));
    entry = received(1, NULL);
    CHECK(entry.op_context == contexts[9] && entry.tag == 0 && entry.len == 1);
    /* The third is claimed, and the second is dropped; other receives get the rest. */
    msg.tag = 2, msg.ignore = 0;
    IS(0, fi_trecvmsg(ends[1].ep, &msg, FI_PEEK | FI_CLAIM));
    IS(3, received(1, NULL).len);
    msg.tag = 1, msg.context = contexts[8];
    IS(0, fi_trecvmsg(ends[1].ep, &msg, FI_PEEK | FI_DISCARD));
    IS(2, received(1, NULL).len);
    IS(0, fi_trecv(ends[1].ep, big_in, 100, NULL, FI_ADDR_UNSPEC, 0, ~0ULL, contexts[1]));
    IS(1, received(1, NULL).len);
    IS(0, fi_trecv(ends[1].ep, big_in, 100, NULL, FI_ADDR_UNSPEC, 0, ~0ULL, contexts[1]));
    IS(4, received(1, NULL).len);
    msg.msg_iov = &iov, msg.iov_count = 1, msg.context = contexts[9];
    IS(0, fi_trecvmsg(ends[1].ep, &msg, FI_CLAIM));
    entry = received(1, NULL);
    CHECK(entry.op_context == contexts[9] && entry.tag == 2 && entry.len == 3);
    IS(-FI_EINVAL, fi_trecvmsg(ends[1].ep, &msg, FI_CLAIM));
    /* A message that is claimed and dropped has a completion like a received one. */
    IS(0, fi_tinject(ends[0].ep, "abcde", 5, 1, 7));
    msg.tag = 7, msg.msg_iov = NULL, msg.iov_count = 0;
    IS(0, fi_trecvmsg(ends[1].ep, &msg, FI_PEEK | FI_CLAIM));
    IS(5, received(1, NULL).len);
    IS(0, fi_trecvmsg(ends[1].ep, &msg, FI_CLAIM | FI_DISCARD));
    entry = received(1, NULL);
    CHECK(entry.op_context == contexts[9] && entry.tag == 7 && entry.len == 5);
    IS(0, fi_trecvmsg(ends[1].ep, &msg, FI_PEEK));
    IS(FI_ENOMSG, failed(1).err);
}

/* A length without an address is an error; without a length it is an empty message. */
static void lengths_at_no_address(void)
{
    struct iovec iov = {.iov_len = 8};
    IS(-FI_EINVAL, fi_send(ends[0].ep, NULL, 8, NULL, 1, contexts[0]));
    IS(-FI_EINVAL, fi_sendv(ends[0].ep, &iov, NULL, 1, 1, contexts[0]));
    IS(-FI_EINVAL, fi_inject(ends[0].ep, NULL, 8, 1));
    IS(-FI_EINVAL, fi_tsend(ends[0].ep, NULL, 8, NULL, 1, 7, contexts[0]));
    IS(-FI_EINVAL, fi_tinject(ends[0].ep, NULL, 8, 1, 7));
    IS(-FI_EINVAL, fi_recv(ends[1].ep, NULL, 8, NULL, FI_ADDR_UNSPEC, contexts[0]));
    IS(-FI_EINVAL, fi_trecv(ends[1].ep, NULL, 8, NULL, FI_ADDR_UNSPEC, 7, 0, contexts[0]));
    IS(0, fi_tinject(ends[0].ep, NULL, 0, 1, 7));
    IS(0, fi_trecv(ends[1].ep, NULL, 0, NULL, FI_ADDR_UNSPEC, 7, 0, contexts[0]));
    IS(0, received(1, NULL).len);
}

static void cancels(void)
{
    struct fi_cq_err_entry error;
    char in[4];
    IS(0, fi_trecv(ends[1].ep, in, 4, NULL, FI_ADDR_UNSPEC, 99, 0, contexts[1]));
    IS(0, fi_cancel(&ends[1].ep->fid, contexts[1]));
    error = failed(1);
    IS(FI_ECANCELED, error.err);
    CHECK(error.op_context == contexts[1]);
    IS(-FI_ENOENT, fi_cancel(&ends[1].ep->fid, contexts[1]));
}

static void several_messages_for_one_receive(void)
{
    static char room[256];
    struct iovec iov = {room, sizeof room};
    struct fi_msg msg = {&iov, NULL, 1, FI_ADDR_UNSPEC, contexts[7], 0};
    struct fi_cq_tagged_entry entry;
    size_t min = 100, len = sizeof min;
    int i;
    IS(0, fi_setopt(&ends[1].ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min, sizeof min));
    min = 0;
    IS(0, fi_getopt(&ends[1].ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min, &len));
    IS(100, min);
    IS(0, fi_recvmsg(ends[1].ep, &msg, FI_MULTI_RECV));
    for (i = 0; i < 3; i++) {
        char out[60];
        memset(out, 'a' + i, sizeof out);
        IS(0, fi_inject(ends[0].ep, out, sizeof out, 1));
        entry = received(1, NULL);
        CHECK(entry.op_context == contexts[7] && entry.buf == room + 60 * i && entry.len == 60);
        CHECK(room[60 * i] == 'a' + i && room[60 * i + 59] == 'a' + i);
        /* 76 bytes are left after the third message, and a message may have 100. */
        IS(i == 2, !!(entry.flags & FI_MULTI_RECV));
    }
}

/* If a program gives pieces of memory again only when they are reported full, one of them is always unused. */
static void memory_that_was_given_first_is_full_first(void)
{
    static char rooms[2][256];
    struct fi_cq_tagged_entry entry;
    size_t min = 100;
    int i;
    IS(0, fi_setopt(&ends[1].ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min, sizeof min));
    for (i = 0; i < 2; i++) {
        struct iovec iov = {rooms[i], sizeof rooms[i]};
        struct fi_msg msg = {&iov, NULL, 1, FI_ADDR_UNSPEC, contexts[i], 0};
        IS(0, fi_recvmsg(ends[1].ep, &msg, FI_MULTI_RECV));
    }
    for (i = 0; i < 6; i++) {
        char out[60];
        memset(out, 'a' + i, sizeof out);
        IS(0, fi_inject(ends[0].ep, out, sizeof out, 1));
    }
    for (i = 0; i < 6; i++) {
        char *there = rooms[i / 3] + 60 * (i % 3);
        entry = received(1, NULL);
        CHECK(entry.op_context == contexts[i / 3] && entry.buf == there && entry.len == 60);
        CHECK(there[0] == 'a' + i && there[59] == 'a' + i);
        IS(i % 3 == 2, !!(entry.flags & FI_MULTI_RECV));
    }
}

/* Nobody posts receives: at last sends are refused, and none is lost. */
static void a_flood(void)
{
    static char out[8192];
    int i, begun = 0;
    for (i = 0; i < 100000; i++) {
        char entry[64];
        ssize_t result = fi_tsend(ends[0].ep, out, sizeof out, NULL, 1, i, contexts[1]);
        fi_cq_read(ends[1].rx, entry, 0);
        if (result == -FI_EAGAIN)
            break;
        IS(0, result);
        begun++;
    }
    CHECK(begun > 100 && begun < 2000);
    for (i = 0; i < begun; i++) {
        struct fi_cq_tagged_entry entry;
        IS(0, fi_trecv(ends[1].ep, big_in, 8192, NULL, 0, 0, ~0ULL, contexts[2]));
        entry = received(1, NULL);
        IS(i, entry.tag);
        IS(8192, entry.len);
    }
    for (i = 0; i < begun; i++)
        sent(0, contexts[1]);
}

static void addresses_and_events(void)
{
    char name[64] = {0}, text[64];
    size_t len = sizeof name, text_bytes = sizeof text;
    fi_addr_t address = 1, unknown;
    struct fid_eq *eq;
    struct fi_eq_attr attr = {.wait_obj = FI_WAIT_NONE};
    struct fi_eq_entry out = {.data = 7}, in;
    uint32_t event;
    IS(0, fi_av_lookup(ends[0].av, 1, name, &len));
    CHECK(len == ends[1].name_bytes && !memcmp(name, ends[1].name, len));
    CHECK(!strncmp(fi_av_straddr(ends[0].av, name, text, &text_bytes), "fi_hostwire://", 14));
    IS(0, fi_av_insert(ends[0].av, contexts[0], 1, &unknown, 0, NULL));
    CHECK(unknown == FI_ADDR_NOTAVAIL);
    IS(0, fi_av_remove(ends[0].av, &address, 1, 0));
    IS(-FI_EINVAL, fi_av_lookup(ends[0].av, 1, name, &len));
    IS(-FI_EINVAL, fi_tinject(ends[0].ep, "x", 1, 1, 0));
    IS(0, fi_eq_open(fabric, &attr, &eq, NULL));
    IS(-FI_EAGAIN, fi_eq_read(eq, &event, &in, sizeof in, 0));
    IS(sizeof out, fi_eq_write(eq, FI_NOTIFY, &out, sizeof out, 0));
    IS(sizeof out, fi_eq_sread(eq, &event, &in, sizeof in, 1000, 0));
    CHECK(event == FI_NOTIFY && in.data == 7);
    IS(0, fi_close(&eq->fid));
}

/* Operations that wait for an endpoint fail when it is closed. */
static void an_end(void)
{
    struct fi_cq_err_entry error;
    struct fi_cq_tagged_entry entry;
    char in[4];
    int i;
    IS(-FI_EAGAIN, fi_cq_sread(ends[1].rx, &entry, 1, NULL, 20));
    IS(0, fi_trecv(ends[1].ep, in, 4, NULL, 0, 1234, 0, contexts[3]));
    IS(0, fi_close(&ends[0].ep->fid));
    while (fi_cq_sread(ends[1].rx, &entry, 1, NULL, -1) == -FI_EAGAIN)
        ;
    IS(1, fi_cq_readerr(ends[1].rx, &error, 0));
    CHECK(error.err == ECONNRESET && error.op_context == contexts[3]);
    IS(-ECONNRESET, fi_tinject(ends[1].ep, "x", 1, 0, 0));
    IS(0, fi_close(&ends[1].ep->fid));
    for (i = 0; i < 2; i++) {
        IS(0, fi_close(&ends[i].tx->fid));
        IS(0, fi_close(&ends[i].rx->fid));
        IS(0, fi_close(&ends[i].av->fid));
    }
    IS(0, fi_close(&domain->fid));
    IS(0, fi_close(&fabric->fid));
}

int main(void)
{
    refusals();
    open_all();
    addresses_of_hints();
    plain_and_tagged();
    long_ones_and_vectors();
    what_is_too_long();
    peeks();
    lengths_at_no_address();
    cancels();
    several_messages_for_one_receive();
    memory_that_was_given_first_is_full_first();
    a_flood();
    addresses_and_events();
    an_end();
    puts("ok");
    return 0;
}
