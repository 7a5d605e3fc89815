/* A provider of libfabric that does next to nothing, for `mtl:ofi` of Open MPI on two ranks of one host, and fi_pingpong: what
 * is above a provider takes by itself. libleast-fi.so in a folder of FI_PROVIDER_PATH, provider `least`.
 *
 * Messages are copied into a ring in shared memory and out of it. Nothing is checked, nobody is waited for, no message is longer
 * than 8 KiB, and no process is a third one: no provider that carries messages does less. With LEAST_NOTHING=1 not even that is done
 * for messages of MPI_COMM_WORLD with tags 1 and 100, which are all that osu_latency, osu_bw and osu_mbw_mr measure:
 * sends and receives end as they begin, and bring nothing. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_prov.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINES = 1024, LINE = 64, MESSAGE_MAX = 8192, QUEUE = 1 << 16, HEAD = 24 };

/* In the memory of the receiver. Only the sender writes it, except `taken`. */
struct ring {
    _Alignas(LINE) _Atomic uint64_t taken;
    _Alignas(LINE) char lines[LINES][LINE];
};
/* The head of a message; its bytes follow. `stamp` is stored last, and is different for each message. */
struct head {
    _Atomic uint64_t stamp;
    uint64_t tag, data;
};
_Static_assert(sizeof(struct head) == HEAD, "bytes follow at once");

struct receive {
    struct receive *next;
    void *buffer, *context;
    size_t len;
    uint64_t tag, ignore;
};
struct aside {
    struct aside *next;
    size_t len;
    uint64_t tag, data;
    char bytes[];
};
/* A completion queue, read from `first`, and the format of its entries. */
struct queue {
    struct fid_cq cq;
    enum fi_cq_format format;
    unsigned first, behind;
    struct fi_cq_tagged_entry ended[QUEUE];
};

/* A process has one of each. */
static struct fid_fabric fabric;
static struct fid_domain domain;
static struct fid_av av;
static struct fid_eq eq;
/* Sends and receives may share one queue. */
static struct queue queues[2], *of_sends, *of_receives;
static int queues_open;
static struct fid_ep ep;
static char name[32];
static int peers, nothing;
static struct ring *inbox, *outbox;
static uint64_t sent, room = LINES, got, told;
static void *cancelled;
static struct receive *posted, **posted_last = &posted, *spare;
static struct aside *asides, **asides_last = &asides;

static int no(void) { return -FI_ENOSYS; }
static int yes(void) { return 0; }

/* Whether messages with this tag are not carried. */
static int is_nothing(uint64_t tag)
{
    uint64_t world = tag & 0x0fffffffffffffff;
    return nothing && (world == 1 || world == 100);
}

static void end(struct queue *queue, void *context, uint64_t flags, size_t len, uint64_t data, uint64_t tag)
{
    queue->ended[queue->behind++ % QUEUE] = (struct fi_cq_tagged_entry){
        .op_context = context, .flags = flags, .len = len, .data = data, .tag = tag};
}

static uint64_t stamp(uint64_t line, size_t len) { return (line + 1) << 16 | len; }
static uint64_t lines(size_t len) { return (len + HEAD + LINE - 1) / LINE; }

/* If a message does not fit the rest of the ring, that rest is filled with a head that has this length. */
enum { TURN = 0xffff };

static ssize_t put(const void *bytes, size_t len, uint64_t data, uint64_t tag)
{
    uint64_t needs = lines(len), rest = LINES - sent % LINES;
    uint64_t skip = rest < needs ? rest : 0;
    if (room < needs + skip) {
        room = LINES - (sent - atomic_load_explicit(&outbox->taken, memory_order_acquire));
        if (room < needs + skip)
            return -FI_EAGAIN;
    }
    struct head *head = (void *)outbox->lines[sent % LINES];
    if (skip) {
        atomic_store_explicit(&head->stamp, stamp(sent, TURN), memory_order_release);
        sent += skip;
        head = (void *)outbox->lines[0];
    }
    head->tag = tag;
    head->data = data;
    memcpy(head + 1, bytes, len);
    atomic_store_explicit(&head->stamp, stamp(sent, len), memory_order_release);
    sent += needs;
    room -= needs + skip;
    return 0;
}

static void give(struct receive *receive, const void *bytes, size_t len, uint64_t data, uint64_t tag)
{
    size_t fits = len < receive->len ? len : receive->len;
    memcpy(receive->buffer, bytes, fits);
    end(of_receives, receive->context, FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA, fits, data, tag);
}

