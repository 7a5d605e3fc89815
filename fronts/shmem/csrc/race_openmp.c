/* Like race_threads.c, for OpenMP as GCC calls its library (libgomp). */
#define _GNU_SOURCE
#include <stdlib.h>

#include "race_front.h"

/* One for each team, while its region runs. */
struct team {
    void (*routine)(void *);
    void *data;
    /* Objects: members adopt `start` when they begin, and release `end` when they end. */
    char start, end;
    /* Objects of tasks, of tasks with dependences, of copies of `single`, and of `ordered`. */
    char tasks, depends, copies, ordered;
};
/* The running part: a member of a team, or a task of it. */
struct task {
    struct team *team;
    /* An object that its children release when they end. */
    uint64_t children;
    struct group *group;
};
struct group {
    uint64_t object;
    struct group *outer;
};
static __thread struct task *task;

/* An object that has no address. */
static uint64_t new_object(void)
{
    static uint64_t last = UINT64_C(1) << 63;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);

static struct team *team(void) { return task && are_told() ? task->team : NULL; }

static void member(void *data)
{
    struct team *team = data;
    struct task own = {team, new_object(), NULL}, *outer = task;
    bool is_first = REAL(omp_get_thread_num)() == 0;
    if (!is_first && are_told())
        sync_by(ADOPT, &team->start, 0);
    task = &own;
    team->routine(team->data);
    task = outer;
    if (!are_told())
        return;
    shmemx_race_sync_1(FORGET, own.children, 0);
    if (!is_first)
        release(&team->end);
}

static void begin(struct team *team)
{
    if (is_on()) {
        shmemx_race_1.threads = 1;
        release(&team->start);
    }
}
static void end(struct team *team)
{
    acquire(&team->end);
    acquire(&team->tasks);
    if (are_told())
        for (char *object = &team->start; object <= &team->ordered; object++)
            sync_by(FORGET, object, 0);
    if (are_told())
        sync_by(FORGET, team, 0);
}

#define REGION(result, name, parameters, arguments, is, returned) \
    result name parameters; \
    result name parameters \
    { \
        struct team team = {.routine = routine, .data = data}; \
        begin(&team); \
        is REAL(name) arguments; \
        end(&team); \
        returned; \
    }
#define FIRST void (*routine)(void *), void *data, unsigned threads
#define OF member, &team, threads
REGION(void, GOMP_parallel, (FIRST, unsigned flags), (OF, flags), , (void)0)
REGION(unsigned, GOMP_parallel_reductions, (FIRST, unsigned flags), (OF, flags), unsigned is =, return is)
REGION(void, GOMP_parallel_sections, (FIRST, unsigned count, unsigned flags), (OF, count, flags), , (void)0)
#define LOOP(name) \
    REGION(void, name, (FIRST, long first, long last, long step, long chunk, unsigned flags), \
           (OF, first, last, step, chunk, flags), , (void)0)
#define LOOP_OF_RUN(name) \
    REGION(void, name, (FIRST, long first, long last, long step, unsigned flags), \
           (OF, first, last, step, flags), , (void)0)
