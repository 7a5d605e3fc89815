/* Labelled programs for the detector of races: OpenMP. For `oshcc --race -fopenmp`. */
#define RACES_THREADS
#include "races.h"

#include <omp.h>

#define OPENMP "OpenMP, Memory Model"
#define TASKING "OpenMP, Tasking Constructs"
#define THREADS "Thread Support"

#define LOADS(object) \
    do { \
        volatile long loaded = (object); \
        (void)loaded; \
    } while (0)
#define OMP(directive) _Pragma(TEXT(omp directive))
/* Two threads, whatever the machine has. */
#define PARALLEL OMP(parallel num_threads(2))
#define SELF omp_get_thread_num()

CASE(stores_of_two, RACY, OPENMP, "two threads of a region store to one object")
{
    ON(0) PARALLEL m[0] = SELF;
}

CASE(stores_beside_each_other, CLEAN, OPENMP, "a region is behind what was before it, and in front of the rest")
{
    ON(0) for (int i = 0; i < 3; i++) {
        m[0] = m[1] = i;
        PARALLEL m[SELF] = 1;
        LOADS(m[1]);
    }
}

CASE(other_regions, CLEAN, OPENMP, "regions follow each other")
{
    ON(0) for (int i = 0; i < 3; i++) {
        PARALLEL if (SELF == i % 2) m[0] = i;
    }
}

CASE(loop, CLEAN, OPENMP, "iterations of a loop are shared out")
{
    ON(0) {
        OMP(parallel for num_threads(2) schedule(static))
        for (int i = 0; i < WORDS; i++)
            m[i] = i;
        OMP(parallel for num_threads(2) schedule(dynamic))
        for (int i = 0; i < WORDS; i++)
            m[i]++;
    }
}

CASE(loop_of_neighbours, RACY, OPENMP, "an iteration loads what another one stores")
{
    ON(0) {
        OMP(parallel for num_threads(2) schedule(static))
        for (int i = 0; i < WORDS - 1; i++)
            m[i] = m[i + 1];
    }
}

CASE(loops_with_nowait, RACY, OPENMP, "nowait leaves out the barrier behind a loop")
{
    ON(0) PARALLEL
    {
        OMP(for schedule(static) nowait)
        for (int i = 0; i < WORDS; i++)
            m[i] = i;
        OMP(for schedule(static))
        for (int i = 0; i < WORDS; i++)
            LOADS(m[WORDS - 1 - i]);
    }
}

CASE(loops_in_a_row, CLEAN, OPENMP, "a barrier is behind a loop")
{
    ON(0) PARALLEL for (int times = 0; times < 3; times++)
    {
        OMP(for schedule(static))
        for (int i = 0; i < WORDS; i++)
            m[i] = i;
        OMP(for schedule(guided))
        for (int i = 0; i < WORDS; i++)
            LOADS(m[WORDS - 1 - i]);
    }
}

CASE(barrier_between, CLEAN, OPENMP, "a barrier orders what is in front of it")
{
    ON(0) PARALLEL for (int i = 0; i < 4; i++)
    {
        if (SELF == i % 2)
            m[0] = i;
        OMP(barrier)
    }
}

CASE(between_two_barriers, RACY, OPENMP, "what threads do between two barriers has no order")
{
    ON(0) PARALLEL
    {
        OMP(barrier)
        if (SELF == 0)
            m[0] = 1;
        else
            LOADS(m[0]);
        OMP(barrier)
    }
}

CASE(critical_of_both, CLEAN, OPENMP, "one thread at a time is in a critical region")
{
    ON(0) PARALLEL
    {
        OMP(critical)
        m[0]++;
        OMP(critical(first))
        m[1]++;
    }
}

CASE(critical_of_two_names, RACY, OPENMP, "critical regions of two names protect nothing together")
{
    ON(0) PARALLEL
    {
        if (SELF == 0) {
            OMP(critical(first))
            m[0]++;
        } else {
            OMP(critical(second))
            m[0]++;
        }
    }
}

CASE(atomics_of_both, CLEAN, OPENMP, "atomics do not conflict with each other")
{
    ON(0) PARALLEL
    {
        OMP(atomic)
        m[0]++;
    }
}

CASE(atomic_and_store, RACY, OPENMP, "a store is not atomic with an atomic")
{
    ON(0) PARALLEL
    {
        if (SELF == 0) {
            OMP(atomic)
            m[0]++;
        } else {
            m[0] = 1;
        }
    }
}

CASE(lock_of_both, CLEAN, OPENMP, "a lock orders who has it")
{
    ON(0) {
        omp_lock_t lock;
        omp_init_lock(&lock);
        PARALLEL
        {
            omp_set_lock(&lock);
            m[0]++;
            omp_unset_lock(&lock);
        }
        omp_destroy_lock(&lock);
    }
}

CASE(master_without_barrier, RACY, OPENMP, "no barrier is behind what the master does")
{
    ON(0) PARALLEL
    {
        OMP(master)
        m[0] = 1;
        LOADS(m[0]);
    }
}

CASE(single_with_barrier, CLEAN, OPENMP, "a barrier is behind what a single thread does")
{
    ON(0) PARALLEL
    {
        OMP(single)
        m[0] = 1;
        LOADS(m[0]);
    }
}

CASE(single_with_nowait, RACY, OPENMP, "nowait leaves out the barrier behind a single thread")
{
    ON(0) PARALLEL
    {
        OMP(single nowait)
        m[0] = 1;
        LOADS(m[0]);
    }
}

