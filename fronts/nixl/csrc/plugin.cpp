// The plugin: NIXL's class of a backend over src/abi.rs. It translates types, and checks what other agents have sent as far as it
// looks into it.

#include <cstring>
#include <string>
#include <vector>

#include "backend/backend_plugin.h"

#include "hostwire_nixl.h"

namespace {

const char *const plugin_name = "HOSTWIRE";

nixl_status_t status(int code) { return static_cast<nixl_status_t>(code); }

hw_nixl_text text(const std::string &bytes) { return {bytes.data(), bytes.size()}; }

std::string bytes_of(hw_nixl_text text) { return {static_cast<const char *>(text.first), text.len}; }

// Memory here, that others may use by its key.
struct Registered : nixlBackendMD {
    explicit Registered(uint64_t of) : nixlBackendMD(true), key(of) {}
    uint64_t key;
};

// Memory of an agent, which may be this one.
struct There : nixlBackendMD {
    There(uint32_t of, uint64_t named) : nixlBackendMD(false), agent(of), key(named) {}
    uint32_t agent;
    uint64_t key;
};

struct Request : nixlBackendReqH {
    const hw_nixl_request *const transfer = hw_nixl_transfer();
};

class Engine final : public nixlBackendEngine {
  public:
    explicit Engine(const nixlBackendInitParams *params)
        : nixlBackendEngine(params), own(hw_nixl_open(text(params->localAgent), params->enableProgTh)) {
        initErr = own == nullptr;
    }

    ~Engine() override {
        if (own) hw_nixl_close(own);
    }

    bool supportsRemote() const override { return true; }
    bool supportsLocal() const override { return true; }
    bool supportsNotif() const override { return true; }
    nixl_mem_list_t getSupportedMems() const override { return {DRAM_SEG}; }

    nixl_status_t registerMem(const nixlBlobDesc &memory, const nixl_mem_t &kind, nixlBackendMD *&out) override {
        if (kind != DRAM_SEG) return NIXL_ERR_NOT_SUPPORTED;
        uint64_t key = 0;
        const int done = hw_nixl_register(own, reinterpret_cast<void *>(memory.addr), memory.len, &key);
        if (done == NIXL_SUCCESS) out = new Registered(key);
        return status(done);
    }

    nixl_status_t deregisterMem(nixlBackendMD *memory) override {
        const auto *const registered = static_cast<Registered *>(memory);
        const int done = hw_nixl_deregister(own, registered->key);
        delete registered;
        return status(done);
    }

    nixl_status_t getPublicData(const nixlBackendMD *memory, std::string &out) const override {
        const uint64_t key = static_cast<const Registered *>(memory)->key;
        out.assign(reinterpret_cast<const char *>(&key), sizeof key);
        return NIXL_SUCCESS;
    }

    nixl_status_t loadLocalMD(nixlBackendMD *memory, nixlBackendMD *&out) override {
        out = new There(0, static_cast<const Registered *>(memory)->key);
        return NIXL_SUCCESS;
    }

    nixl_status_t loadRemoteMD(const nixlBlobDesc &memory, const nixl_mem_t &kind, const std::string &agent,
                               nixlBackendMD *&out) override {
        if (kind != DRAM_SEG) return NIXL_ERR_NOT_SUPPORTED;
        uint64_t key = 0;
        if (memory.metaInfo.size() != sizeof key) return NIXL_ERR_MISMATCH;
        std::memcpy(&key, memory.metaInfo.data(), sizeof key);
        uint32_t number = 0;
        const int done = hw_nixl_number(own, text(agent), &number);
        if (done == NIXL_SUCCESS) out = new There(number, key);
        return status(done);
    }

    nixl_status_t unloadMD(nixlBackendMD *memory) override {
        delete memory;
        return NIXL_SUCCESS;
    }

    nixl_status_t getConnInfo(std::string &out) const override {
        uint8_t name[64];
        hw_nixl_name(own, &name);
        out.assign(reinterpret_cast<const char *>(name), sizeof name);
        return NIXL_SUCCESS;
    }

    nixl_status_t loadRemoteConnInfo(const std::string &agent, const std::string &name) override {
        return status(hw_nixl_load(own, text(agent), text(name)));
    }

