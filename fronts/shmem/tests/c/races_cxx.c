/* Labelled programs for the detector of races: threads of C++. For `oshc++ --race`. */
#define RACES_THREADS
#include "races.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#define CXX "C++, Multi-threaded executions and data races"
#define LOADS(object) \
    do { \
        volatile long loaded = (object); \
        (void)loaded; \
    } while (0)

template <class One, class Other> static void both(One one, Other other)
{
    std::thread first(one), second(other);
    first.join();
    second.join();
}

CASE(stores_of_two, RACY, CXX, "two threads store to one object")
{
    ON(0) both([] { m[0] = 1; }, [] { m[0] = 2; });
}

CASE(one_after_the_other, CLEAN, CXX, "a join is behind all that the thread did")
{
    ON(0) {
        std::thread([] { m[0] = 1; }).join();
        std::thread([] { m[0] = 2; }).join();
        m[0] = 3;
    }
}

static std::mutex mutex;
static std::condition_variable condition;
static bool is_ready;

static void add()
{
    std::lock_guard<std::mutex> has(mutex);
    m[0]++;
}

CASE(mutex_of_both, CLEAN, CXX, "a mutex orders who has it")
{
    ON(0) both(add, add);
}

CASE(mutex_of_one, RACY, CXX, "a mutex that one thread does not take protects nothing")
{
    ON(0) both(add, [] { m[0]++; });
}

static void make_ready()
{
    m[0] = 1;
    {
        std::lock_guard<std::mutex> has(mutex);
        is_ready = true;
    }
    condition.notify_one();
    m[1] = 1;
}
static void wait_ready()
{
    std::unique_lock<std::mutex> has(mutex);
    condition.wait(has, [] { return is_ready; });
}

CASE(condition_tells, CLEAN, CXX, "who waited for a condition knows what was in front of it")
{
    ON(0) {
        is_ready = false;
        both(make_ready, [] { wait_ready(); LOADS(m[0]); });
    }
}

CASE(condition_tells_no_more, RACY, CXX, "who waited for a condition knows nothing from behind it")
{
    ON(0) {
        is_ready = false;
        both(make_ready, [] { wait_ready(); LOADS(m[1]); });
    }
}

static std::atomic<int> at;

CASE(release_and_acquire, CLEAN, CXX, "a load that acquires knows what is in front of a store that releases")
{
    ON(0) both([] { m[0] = 1; at.store(1, std::memory_order_release); },
               [] { while (!at.load(std::memory_order_acquire)) std::this_thread::yield(); LOADS(m[0]); });
}

struct once {
    long value;
    once() : value(me + 1) {}
};
static long set_up_once()
{
    static once object;
    return object.value;
}

CASE(object_of_a_function, CLEAN, CXX, "a static object of a function is set up in front of all uses")
{
    ON(0) both([] { LOADS(set_up_once()); }, [] { LOADS(set_up_once()); });
}
