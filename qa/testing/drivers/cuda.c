/* A stand-in for the driver of CUDA, for tests where there is no GPU: the functions that hostwire-device calls.
 *
 * Device memory is memory of this process. A copy is made when it is started, and an event says that it has ended 8 us
 * later, so programs have to wait. As the driver was seen to do, it refuses to open memory of the same process, and to copy host memory of
 * which a part alone is pinned. There are two devices. Where the driver would copy through host memory, between devices without access to
 * each other, it refuses to. What it cannot do at all (graphs, kernels) is not here.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_READY = 600, MANY = 4096, COPY_NS = 8000, DEVICES = 2 };

/* Memory that is allocated, opened (`device` is -1), or pinned (`file` is, too). */
struct range {
    uint64_t at;
    size_t len;
    int file, device;
};

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static struct range ranges[MANY];
/* When all copies will have ended. */
static int64_t idle_ns;
/* A context is the address of what its device has access to. */
static int access_to[DEVICES][DEVICES];
/* The context that the thread has made current; the program itself makes none current. */
static _Thread_local int current = -1, stack[8], depth;

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int started(void) {
    int64_t now = now_ns();
    if (current < 0)
        return INVALID_VALUE;
    pthread_mutex_lock(&turn);
    idle_ns = (idle_ns > now ? idle_ns : now) + COPY_NS;
    pthread_mutex_unlock(&turn);
    return SUCCESS;
}

static int add(uint64_t at, size_t len, int file, int device) {
    int status = OUT_OF_MEMORY;
    pthread_mutex_lock(&turn);
    for (int place = 0; place < MANY && status != SUCCESS; place++)
        if (ranges[place].len == 0) {
            ranges[place] = (struct range){at, len, file, device};
            status = SUCCESS;
        }
    pthread_mutex_unlock(&turn);
    return status;
}

/* Removes a range; its length is 0 if there is none. */
static struct range take(uint64_t at, int is_pinned) {
    struct range found = {0, 0, -1, -1};
    pthread_mutex_lock(&turn);
    for (int place = 0; place < MANY && found.len == 0; place++)
        if (ranges[place].len != 0 && ranges[place].at == at && (ranges[place].file < 0) == is_pinned) {
            found = ranges[place];
            ranges[place].len = 0;
        }
    pthread_mutex_unlock(&turn);
    return found;
}

/* Whether a part of host memory is pinned, and the rest is not. */
static int is_mixed(const void *host, size_t len) {
    uint64_t first = (uintptr_t)host, end = first + len;
    int mixed = 0;
    pthread_mutex_lock(&turn);
    for (int place = 0; place < MANY; place++) {
        struct range pinned = ranges[place];
        if (pinned.len == 0 || pinned.file >= 0)
            continue;
        int overlaps = first < pinned.at + pinned.len && pinned.at < end;
        int holds = pinned.at <= first && end <= pinned.at + pinned.len;
        mixed |= overlaps && !holds;
    }
    pthread_mutex_unlock(&turn);
    return mixed;
}

int cuInit(unsigned flags) { return flags == 0 ? SUCCESS : INVALID_VALUE; }

int cuGetErrorString(int status, const char **text) {
    *text = status == INVALID_VALUE ? "invalid argument" : status == OUT_OF_MEMORY ? "out of memory" : "another error";
    return SUCCESS;
}

int cuDeviceGetCount(int *count) {
    *count = DEVICES;
    return SUCCESS;
}

int cuDeviceGet(int *device, int number) {
    *device = number;
    return number >= 0 && number < DEVICES ? SUCCESS : INVALID_VALUE;
}

int cuDeviceGetName(char *name, int len, int device) {
    snprintf(name, len, "stand-in %d", device);
    return SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    *context = access_to[device];
    return SUCCESS;
}

int cuDevicePrimaryCtxRelease_v2(int device) { return device < DEVICES ? SUCCESS : INVALID_VALUE; }

static int device_of(void *context) {
    for (int device = 0; device < DEVICES; device++)
        if (context == access_to[device])
            return device;
    return -1;
}

int cuCtxPushCurrent_v2(void *context) {
    int device = device_of(context);
    if (device < 0 || depth == 8)
        return INVALID_VALUE;
    stack[depth++] = current;
    current = device;
    return SUCCESS;
}

int cuCtxPopCurrent_v2(void **context) {
    if (depth == 0)
        return INVALID_VALUE;
    *context = access_to[current];
    current = stack[--depth];
    return SUCCESS;
}

int cuCtxEnablePeerAccess(void *context, unsigned flags) {
    int device = device_of(context);
    if (device < 0 || device == current || flags != 0)
        return INVALID_VALUE;
    if (current < 0)
        return INVALID_VALUE;
    int before = access_to[current][device];
    access_to[current][device] = 1;
    return before ? 704 : SUCCESS;
}

/* Whether the current device may copy there. */
static int is_within_reach(uint64_t at) {
    int reached = 0;
    pthread_mutex_lock(&turn);
    for (int place = 0; place < MANY; place++) {
        struct range range = ranges[place];
        if (range.len == 0 || range.file < 0 || at < range.at || at >= range.at + range.len)
            continue;
        reached |= current >= 0 &&
                   (range.device < 0 || range.device == current || access_to[current][range.device]);
    }
    pthread_mutex_unlock(&turn);
    return reached;
}

