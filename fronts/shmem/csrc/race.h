/* What the parts of `oshcc --race` share: the library's side is in src/debug/race/program.rs and view.rs. */
#ifndef RACE_H
#define RACE_H
#include <stddef.h>
#include <stdint.h>

extern struct {
    volatile uint32_t is_on;
    volatile uint32_t open;
    volatile uint32_t is_instrumented;
    /* Whether the detector knows of more than one thread. */
    volatile uint32_t threads;
    volatile uintptr_t ranges[3][2];
} shmemx_race_1;

/* LANGUAGE is a store by an atomic of the language. */
enum access { LOAD, STORE, LOOK, LANGUAGE };
extern void shmemx_race_access_1(const void *address, size_t len, int how, const void *pc);

enum sync {
    FORK,
    BEGIN,
    END,
    JOIN,
    ACQUIRE,
    RELEASE,
    FORGET,
    ARRIVE,
    LEAVE,
    ADOPT,
    TASK,
    BACK,
    ATOMIC,
    FENCE,
};
extern uint64_t shmemx_race_sync_1(int what, uint64_t object, uint64_t detail);

#endif
