/* Tagged messages of UCX within a host, as bench/instructions/tagged.c has them over libfabric: one thread has both ends, and a
 * send and a receive are functions of their own. A receive is posted when the message has come.
 *
 *     instructions
 *
 * Compile: cc -O2 instructions.c -lucp -lucs. UCX_TLS chooses the transport. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

#include "../instructions/turns.h"

#define CHECK(call)                                                                 \
    do {                                                                            \
        ucs_status_t status = (call);                                               \
        if (status != UCS_OK) {                                                     \
            fprintf(stderr, "instructions: %s: %s\n", #call, ucs_status_string(status)); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

enum { BYTES = 16384 };

static ucp_worker_h workers[2];
static ucp_ep_h ep;
static char out[BYTES], in[BYTES];

/* Progress of one end alone, until what was asked is done. */
static void complete(int end, void *request)
{
    if (UCS_PTR_IS_ERR(request))
        CHECK(UCS_PTR_STATUS(request));
    if (!request)
        return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS)
        ucp_worker_progress(workers[end]);
    CHECK(ucp_request_check_status(request));
    ucp_request_free(request);
}

static inline void send_tagged(size_t bytes)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    complete(0, ucp_tag_send_nbx(ep, out, bytes, bytes, &param));
}

static inline void receive_tagged(size_t bytes)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    complete(1, ucp_tag_recv_nbx(workers[1], in, bytes, bytes, UINT64_MAX, &param));
}

ROW void row_ucx_send_8(void) { send_tagged(8); }
ROW void row_ucx_receive_8(void) { receive_tagged(8); }
ROW void row_ucx_send_64(void) { send_tagged(64); }
ROW void row_ucx_receive_64(void) { receive_tagged(64); }
ROW void row_ucx_send_256(void) { send_tagged(256); }
ROW void row_ucx_receive_256(void) { receive_tagged(256); }
ROW void row_ucx_send_1024(void) { send_tagged(1024); }
ROW void row_ucx_receive_1024(void) { receive_tagged(1024); }
ROW void row_ucx_send_4096(void) { send_tagged(4096); }
ROW void row_ucx_receive_4096(void) { receive_tagged(4096); }

static turn_rows rows[] = {
    {NULL, row_ucx_send_8, row_ucx_receive_8},
    {NULL, row_ucx_send_64, row_ucx_receive_64},
    {NULL, row_ucx_send_256, row_ucx_receive_256},
    {NULL, row_ucx_send_1024, row_ucx_receive_1024},
    {NULL, row_ucx_send_4096, row_ucx_receive_4096},
};

/* The first message: the ends have to hear of each other. */
static void meet(void)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    void *sent = ucp_tag_send_nbx(ep, out, 1, 1, &param);
    void *received = ucp_tag_recv_nbx(workers[1], in, 1, 1, UINT64_MAX, &param);
    for (int turn = 0; turn < 100000; turn++)
        ucp_worker_progress(workers[turn % 2]);
    complete(0, sent);
    complete(1, received);
}

int main(void)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_worker_params_t worker = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SINGLE,
    };
    ucp_ep_params_t to = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_context_h context;
    ucp_config_t *config;
    ucp_address_t *address;
    size_t bytes;
    CHECK(ucp_config_read(NULL, NULL, &config));
    CHECK(ucp_init(&params, config, &context));
    for (int end = 0; end < 2; end++)
        CHECK(ucp_worker_create(context, &worker, &workers[end]));
    CHECK(ucp_worker_get_address(workers[1], &address, &bytes));
    to.address = address;
    CHECK(ucp_ep_create(workers[0], &to, &ep));
    memset(out, 7, sizeof out);
    meet();
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        warm_up(rows[i], WARM_UP);
        count(rows[i], COUNTED);
    }
    if (memcmp(out, in, 4096))
        abort();
}
