/* How endpoints of the provider "hostwire" are closed, whatever was done to them before and whichever
 * threads use them. Prints "ok". */
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_cq *first, *second;
static struct fid_cntr *one, *other;

static void open_all(void)
{
    struct fi_info *asked = fi_allocinfo();
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_FD};
    struct fi_av_attr table = {.type = FI_AV_TABLE};
    CHECK(asked);
    asked->fabric_attr->prov_name = strdup("hostwire");
    asked->ep_attr->type = FI_EP_RDM;
    asked->caps = FI_MSG | FI_TAGGED;
    IS(0, fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, asked, &info));
    fi_freeinfo(asked);
    IS(0, fi_fabric(info->fabric_attr, &fabric, NULL));
    IS(0, fi_domain(fabric, info, &domain, NULL));
    IS(0, fi_av_open(domain, &table, &av, NULL));
    IS(0, fi_cq_open(domain, &attr, &first, NULL));
    IS(0, fi_cq_open(domain, &attr, &second, NULL));
    IS(0, fi_cntr_open(domain, NULL, &one, NULL));
    IS(0, fi_cntr_open(domain, NULL, &other, NULL));
}

static void close_all(void)
{
    IS(0, fi_close(&first->fid));
    IS(0, fi_close(&second->fid));
    IS(0, fi_close(&one->fid));
    IS(0, fi_close(&other->fid));
    IS(0, fi_close(&av->fid));
    IS(0, fi_close(&domain->fid));
    IS(0, fi_close(&fabric->fid));
    fi_freeinfo(info);
}

/* Completions of sends go to the first queue, those of receives to the second. */
static struct fid_ep *open_endpoint(void)
{
    struct fid_ep *ep;
    IS(0, fi_endpoint(domain, info, &ep, NULL));
    IS(0, fi_ep_bind(ep, &av->fid, 0));
    IS(0, fi_ep_bind(ep, &first->fid, FI_TRANSMIT));
    IS(0, fi_ep_bind(ep, &second->fid, FI_RECV));
    IS(0, fi_enable(ep));
    return ep;
}

/* A bind that is refused changes nothing, and does not keep the endpoint. */
static void refused_binds(void)
{
    struct fid_ep *ep;
    IS(0, fi_endpoint(domain, info, &ep, NULL));
    IS(-FI_EINVAL, fi_ep_bind(ep, &first->fid, 0));
    IS(0, fi_close(&ep->fid));
    IS(0, fi_endpoint(domain, info, &ep, NULL));
    IS(0, fi_ep_bind(ep, &first->fid, FI_RECV));
    IS(-FI_EINVAL, fi_ep_bind(ep, &second->fid, FI_TRANSMIT | FI_RECV));
    IS(0, fi_ep_bind(ep, &first->fid, FI_TRANSMIT));
    IS(-FI_EINVAL, fi_ep_bind(ep, &second->fid, FI_TRANSMIT));
    IS(-FI_EINVAL, fi_ep_bind(ep, &one->fid, 0));
    IS(0, fi_ep_bind(ep, &one->fid, FI_RECV));
    IS(-FI_EINVAL, fi_ep_bind(ep, &other->fid, FI_SEND | FI_RECV));
    IS(0, fi_ep_bind(ep, &one->fid, FI_SEND));
    IS(0, fi_close(&ep->fid));
}

static int goes_on;

static void *reader(void *unused)
{
    char none[64];
    (void)unused;
    while (__atomic_load_n(&goes_on, __ATOMIC_RELAXED))
        fi_cq_read(second, none, 0);
    return NULL;
}

static void *waiter(void *unused)
{
    struct fid *fid = &second->fid;
    (void)unused;
    while (__atomic_load_n(&goes_on, __ATOMIC_RELAXED)) {
        int idle = fi_trywait(fabric, &fid, 1);
        CHECK(idle == 0 || idle == -FI_EAGAIN);
    }
    return NULL;
}

static pthread_t begin(void *(*act)(void *))
{
    pthread_t thread;
    __atomic_store_n(&goes_on, 1, __ATOMIC_RELAXED);
    IS(0, pthread_create(&thread, NULL, act, NULL));
    return thread;
}

static void end(pthread_t thread)
{
    __atomic_store_n(&goes_on, 0, __ATOMIC_RELAXED);
    IS(0, pthread_join(thread, NULL));
}

/* Another thread asks meanwhile whether it may sleep. */
static void beside_a_waiter(void)
{
    pthread_t thread = begin(waiter);
    int i;
    for (i = 0; i < 200; i++)
        IS(0, fi_close(&open_endpoint()->fid));
    end(thread);
}

/* In a copy of the process, while another thread of the original reads. */
static void in_copies(void)
{
    struct fid_ep *ep = open_endpoint();
    pthread_t thread = begin(reader);
    int i, status;
    for (i = 0; i < 50; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            char entry[64];
            ssize_t got;
            /* Ends the process if it hangs. */
            alarm(20);
            got = fi_cq_read(first, entry, 1);
            if (got >= 0 || got == -FI_EAGAIN)
                _exit(1);
            _exit(fi_close(&ep->fid) ? 2 : 0);
        }
        IS(child, waitpid(child, &status, 0));
        IS(0, status);
    }
    end(thread);
    IS(0, fi_close(&ep->fid));
}

int main(void)
{
    open_all();
    refused_binds();
    beside_a_waiter();
    in_copies();
    close_all();
    puts("ok");
    return 0;
}
