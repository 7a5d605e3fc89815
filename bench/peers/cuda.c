/* Copies on a GPU by CUDA alone, as bench/peers/cuda.sh compares them: bytes per second and microseconds of one
 * copy. The next copy begins when the one before has ended.
 *
 *     cuda peer SIZE...   cudaMemcpyPeer from device 0 to the last device (itself if there is one), in one process
 *     cuda ipc SIZE...    cudaMemcpyAsync to memory of another process, which it has as an IPC handle
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 200, ROUNDS = 5 };

static void check(cudaError_t error, const char *what) {
    if (error != cudaSuccess) {
        fprintf(stderr, "cuda: %s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static int compare(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Copies of `size` bytes; each copy begins when the one before has ended. The median of the rounds. */
static void measure(const char *name, void *to, const void *from, size_t size, int last, cudaStream_t stream) {
    double rounds[ROUNDS];
    int turns = size > (4 << 20) ? TURNS / 10 : TURNS;
    for (int round = -1; round < ROUNDS; round++) {
        double begin = seconds();
        for (int turn = 0; turn < turns; turn++) {
            if (last >= 0) {
                check(cudaMemcpyPeer(to, last, from, 0, size), "cudaMemcpyPeer");
                check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
            } else {
                check(cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
                check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
            }
        }
        if (round >= 0)
            rounds[round] = (seconds() - begin) / turns;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, compare);
    double median = rounds[ROUNDS / 2];
    printf("%s %zu %.3f %.3f\n", name, size, size / median * 1e-9, median * 1e6);
}

int main(int count, char **words) {
    size_t most = 0;
    for (int word = 2; word < count; word++) {
        size_t size = strtoull(words[word], NULL, 0);
        most = size > most ? size : most;
    }
    if (most == 0) {
        fprintf(stderr, "cuda: expected peer or ipc, and sizes\n");
        return 2;
    }
    const char *name = words[1];
    int has_ipc = strcmp(name, "ipc") == 0;
    int handles[2], done[2];
    cudaIpcMemHandle_t handle;
    void *from, *to;
    pid_t other = 0;
    if (has_ipc) {
        if (pipe(handles) || pipe(done) || (other = fork()) < 0) {
            perror("cuda");
            return 1;
        }
        if (other == 0) {
            /* Keeps the memory until the first process has ended. */
            close(done[1]);
            check(cudaMalloc(&to, most), "cudaMalloc");
            check(cudaIpcGetMemHandle(&handle, to), "cudaIpcGetMemHandle");
            if (write(handles[1], &handle, sizeof handle) != sizeof handle)
                return 1;
            char byte;
            return read(done[0], &byte, 1) != 0;
        }
        close(handles[1]);
        if (read(handles[0], &handle, sizeof handle) != sizeof handle)
            return 1;
        check(cudaIpcOpenMemHandle(&to, handle, cudaIpcMemLazyEnablePeerAccess), "cudaIpcOpenMemHandle");
    }
    int last = 0;
    check(cudaGetDeviceCount(&last), "cudaGetDeviceCount");
    last -= 1;
    if (!has_ipc) {
        check(cudaSetDevice(last), "cudaSetDevice");
        check(cudaMalloc(&to, most), "cudaMalloc");
    }
    check(cudaSetDevice(0), "cudaSetDevice");
    check(cudaMalloc(&from, most), "cudaMalloc");
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    for (int word = 2; word < count; word++)
        measure(name, to, from, strtoull(words[word], NULL, 0), has_ipc ? -1 : last, stream);
    if (has_ipc) {
        check(cudaIpcCloseMemHandle(to), "cudaIpcCloseMemHandle");
        close(done[1]);
        int status;
        return waitpid(other, &status, 0) != other || status != 0;
    }
    return 0;
}