LOOP(GOMP_parallel_loop_static)
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)
LOOP_OF_RUN(GOMP_parallel_loop_runtime)
LOOP_OF_RUN(GOMP_parallel_loop_nonmonotonic_runtime)
LOOP_OF_RUN(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* All members arrive, and all tasks are complete. */
#define MEETS(result, name, is, returned) \
    result name(void); \
    result name(void) \
    { \
        struct team *at = team(); \
        uint64_t threads = at ? (uint64_t)REAL(omp_get_num_threads)() : 0; \
        uint64_t round = at ? sync_by(ARRIVE, at, threads) : 0; \
        is REAL(name)(); \
        if (at) { \
            sync_by(LEAVE, at, round); \
            acquire(&at->tasks); \
        } \
        returned; \
    }
MEETS(void, GOMP_barrier, , (void)0)
MEETS(void, GOMP_loop_end, , (void)0)
MEETS(void, GOMP_sections_end, , (void)0)
MEETS(bool, GOMP_barrier_cancel, bool is =, return is)
MEETS(bool, GOMP_loop_end_cancel, bool is =, return is)
MEETS(bool, GOMP_sections_end_cancel, bool is =, return is)

static char critical, atomic;
#define ENTERS(name, parameters, arguments, object) \
    void name parameters; \
    void name parameters \
    { \
        REAL(name) arguments; \
        acquire(object); \
    }
#define LEAVES(name, parameters, arguments, object) \
    void name parameters; \
    void name parameters \
    { \
        release(object); \
        REAL(name) arguments; \
    }
ENTERS(GOMP_critical_start, (void), (), &critical)
LEAVES(GOMP_critical_end, (void), (), &critical)
ENTERS(GOMP_critical_name_start, (void **name), (name), name)
LEAVES(GOMP_critical_name_end, (void **name), (name), name)
ENTERS(GOMP_atomic_start, (void), (), &atomic)
LEAVES(GOMP_atomic_end, (void), (), &atomic)
#define ORDERED (task ? &task->team->ordered : &critical)
ENTERS(GOMP_ordered_start, (void), (), ORDERED)
LEAVES(GOMP_ordered_end, (void), (), ORDERED)
ENTERS(omp_set_lock, (void *lock), (lock), lock)
LEAVES(omp_unset_lock, (void *lock), (lock), lock)
ENTERS(omp_set_nest_lock, (void *lock), (lock), lock)
LEAVES(omp_unset_nest_lock, (void *lock), (lock), lock)
int omp_test_lock(void *object);
TAKES(int, is != 0, omp_test_lock, (void *object), (object), object)
int omp_test_nest_lock(void *object);
TAKES(int, is != 0, omp_test_nest_lock, (void *object), (object), object)

/* One member runs `single`, and the others copy its data. */
void *GOMP_single_copy_start(void);
void *GOMP_single_copy_start(void)
{
    struct team *at = team();
    if (at)
        release(&at->copies);
    void *data = REAL(GOMP_single_copy_start)();
    if (at && data)
        acquire(&at->copies);
    return data;
}
void GOMP_single_copy_end(void *data);
void GOMP_single_copy_end(void *data)
{
    struct team *at = team();
    if (at)
        release(&at->copies);
    REAL(GOMP_single_copy_end)(data);
    if (at)
        acquire(&at->copies);
}

/* The header of a task that may run later, in front of its data. */
struct later {
    /* A loop of tasks stores the range of each in the first two words of its data. */
    long range[2];
    void (*routine)(void *);
    void (*copy)(void *, void *);
    const void *data;
    size_t data_bytes, before_bytes;
    struct task by;
    /* An object that its creator has released. */
    uint64_t object;
    bool is_loop, depends;
};
#define DEPENDS 8u
#define NO_GROUP (1u << 11)
#define REDUCES (1u << 12)

static void copy_later(void *to, void *from)
{
    struct later *later = from;
    void *data = (char *)to + later->before_bytes;
    memcpy(to, later, sizeof *later);
    if (later->copy)
        later->copy(data, (void *)later->data);
    else
        memcpy(data, later->data, later->data_bytes);
}
static void run_later(void *from)
{
    struct later *later = from;
    void *data = (char *)from + later->before_bytes;
    struct task *outer = task, own = {later->by.team, new_object(), later->by.group};
    if (later->is_loop)
        memcpy(data, later->range, sizeof later->range);
    /* A task is a thread of its own for the detector, whichever thread runs it. */
    uint64_t thread = shmemx_race_sync_1(TASK, later->object, 0);
    if (!later->is_loop)
        shmemx_race_sync_1(FORGET, later->object, 0);
    if (later->depends)
        acquire(&own.team->depends);
    task = &own;
    later->routine(data);
    task = outer;
    if (later->depends)
        release(&own.team->depends);
    shmemx_race_sync_1(RELEASE, later->by.children, 0);
    for (struct group *group = own.group; group; group = group->outer)
        shmemx_race_sync_1(RELEASE, group->object, 0);
    release(&own.team->tasks);
    shmemx_race_sync_1(FORGET, own.children, 0);
    shmemx_race_sync_1(BACK, thread, 0);
}
static struct later prepare_later(void (*routine)(void *), void *data, void (*copy)(void *, void *),
                                  long bytes, long *align)
{
    long least = _Alignof(struct later) > 16 ? (long)_Alignof(struct later) : 16;
    if (*align < least)
        *align = least;
    struct later later = {.routine = routine, .copy = copy, .data = data, .by = *task};
    later.data_bytes = (size_t)bytes;
    later.before_bytes = (sizeof later + (size_t)*align - 1) / (size_t)*align * (size_t)*align;
    later.object = new_object();
    shmemx_race_sync_1(RELEASE, later.object, 0);
    return later;
}

void GOMP_task(void (*routine)(void *), void *data, void (*copy)(void *, void *), long bytes, long align,
               bool may_wait, unsigned flags, void **depend, int priority, void *detach);
void GOMP_task(void (*routine)(void *), void *data, void (*copy)(void *, void *), long bytes, long align,
               bool may_wait, unsigned flags, void **depend, int priority, void *detach)
{
    if (!may_wait || !team()) {
        REAL(GOMP_task)(routine, data, copy, bytes, align, may_wait, flags, depend, priority, detach);
        return;
    }
    struct later later = prepare_later(routine, data, copy, bytes, &align);
    later.depends = flags & DEPENDS;
    REAL(GOMP_task)(run_later, &later, copy_later, (long)later.before_bytes + bytes, align, may_wait,
                    flags, depend, priority, detach);
}

#define TASKS(name, number) \
    void name(void (*routine)(void *), void *data, void (*copy)(void *, void *), long bytes, long align, \
              unsigned flags, unsigned long tasks, int priority, number first, number last, number step); \
    void name(void (*routine)(void *), void *data, void (*copy)(void *, void *), long bytes, long align, \
              unsigned flags, unsigned long tasks, int priority, number first, number last, number step) \
    { \
        if (!team() || flags & REDUCES) { \
            REAL(name)(routine, data, copy, bytes, align, flags, tasks, priority, first, last, step); \
            return; \
        } \
        struct later later = prepare_later(routine, data, copy, bytes, &align); \
        struct group group = {new_object(), task->group}; \
        later.is_loop = true; \
        if (!(flags & NO_GROUP)) \
            later.by.group = &group; \
        REAL(name)(run_later, &later, copy_later, (long)later.before_bytes + bytes, align, flags, tasks, \
                   priority, first, last, step); \
        if (!(flags & NO_GROUP)) { \
            shmemx_race_sync_1(ACQUIRE, group.object, 0); \
            shmemx_race_sync_1(FORGET, group.object, 0); \
            shmemx_race_sync_1(FORGET, later.object, 0); \
        } \
    }
TASKS(GOMP_taskloop, long)
TASKS(GOMP_taskloop_ull, unsigned long long)

void GOMP_taskwait(void);
void GOMP_taskwait(void)
{
    REAL(GOMP_taskwait)();
    if (team())
        shmemx_race_sync_1(ACQUIRE, task->children, 0);
}
void GOMP_taskwait_depend(void **depend);
void GOMP_taskwait_depend(void **depend)
{
    REAL(GOMP_taskwait_depend)(depend);
    if (team())
        acquire(&task->team->depends);
}
void GOMP_taskgroup_start(void);
void GOMP_taskgroup_start(void)
{
    struct group *group = team() ? malloc(sizeof *group) : NULL;
    if (group) {
        *group = (struct group){new_object(), task->group};
        task->group = group;
    }
    REAL(GOMP_taskgroup_start)();
}
void GOMP_taskgroup_end(void);
void GOMP_taskgroup_end(void)
{
    REAL(GOMP_taskgroup_end)();
    struct group *group = team() ? task->group : NULL;
    if (group) {
        task->group = group->outer;
        shmemx_race_sync_1(ACQUIRE, group->object, 0);
        shmemx_race_sync_1(FORGET, group->object, 0);
        free(group);
    }
}
