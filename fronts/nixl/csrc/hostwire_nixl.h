// What src/abi.rs has. Results are of nixl_status_t.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
struct hw_nixl_agent;
struct hw_nixl_request;

struct hw_nixl_text {
    const void *first;
    size_t len;
};

struct hw_nixl_piece {
    void *here;
    size_t len;
    uint64_t there;
    uint64_t key;
};

struct hw_nixl_order {
    bool is_read;
    bool has_message;
    uint32_t with;
    const hw_nixl_piece *pieces;
    size_t count;
    hw_nixl_text message;
};

using hw_nixl_give = void (*)(void *context, hw_nixl_text agent, hw_nixl_text message);

const char *hw_nixl_version();
hw_nixl_agent *hw_nixl_open(hw_nixl_text agent, bool has_thread);
void hw_nixl_close(hw_nixl_agent *);
void hw_nixl_name(const hw_nixl_agent *, uint8_t (*out)[64]);
int hw_nixl_load(const hw_nixl_agent *, hw_nixl_text agent, hw_nixl_text name);
int hw_nixl_unload(const hw_nixl_agent *, hw_nixl_text agent);
int hw_nixl_number(const hw_nixl_agent *, hw_nixl_text agent, uint32_t *out);
int hw_nixl_register(const hw_nixl_agent *, void *first, size_t len, uint64_t *key);
int hw_nixl_deregister(const hw_nixl_agent *, uint64_t key);
const hw_nixl_request *hw_nixl_transfer();
int hw_nixl_post(const hw_nixl_agent *, const hw_nixl_request *, const hw_nixl_order *);
int hw_nixl_check(const hw_nixl_agent *, const hw_nixl_request *);
int hw_nixl_release(const hw_nixl_agent *, const hw_nixl_request *);
int hw_nixl_notify(const hw_nixl_agent *, hw_nixl_text agent, hw_nixl_text message);
int hw_nixl_take(const hw_nixl_agent *, hw_nixl_give, void *context);
}