static int map(uint64_t *at, size_t len, int file, int device) {
    void *memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return OUT_OF_MEMORY;
    *at = (uintptr_t)memory;
    return add(*at, len, file, device);
}

int cuMemAlloc_v2(uint64_t *at, size_t len) {
    if (current < 0)
        return INVALID_VALUE;
    int file = memfd_create("stand-in", MFD_CLOEXEC);
    if (len == 0 || len > ((size_t)1 << 40) || file < 0 || ftruncate(file, len) != 0)
        return OUT_OF_MEMORY;
    return map(at, len, file, current);
}

int cuMemFree_v2(uint64_t at) {
    struct range found = take(at, 0);
    if (found.len == 0)
        return INVALID_VALUE;
    munmap((void *)(uintptr_t)at, found.len);
    close(found.file);
    return SUCCESS;
}

int cuMemsetD8Async(uint64_t at, uint8_t value, size_t len, void *stream) {
    (void)stream;
    memset((void *)(uintptr_t)at, value, len);
    return started();
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t len, void *stream) {
    (void)stream;
    if (is_mixed(from, len))
        return INVALID_VALUE;
    memcpy((void *)(uintptr_t)to, from, len);
    return started();
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t len, void *stream) {
    (void)stream;
    if (is_mixed(to, len))
        return INVALID_VALUE;
    memcpy(to, (void *)(uintptr_t)from, len);
    return started();
}

int cuMemcpyAsync(uint64_t to, uint64_t from, size_t len, void *stream) {
    (void)stream;
    if (!is_within_reach(to) || !is_within_reach(from))
        return INVALID_VALUE;
    memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, len);
    return started();
}

struct rows {
    size_t from_x, from_y;
    unsigned from_type;
    const void *from_host;
    uint64_t from;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    unsigned to_type;
    void *to_host;
    uint64_t to;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
};

int cuMemcpy2DAsync_v2(const struct rows *rows, void *stream) {
    (void)stream;
    if (rows->from_type != 2 || rows->to_type != 2 || rows->from_pitch < rows->width || rows->to_pitch < rows->width || !is_within_reach(rows->to) || !is_within_reach(rows->from))
        return INVALID_VALUE;
    for (size_t row = 0; row < rows->height; row++)
        memcpy((char *)(uintptr_t)rows->to + row * rows->to_pitch,
               (char *)(uintptr_t)rows->from + row * rows->from_pitch, rows->width);
    return started();
}

int cuStreamCreate(void **stream, unsigned flags) {
    (void)flags;
    *stream = &turn;
    return SUCCESS;
}

int cuStreamDestroy_v2(void *stream) { return stream == &turn ? SUCCESS : INVALID_VALUE; }

static int64_t end_ns(void) {
    pthread_mutex_lock(&turn);
    int64_t end = idle_ns;
    pthread_mutex_unlock(&turn);
    return end;
}

int cuStreamSynchronize(void *stream) {
    (void)stream;
    for (int64_t end = end_ns(); now_ns() < end;)
        ;
    return SUCCESS;
}

int cuEventCreate(void **event, unsigned flags) {
    (void)flags;
    *event = calloc(1, sizeof(int64_t));
    return *event ? SUCCESS : OUT_OF_MEMORY;
}

int cuEventRecord(void *event, void *stream) {
    (void)stream;
    *(int64_t *)event = end_ns();
    return SUCCESS;
}

int cuEventQuery(void *event) { return now_ns() < *(int64_t *)event ? NOT_READY : SUCCESS; }

int cuEventDestroy_v2(void *event) {
    free(event);
    return SUCCESS;
}

/* The process, its descriptor, and the length. */
struct handle {
    union {
        char bytes[64];
        struct {
            int process, file;
            size_t len;
        };
    };
};

int cuIpcGetMemHandle(struct handle *handle, uint64_t at) {
    int status = INVALID_VALUE;
    pthread_mutex_lock(&turn);
    for (int place = 0; place < MANY; place++)
        if (ranges[place].len != 0 && ranges[place].at == at && ranges[place].file >= 0) {
            memset(handle, 0, sizeof *handle);
            handle->process = getpid();
            handle->file = ranges[place].file;
            handle->len = ranges[place].len;
            status = SUCCESS;
        }
    pthread_mutex_unlock(&turn);
    return status;
}

int cuIpcOpenMemHandle_v2(uint64_t *at, struct handle handle, unsigned flags) {
    (void)flags;
    char path[64];
    if (handle.process == getpid())
        return INVALID_VALUE;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.process, handle.file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    return file < 0 ? INVALID_VALUE : map(at, handle.len, file, -1);
}

int cuIpcCloseMemHandle(uint64_t at) { return cuMemFree_v2(at); }

int cuMemHostRegister_v2(void *at, size_t len, unsigned flags) {
    (void)flags;
    return len == 0 ? INVALID_VALUE : add((uintptr_t)at, len, -1, -1);
}

int cuMemHostUnregister(void *at) { return take((uintptr_t)at, 1).len != 0 ? SUCCESS : INVALID_VALUE; }