CASE(single_with_copies, CLEAN, OPENMP, "all know what a single thread did before it copies")
{
    ON(0) PARALLEL
    {
        long copied;
        OMP(single copyprivate(copied))
        copied = m[0] = 1;
        LOADS(m[0] + copied);
    }
}

CASE(reduction, CLEAN, OPENMP, "a reduction adds up what threads have")
{
    ON(0) {
        long sum = 0;
        OMP(parallel for num_threads(2) reduction(+ : sum) schedule(static))
        for (int i = 0; i < WORDS; i++)
            sum += m[i];
        m[0] = sum;
    }
}

CASE(ordered, CLEAN, OPENMP, "ordered regions follow each other")
{
    ON(0) {
        OMP(parallel for num_threads(2) ordered schedule(static, 1))
        for (int i = 0; i < 8; i++) {
            OMP(ordered)
            m[0]++;
        }
    }
}

CASE(sections, CLEAN, OPENMP, "a barrier is behind sections")
{
    ON(0) PARALLEL
    {
        OMP(sections)
        {
            OMP(section)
            m[0] = 1;
            OMP(section)
            m[1] = 1;
        }
        LOADS(m[0] + m[1]);
    }
}

/* Tasks. */

CASE(tasks_of_two, RACY, TASKING, "two tasks store to one object, whichever threads run them")
{
    ON(0) PARALLEL
    {
        OMP(single)
        for (int i = 0; i < 2; i++) {
            OMP(task)
            m[0] = i;
        }
    }
}

CASE(tasks_in_a_row, CLEAN, TASKING, "a taskwait is behind the tasks in front of it")
{
    ON(0) PARALLEL
    {
        OMP(single)
        for (int i = 0; i < 4; i++) {
            m[1] = i;
            OMP(task)
            m[0] = m[1];
            OMP(taskwait)
        }
    }
}

CASE(task_not_waited_for, RACY, TASKING, "who makes a task does not know its end")
{
    ON(0) PARALLEL
    {
        OMP(single)
        {
            OMP(task)
            m[0] = 1;
            m[0] = 2;
        }
    }
}

CASE(tasks_before_a_barrier, CLEAN, TASKING, "a barrier is behind all tasks")
{
    ON(0) PARALLEL
    {
        OMP(single)
        {
            OMP(task)
            m[0] = 1;
            OMP(task)
            m[1] = 1;
        }
        LOADS(m[0] + m[1]);
    }
}

CASE(tasks_that_depend, CLEAN, TASKING, "a task is behind those that it depends on")
{
    ON(0) PARALLEL
    {
        OMP(single)
        {
            long in_between = 0;
            for (int i = 0; i < 3; i++) {
                OMP(task depend(inout : in_between) shared(in_between))
                m[0] += ++in_between;
            }
            OMP(taskwait)
        }
    }
}

CASE(task_of_a_task, RACY, TASKING, "a taskwait does not wait for tasks of tasks")
{
    ON(0) PARALLEL
    {
        OMP(single)
        {
            OMP(task)
            {
                OMP(task)
                m[0] = 1;
            }
            OMP(taskwait)
            m[0] = 2;
        }
    }
}

CASE(group_of_tasks, CLEAN, TASKING, "the end of a group is behind tasks of tasks")
{
    ON(0) PARALLEL
    {
        OMP(single)
        {
            OMP(taskgroup)
            {
                OMP(task)
                {
                    OMP(task)
                    m[0] = 1;
                }
            }
            m[0] = 2;
        }
    }
}

CASE(loop_of_tasks, CLEAN, TASKING, "a loop of tasks ends with them")
{
    ON(0) PARALLEL
    {
        OMP(single)
        {
            m[0] = 1;
            OMP(taskloop num_tasks(4))
            for (int i = 1; i < WORDS; i++)
                m[i] = m[0];
            m[1] = 2;
        }
    }
}

CASE(loop_of_tasks_that_meet, RACY, TASKING, "the tasks of a loop have no order")
{
    ON(0) PARALLEL
    {
        OMP(single)
        {
            OMP(taskloop num_tasks(4))
            for (int i = 0; i < 8; i++)
                m[0] = i;
        }
    }
}

/* With other PEs. */

CASE(puts_of_two, RACY, THREADS, "puts of two threads to the same bytes have no order")
{
    ON(0) PARALLEL shmem_putmem(m, &m[8], 24, 1);
}

CASE(puts_then_barrier, CLEAN, THREADS, "a barrier of PEs completes what a region in front of it did")
{
    ON(0) PARALLEL shmem_putmem(&m[4 * SELF], &m[8], 24, 1);
    shmem_barrier_all();
    ON(1) PARALLEL LOADS(m[4 * SELF]);
}

/* In a region, threads put and the master comes to a barrier of all PEs. */
static void put_and_meet(int is_barrier_between)
{
    PARALLEL
    {
        if (me == 0 && SELF == 1)
            shmem_putmem(m, &m[8], 24, 1);
        if (is_barrier_between) {
            OMP(barrier)
        }
        OMP(master)
        shmem_barrier_all();
    }
    ON(1) LOADS(m[0]);
}

CASE(barrier_of_the_master, RACY, THREADS, "a barrier of PEs does not complete what other threads do")
{
    put_and_meet(0);
}

CASE(barrier_behind_a_barrier, CLEAN, THREADS, "a barrier of threads tells the master what they did")
{
    put_and_meet(1);
}
