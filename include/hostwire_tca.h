/* Copies between memory of hosts and of accelerators, in one job: the TCA interface of hostwire for C.
 *
 * Link with -lhostwire_tca and start with `hostwire run`. A *node* is a PE of the job. docs/tca.md has an
 * example and says what each call means. A program that uses OpenSHMEM (shmem.h) cannot use this too: both
 * join the job.
 */
#ifndef HOSTWIRE_TCA_H
#define HOSTWIRE_TCA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Who is at fault. tcaGetErrorString() has the text of the last failure of the calling thread. */
typedef enum tcaError {
    tcaSuccess = 0,
    tcaErrorCaller = 1,      /* this program: an argument, or memory that is not there */
    tcaErrorPeer = 2,        /* another PE: it is lost, or leaves */
    tcaErrorEnvironment = 3, /* the machine, a device, or the launcher */
    tcaErrorNotReady = 4     /* tcaStreamQuery: no failure */
} tcaError;

/* A byte of memory, as the PE that has it counts. Addresses may be sent to other PEs, and added to. */
typedef uint64_t tcaAddress;
/* Copies in their order. NULL is a stream that is always there. */
typedef struct tcaStream_st *tcaStream;
/* Copies that are checked once and started as often as wanted. */
typedef struct tcaChain_st *tcaChain;

/* The number of host memory among devices. */
#define TCA_HOST (-1)

/* Joins the job; collective. host_bytes: how much host memory tcaMalloc has; 0 means 16 MiB. */
tcaError tcaInit(size_t host_bytes);
/* Leaves the job; collective. All streams and chains have been destroyed. */
tcaError tcaFinalize(void);
/* The number of this PE, how many there are, and how many devices it has; -1 before tcaInit. */
int tcaNode(void);
int tcaNodes(void);
int tcaDevices(void);
/* Waits for all PEs. */
tcaError tcaBarrier(void);
/* Gives len bytes of each PE to all: `all` has room for those of all, in their order. Collective. */
tcaError tcaExchange(const void *own, void *all, size_t len);

/* Zeroed memory of a device of this PE, at a multiple of align, a power of two up to 4096. */
tcaError tcaMalloc(tcaAddress *address, int device, size_t len, size_t align);
tcaError tcaFree(tcaAddress address, int device);
/* Where the CPU reaches host memory that tcaMalloc gave, from its first byte on; NULL for anything else. */
void *tcaHostPointer(tcaAddress address);
/* Where kernels of CUDA reach memory of a GPU that tcaMalloc gave, from its first byte on; NULL for anything
 * else. Finish a kernel before its result is copied, and a copy before a kernel reads it. */
void *tcaDevicePointer(tcaAddress address, int device);
/* Copies between ordinary memory and memory that tcaMalloc gave; returns when it is done. */
tcaError tcaWrite(tcaAddress to, int device, const void *from, size_t len);
tcaError tcaRead(void *to, tcaAddress from, int device, size_t len);

tcaError tcaStreamCreate(tcaStream *stream);
tcaError tcaStreamDestroy(tcaStream stream);
/* Returns when all copies are made, and tells what went wrong since the last time. */
tcaError tcaStreamSynchronize(tcaStream stream);
/* tcaSuccess or tcaErrorNotReady. */
tcaError tcaStreamQuery(tcaStream stream);

/* Copies to any device of any PE, from memory of this PE. The first returns when the bytes are there. */
tcaError tcaMemcpyPeer(tcaAddress dst, int dst_node, int dst_device, tcaAddress src, int src_device, size_t len);
tcaError tcaMemcpyPeerAsync(tcaAddress dst, int dst_node, int dst_device, tcaAddress src, int src_device,
                            size_t len, tcaStream stream);
/* As many blocks, whose beginnings are so far apart. */
tcaError tcaMemcpyPeerStrideAsync(tcaAddress dst, int dst_node, int dst_device, size_t dst_step,
                                  tcaAddress src, int src_device, size_t src_step, size_t block_len,
                                  size_t blocks, tcaStream stream);

/* A word of host memory of a PE, at a multiple of 8, gets a value behind the copies of the stream. */
tcaError tcaSignalAsync(tcaAddress word, int node, uint64_t value, tcaStream stream);
/* What follows in the stream waits until a word of this PE is at least so much. */
tcaError tcaStreamWaitValue(tcaAddress word, uint64_t value, tcaStream stream);
/* This thread waits for that. */
tcaError tcaWait(tcaAddress word, uint64_t value);

tcaError tcaChainCreate(tcaChain *chain);
tcaError tcaChainDestroy(tcaChain chain);
tcaError tcaChainCopy(tcaChain chain, tcaAddress dst, int dst_node, int dst_device, tcaAddress src,
                      int src_device, size_t len);
tcaError tcaChainStride(tcaChain chain, tcaAddress dst, int dst_node, int dst_device, size_t dst_step,
                        tcaAddress src, int src_device, size_t src_step, size_t block_len, size_t blocks);
tcaError tcaChainSignal(tcaChain chain, tcaAddress word, int node, uint64_t value);
/* Checks all of it. From then on nothing can be added. */
tcaError tcaChainPrepare(tcaChain chain);
tcaError tcaChainStart(tcaChain chain, tcaStream stream);

const char *tcaGetErrorString(void);

#ifdef __cplusplus
}
#endif

#endif