static void take(const struct head *head, size_t len)
{
    for (struct receive **at = &posted; *at; at = &(*at)->next) {
        struct receive *receive = *at;
        if ((receive->tag ^ head->tag) & ~receive->ignore)
            continue;
        give(receive, head + 1, len, head->data, head->tag);
        if (!(*at = receive->next))
            posted_last = at;
        receive->next = spare;
        spare = receive;
        return;
    }
    struct aside *aside = malloc(sizeof *aside + len);
    *aside = (struct aside){.len = len, .tag = head->tag, .data = head->data};
    memcpy(aside->bytes, head + 1, len);
    *asides_last = aside;
    asides_last = &aside->next;
}

static void progress(void)
{
    for (int i = 0; i < 64; i++) {
        struct head *head = (void *)inbox->lines[got % LINES];
        uint64_t word = atomic_load_explicit(&head->stamp, memory_order_acquire);
        if (word >> 16 != got + 1)
            break;
        size_t len = word & 0xffff;
        if (len == TURN) {
            got += LINES - got % LINES;
            continue;
        }
        take(head, len);
        got += lines(len);
    }
    if (got - told >= LINES / 4) {
        atomic_store_explicit(&inbox->taken, got, memory_order_release);
        told = got;
    }
}

static ssize_t trecv(struct fid_ep *e, void *buffer, size_t len, void *desc, fi_addr_t from, uint64_t tag,
                     uint64_t ignore, void *context)
{
    (void)e, (void)desc, (void)from;
    if (is_nothing(tag)) {
        end(of_receives, context, FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA, len, 0, tag);
        return 0;
    }
    struct receive new = {NULL, buffer, context, len, tag, ignore};
    for (struct aside **at = &asides; *at; at = &(*at)->next) {
        struct aside *aside = *at;
        if ((aside->tag ^ tag) & ~ignore)
            continue;
        give(&new, aside->bytes, aside->len, aside->data, aside->tag);
        if (!(*at = aside->next))
            asides_last = at;
        free(aside);
        return 0;
    }
    struct receive *receive = spare;
    if (receive)
        spare = receive->next;
    else
        receive = malloc(sizeof *receive);
    *receive = new;
    *posted_last = receive;
    posted_last = &receive->next;
    return 0;
}

static ssize_t tsenddata(struct fid_ep *e, const void *bytes, size_t len, void *desc, uint64_t data, fi_addr_t to,
                         uint64_t tag, void *context)
{
    (void)e, (void)desc, (void)to;
    ssize_t done = is_nothing(tag) ? 0 : len > MESSAGE_MAX ? -FI_EMSGSIZE : put(bytes, len, data, tag);
    if (!done)
        end(of_sends, context, FI_SEND | FI_TAGGED, 0, 0, 0);
    return done;
}

static ssize_t tinjectdata(struct fid_ep *e, const void *bytes, size_t len, uint64_t data, fi_addr_t to, uint64_t tag)
{
    (void)e, (void)to;
    return is_nothing(tag) ? 0 : put(bytes, len, data, tag);
}

/* mtl:ofi looks for unexpected messages by FI_PEEK. */
static ssize_t trecvmsg(struct fid_ep *e, const struct fi_msg_tagged *m, uint64_t flags)
{
    (void)e, (void)m, (void)flags;
    return -FI_ENOSYS;
}

/* Untagged messages, for fi_pingpong. */
static ssize_t mrecv(struct fid_ep *e, void *buffer, size_t len, void *desc, fi_addr_t from, void *context)
{
    return trecv(e, buffer, len, desc, from, 0, 0, context);
}

static ssize_t msend(struct fid_ep *e, const void *bytes, size_t len, void *desc, fi_addr_t to, void *context)
{
    return tsenddata(e, bytes, len, desc, 0, to, 0, context);
}

static ssize_t minject(struct fid_ep *e, const void *bytes, size_t len, fi_addr_t to)
{
    return tinjectdata(e, bytes, len, 0, to, 0);
}

static ssize_t cq_read(struct fid_cq *cq, void *out, size_t count)
{
    struct queue *queue = (void *)cq;
    if (queue->first == queue->behind)
        progress();
    if (cancelled)
        return -FI_EAVAIL;
    size_t read = 0;
    while (read < count && queue->first != queue->behind) {
        struct fi_cq_tagged_entry *next = &queue->ended[queue->first++ % QUEUE];
        if (queue->format == FI_CQ_FORMAT_TAGGED)
            ((struct fi_cq_tagged_entry *)out)[read++] = *next;
        else
            ((struct fi_cq_entry *)out)[read++].op_context = next->op_context;
    }
    return read ? (ssize_t)read : -FI_EAGAIN;
}