    // The first transfer or notification connects.
    nixl_status_t connect(const std::string &agent) override {
        uint32_t number = 0;
        return status(hw_nixl_number(own, text(agent), &number));
    }

    nixl_status_t disconnect(const std::string &agent) override { return status(hw_nixl_unload(own, text(agent))); }

    nixl_status_t prepXfer(const nixl_xfer_op_t &, const nixl_meta_dlist_t &local, const nixl_meta_dlist_t &remote,
                           const std::string &agent, nixlBackendReqH *&out, const nixl_opt_b_args_t *) const override {
        std::vector<hw_nixl_piece> pieces;
        uint32_t number = 0;
        const nixl_status_t fits = pair(local, remote, agent, pieces, number);
        if (fits == NIXL_SUCCESS) out = new Request;
        return fits;
    }

    nixl_status_t postXfer(const nixl_xfer_op_t &operation, const nixl_meta_dlist_t &local, const nixl_meta_dlist_t &remote,
                           const std::string &agent, nixlBackendReqH *&request,
                           const nixl_opt_b_args_t *options) const override {
        std::vector<hw_nixl_piece> pieces;
        hw_nixl_order order = {};
        const nixl_status_t fits = pair(local, remote, agent, pieces, order.with);
        if (fits != NIXL_SUCCESS) return fits;
        order.is_read = operation == NIXL_READ;
        order.pieces = pieces.data();
        order.count = pieces.size();
        order.has_message = options && options->hasNotif;
        if (order.has_message) order.message = text(options->notifMsg);
        return status(hw_nixl_post(own, transfer(request), &order));
    }

    nixl_status_t checkXfer(nixlBackendReqH *request) const override {
        return status(hw_nixl_check(own, transfer(request)));
    }

    nixl_status_t releaseReqH(nixlBackendReqH *request) const override {
        const int done = hw_nixl_release(own, transfer(request));
        if (done == NIXL_SUCCESS) delete request;
        return status(done);
    }

    nixl_status_t getNotifs(notif_list_t &out) override {
        const auto give = [](void *list, hw_nixl_text agent, hw_nixl_text message) {
            static_cast<notif_list_t *>(list)->emplace_back(bytes_of(agent), bytes_of(message));
        };
        return status(hw_nixl_take(own, give, &out));
    }

    nixl_status_t genNotif(const std::string &agent, const std::string &message) const override {
        return status(hw_nixl_notify(own, text(agent), text(message)));
    }

  private:
    static const hw_nixl_request *transfer(nixlBackendReqH *request) { return static_cast<Request *>(request)->transfer; }

    // What goes where, and the number of the agent.
    nixl_status_t pair(const nixl_meta_dlist_t &local, const nixl_meta_dlist_t &remote, const std::string &agent,
                       std::vector<hw_nixl_piece> &out, uint32_t &number) const {
        const auto count = local.descCount();
        if (count != remote.descCount()) return NIXL_ERR_MISMATCH;
        if (local.getType() != DRAM_SEG || remote.getType() != DRAM_SEG) return NIXL_ERR_NOT_SUPPORTED;
        const int known = hw_nixl_number(own, text(agent), &number);
        if (known != NIXL_SUCCESS) return status(known);
        out.reserve(count);
        for (auto at = decltype(count){0}; at < count; ++at) {
            const auto &here = local[at];
            const auto *const there = static_cast<const There *>(remote[at].metadataP);
            if (here.len != remote[at].len || !there || there->agent != number) return NIXL_ERR_MISMATCH;
            out.push_back({reinterpret_cast<void *>(here.addr), here.len, remote[at].addr, there->key});
        }
        return NIXL_SUCCESS;
    }

    hw_nixl_agent *const own;
};

nixlBackendPlugin plugin = {
    NIXL_PLUGIN_API_VERSION,
    [](const nixlBackendInitParams *params) -> nixlBackendEngine * { return new Engine(params); },
    [](nixlBackendEngine *engine) { delete engine; },
    [] { return plugin_name; },
    [] { return hw_nixl_version(); },
    [] { return nixl_b_params_t(); },
    [] { return nixl_mem_list_t{DRAM_SEG}; },
};

} // namespace

extern "C" NIXL_PLUGIN_EXPORT nixlBackendPlugin *nixl_plugin_init() { return &plugin; }

extern "C" NIXL_PLUGIN_EXPORT void nixl_plugin_fini() {}
