// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The C interface of a Verilator model: make one, find its ports, evaluate it. The same file serves each design:
// scripts/rtl.sh gives the name of the model's class, and a list of its ports that it takes from the model's header.

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "verilated.h"
#if VM_TRACE
#include "verilated_vcd_c.h"
#endif
#if VM_COVERAGE
#include "verilated_cov.h"
#endif
#include MODEL_HEADER

namespace {

struct Model {
    VerilatedContext context;
    std::unique_ptr<MODEL_CLASS> top;
#if VM_TRACE
    VerilatedVcdC waves;
#endif
};

} // namespace

extern "C" {

// A port: where the model has its value, and how long that is. Values are little-endian, from bit 0.
struct rtl_port {
    const char *name;
    void *value;
    uint32_t bits;
    uint32_t bytes;
    uint32_t is_input;
};

// Changes whenever something below changes its meaning.
uint32_t rtl_version(void) { return 1; }

// Null if there is no memory. `waves` names a file for the values of all signals, or is null; it is ignored if the
// model was built without them.
void *rtl_new(const char *waves) {
    auto *model = new (std::nothrow) Model;
    if (!model) return nullptr;
#if VM_TRACE
    model->context.traceEverOn(true);
#endif
    model->top = std::make_unique<MODEL_CLASS>(&model->context);
#if VM_TRACE
    if (waves) {
        model->top->trace(&model->waves, 99);
        model->waves.open(waves);
    }
#else
    (void)waves;
#endif
    return model;
}

// Fills at most `room` ports, and returns how many there are.
uint32_t rtl_ports(void *handle, rtl_port *ports, uint32_t room) {
    auto *top = static_cast<Model *>(handle)->top.get();
    uint32_t count = 0;
    auto add = [&](const char *name, void *value, uint32_t bits, uint32_t bytes, bool is_input) {
        if (count < room) ports[count] = {name, value, bits, bytes, is_input};
        count++;
    };
#define PORT(name, bits, is_input) add(#name, &top->name, bits, sizeof(top->name), is_input);
#include MODEL_PORTS
#undef PORT
    return count;
}

// Lets all changes of inputs take effect; `time` is for the file of waves only, and grows.
void rtl_eval(void *handle, uint64_t time) {
    auto *model = static_cast<Model *>(handle);
    model->top->eval();
#if VM_TRACE
    if (model->waves.isOpen()) model->waves.dump(time);
#else
    (void)time;
#endif
}

// Writes which lines were run to `coverage`, if it is not null and the model was built to count them.
void rtl_free(void *handle, const char *coverage) {
    auto *model = static_cast<Model *>(handle);
    model->top->final();
#if VM_TRACE
    if (model->waves.isOpen()) model->waves.close();
#endif
#if VM_COVERAGE
    if (coverage) model->context.coveragep()->write(coverage);
#else
    (void)coverage;
#endif
    delete model;
}

} // extern "C"