static ssize_t cq_readerr(struct fid_cq *q, struct fi_cq_err_entry *out, uint64_t flags)
{
    (void)q, (void)flags;
    *out = (struct fi_cq_err_entry){.op_context = cancelled, .flags = FI_RECV, .err = FI_ECANCELED};
    cancelled = NULL;
    return 1;
}

static ssize_t cancel(fid_t f, void *context)
{
    (void)f;
    for (struct receive **at = &posted; *at; at = &(*at)->next) {
        if ((*at)->context != context)
            continue;
        if (!(*at = (*at)->next))
            posted_last = at;
        cancelled = context;
        return 0;
    }
    return -FI_ENOENT;
}

static struct ring *map(const char *path, int flags)
{
    int file = shm_open(path, O_RDWR | flags, 0600);
    if (file < 0 || (flags && ftruncate(file, sizeof(struct ring))))
        return NULL;
    void *at = mmap(NULL, sizeof(struct ring), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    close(file);
    return at == MAP_FAILED ? NULL : at;
}

static int getname(fid_t f, void *out, size_t *len)
{
    (void)f;
    int fits = *len >= sizeof name;
    *len = sizeof name;
    if (!fits)
        return -FI_ETOOSMALL;
    memcpy(out, name, sizeof name);
    return 0;
}

static int insert(struct fid_av *a, const void *names, size_t count, fi_addr_t *out, uint64_t flags, void *context)
{
    (void)a, (void)flags, (void)context;
    for (size_t i = 0; i < count; i++) {
        const char *other = (const char *)names + i * sizeof name;
        if (strcmp(other, name) && !outbox && !(outbox = map(other, 0)))
            return 0;
        out[i] = peers++;
    }
    return count;
}

static int bind_ep(fid_t f, fid_t to, uint64_t flags)
{
    (void)f;
    if (to->fclass == FI_CLASS_CQ && flags & FI_TRANSMIT)
        of_sends = (void *)to;
    if (to->fclass == FI_CLASS_CQ && flags & FI_RECV)
        of_receives = (void *)to;
    return 0;
}

static int close_ep(fid_t f)
{
    (void)f;
    return shm_unlink(name);
}

/* Functions that these programs do not call return an error, whatever their arguments. */
#define NO ((void *)no)
#define YES ((void *)yes)
static struct fi_ops ops = {.size = sizeof ops, .close = YES, .bind = YES, .control = YES, .ops_open = NO};
static struct fi_ops ep_fid_ops = {.size = sizeof ops, .close = close_ep, .bind = bind_ep, .control = YES, .ops_open = NO};
static struct fi_ops_ep ep_ops = {.size = sizeof ep_ops, .cancel = cancel, .getopt = NO, .setopt = NO};
static struct fi_ops_cm cm_ops = {.size = sizeof cm_ops, .setname = NO, .getname = getname};
static struct fi_ops_tagged tagged_ops = {.size = sizeof tagged_ops, .recv = trecv, .recvv = NO, .recvmsg = trecvmsg,
    .send = NO, .sendv = NO, .sendmsg = NO, .inject = NO, .senddata = tsenddata, .injectdata = tinjectdata};
static struct fi_ops_msg msg_ops = {.size = sizeof msg_ops, .recv = mrecv, .recvv = NO, .recvmsg = NO, .send = msend,
    .sendv = NO, .sendmsg = NO, .inject = minject, .senddata = NO, .injectdata = NO};
static struct fi_ops_cq cq_ops = {.size = sizeof cq_ops, .read = cq_read, .readerr = cq_readerr};
static struct fi_ops_av av_ops = {.size = sizeof av_ops, .insert = insert, .remove = YES};

static int open_ep(struct fid_domain *d, struct fi_info *info, struct fid_ep **out, void *context)
{
    (void)d, (void)info;
    snprintf(name, sizeof name, "/least-%d", getpid());
    if (!(inbox = map(name, O_CREAT | O_EXCL)))
        return -errno;
    const char *set = getenv("LEAST_NOTHING");
    nothing = set && *set == '1';
    ep = (struct fid_ep){.fid = {FI_CLASS_EP, context, &ep_fid_ops}, .ops = &ep_ops, .cm = &cm_ops, .tagged = &tagged_ops,
        .msg = &msg_ops};
    *out = &ep;
    return 0;
}

static int open_cq(struct fid_domain *d, struct fi_cq_attr *attr, struct fid_cq **out, void *context)
{
    (void)d;
    if ((attr->format != FI_CQ_FORMAT_TAGGED && attr->format != FI_CQ_FORMAT_CONTEXT) || queues_open == 2)
        return -FI_ENOSYS;
    struct queue *queue = &queues[queues_open++];
    queue->format = attr->format;
    queue->cq = (struct fid_cq){.fid = {FI_CLASS_CQ, context, &ops}, .ops = &cq_ops};
    *out = &queue->cq;
    return 0;
}

static int open_av(struct fid_domain *d, struct fi_av_attr *attr, struct fid_av **out, void *context)
{
    (void)d, (void)attr;
    av = (struct fid_av){.fid = {FI_CLASS_AV, context, &ops}, .ops = &av_ops};
    *out = &av;
    return 0;
}

static struct fi_ops_domain domain_ops = {.size = sizeof domain_ops, .av_open = open_av, .cq_open = open_cq, .endpoint = open_ep};

static int open_domain(struct fid_fabric *f, struct fi_info *info, struct fid_domain **out, void *context)
{
    (void)f, (void)info;
    domain = (struct fid_domain){.fid = {FI_CLASS_DOMAIN, context, &ops}, .ops = &domain_ops};
    *out = &domain;
    return 0;
}

static int open_eq(struct fid_fabric *f, struct fi_eq_attr *attr, struct fid_eq **out, void *context)
{
    (void)f, (void)attr;
    eq = (struct fid_eq){.fid = {FI_CLASS_EQ, context, &ops}};
    *out = &eq;
    return 0;
}

static struct fi_ops_fabric fabric_ops = {.size = sizeof fabric_ops, .domain = open_domain, .eq_open = open_eq};

static int open_fabric(struct fi_fabric_attr *attr, struct fid_fabric **out, void *context)
{
    (void)attr;
    fabric = (struct fid_fabric){.fid = {FI_CLASS_FABRIC, context, &ops}, .ops = &fabric_ops};
    *out = &fabric;
    return 0;
}

static int getinfo(uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
                   struct fi_info **out)
{
    (void)version, (void)node, (void)service, (void)flags;
    if (!hints || !(hints->caps & (FI_TAGGED | FI_MSG)))
        return -FI_ENODATA;
    /* Otherwise providers that are layered on connections would use this one. */
    if (hints->ep_attr && hints->ep_attr->type != FI_EP_UNSPEC && hints->ep_attr->type != FI_EP_RDM)
        return -FI_ENODATA;
    struct fi_info *info = fi_dupinfo(NULL);
    info->caps = hints->caps;
    info->ep_attr->type = FI_EP_RDM;
    info->ep_attr->max_msg_size = (size_t)1 << 30;
    *info->domain_attr = (struct fi_domain_attr){.name = strdup("least"), .threading = hints->domain_attr->threading,
        .control_progress = FI_PROGRESS_MANUAL, .data_progress = FI_PROGRESS_MANUAL, .resource_mgmt = FI_RM_ENABLED,
        .av_type = FI_AV_MAP, .cq_data_size = 8, .cq_cnt = 1, .ep_cnt = 1, .tx_ctx_cnt = 1, .rx_ctx_cnt = 1,
        .max_ep_tx_ctx = 1, .max_ep_rx_ctx = 1};
    info->ep_attr->mem_tag_format = ~0ULL >> 1;
    info->ep_attr->tx_ctx_cnt = info->ep_attr->rx_ctx_cnt = 1;
    info->tx_attr->caps = info->rx_attr->caps = hints->caps;
    info->tx_attr->msg_order = info->rx_attr->msg_order = FI_ORDER_SAS;
    info->tx_attr->inject_size = 4096;
    info->tx_attr->size = info->rx_attr->size = 1024;
    info->tx_attr->iov_limit = info->rx_attr->iov_limit = 1;
    info->fabric_attr->name = strdup("least");
    *out = info;
    return 0;
}

static void cleanup(void) {}

struct fi_provider *fi_prov_ini(void)
{
    static struct fi_provider provider = {
        .version = 1, .name = "least", .getinfo = getinfo, .fabric = open_fabric, .cleanup = cleanup};
    provider.fi_version = fi_version();
    return &provider;
}
