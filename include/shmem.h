/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Written by `cargo xtask headers` from fronts/shmem/table; change it there. */

/* OpenSHMEM 1.6, as implemented by hostwire. */
#ifndef SHMEM_H
#define SHMEM_H
#define SHMEM_DEF_H

#include <stddef.h>
#include <stdint.h>

/* Define SHMEMX_INLINE to have short puts, gets and atomics on the default context compiled into
 * the program, which makes them faster: see oshcc(1). Tools that stand in front of functions of
 * this header do not see those then. Compilers and processors that it is not for call them. */
#if defined(SHMEMX_INLINE) && defined(__GNUC__) && defined(__LP64__) \
    && (defined(__x86_64__) || (defined(__aarch64__) && defined(__ARM_FEATURE_UNALIGNED)))
#define SHMEMX_IS_INLINE
#endif

#define SHMEM_FUNCTION_ATTRIBUTES __attribute__((visibility("default")))
#define SHMEM_NORETURN_ATTRIBUTE __attribute__((noreturn))
/* Define SHMEM_WARN_DEPRECATED to be warned of what OpenSHMEM has deprecated. */
#ifdef SHMEM_WARN_DEPRECATED
#define SHMEM_DEPRECATED_ATTRIBUTE __attribute__((deprecated))
#else
#define SHMEM_DEPRECATED_ATTRIBUTE
#endif

/* C++ has these types, too, as an extension of the compilers. */
__extension__ typedef double _Complex shmem_complexd_t;
__extension__ typedef float _Complex shmem_complexf_t;

#ifdef __cplusplus
/* Programs from before there were C++ headers include this one inside `extern "C"`. */
extern "C++" {
#include <complex>
}
extern "C" {
#endif

#define SHMEM_MAJOR_VERSION 1
#define _SHMEM_MAJOR_VERSION SHMEM_MAJOR_VERSION
#define SHMEM_MINOR_VERSION 6
#define _SHMEM_MINOR_VERSION SHMEM_MINOR_VERSION
#define SHMEM_MAX_NAME_LEN 256
#define _SHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN
#define SHMEM_VENDOR_STRING "hostwire OpenSHMEM"
#define _SHMEM_VENDOR_STRING SHMEM_VENDOR_STRING
#define SHMEM_THREAD_SINGLE 0
#define SHMEM_THREAD_FUNNELED 1
#define SHMEM_THREAD_SERIALIZED 2
#define SHMEM_THREAD_MULTIPLE 3
#define SHMEM_CMP_EQ 1
#define _SHMEM_CMP_EQ SHMEM_CMP_EQ
#define SHMEM_CMP_NE 2
#define _SHMEM_CMP_NE SHMEM_CMP_NE
#define SHMEM_CMP_GT 3
#define _SHMEM_CMP_GT SHMEM_CMP_GT
#define SHMEM_CMP_LE 4
#define _SHMEM_CMP_LE SHMEM_CMP_LE
#define SHMEM_CMP_LT 5
#define _SHMEM_CMP_LT SHMEM_CMP_LT
#define SHMEM_CMP_GE 6
#define _SHMEM_CMP_GE SHMEM_CMP_GE
#define SHMEM_SIGNAL_SET 0
#define SHMEM_SIGNAL_ADD 1
#define SHMEM_CTX_PRIVATE 1L
#define SHMEM_CTX_SERIALIZED 2L
#define SHMEM_CTX_NOSTORE 4L
#define SHMEM_CTX_SESSION_BATCH 1L
#define SHMEM_CTX_SESSION_TOTAL_OPS 1L
#define SHMEM_TEAM_NUM_CONTEXTS 1L
#define SHMEM_MALLOC_ATOMICS_REMOTE 1L
#define SHMEM_MALLOC_SIGNAL_REMOTE 2L
#define SHMEM_SYNC_VALUE 0L
#define _SHMEM_SYNC_VALUE SHMEM_SYNC_VALUE
#define SHMEM_SYNC_SIZE 64
#define SHMEM_BARRIER_SYNC_SIZE 64
#define _SHMEM_BARRIER_SYNC_SIZE SHMEM_BARRIER_SYNC_SIZE
#define SHMEM_BCAST_SYNC_SIZE 64
#define _SHMEM_BCAST_SYNC_SIZE SHMEM_BCAST_SYNC_SIZE
#define SHMEM_COLLECT_SYNC_SIZE 64
#define _SHMEM_COLLECT_SYNC_SIZE SHMEM_COLLECT_SYNC_SIZE
#define SHMEM_REDUCE_SYNC_SIZE 64
#define _SHMEM_REDUCE_SYNC_SIZE SHMEM_REDUCE_SYNC_SIZE
#define SHMEM_ALLTOALL_SYNC_SIZE 64
#define SHMEM_ALLTOALLS_SYNC_SIZE 64
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 16
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE

typedef struct hostwire_shmem_ctx *shmem_ctx_t;
typedef struct hostwire_shmem_team *shmem_team_t;

#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)
#define SHMEM_CTX_DEFAULT ((shmem_ctx_t)1)
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD ((shmem_team_t)1)
#define SHMEM_TEAM_SHARED ((shmem_team_t)2)

typedef struct {
    int num_contexts;
} shmem_team_config_t;

typedef struct {
    size_t total_ops;
} shmem_ctx_session_config_t;

/* Setup, exit and query. */

/* shmem_init(3): join the job. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_init(void);

/* shmem_init_thread(3): join the job and ask for a level of thread support. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_init_thread(int requested, int *provided);

/* shmem_query_thread(3): the level of thread support. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_query_thread(int *provided);

/* shmem_query_initialized(3): whether the library is initialised. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_query_initialized(int *initialized);

/* shmem_finalize(3): leave the job. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_finalize(void);

/* shmem_global_exit(3): end the whole job. */
SHMEM_FUNCTION_ATTRIBUTES SHMEM_NORETURN_ATTRIBUTE void shmem_global_exit(int status);

/* shmem_my_pe(3): number of the calling PE. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_my_pe(void);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE int _my_pe(void);

/* shmem_n_pes(3): number of PEs in the job. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_n_pes(void);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE int _num_pes(void);

/* shmem_pe_accessible(3): whether a PE can be reached. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_pe_accessible(int pe);

/* shmem_addr_accessible(3): whether an address can be reached on a PE. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_addr_accessible(const void *addr, int pe);

/* shmem_ptr(3): local address of an object of another PE. */
SHMEM_FUNCTION_ATTRIBUTES void *shmem_ptr(const void *dest, int pe);

/* shmem_team_ptr(3): local address of an object of another PE of a team. */
SHMEM_FUNCTION_ATTRIBUTES void *shmem_team_ptr(shmem_team_t team, const void *dest, int pe);

/* shmem_info_get_version(3): version of the specification. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_info_get_version(int *major, int *minor);

/* shmem_info_get_name(3): name of the implementation. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_info_get_name(char *name);

/* start_pes(3): join the job, the old way. */
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void start_pes(int npes);

/* Symmetric memory. */

/* shmem_malloc(3): symmetric memory. */
SHMEM_FUNCTION_ATTRIBUTES void *shmem_malloc(size_t size);
SHMEM_FUNCTION_ATTRIBUTES void *shmem_align(size_t alignment, size_t size);
SHMEM_FUNCTION_ATTRIBUTES void *shmem_realloc(void *ptr, size_t size);
SHMEM_FUNCTION_ATTRIBUTES void shmem_free(void *ptr);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void *shmalloc(size_t size);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void *shmemalign(size_t alignment, size_t size);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void *shrealloc(void *ptr, size_t size);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shfree(void *ptr);

/* shmem_malloc_with_hints(3): symmetric memory with hints about its use. */
SHMEM_FUNCTION_ATTRIBUTES void *shmem_malloc_with_hints(size_t size, long hints);

/* shmem_calloc(3): symmetric memory set to zero. */
SHMEM_FUNCTION_ATTRIBUTES void *shmem_calloc(size_t count, size_t size);

/* Teams. */

/* shmem_team_my_pe(3): number of the calling PE in a team. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_team_my_pe(shmem_team_t team);

/* shmem_team_n_pes(3): number of PEs in a team. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_team_n_pes(shmem_team_t team);

/* shmem_team_get_config(3): configuration of a team. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config);

/* shmem_team_translate_pe(3): number of a PE in another team. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team);

/* shmem_team_split_strided(3): a team of every n-th PE of a team. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team);

/* shmem_team_split_2d(3): teams of the rows and columns of a grid. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask, shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask, shmem_team_t *yaxis_team);

/* shmem_team_destroy(3): give a team back. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_team_destroy(shmem_team_t team);

/* Contexts and sessions. */

/* shmem_ctx_create(3): a communication context. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_ctx_create(long options, shmem_ctx_t *ctx);

/* shmem_team_create_ctx(3): a communication context of a team. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx);

/* shmem_ctx_destroy(3): give a context back. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_destroy(shmem_ctx_t ctx);

/* shmem_ctx_get_team(3): the team of a context. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team);

/* shmem_ctx_session_start(3): announce a sequence of operations. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config, long config_mask);

/* shmem_ctx_session_stop(3): end an announced sequence of operations. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_session_stop(shmem_ctx_t ctx);

/* Remote memory access. */

/* shmem_put(3): copy contiguous data to a PE. */
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES void shmem_float_put(float *dest, const float *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_double_put(double *dest, const double *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longdouble_put(long double *dest, const long double *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_char_put(char *dest, const char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_schar_put(signed char *dest, const signed char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_short_put(short *dest, const short *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_put(int *dest, const int *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_put(long *dest, const long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_put(long long *dest, const long long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uchar_put(unsigned char *dest, const unsigned char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ushort_put(unsigned short *dest, const unsigned short *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_put(unsigned int *dest, const unsigned int *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_put(unsigned long *dest, const unsigned long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_put(unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int8_put(int8_t *dest, const int8_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int16_put(int16_t *dest, const int16_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_put(int32_t *dest, const int32_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_put(int64_t *dest, const int64_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint8_put(uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint16_put(uint16_t *dest, const uint16_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_put(uint32_t *dest, const uint32_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_put(uint64_t *dest, const uint64_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_put(size_t *dest, const size_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_put(ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_float_put(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_double_put(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longdouble_put(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_char_put(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_schar_put(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_short_put(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_put(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_put(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_put(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uchar_put(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ushort_put(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_put(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_put(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_put(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int8_put(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int16_put(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_put(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_put(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint8_put(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint16_put(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_put(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_put(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_put(shmem_ctx_t ctx, size_t *dest, const size_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_put(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int pe);
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES void shmem_put8(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put16(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put32(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put64(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put128(void *dest, const void *source, size_t nelems, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put8(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put16(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put32(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put64(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put128(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES void shmem_putmem(void *dest, const void *source, size_t nelems, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_putmem(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);

/* shmem_p(3): store one element on a PE. */
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES void shmem_float_p(float *dest, float value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_double_p(double *dest, double value, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES void shmem_longdouble_p(long double *dest, long double value, int pe);
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES void shmem_char_p(char *dest, char value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_schar_p(signed char *dest, signed char value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_short_p(short *dest, short value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_p(int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_p(long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_p(long long *dest, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uchar_p(unsigned char *dest, unsigned char value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ushort_p(unsigned short *dest, unsigned short value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_p(unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_p(unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_p(unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int8_p(int8_t *dest, int8_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int16_p(int16_t *dest, int16_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_p(int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_p(int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint8_p(uint8_t *dest, uint8_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint16_p(uint16_t *dest, uint16_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_p(uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_p(uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_p(size_t *dest, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_p(ptrdiff_t *dest, ptrdiff_t value, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_float_p(shmem_ctx_t ctx, float *dest, float value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_double_p(shmem_ctx_t ctx, double *dest, double value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longdouble_p(shmem_ctx_t ctx, long double *dest, long double value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_char_p(shmem_ctx_t ctx, char *dest, char value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_schar_p(shmem_ctx_t ctx, signed char *dest, signed char value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_short_p(shmem_ctx_t ctx, short *dest, short value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_p(shmem_ctx_t ctx, int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_p(shmem_ctx_t ctx, long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_p(shmem_ctx_t ctx, long long *dest, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uchar_p(shmem_ctx_t ctx, unsigned char *dest, unsigned char value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ushort_p(shmem_ctx_t ctx, unsigned short *dest, unsigned short value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_p(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_p(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_p(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int8_p(shmem_ctx_t ctx, int8_t *dest, int8_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int16_p(shmem_ctx_t ctx, int16_t *dest, int16_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_p(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_p(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint8_p(shmem_ctx_t ctx, uint8_t *dest, uint8_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint16_p(shmem_ctx_t ctx, uint16_t *dest, uint16_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_p(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_p(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_p(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_p(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe);

/* shmem_iput(3): copy strided elements to a PE. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_float_iput(float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_double_iput(double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longdouble_iput(long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_char_iput(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_schar_iput(signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_short_iput(short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_iput(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_iput(long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_iput(long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uchar_iput(unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ushort_iput(unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_iput(unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_iput(unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_iput(unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int8_iput(int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int16_iput(int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_iput(int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_iput(int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint8_iput(uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint16_iput(uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_iput(uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_iput(uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_iput(size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_iput(ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_float_iput(shmem_ctx_t ctx, float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_double_iput(shmem_ctx_t ctx, double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longdouble_iput(shmem_ctx_t ctx, long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_char_iput(shmem_ctx_t ctx, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_schar_iput(shmem_ctx_t ctx, signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_short_iput(shmem_ctx_t ctx, short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_iput(shmem_ctx_t ctx, int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_iput(shmem_ctx_t ctx, long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_iput(shmem_ctx_t ctx, long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uchar_iput(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ushort_iput(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_iput(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_iput(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_iput(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int8_iput(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int16_iput(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_iput(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_iput(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint8_iput(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint16_iput(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_iput(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_iput(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_iput(shmem_ctx_t ctx, size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_iput(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_iput8(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_iput16(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_iput32(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_iput64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_iput128(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_iput8(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_iput16(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_iput32(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_iput64(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_iput128(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);

/* shmem_ibput(3): copy strided blocks to a PE. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_float_ibput(float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_double_ibput(double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longdouble_ibput(long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_char_ibput(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_schar_ibput(signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_short_ibput(short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_ibput(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_ibput(long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_ibput(long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uchar_ibput(unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ushort_ibput(unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_ibput(unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_ibput(unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_ibput(unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int8_ibput(int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int16_ibput(int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_ibput(int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_ibput(int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint8_ibput(uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint16_ibput(uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_ibput(uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_ibput(uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_ibput(size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_ibput(ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_float_ibput(shmem_ctx_t ctx, float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_double_ibput(shmem_ctx_t ctx, double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longdouble_ibput(shmem_ctx_t ctx, long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_char_ibput(shmem_ctx_t ctx, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_schar_ibput(shmem_ctx_t ctx, signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_short_ibput(shmem_ctx_t ctx, short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_ibput(shmem_ctx_t ctx, int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_ibput(shmem_ctx_t ctx, long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_ibput(shmem_ctx_t ctx, long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uchar_ibput(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ushort_ibput(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_ibput(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_ibput(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_ibput(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int8_ibput(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int16_ibput(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_ibput(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_ibput(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint8_ibput(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint16_ibput(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_ibput(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_ibput(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_ibput(shmem_ctx_t ctx, size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_ibput(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ibput8(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ibput16(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ibput32(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ibput64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ibput128(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ibput8(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ibput16(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ibput32(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ibput64(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ibput128(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);

/* shmem_get(3): copy contiguous data from a PE. */
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES void shmem_float_get(float *dest, const float *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_double_get(double *dest, const double *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longdouble_get(long double *dest, const long double *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_char_get(char *dest, const char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_schar_get(signed char *dest, const signed char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_short_get(short *dest, const short *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_get(int *dest, const int *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_get(long *dest, const long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_get(long long *dest, const long long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uchar_get(unsigned char *dest, const unsigned char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ushort_get(unsigned short *dest, const unsigned short *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_get(unsigned int *dest, const unsigned int *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_get(unsigned long *dest, const unsigned long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_get(unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int8_get(int8_t *dest, const int8_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int16_get(int16_t *dest, const int16_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_get(int32_t *dest, const int32_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_get(int64_t *dest, const int64_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint8_get(uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint16_get(uint16_t *dest, const uint16_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_get(uint32_t *dest, const uint32_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_get(uint64_t *dest, const uint64_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_get(size_t *dest, const size_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_get(ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_float_get(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_double_get(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longdouble_get(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_char_get(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_schar_get(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_short_get(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_get(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_get(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_get(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uchar_get(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ushort_get(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_get(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_get(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_get(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int8_get(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int16_get(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_get(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_get(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint8_get(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint16_get(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_get(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_get(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_get(shmem_ctx_t ctx, size_t *dest, const size_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_get(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int pe);
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES void shmem_get8(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_get16(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_get32(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_get64(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_get128(void *dest, const void *source, size_t nelems, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_get8(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_get16(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_get32(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_get64(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_get128(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES void shmem_getmem(void *dest, const void *source, size_t nelems, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_getmem(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);

/* shmem_g(3): load one element from a PE. */
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES float shmem_float_g(const float *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES double shmem_double_g(const double *source, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES long double shmem_longdouble_g(const long double *source, int pe);
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES char shmem_char_g(const char *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES signed char shmem_schar_g(const signed char *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES short shmem_short_g(const short *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_g(const int *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES long shmem_long_g(const long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES long long shmem_longlong_g(const long long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned char shmem_uchar_g(const unsigned char *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned short shmem_ushort_g(const unsigned short *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_uint_g(const unsigned int *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ulong_g(const unsigned long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ulonglong_g(const unsigned long long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES int8_t shmem_int8_g(const int8_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES int16_t shmem_int16_g(const int16_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_int32_g(const int32_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_int64_g(const int64_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint8_t shmem_uint8_g(const uint8_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint16_t shmem_uint16_g(const uint16_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_uint32_g(const uint32_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_uint64_g(const uint64_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_size_g(const size_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES ptrdiff_t shmem_ptrdiff_g(const ptrdiff_t *source, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES float shmem_ctx_float_g(shmem_ctx_t ctx, const float *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES double shmem_ctx_double_g(shmem_ctx_t ctx, const double *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES long double shmem_ctx_longdouble_g(shmem_ctx_t ctx, const long double *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES char shmem_ctx_char_g(shmem_ctx_t ctx, const char *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES signed char shmem_ctx_schar_g(shmem_ctx_t ctx, const signed char *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES short shmem_ctx_short_g(shmem_ctx_t ctx, const short *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ctx_int_g(shmem_ctx_t ctx, const int *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES long shmem_ctx_long_g(shmem_ctx_t ctx, const long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES long long shmem_ctx_longlong_g(shmem_ctx_t ctx, const long long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned char shmem_ctx_uchar_g(shmem_ctx_t ctx, const unsigned char *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned short shmem_ctx_ushort_g(shmem_ctx_t ctx, const unsigned short *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_ctx_uint_g(shmem_ctx_t ctx, const unsigned int *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ctx_ulong_g(shmem_ctx_t ctx, const unsigned long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ctx_ulonglong_g(shmem_ctx_t ctx, const unsigned long long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES int8_t shmem_ctx_int8_g(shmem_ctx_t ctx, const int8_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES int16_t shmem_ctx_int16_g(shmem_ctx_t ctx, const int16_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_ctx_int32_g(shmem_ctx_t ctx, const int32_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_ctx_int64_g(shmem_ctx_t ctx, const int64_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint8_t shmem_ctx_uint8_g(shmem_ctx_t ctx, const uint8_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint16_t shmem_ctx_uint16_g(shmem_ctx_t ctx, const uint16_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_ctx_uint32_g(shmem_ctx_t ctx, const uint32_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_ctx_uint64_g(shmem_ctx_t ctx, const uint64_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ctx_size_g(shmem_ctx_t ctx, const size_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES ptrdiff_t shmem_ctx_ptrdiff_g(shmem_ctx_t ctx, const ptrdiff_t *source, int pe);

/* shmem_iget(3): copy strided elements from a PE. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_float_iget(float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_double_iget(double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longdouble_iget(long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_char_iget(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_schar_iget(signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_short_iget(short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_iget(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_iget(long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_iget(long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uchar_iget(unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ushort_iget(unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_iget(unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_iget(unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_iget(unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int8_iget(int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int16_iget(int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_iget(int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_iget(int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint8_iget(uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint16_iget(uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_iget(uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_iget(uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_iget(size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_iget(ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_float_iget(shmem_ctx_t ctx, float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_double_iget(shmem_ctx_t ctx, double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longdouble_iget(shmem_ctx_t ctx, long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_char_iget(shmem_ctx_t ctx, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_schar_iget(shmem_ctx_t ctx, signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_short_iget(shmem_ctx_t ctx, short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_iget(shmem_ctx_t ctx, int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_iget(shmem_ctx_t ctx, long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_iget(shmem_ctx_t ctx, long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uchar_iget(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ushort_iget(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_iget(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_iget(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_iget(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int8_iget(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int16_iget(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_iget(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_iget(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint8_iget(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint16_iget(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_iget(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_iget(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_iget(shmem_ctx_t ctx, size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_iget(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_iget8(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_iget16(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_iget32(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_iget64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_iget128(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_iget8(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_iget16(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_iget32(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_iget64(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_iget128(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);

/* shmem_ibget(3): copy strided blocks from a PE. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_float_ibget(float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_double_ibget(double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longdouble_ibget(long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_char_ibget(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_schar_ibget(signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_short_ibget(short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_ibget(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_ibget(long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_ibget(long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uchar_ibget(unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ushort_ibget(unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_ibget(unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_ibget(unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_ibget(unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int8_ibget(int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int16_ibget(int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_ibget(int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_ibget(int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint8_ibget(uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint16_ibget(uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_ibget(uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_ibget(uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_ibget(size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_ibget(ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_float_ibget(shmem_ctx_t ctx, float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_double_ibget(shmem_ctx_t ctx, double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longdouble_ibget(shmem_ctx_t ctx, long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_char_ibget(shmem_ctx_t ctx, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_schar_ibget(shmem_ctx_t ctx, signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_short_ibget(shmem_ctx_t ctx, short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_ibget(shmem_ctx_t ctx, int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_ibget(shmem_ctx_t ctx, long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_ibget(shmem_ctx_t ctx, long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uchar_ibget(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ushort_ibget(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_ibget(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_ibget(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_ibget(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int8_ibget(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int16_ibget(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_ibget(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_ibget(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint8_ibget(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint16_ibget(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_ibget(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_ibget(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_ibget(shmem_ctx_t ctx, size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_ibget(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ibget8(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ibget16(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ibget32(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ibget64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ibget128(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ibget8(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ibget16(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ibget32(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ibget64(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ibget128(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);

/* shmem_put_nbi(3): begin to copy contiguous data to a PE. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_float_put_nbi(float *dest, const float *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_double_put_nbi(double *dest, const double *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longdouble_put_nbi(long double *dest, const long double *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_char_put_nbi(char *dest, const char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_schar_put_nbi(signed char *dest, const signed char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_short_put_nbi(short *dest, const short *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_put_nbi(int *dest, const int *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_put_nbi(long *dest, const long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_put_nbi(long long *dest, const long long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uchar_put_nbi(unsigned char *dest, const unsigned char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ushort_put_nbi(unsigned short *dest, const unsigned short *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_put_nbi(unsigned int *dest, const unsigned int *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_put_nbi(unsigned long *dest, const unsigned long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_put_nbi(unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int8_put_nbi(int8_t *dest, const int8_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int16_put_nbi(int16_t *dest, const int16_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_put_nbi(int32_t *dest, const int32_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_put_nbi(int64_t *dest, const int64_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint8_put_nbi(uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint16_put_nbi(uint16_t *dest, const uint16_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_put_nbi(uint32_t *dest, const uint32_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_put_nbi(uint64_t *dest, const uint64_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_put_nbi(size_t *dest, const size_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_put_nbi(ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_float_put_nbi(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_double_put_nbi(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longdouble_put_nbi(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_char_put_nbi(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_schar_put_nbi(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_short_put_nbi(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_put_nbi(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_put_nbi(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_put_nbi(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uchar_put_nbi(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ushort_put_nbi(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_put_nbi(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_put_nbi(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_put_nbi(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int8_put_nbi(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int16_put_nbi(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_put_nbi(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_put_nbi(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint8_put_nbi(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint16_put_nbi(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_put_nbi(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_put_nbi(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_put_nbi(shmem_ctx_t ctx, size_t *dest, const size_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_put_nbi(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put8_nbi(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put16_nbi(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put32_nbi(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put64_nbi(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put128_nbi(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put8_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put16_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put32_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put64_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put128_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_putmem_nbi(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_putmem_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);

/* shmem_get_nbi(3): begin to copy contiguous data from a PE. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_float_get_nbi(float *dest, const float *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_double_get_nbi(double *dest, const double *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longdouble_get_nbi(long double *dest, const long double *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_char_get_nbi(char *dest, const char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_schar_get_nbi(signed char *dest, const signed char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_short_get_nbi(short *dest, const short *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_get_nbi(int *dest, const int *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_get_nbi(long *dest, const long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_get_nbi(long long *dest, const long long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uchar_get_nbi(unsigned char *dest, const unsigned char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ushort_get_nbi(unsigned short *dest, const unsigned short *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_get_nbi(unsigned int *dest, const unsigned int *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_get_nbi(unsigned long *dest, const unsigned long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_get_nbi(unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int8_get_nbi(int8_t *dest, const int8_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int16_get_nbi(int16_t *dest, const int16_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_get_nbi(int32_t *dest, const int32_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_get_nbi(int64_t *dest, const int64_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint8_get_nbi(uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint16_get_nbi(uint16_t *dest, const uint16_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_get_nbi(uint32_t *dest, const uint32_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_get_nbi(uint64_t *dest, const uint64_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_get_nbi(size_t *dest, const size_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_get_nbi(ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_float_get_nbi(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_double_get_nbi(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longdouble_get_nbi(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_char_get_nbi(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_schar_get_nbi(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_short_get_nbi(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_get_nbi(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_get_nbi(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_get_nbi(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uchar_get_nbi(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ushort_get_nbi(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_get_nbi(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_get_nbi(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_get_nbi(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int8_get_nbi(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int16_get_nbi(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_get_nbi(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_get_nbi(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint8_get_nbi(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint16_get_nbi(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_get_nbi(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_get_nbi(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_get_nbi(shmem_ctx_t ctx, size_t *dest, const size_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_get_nbi(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_get8_nbi(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_get16_nbi(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_get32_nbi(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_get64_nbi(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_get128_nbi(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_get8_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_get16_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_get32_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_get64_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_get128_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_getmem_nbi(void *dest, const void *source, size_t nelems, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_getmem_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);

/* Signals. */

/* shmem_put_signal(3): copy contiguous data to a PE, then signal it. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_float_put_signal(float *dest, const float *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_double_put_signal(double *dest, const double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longdouble_put_signal(long double *dest, const long double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_char_put_signal(char *dest, const char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_schar_put_signal(signed char *dest, const signed char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_short_put_signal(short *dest, const short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_put_signal(int *dest, const int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_put_signal(long *dest, const long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_put_signal(long long *dest, const long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uchar_put_signal(unsigned char *dest, const unsigned char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ushort_put_signal(unsigned short *dest, const unsigned short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_put_signal(unsigned int *dest, const unsigned int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_put_signal(unsigned long *dest, const unsigned long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_put_signal(unsigned long long *dest, const unsigned long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int8_put_signal(int8_t *dest, const int8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int16_put_signal(int16_t *dest, const int16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_put_signal(int32_t *dest, const int32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_put_signal(int64_t *dest, const int64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint8_put_signal(uint8_t *dest, const uint8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint16_put_signal(uint16_t *dest, const uint16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_put_signal(uint32_t *dest, const uint32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_put_signal(uint64_t *dest, const uint64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_put_signal(size_t *dest, const size_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_put_signal(ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_float_put_signal(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_double_put_signal(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longdouble_put_signal(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_char_put_signal(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_schar_put_signal(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_short_put_signal(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_put_signal(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_put_signal(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_put_signal(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uchar_put_signal(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ushort_put_signal(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_put_signal(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_put_signal(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_put_signal(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int8_put_signal(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int16_put_signal(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_put_signal(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_put_signal(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint8_put_signal(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint16_put_signal(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_put_signal(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_put_signal(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_put_signal(shmem_ctx_t ctx, size_t *dest, const size_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_put_signal(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put8_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put16_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put32_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put64_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put128_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put8_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put16_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put32_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put64_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put128_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_putmem_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_putmem_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);

/* shmem_put_signal_nbi(3): begin to copy contiguous data to a PE and to signal it. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_float_put_signal_nbi(float *dest, const float *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_double_put_signal_nbi(double *dest, const double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longdouble_put_signal_nbi(long double *dest, const long double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_char_put_signal_nbi(char *dest, const char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_schar_put_signal_nbi(signed char *dest, const signed char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_short_put_signal_nbi(short *dest, const short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_put_signal_nbi(int *dest, const int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_put_signal_nbi(long *dest, const long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_put_signal_nbi(long long *dest, const long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uchar_put_signal_nbi(unsigned char *dest, const unsigned char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ushort_put_signal_nbi(unsigned short *dest, const unsigned short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_put_signal_nbi(unsigned int *dest, const unsigned int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_put_signal_nbi(unsigned long *dest, const unsigned long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_put_signal_nbi(unsigned long long *dest, const unsigned long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int8_put_signal_nbi(int8_t *dest, const int8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int16_put_signal_nbi(int16_t *dest, const int16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_put_signal_nbi(int32_t *dest, const int32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_put_signal_nbi(int64_t *dest, const int64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint8_put_signal_nbi(uint8_t *dest, const uint8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint16_put_signal_nbi(uint16_t *dest, const uint16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_put_signal_nbi(uint32_t *dest, const uint32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_put_signal_nbi(uint64_t *dest, const uint64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_put_signal_nbi(size_t *dest, const size_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_put_signal_nbi(ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_float_put_signal_nbi(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_double_put_signal_nbi(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longdouble_put_signal_nbi(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_char_put_signal_nbi(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_schar_put_signal_nbi(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_short_put_signal_nbi(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_put_signal_nbi(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_put_signal_nbi(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_put_signal_nbi(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uchar_put_signal_nbi(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ushort_put_signal_nbi(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_put_signal_nbi(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_put_signal_nbi(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_put_signal_nbi(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int8_put_signal_nbi(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int16_put_signal_nbi(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_put_signal_nbi(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_put_signal_nbi(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint8_put_signal_nbi(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint16_put_signal_nbi(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_put_signal_nbi(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_put_signal_nbi(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_put_signal_nbi(shmem_ctx_t ctx, size_t *dest, const size_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_put_signal_nbi(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put8_signal_nbi(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put16_signal_nbi(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put32_signal_nbi(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put64_signal_nbi(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_put128_signal_nbi(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put8_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put16_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put32_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put64_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_put128_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_putmem_signal_nbi(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_putmem_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);

/* shmem_signal_fetch(3): read a signal. */
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_signal_fetch(const uint64_t *sig_addr);

/* shmem_signal_add(3): add to a signal of a PE. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_signal_add(uint64_t *sig_addr, uint64_t signal, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);

/* shmem_signal_set(3): set a signal of a PE. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_signal_set(uint64_t *sig_addr, uint64_t signal, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);

/* shmem_signal_wait_until(3): wait for a signal. */
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value);

/* Atomic memory operations. */

/* shmem_atomic_fetch(3): read an object of a PE atomically. */
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES float shmem_float_atomic_fetch(const float *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES double shmem_double_atomic_fetch(const double *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_atomic_fetch(const int *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES long shmem_long_atomic_fetch(const long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES long long shmem_longlong_atomic_fetch(const long long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_uint_atomic_fetch(const unsigned int *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ulong_atomic_fetch(const unsigned long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ulonglong_atomic_fetch(const unsigned long long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_int32_atomic_fetch(const int32_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_int64_atomic_fetch(const int64_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_uint32_atomic_fetch(const uint32_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_uint64_atomic_fetch(const uint64_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_size_atomic_fetch(const size_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES ptrdiff_t shmem_ptrdiff_atomic_fetch(const ptrdiff_t *source, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES float shmem_ctx_float_atomic_fetch(shmem_ctx_t ctx, const float *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES double shmem_ctx_double_atomic_fetch(shmem_ctx_t ctx, const double *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ctx_int_atomic_fetch(shmem_ctx_t ctx, const int *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES long shmem_ctx_long_atomic_fetch(shmem_ctx_t ctx, const long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES long long shmem_ctx_longlong_atomic_fetch(shmem_ctx_t ctx, const long long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_ctx_uint_atomic_fetch(shmem_ctx_t ctx, const unsigned int *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ctx_ulong_atomic_fetch(shmem_ctx_t ctx, const unsigned long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ctx_ulonglong_atomic_fetch(shmem_ctx_t ctx, const unsigned long long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_ctx_int32_atomic_fetch(shmem_ctx_t ctx, const int32_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_ctx_int64_atomic_fetch(shmem_ctx_t ctx, const int64_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_ctx_uint32_atomic_fetch(shmem_ctx_t ctx, const uint32_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_ctx_uint64_atomic_fetch(shmem_ctx_t ctx, const uint64_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ctx_size_atomic_fetch(shmem_ctx_t ctx, const size_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES ptrdiff_t shmem_ctx_ptrdiff_atomic_fetch(shmem_ctx_t ctx, const ptrdiff_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_float_atomic_fetch_nbi(float *fetch, const float *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_double_atomic_fetch_nbi(double *fetch, const double *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_atomic_fetch_nbi(int *fetch, const int *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_atomic_fetch_nbi(long *fetch, const long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_atomic_fetch_nbi(long long *fetch, const long long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_atomic_fetch_nbi(unsigned int *fetch, const unsigned int *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_atomic_fetch_nbi(unsigned long *fetch, const unsigned long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_atomic_fetch_nbi(unsigned long long *fetch, const unsigned long long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_atomic_fetch_nbi(int32_t *fetch, const int32_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_atomic_fetch_nbi(int64_t *fetch, const int64_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_atomic_fetch_nbi(uint32_t *fetch, const uint32_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_atomic_fetch_nbi(uint64_t *fetch, const uint64_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_atomic_fetch_nbi(size_t *fetch, const size_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_atomic_fetch_nbi(ptrdiff_t *fetch, const ptrdiff_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_float_atomic_fetch_nbi(shmem_ctx_t ctx, float *fetch, const float *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_double_atomic_fetch_nbi(shmem_ctx_t ctx, double *fetch, const double *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_atomic_fetch_nbi(shmem_ctx_t ctx, int *fetch, const int *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_atomic_fetch_nbi(shmem_ctx_t ctx, long *fetch, const long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_atomic_fetch_nbi(shmem_ctx_t ctx, long long *fetch, const long long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_atomic_fetch_nbi(shmem_ctx_t ctx, unsigned int *fetch, const unsigned int *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_atomic_fetch_nbi(shmem_ctx_t ctx, unsigned long *fetch, const unsigned long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_atomic_fetch_nbi(shmem_ctx_t ctx, unsigned long long *fetch, const unsigned long long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_atomic_fetch_nbi(shmem_ctx_t ctx, int32_t *fetch, const int32_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_atomic_fetch_nbi(shmem_ctx_t ctx, int64_t *fetch, const int64_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_atomic_fetch_nbi(shmem_ctx_t ctx, uint32_t *fetch, const uint32_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_atomic_fetch_nbi(shmem_ctx_t ctx, uint64_t *fetch, const uint64_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_atomic_fetch_nbi(shmem_ctx_t ctx, size_t *fetch, const size_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_atomic_fetch_nbi(shmem_ctx_t ctx, ptrdiff_t *fetch, const ptrdiff_t *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE float shmem_float_fetch(const float *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE double shmem_double_fetch(const double *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE int shmem_int_fetch(const int *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE long shmem_long_fetch(const long *source, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE long long shmem_longlong_fetch(const long long *source, int pe);

/* shmem_atomic_set(3): set an object of a PE atomically. */
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES void shmem_float_atomic_set(float *dest, float value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_double_atomic_set(double *dest, double value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_atomic_set(int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_atomic_set(long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_atomic_set(long long *dest, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_atomic_set(unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_atomic_set(unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_atomic_set(unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_atomic_set(int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_atomic_set(int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_atomic_set(uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_atomic_set(uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_atomic_set(size_t *dest, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_atomic_set(ptrdiff_t *dest, ptrdiff_t value, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_float_atomic_set(shmem_ctx_t ctx, float *dest, float value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_double_atomic_set(shmem_ctx_t ctx, double *dest, double value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_atomic_set(shmem_ctx_t ctx, int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_atomic_set(shmem_ctx_t ctx, long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_atomic_set(shmem_ctx_t ctx, long long *dest, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_atomic_set(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_atomic_set(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_atomic_set(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_atomic_set(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_atomic_set(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_atomic_set(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_atomic_set(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_atomic_set(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_atomic_set(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_float_set(float *dest, float value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_double_set(double *dest, double value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_int_set(int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_long_set(long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_longlong_set(long long *dest, long long value, int pe);

/* shmem_atomic_swap(3): exchange an object of a PE atomically. */
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES float shmem_float_atomic_swap(float *dest, float value, int pe);
SHMEM_FUNCTION_ATTRIBUTES double shmem_double_atomic_swap(double *dest, double value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_atomic_swap(int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES long shmem_long_atomic_swap(long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES long long shmem_longlong_atomic_swap(long long *dest, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_uint_atomic_swap(unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ulong_atomic_swap(unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ulonglong_atomic_swap(unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_int32_atomic_swap(int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_int64_atomic_swap(int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_uint32_atomic_swap(uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_uint64_atomic_swap(uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_size_atomic_swap(size_t *dest, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES ptrdiff_t shmem_ptrdiff_atomic_swap(ptrdiff_t *dest, ptrdiff_t value, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES float shmem_ctx_float_atomic_swap(shmem_ctx_t ctx, float *dest, float value, int pe);
SHMEM_FUNCTION_ATTRIBUTES double shmem_ctx_double_atomic_swap(shmem_ctx_t ctx, double *dest, double value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ctx_int_atomic_swap(shmem_ctx_t ctx, int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES long shmem_ctx_long_atomic_swap(shmem_ctx_t ctx, long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES long long shmem_ctx_longlong_atomic_swap(shmem_ctx_t ctx, long long *dest, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_ctx_uint_atomic_swap(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ctx_ulong_atomic_swap(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ctx_ulonglong_atomic_swap(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_ctx_int32_atomic_swap(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_ctx_int64_atomic_swap(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_ctx_uint32_atomic_swap(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_ctx_uint64_atomic_swap(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ctx_size_atomic_swap(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES ptrdiff_t shmem_ctx_ptrdiff_atomic_swap(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_float_atomic_swap_nbi(float *fetch, float *dest, float value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_double_atomic_swap_nbi(double *fetch, double *dest, double value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_atomic_swap_nbi(int *fetch, int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_atomic_swap_nbi(long *fetch, long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_atomic_swap_nbi(long long *fetch, long long *dest, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_atomic_swap_nbi(unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_atomic_swap_nbi(unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_atomic_swap_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_atomic_swap_nbi(int32_t *fetch, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_atomic_swap_nbi(int64_t *fetch, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_atomic_swap_nbi(uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_atomic_swap_nbi(uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_atomic_swap_nbi(size_t *fetch, size_t *dest, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_atomic_swap_nbi(ptrdiff_t *fetch, ptrdiff_t *dest, ptrdiff_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_float_atomic_swap_nbi(shmem_ctx_t ctx, float *fetch, float *dest, float value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_double_atomic_swap_nbi(shmem_ctx_t ctx, double *fetch, double *dest, double value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_atomic_swap_nbi(shmem_ctx_t ctx, int *fetch, int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_atomic_swap_nbi(shmem_ctx_t ctx, long *fetch, long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_atomic_swap_nbi(shmem_ctx_t ctx, long long *fetch, long long *dest, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_atomic_swap_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_atomic_swap_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_atomic_swap_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_atomic_swap_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_atomic_swap_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_atomic_swap_nbi(shmem_ctx_t ctx, uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_atomic_swap_nbi(shmem_ctx_t ctx, uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_atomic_swap_nbi(shmem_ctx_t ctx, size_t *fetch, size_t *dest, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_atomic_swap_nbi(shmem_ctx_t ctx, ptrdiff_t *fetch, ptrdiff_t *dest, ptrdiff_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE float shmem_float_swap(float *dest, float value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE double shmem_double_swap(double *dest, double value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE int shmem_int_swap(int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE long shmem_long_swap(long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE long long shmem_longlong_swap(long long *dest, long long value, int pe);

/* shmem_atomic_compare_swap(3): exchange an object of a PE atomically if it has a value. */
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_atomic_compare_swap(int *dest, int cond, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES long shmem_long_atomic_compare_swap(long *dest, long cond, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES long long shmem_longlong_atomic_compare_swap(long long *dest, long long cond, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_uint_atomic_compare_swap(unsigned int *dest, unsigned int cond, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ulong_atomic_compare_swap(unsigned long *dest, unsigned long cond, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ulonglong_atomic_compare_swap(unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_int32_atomic_compare_swap(int32_t *dest, int32_t cond, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_int64_atomic_compare_swap(int64_t *dest, int64_t cond, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_uint32_atomic_compare_swap(uint32_t *dest, uint32_t cond, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_uint64_atomic_compare_swap(uint64_t *dest, uint64_t cond, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_size_atomic_compare_swap(size_t *dest, size_t cond, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES ptrdiff_t shmem_ptrdiff_atomic_compare_swap(ptrdiff_t *dest, ptrdiff_t cond, ptrdiff_t value, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES int shmem_ctx_int_atomic_compare_swap(shmem_ctx_t ctx, int *dest, int cond, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES long shmem_ctx_long_atomic_compare_swap(shmem_ctx_t ctx, long *dest, long cond, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES long long shmem_ctx_longlong_atomic_compare_swap(shmem_ctx_t ctx, long long *dest, long long cond, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_ctx_uint_atomic_compare_swap(shmem_ctx_t ctx, unsigned int *dest, unsigned int cond, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ctx_ulong_atomic_compare_swap(shmem_ctx_t ctx, unsigned long *dest, unsigned long cond, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ctx_ulonglong_atomic_compare_swap(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_ctx_int32_atomic_compare_swap(shmem_ctx_t ctx, int32_t *dest, int32_t cond, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_ctx_int64_atomic_compare_swap(shmem_ctx_t ctx, int64_t *dest, int64_t cond, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_ctx_uint32_atomic_compare_swap(shmem_ctx_t ctx, uint32_t *dest, uint32_t cond, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_ctx_uint64_atomic_compare_swap(shmem_ctx_t ctx, uint64_t *dest, uint64_t cond, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ctx_size_atomic_compare_swap(shmem_ctx_t ctx, size_t *dest, size_t cond, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES ptrdiff_t shmem_ctx_ptrdiff_atomic_compare_swap(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t cond, ptrdiff_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_atomic_compare_swap_nbi(int *fetch, int *dest, int cond, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_atomic_compare_swap_nbi(long *fetch, long *dest, long cond, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_atomic_compare_swap_nbi(long long *fetch, long long *dest, long long cond, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_atomic_compare_swap_nbi(unsigned int *fetch, unsigned int *dest, unsigned int cond, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_atomic_compare_swap_nbi(unsigned long *fetch, unsigned long *dest, unsigned long cond, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_atomic_compare_swap_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_atomic_compare_swap_nbi(int32_t *fetch, int32_t *dest, int32_t cond, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_atomic_compare_swap_nbi(int64_t *fetch, int64_t *dest, int64_t cond, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_atomic_compare_swap_nbi(uint32_t *fetch, uint32_t *dest, uint32_t cond, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_atomic_compare_swap_nbi(uint64_t *fetch, uint64_t *dest, uint64_t cond, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_atomic_compare_swap_nbi(size_t *fetch, size_t *dest, size_t cond, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_atomic_compare_swap_nbi(ptrdiff_t *fetch, ptrdiff_t *dest, ptrdiff_t cond, ptrdiff_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_atomic_compare_swap_nbi(shmem_ctx_t ctx, int *fetch, int *dest, int cond, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_atomic_compare_swap_nbi(shmem_ctx_t ctx, long *fetch, long *dest, long cond, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_atomic_compare_swap_nbi(shmem_ctx_t ctx, long long *fetch, long long *dest, long long cond, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_atomic_compare_swap_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int cond, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_atomic_compare_swap_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long cond, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_atomic_compare_swap_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_atomic_compare_swap_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int32_t cond, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_atomic_compare_swap_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int64_t cond, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_atomic_compare_swap_nbi(shmem_ctx_t ctx, uint32_t *fetch, uint32_t *dest, uint32_t cond, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_atomic_compare_swap_nbi(shmem_ctx_t ctx, uint64_t *fetch, uint64_t *dest, uint64_t cond, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_atomic_compare_swap_nbi(shmem_ctx_t ctx, size_t *fetch, size_t *dest, size_t cond, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_atomic_compare_swap_nbi(shmem_ctx_t ctx, ptrdiff_t *fetch, ptrdiff_t *dest, ptrdiff_t cond, ptrdiff_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE int shmem_int_cswap(int *dest, int cond, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE long shmem_long_cswap(long *dest, long cond, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE long long shmem_longlong_cswap(long long *dest, long long cond, long long value, int pe);

/* shmem_atomic_inc(3): increment an object of a PE atomically. */
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_atomic_inc(int *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_atomic_inc(long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_atomic_inc(long long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_atomic_inc(unsigned int *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_atomic_inc(unsigned long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_atomic_inc(unsigned long long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_atomic_inc(int32_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_atomic_inc(int64_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_atomic_inc(uint32_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_atomic_inc(uint64_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_atomic_inc(size_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_atomic_inc(ptrdiff_t *dest, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_atomic_inc(shmem_ctx_t ctx, int *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_atomic_inc(shmem_ctx_t ctx, long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_atomic_inc(shmem_ctx_t ctx, long long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_atomic_inc(shmem_ctx_t ctx, unsigned int *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_atomic_inc(shmem_ctx_t ctx, unsigned long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_atomic_inc(shmem_ctx_t ctx, unsigned long long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_atomic_inc(shmem_ctx_t ctx, int32_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_atomic_inc(shmem_ctx_t ctx, int64_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_atomic_inc(shmem_ctx_t ctx, uint32_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_atomic_inc(shmem_ctx_t ctx, uint64_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_atomic_inc(shmem_ctx_t ctx, size_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_atomic_inc(shmem_ctx_t ctx, ptrdiff_t *dest, int pe);
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_atomic_fetch_inc(int *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES long shmem_long_atomic_fetch_inc(long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES long long shmem_longlong_atomic_fetch_inc(long long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_uint_atomic_fetch_inc(unsigned int *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ulong_atomic_fetch_inc(unsigned long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ulonglong_atomic_fetch_inc(unsigned long long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_int32_atomic_fetch_inc(int32_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_int64_atomic_fetch_inc(int64_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_uint32_atomic_fetch_inc(uint32_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_uint64_atomic_fetch_inc(uint64_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_size_atomic_fetch_inc(size_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES ptrdiff_t shmem_ptrdiff_atomic_fetch_inc(ptrdiff_t *dest, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES int shmem_ctx_int_atomic_fetch_inc(shmem_ctx_t ctx, int *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES long shmem_ctx_long_atomic_fetch_inc(shmem_ctx_t ctx, long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES long long shmem_ctx_longlong_atomic_fetch_inc(shmem_ctx_t ctx, long long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_ctx_uint_atomic_fetch_inc(shmem_ctx_t ctx, unsigned int *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ctx_ulong_atomic_fetch_inc(shmem_ctx_t ctx, unsigned long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ctx_ulonglong_atomic_fetch_inc(shmem_ctx_t ctx, unsigned long long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_ctx_int32_atomic_fetch_inc(shmem_ctx_t ctx, int32_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_ctx_int64_atomic_fetch_inc(shmem_ctx_t ctx, int64_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_ctx_uint32_atomic_fetch_inc(shmem_ctx_t ctx, uint32_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_ctx_uint64_atomic_fetch_inc(shmem_ctx_t ctx, uint64_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ctx_size_atomic_fetch_inc(shmem_ctx_t ctx, size_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES ptrdiff_t shmem_ctx_ptrdiff_atomic_fetch_inc(shmem_ctx_t ctx, ptrdiff_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_atomic_fetch_inc_nbi(int *fetch, int *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_atomic_fetch_inc_nbi(long *fetch, long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_atomic_fetch_inc_nbi(long long *fetch, long long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_atomic_fetch_inc_nbi(unsigned int *fetch, unsigned int *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_atomic_fetch_inc_nbi(unsigned long *fetch, unsigned long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_atomic_fetch_inc_nbi(unsigned long long *fetch, unsigned long long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_atomic_fetch_inc_nbi(int32_t *fetch, int32_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_atomic_fetch_inc_nbi(int64_t *fetch, int64_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_atomic_fetch_inc_nbi(uint32_t *fetch, uint32_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_atomic_fetch_inc_nbi(uint64_t *fetch, uint64_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_atomic_fetch_inc_nbi(size_t *fetch, size_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_atomic_fetch_inc_nbi(ptrdiff_t *fetch, ptrdiff_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_atomic_fetch_inc_nbi(shmem_ctx_t ctx, int *fetch, int *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_atomic_fetch_inc_nbi(shmem_ctx_t ctx, long *fetch, long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_atomic_fetch_inc_nbi(shmem_ctx_t ctx, long long *fetch, long long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_atomic_fetch_inc_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_atomic_fetch_inc_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_atomic_fetch_inc_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_atomic_fetch_inc_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_atomic_fetch_inc_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_atomic_fetch_inc_nbi(shmem_ctx_t ctx, uint32_t *fetch, uint32_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_atomic_fetch_inc_nbi(shmem_ctx_t ctx, uint64_t *fetch, uint64_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_atomic_fetch_inc_nbi(shmem_ctx_t ctx, size_t *fetch, size_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_atomic_fetch_inc_nbi(shmem_ctx_t ctx, ptrdiff_t *fetch, ptrdiff_t *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_int_inc(int *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_long_inc(long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_longlong_inc(long long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE int shmem_int_finc(int *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE long shmem_long_finc(long *dest, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE long long shmem_longlong_finc(long long *dest, int pe);

/* shmem_atomic_add(3): add to an object of a PE atomically. */
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_atomic_add(int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_atomic_add(long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_atomic_add(long long *dest, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_atomic_add(unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_atomic_add(unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_atomic_add(unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_atomic_add(int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_atomic_add(int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_atomic_add(uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_atomic_add(uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_atomic_add(size_t *dest, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_atomic_add(ptrdiff_t *dest, ptrdiff_t value, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_atomic_add(shmem_ctx_t ctx, int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_atomic_add(shmem_ctx_t ctx, long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_atomic_add(shmem_ctx_t ctx, long long *dest, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_atomic_add(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_atomic_add(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_atomic_add(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_atomic_add(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_atomic_add(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_atomic_add(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_atomic_add(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_atomic_add(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_atomic_add(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe);
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_atomic_fetch_add(int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES long shmem_long_atomic_fetch_add(long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES long long shmem_longlong_atomic_fetch_add(long long *dest, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_uint_atomic_fetch_add(unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ulong_atomic_fetch_add(unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ulonglong_atomic_fetch_add(unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_int32_atomic_fetch_add(int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_int64_atomic_fetch_add(int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_uint32_atomic_fetch_add(uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_uint64_atomic_fetch_add(uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_size_atomic_fetch_add(size_t *dest, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES ptrdiff_t shmem_ptrdiff_atomic_fetch_add(ptrdiff_t *dest, ptrdiff_t value, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES int shmem_ctx_int_atomic_fetch_add(shmem_ctx_t ctx, int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES long shmem_ctx_long_atomic_fetch_add(shmem_ctx_t ctx, long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES long long shmem_ctx_longlong_atomic_fetch_add(shmem_ctx_t ctx, long long *dest, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_ctx_uint_atomic_fetch_add(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ctx_ulong_atomic_fetch_add(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ctx_ulonglong_atomic_fetch_add(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_ctx_int32_atomic_fetch_add(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_ctx_int64_atomic_fetch_add(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_ctx_uint32_atomic_fetch_add(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_ctx_uint64_atomic_fetch_add(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ctx_size_atomic_fetch_add(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES ptrdiff_t shmem_ctx_ptrdiff_atomic_fetch_add(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_atomic_fetch_add_nbi(int *fetch, int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_atomic_fetch_add_nbi(long *fetch, long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_atomic_fetch_add_nbi(long long *fetch, long long *dest, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_atomic_fetch_add_nbi(unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_atomic_fetch_add_nbi(unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_atomic_fetch_add_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_atomic_fetch_add_nbi(int32_t *fetch, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_atomic_fetch_add_nbi(int64_t *fetch, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_atomic_fetch_add_nbi(uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_atomic_fetch_add_nbi(uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_atomic_fetch_add_nbi(size_t *fetch, size_t *dest, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_atomic_fetch_add_nbi(ptrdiff_t *fetch, ptrdiff_t *dest, ptrdiff_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int_atomic_fetch_add_nbi(shmem_ctx_t ctx, int *fetch, int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_long_atomic_fetch_add_nbi(shmem_ctx_t ctx, long *fetch, long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_longlong_atomic_fetch_add_nbi(shmem_ctx_t ctx, long long *fetch, long long *dest, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_atomic_fetch_add_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_atomic_fetch_add_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_atomic_fetch_add_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_atomic_fetch_add_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_atomic_fetch_add_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_atomic_fetch_add_nbi(shmem_ctx_t ctx, uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_atomic_fetch_add_nbi(shmem_ctx_t ctx, uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_size_atomic_fetch_add_nbi(shmem_ctx_t ctx, size_t *fetch, size_t *dest, size_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ptrdiff_atomic_fetch_add_nbi(shmem_ctx_t ctx, ptrdiff_t *fetch, ptrdiff_t *dest, ptrdiff_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_int_add(int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_long_add(long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_longlong_add(long long *dest, long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE int shmem_int_fadd(int *dest, int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE long shmem_long_fadd(long *dest, long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE long long shmem_longlong_fadd(long long *dest, long long value, int pe);

/* shmem_atomic_and(3): bitwise and with an object of a PE, atomically. */
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_atomic_and(unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_atomic_and(unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_atomic_and(unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_atomic_and(int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_atomic_and(int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_atomic_and(uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_atomic_and(uint64_t *dest, uint64_t value, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_atomic_and(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_atomic_and(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_atomic_and(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_atomic_and(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_atomic_and(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_atomic_and(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_atomic_and(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_uint_atomic_fetch_and(unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ulong_atomic_fetch_and(unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ulonglong_atomic_fetch_and(unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_int32_atomic_fetch_and(int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_int64_atomic_fetch_and(int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_uint32_atomic_fetch_and(uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_uint64_atomic_fetch_and(uint64_t *dest, uint64_t value, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_ctx_uint_atomic_fetch_and(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ctx_ulong_atomic_fetch_and(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ctx_ulonglong_atomic_fetch_and(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_ctx_int32_atomic_fetch_and(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_ctx_int64_atomic_fetch_and(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_ctx_uint32_atomic_fetch_and(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_ctx_uint64_atomic_fetch_and(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_atomic_fetch_and_nbi(unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_atomic_fetch_and_nbi(unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_atomic_fetch_and_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_atomic_fetch_and_nbi(int32_t *fetch, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_atomic_fetch_and_nbi(int64_t *fetch, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_atomic_fetch_and_nbi(uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_atomic_fetch_and_nbi(uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_atomic_fetch_and_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_atomic_fetch_and_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_atomic_fetch_and_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_atomic_fetch_and_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_atomic_fetch_and_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_atomic_fetch_and_nbi(shmem_ctx_t ctx, uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_atomic_fetch_and_nbi(shmem_ctx_t ctx, uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);

/* shmem_atomic_or(3): bitwise or with an object of a PE, atomically. */
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_atomic_or(unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_atomic_or(unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_atomic_or(unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_atomic_or(int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_atomic_or(int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_atomic_or(uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_atomic_or(uint64_t *dest, uint64_t value, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_atomic_or(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_atomic_or(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_atomic_or(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_atomic_or(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_atomic_or(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_atomic_or(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_atomic_or(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_uint_atomic_fetch_or(unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ulong_atomic_fetch_or(unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ulonglong_atomic_fetch_or(unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_int32_atomic_fetch_or(int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_int64_atomic_fetch_or(int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_uint32_atomic_fetch_or(uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_uint64_atomic_fetch_or(uint64_t *dest, uint64_t value, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_ctx_uint_atomic_fetch_or(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ctx_ulong_atomic_fetch_or(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ctx_ulonglong_atomic_fetch_or(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_ctx_int32_atomic_fetch_or(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_ctx_int64_atomic_fetch_or(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_ctx_uint32_atomic_fetch_or(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_ctx_uint64_atomic_fetch_or(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_atomic_fetch_or_nbi(unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_atomic_fetch_or_nbi(unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_atomic_fetch_or_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_atomic_fetch_or_nbi(int32_t *fetch, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_atomic_fetch_or_nbi(int64_t *fetch, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_atomic_fetch_or_nbi(uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_atomic_fetch_or_nbi(uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_atomic_fetch_or_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_atomic_fetch_or_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_atomic_fetch_or_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_atomic_fetch_or_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_atomic_fetch_or_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_atomic_fetch_or_nbi(shmem_ctx_t ctx, uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_atomic_fetch_or_nbi(shmem_ctx_t ctx, uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);

/* shmem_atomic_xor(3): bitwise exclusive or with an object of a PE, atomically. */
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_atomic_xor(unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_atomic_xor(unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_atomic_xor(unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_atomic_xor(int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_atomic_xor(int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_atomic_xor(uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_atomic_xor(uint64_t *dest, uint64_t value, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_atomic_xor(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_atomic_xor(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_atomic_xor(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_atomic_xor(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_atomic_xor(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_atomic_xor(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_atomic_xor(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
#ifndef SHMEMX_IS_INLINE
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_uint_atomic_fetch_xor(unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ulong_atomic_fetch_xor(unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ulonglong_atomic_fetch_xor(unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_int32_atomic_fetch_xor(int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_int64_atomic_fetch_xor(int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_uint32_atomic_fetch_xor(uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_uint64_atomic_fetch_xor(uint64_t *dest, uint64_t value, int pe);
#endif
SHMEM_FUNCTION_ATTRIBUTES unsigned int shmem_ctx_uint_atomic_fetch_xor(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long shmem_ctx_ulong_atomic_fetch_xor(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES unsigned long long shmem_ctx_ulonglong_atomic_fetch_xor(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int32_t shmem_ctx_int32_atomic_fetch_xor(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES int64_t shmem_ctx_int64_atomic_fetch_xor(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint32_t shmem_ctx_uint32_atomic_fetch_xor(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES uint64_t shmem_ctx_uint64_atomic_fetch_xor(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_atomic_fetch_xor_nbi(unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_atomic_fetch_xor_nbi(unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_atomic_fetch_xor_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_atomic_fetch_xor_nbi(int32_t *fetch, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_atomic_fetch_xor_nbi(int64_t *fetch, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_atomic_fetch_xor_nbi(uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_atomic_fetch_xor_nbi(uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint_atomic_fetch_xor_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulong_atomic_fetch_xor_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_ulonglong_atomic_fetch_xor_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int32_atomic_fetch_xor_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_int64_atomic_fetch_xor_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int64_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint32_atomic_fetch_xor_nbi(shmem_ctx_t ctx, uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_uint64_atomic_fetch_xor_nbi(shmem_ctx_t ctx, uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);

/* Collectives. */

/* shmem_barrier_all(3): complete all communication and wait for all PEs. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_barrier_all(void);

/* shmem_barrier(3): complete communication and wait for an active set. */
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync);

/* shmem_sync(3): wait for a team. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_team_sync(shmem_team_t team);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync);

/* shmem_sync_all(3): wait for all PEs. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_sync_all(void);

/* shmem_alltoall(3): exchange blocks between all PEs. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_float_alltoall(shmem_team_t team, float *dest, const float *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_double_alltoall(shmem_team_t team, double *dest, const double *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longdouble_alltoall(shmem_team_t team, long double *dest, const long double *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_char_alltoall(shmem_team_t team, char *dest, const char *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_schar_alltoall(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_short_alltoall(shmem_team_t team, short *dest, const short *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_alltoall(shmem_team_t team, int *dest, const int *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_long_alltoall(shmem_team_t team, long *dest, const long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longlong_alltoall(shmem_team_t team, long long *dest, const long long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uchar_alltoall(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ushort_alltoall(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_alltoall(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_alltoall(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_alltoall(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int8_alltoall(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int16_alltoall(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_alltoall(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_alltoall(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint8_alltoall(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint16_alltoall(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_alltoall(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_alltoall(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_alltoall(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ptrdiff_alltoall(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_alltoallmem(shmem_team_t team, void *dest, const void *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_alltoall32(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_alltoall64(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);

/* shmem_alltoalls(3): exchange strided blocks between all PEs. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_float_alltoalls(shmem_team_t team, float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_double_alltoalls(shmem_team_t team, double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longdouble_alltoalls(shmem_team_t team, long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_char_alltoalls(shmem_team_t team, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_schar_alltoalls(shmem_team_t team, signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_short_alltoalls(shmem_team_t team, short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_alltoalls(shmem_team_t team, int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_long_alltoalls(shmem_team_t team, long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longlong_alltoalls(shmem_team_t team, long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uchar_alltoalls(shmem_team_t team, unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ushort_alltoalls(shmem_team_t team, unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_alltoalls(shmem_team_t team, unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_alltoalls(shmem_team_t team, unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_alltoalls(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int8_alltoalls(shmem_team_t team, int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int16_alltoalls(shmem_team_t team, int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_alltoalls(shmem_team_t team, int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_alltoalls(shmem_team_t team, int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint8_alltoalls(shmem_team_t team, uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint16_alltoalls(shmem_team_t team, uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_alltoalls(shmem_team_t team, uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_alltoalls(shmem_team_t team, uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_alltoalls(shmem_team_t team, size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ptrdiff_alltoalls(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_alltoallsmem(shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_alltoalls32(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_alltoalls64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);

/* shmem_broadcast(3): copy data from one PE to all. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_float_broadcast(shmem_team_t team, float *dest, const float *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_double_broadcast(shmem_team_t team, double *dest, const double *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longdouble_broadcast(shmem_team_t team, long double *dest, const long double *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_char_broadcast(shmem_team_t team, char *dest, const char *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_schar_broadcast(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_short_broadcast(shmem_team_t team, short *dest, const short *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_broadcast(shmem_team_t team, int *dest, const int *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_long_broadcast(shmem_team_t team, long *dest, const long *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longlong_broadcast(shmem_team_t team, long long *dest, const long long *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uchar_broadcast(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ushort_broadcast(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_broadcast(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_broadcast(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_broadcast(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int8_broadcast(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int16_broadcast(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_broadcast(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_broadcast(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint8_broadcast(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint16_broadcast(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_broadcast(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_broadcast(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_broadcast(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ptrdiff_broadcast(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES int shmem_broadcastmem(shmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_broadcast32(void *dest, const void *source, size_t nelems, int PE_root, int PE_start, int logPE_stride, int PE_size, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_broadcast64(void *dest, const void *source, size_t nelems, int PE_root, int PE_start, int logPE_stride, int PE_size, long *pSync);

/* shmem_collect(3): concatenate data of all PEs. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_float_collect(shmem_team_t team, float *dest, const float *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_double_collect(shmem_team_t team, double *dest, const double *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longdouble_collect(shmem_team_t team, long double *dest, const long double *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_char_collect(shmem_team_t team, char *dest, const char *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_schar_collect(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_short_collect(shmem_team_t team, short *dest, const short *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_collect(shmem_team_t team, int *dest, const int *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_long_collect(shmem_team_t team, long *dest, const long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longlong_collect(shmem_team_t team, long long *dest, const long long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uchar_collect(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ushort_collect(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_collect(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_collect(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_collect(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int8_collect(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int16_collect(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_collect(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_collect(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint8_collect(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint16_collect(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_collect(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_collect(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_collect(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ptrdiff_collect(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_collectmem(shmem_team_t team, void *dest, const void *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_collect32(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_collect64(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES int shmem_float_fcollect(shmem_team_t team, float *dest, const float *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_double_fcollect(shmem_team_t team, double *dest, const double *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longdouble_fcollect(shmem_team_t team, long double *dest, const long double *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_char_fcollect(shmem_team_t team, char *dest, const char *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_schar_fcollect(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_short_fcollect(shmem_team_t team, short *dest, const short *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_fcollect(shmem_team_t team, int *dest, const int *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_long_fcollect(shmem_team_t team, long *dest, const long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longlong_fcollect(shmem_team_t team, long long *dest, const long long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uchar_fcollect(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ushort_fcollect(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_fcollect(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_fcollect(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_fcollect(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int8_fcollect(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int16_fcollect(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_fcollect(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_fcollect(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint8_fcollect(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint16_fcollect(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_fcollect(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_fcollect(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_fcollect(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ptrdiff_fcollect(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_fcollectmem(shmem_team_t team, void *dest, const void *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_fcollect32(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_fcollect64(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);

/* shmem_and_reduce(3): bitwise and over all PEs. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_uchar_and_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ushort_and_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_and_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_and_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_and_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int8_and_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int16_and_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_and_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_and_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint8_and_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint16_and_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_and_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_and_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_and_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_short_and_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride, int PE_size, short *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_int_and_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride, int PE_size, int *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_long_and_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_longlong_and_to_all(long long *dest, const long long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long long *pWrk, long *pSync);

/* shmem_or_reduce(3): bitwise or over all PEs. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_uchar_or_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ushort_or_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_or_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_or_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_or_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int8_or_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int16_or_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_or_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_or_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint8_or_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint16_or_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_or_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_or_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_or_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_short_or_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride, int PE_size, short *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_int_or_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride, int PE_size, int *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_long_or_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_longlong_or_to_all(long long *dest, const long long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long long *pWrk, long *pSync);

/* shmem_xor_reduce(3): bitwise exclusive or over all PEs. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_uchar_xor_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ushort_xor_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_xor_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_xor_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_xor_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int8_xor_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int16_xor_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_xor_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_xor_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint8_xor_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint16_xor_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_xor_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_xor_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_xor_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_short_xor_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride, int PE_size, short *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_int_xor_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride, int PE_size, int *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_long_xor_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_longlong_xor_to_all(long long *dest, const long long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long long *pWrk, long *pSync);

/* shmem_max_reduce(3): maximum over all PEs. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_char_max_reduce(shmem_team_t team, char *dest, const char *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_schar_max_reduce(shmem_team_t team, signed char *dest, const signed char *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_short_max_reduce(shmem_team_t team, short *dest, const short *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_max_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_long_max_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longlong_max_reduce(shmem_team_t team, long long *dest, const long long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ptrdiff_max_reduce(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uchar_max_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ushort_max_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_max_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_max_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_max_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int8_max_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int16_max_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_max_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_max_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint8_max_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint16_max_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_max_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_max_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_max_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_float_max_reduce(shmem_team_t team, float *dest, const float *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_double_max_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longdouble_max_reduce(shmem_team_t team, long double *dest, const long double *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_short_max_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride, int PE_size, short *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_int_max_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride, int PE_size, int *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_long_max_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_longlong_max_to_all(long long *dest, const long long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long long *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_float_max_to_all(float *dest, const float *source, int nreduce, int PE_start, int logPE_stride, int PE_size, float *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_double_max_to_all(double *dest, const double *source, int nreduce, int PE_start, int logPE_stride, int PE_size, double *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_longdouble_max_to_all(long double *dest, const long double *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long double *pWrk, long *pSync);

/* shmem_min_reduce(3): minimum over all PEs. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_char_min_reduce(shmem_team_t team, char *dest, const char *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_schar_min_reduce(shmem_team_t team, signed char *dest, const signed char *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_short_min_reduce(shmem_team_t team, short *dest, const short *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_min_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_long_min_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longlong_min_reduce(shmem_team_t team, long long *dest, const long long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ptrdiff_min_reduce(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uchar_min_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ushort_min_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_min_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_min_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_min_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int8_min_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int16_min_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_min_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_min_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint8_min_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint16_min_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_min_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_min_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_min_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_float_min_reduce(shmem_team_t team, float *dest, const float *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_double_min_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longdouble_min_reduce(shmem_team_t team, long double *dest, const long double *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_short_min_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride, int PE_size, short *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_int_min_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride, int PE_size, int *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_long_min_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_longlong_min_to_all(long long *dest, const long long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long long *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_float_min_to_all(float *dest, const float *source, int nreduce, int PE_start, int logPE_stride, int PE_size, float *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_double_min_to_all(double *dest, const double *source, int nreduce, int PE_start, int logPE_stride, int PE_size, double *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_longdouble_min_to_all(long double *dest, const long double *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long double *pWrk, long *pSync);

/* shmem_sum_reduce(3): sum over all PEs. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_char_sum_reduce(shmem_team_t team, char *dest, const char *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_schar_sum_reduce(shmem_team_t team, signed char *dest, const signed char *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_short_sum_reduce(shmem_team_t team, short *dest, const short *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_sum_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_long_sum_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longlong_sum_reduce(shmem_team_t team, long long *dest, const long long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ptrdiff_sum_reduce(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uchar_sum_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ushort_sum_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_sum_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_sum_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_sum_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int8_sum_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int16_sum_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_sum_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_sum_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint8_sum_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint16_sum_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_sum_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_sum_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_sum_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_float_sum_reduce(shmem_team_t team, float *dest, const float *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_double_sum_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longdouble_sum_reduce(shmem_team_t team, long double *dest, const long double *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_complexd_sum_reduce(shmem_team_t team, shmem_complexd_t *dest, const shmem_complexd_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_complexf_sum_reduce(shmem_team_t team, shmem_complexf_t *dest, const shmem_complexf_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_short_sum_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride, int PE_size, short *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_int_sum_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride, int PE_size, int *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_long_sum_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_longlong_sum_to_all(long long *dest, const long long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long long *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_float_sum_to_all(float *dest, const float *source, int nreduce, int PE_start, int logPE_stride, int PE_size, float *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_double_sum_to_all(double *dest, const double *source, int nreduce, int PE_start, int logPE_stride, int PE_size, double *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_longdouble_sum_to_all(long double *dest, const long double *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long double *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_complexd_sum_to_all(shmem_complexd_t *dest, const shmem_complexd_t *source, int nreduce, int PE_start, int logPE_stride, int PE_size, shmem_complexd_t *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_complexf_sum_to_all(shmem_complexf_t *dest, const shmem_complexf_t *source, int nreduce, int PE_start, int logPE_stride, int PE_size, shmem_complexf_t *pWrk, long *pSync);

/* shmem_prod_reduce(3): product over all PEs. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_char_prod_reduce(shmem_team_t team, char *dest, const char *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_schar_prod_reduce(shmem_team_t team, signed char *dest, const signed char *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_short_prod_reduce(shmem_team_t team, short *dest, const short *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_prod_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_long_prod_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longlong_prod_reduce(shmem_team_t team, long long *dest, const long long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ptrdiff_prod_reduce(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uchar_prod_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ushort_prod_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_prod_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_prod_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_prod_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int8_prod_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int16_prod_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_prod_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_prod_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint8_prod_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint16_prod_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_prod_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_prod_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_prod_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_float_prod_reduce(shmem_team_t team, float *dest, const float *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_double_prod_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longdouble_prod_reduce(shmem_team_t team, long double *dest, const long double *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_complexd_prod_reduce(shmem_team_t team, shmem_complexd_t *dest, const shmem_complexd_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES int shmem_complexf_prod_reduce(shmem_team_t team, shmem_complexf_t *dest, const shmem_complexf_t *source, size_t nreduce);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_short_prod_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride, int PE_size, short *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_int_prod_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride, int PE_size, int *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_long_prod_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_longlong_prod_to_all(long long *dest, const long long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long long *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_float_prod_to_all(float *dest, const float *source, int nreduce, int PE_start, int logPE_stride, int PE_size, float *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_double_prod_to_all(double *dest, const double *source, int nreduce, int PE_start, int logPE_stride, int PE_size, double *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_longdouble_prod_to_all(long double *dest, const long double *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long double *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_complexd_prod_to_all(shmem_complexd_t *dest, const shmem_complexd_t *source, int nreduce, int PE_start, int logPE_stride, int PE_size, shmem_complexd_t *pWrk, long *pSync);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_complexf_prod_to_all(shmem_complexf_t *dest, const shmem_complexf_t *source, int nreduce, int PE_start, int logPE_stride, int PE_size, shmem_complexf_t *pWrk, long *pSync);

/* shmem_sum_inscan(3): prefix sums over all PEs. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_char_sum_inscan(shmem_team_t team, char *dest, const char *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_schar_sum_inscan(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_short_sum_inscan(shmem_team_t team, short *dest, const short *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_sum_inscan(shmem_team_t team, int *dest, const int *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_long_sum_inscan(shmem_team_t team, long *dest, const long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longlong_sum_inscan(shmem_team_t team, long long *dest, const long long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ptrdiff_sum_inscan(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uchar_sum_inscan(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ushort_sum_inscan(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_sum_inscan(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_sum_inscan(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_sum_inscan(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int8_sum_inscan(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int16_sum_inscan(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_sum_inscan(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_sum_inscan(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint8_sum_inscan(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint16_sum_inscan(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_sum_inscan(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_sum_inscan(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_sum_inscan(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_float_sum_inscan(shmem_team_t team, float *dest, const float *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_double_sum_inscan(shmem_team_t team, double *dest, const double *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longdouble_sum_inscan(shmem_team_t team, long double *dest, const long double *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_complexd_sum_inscan(shmem_team_t team, shmem_complexd_t *dest, const shmem_complexd_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_complexf_sum_inscan(shmem_team_t team, shmem_complexf_t *dest, const shmem_complexf_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_char_sum_exscan(shmem_team_t team, char *dest, const char *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_schar_sum_exscan(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_short_sum_exscan(shmem_team_t team, short *dest, const short *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_sum_exscan(shmem_team_t team, int *dest, const int *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_long_sum_exscan(shmem_team_t team, long *dest, const long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longlong_sum_exscan(shmem_team_t team, long long *dest, const long long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ptrdiff_sum_exscan(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uchar_sum_exscan(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ushort_sum_exscan(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_sum_exscan(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_sum_exscan(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_sum_exscan(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int8_sum_exscan(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int16_sum_exscan(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_sum_exscan(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_sum_exscan(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint8_sum_exscan(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint16_sum_exscan(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_sum_exscan(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_sum_exscan(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_sum_exscan(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_float_sum_exscan(shmem_team_t team, float *dest, const float *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_double_sum_exscan(shmem_team_t team, double *dest, const double *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longdouble_sum_exscan(shmem_team_t team, long double *dest, const long double *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_complexd_sum_exscan(shmem_team_t team, shmem_complexd_t *dest, const shmem_complexd_t *source, size_t nelems);
SHMEM_FUNCTION_ATTRIBUTES int shmem_complexf_sum_exscan(shmem_team_t team, shmem_complexf_t *dest, const shmem_complexf_t *source, size_t nelems);

/* Point-to-point synchronisation. */

/* shmem_wait_until(3): wait until an object satisfies a comparison. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_wait_until(int *ivar, int cmp, int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_wait_until(long *ivar, int cmp, long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_wait_until(long long *ivar, int cmp, long long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_wait_until(unsigned int *ivar, int cmp, unsigned int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_wait_until(unsigned long *ivar, int cmp, unsigned long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_wait_until(unsigned long long *ivar, int cmp, unsigned long long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_wait_until(int32_t *ivar, int cmp, int32_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_wait_until(int64_t *ivar, int cmp, int64_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_wait_until(uint32_t *ivar, int cmp, uint32_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_wait_until(uint64_t *ivar, int cmp, uint64_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_wait_until(size_t *ivar, int cmp, size_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_wait_until(ptrdiff_t *ivar, int cmp, ptrdiff_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_short_wait_until(short *ivar, int cmp, short cmp_value);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_ushort_wait_until(unsigned short *ivar, int cmp, unsigned short cmp_value);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_wait_until(long *ivar, int cmp, long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_wait(long *ivar, long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_short_wait(short *ivar, short cmp_value);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_int_wait(int *ivar, int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_long_wait(long *ivar, long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_longlong_wait(long long *ivar, long long cmp_value);

/* shmem_wait_until_all(3): wait until all objects satisfy a comparison. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_wait_until_all(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_wait_until_all(long *ivars, size_t nelems, const int *status, int cmp, long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_wait_until_all(long long *ivars, size_t nelems, const int *status, int cmp, long long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_wait_until_all(unsigned int *ivars, size_t nelems, const int *status, int cmp, unsigned int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_wait_until_all(unsigned long *ivars, size_t nelems, const int *status, int cmp, unsigned long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_wait_until_all(unsigned long long *ivars, size_t nelems, const int *status, int cmp, unsigned long long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_wait_until_all(int32_t *ivars, size_t nelems, const int *status, int cmp, int32_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_wait_until_all(int64_t *ivars, size_t nelems, const int *status, int cmp, int64_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_wait_until_all(uint32_t *ivars, size_t nelems, const int *status, int cmp, uint32_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_wait_until_all(uint64_t *ivars, size_t nelems, const int *status, int cmp, uint64_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_wait_until_all(size_t *ivars, size_t nelems, const int *status, int cmp, size_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_wait_until_all(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp, ptrdiff_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_short_wait_until_all(short *ivars, size_t nelems, const int *status, int cmp, short cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ushort_wait_until_all(unsigned short *ivars, size_t nelems, const int *status, int cmp, unsigned short cmp_value);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int_wait_until_all_vector(int *ivars, size_t nelems, const int *status, int cmp, const int *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES void shmem_long_wait_until_all_vector(long *ivars, size_t nelems, const int *status, int cmp, const long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES void shmem_longlong_wait_until_all_vector(long long *ivars, size_t nelems, const int *status, int cmp, const long long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint_wait_until_all_vector(unsigned int *ivars, size_t nelems, const int *status, int cmp, const unsigned int *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulong_wait_until_all_vector(unsigned long *ivars, size_t nelems, const int *status, int cmp, const unsigned long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ulonglong_wait_until_all_vector(unsigned long long *ivars, size_t nelems, const int *status, int cmp, const unsigned long long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int32_wait_until_all_vector(int32_t *ivars, size_t nelems, const int *status, int cmp, const int32_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES void shmem_int64_wait_until_all_vector(int64_t *ivars, size_t nelems, const int *status, int cmp, const int64_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint32_wait_until_all_vector(uint32_t *ivars, size_t nelems, const int *status, int cmp, const uint32_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES void shmem_uint64_wait_until_all_vector(uint64_t *ivars, size_t nelems, const int *status, int cmp, const uint64_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES void shmem_size_wait_until_all_vector(size_t *ivars, size_t nelems, const int *status, int cmp, const size_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ptrdiff_wait_until_all_vector(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp, const ptrdiff_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES void shmem_short_wait_until_all_vector(short *ivars, size_t nelems, const int *status, int cmp, const short *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ushort_wait_until_all_vector(unsigned short *ivars, size_t nelems, const int *status, int cmp, const unsigned short *cmp_values);

/* shmem_wait_until_any(3): wait until one of many objects satisfies a comparison. */
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int_wait_until_any(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_long_wait_until_any(long *ivars, size_t nelems, const int *status, int cmp, long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_longlong_wait_until_any(long long *ivars, size_t nelems, const int *status, int cmp, long long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint_wait_until_any(unsigned int *ivars, size_t nelems, const int *status, int cmp, unsigned int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ulong_wait_until_any(unsigned long *ivars, size_t nelems, const int *status, int cmp, unsigned long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ulonglong_wait_until_any(unsigned long long *ivars, size_t nelems, const int *status, int cmp, unsigned long long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int32_wait_until_any(int32_t *ivars, size_t nelems, const int *status, int cmp, int32_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int64_wait_until_any(int64_t *ivars, size_t nelems, const int *status, int cmp, int64_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint32_wait_until_any(uint32_t *ivars, size_t nelems, const int *status, int cmp, uint32_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint64_wait_until_any(uint64_t *ivars, size_t nelems, const int *status, int cmp, uint64_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_size_wait_until_any(size_t *ivars, size_t nelems, const int *status, int cmp, size_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ptrdiff_wait_until_any(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp, ptrdiff_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_short_wait_until_any(short *ivars, size_t nelems, const int *status, int cmp, short cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ushort_wait_until_any(unsigned short *ivars, size_t nelems, const int *status, int cmp, unsigned short cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int_wait_until_any_vector(int *ivars, size_t nelems, const int *status, int cmp, const int *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_long_wait_until_any_vector(long *ivars, size_t nelems, const int *status, int cmp, const long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_longlong_wait_until_any_vector(long long *ivars, size_t nelems, const int *status, int cmp, const long long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint_wait_until_any_vector(unsigned int *ivars, size_t nelems, const int *status, int cmp, const unsigned int *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ulong_wait_until_any_vector(unsigned long *ivars, size_t nelems, const int *status, int cmp, const unsigned long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ulonglong_wait_until_any_vector(unsigned long long *ivars, size_t nelems, const int *status, int cmp, const unsigned long long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int32_wait_until_any_vector(int32_t *ivars, size_t nelems, const int *status, int cmp, const int32_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int64_wait_until_any_vector(int64_t *ivars, size_t nelems, const int *status, int cmp, const int64_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint32_wait_until_any_vector(uint32_t *ivars, size_t nelems, const int *status, int cmp, const uint32_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint64_wait_until_any_vector(uint64_t *ivars, size_t nelems, const int *status, int cmp, const uint64_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_size_wait_until_any_vector(size_t *ivars, size_t nelems, const int *status, int cmp, const size_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ptrdiff_wait_until_any_vector(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp, const ptrdiff_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_short_wait_until_any_vector(short *ivars, size_t nelems, const int *status, int cmp, const short *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ushort_wait_until_any_vector(unsigned short *ivars, size_t nelems, const int *status, int cmp, const unsigned short *cmp_values);

/* shmem_wait_until_some(3): wait until at least one of many objects satisfies a comparison. */
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int_wait_until_some(int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_long_wait_until_some(long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_longlong_wait_until_some(long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, long long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint_wait_until_some(unsigned int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ulong_wait_until_some(unsigned long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ulonglong_wait_until_some(unsigned long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned long long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int32_wait_until_some(int32_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, int32_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int64_wait_until_some(int64_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, int64_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint32_wait_until_some(uint32_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, uint32_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint64_wait_until_some(uint64_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, uint64_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_size_wait_until_some(size_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, size_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ptrdiff_wait_until_some(ptrdiff_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, ptrdiff_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_short_wait_until_some(short *ivars, size_t nelems, size_t *indices, const int *status, int cmp, short cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ushort_wait_until_some(unsigned short *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned short cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int_wait_until_some_vector(int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const int *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_long_wait_until_some_vector(long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_longlong_wait_until_some_vector(long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const long long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint_wait_until_some_vector(unsigned int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned int *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ulong_wait_until_some_vector(unsigned long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ulonglong_wait_until_some_vector(unsigned long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned long long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int32_wait_until_some_vector(int32_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const int32_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int64_wait_until_some_vector(int64_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const int64_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint32_wait_until_some_vector(uint32_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const uint32_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint64_wait_until_some_vector(uint64_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const uint64_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_size_wait_until_some_vector(size_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const size_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ptrdiff_wait_until_some_vector(ptrdiff_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const ptrdiff_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_short_wait_until_some_vector(short *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const short *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ushort_wait_until_some_vector(unsigned short *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned short *cmp_values);

/* shmem_test(3): whether an object satisfies a comparison. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_test(int *ivar, int cmp, int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_long_test(long *ivar, int cmp, long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longlong_test(long long *ivar, int cmp, long long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_test(unsigned int *ivar, int cmp, unsigned int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_test(unsigned long *ivar, int cmp, unsigned long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_test(unsigned long long *ivar, int cmp, unsigned long long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_test(int32_t *ivar, int cmp, int32_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_test(int64_t *ivar, int cmp, int64_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_test(uint32_t *ivar, int cmp, uint32_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_test(uint64_t *ivar, int cmp, uint64_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_test(size_t *ivar, int cmp, size_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ptrdiff_test(ptrdiff_t *ivar, int cmp, ptrdiff_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE int shmem_short_test(short *ivar, int cmp, short cmp_value);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE int shmem_ushort_test(unsigned short *ivar, int cmp, unsigned short cmp_value);

/* shmem_test_all(3): whether all objects satisfy a comparison. */
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_test_all(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_long_test_all(long *ivars, size_t nelems, const int *status, int cmp, long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longlong_test_all(long long *ivars, size_t nelems, const int *status, int cmp, long long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_test_all(unsigned int *ivars, size_t nelems, const int *status, int cmp, unsigned int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_test_all(unsigned long *ivars, size_t nelems, const int *status, int cmp, unsigned long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_test_all(unsigned long long *ivars, size_t nelems, const int *status, int cmp, unsigned long long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_test_all(int32_t *ivars, size_t nelems, const int *status, int cmp, int32_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_test_all(int64_t *ivars, size_t nelems, const int *status, int cmp, int64_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_test_all(uint32_t *ivars, size_t nelems, const int *status, int cmp, uint32_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_test_all(uint64_t *ivars, size_t nelems, const int *status, int cmp, uint64_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_test_all(size_t *ivars, size_t nelems, const int *status, int cmp, size_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ptrdiff_test_all(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp, ptrdiff_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_short_test_all(short *ivars, size_t nelems, const int *status, int cmp, short cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ushort_test_all(unsigned short *ivars, size_t nelems, const int *status, int cmp, unsigned short cmp_value);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int_test_all_vector(int *ivars, size_t nelems, const int *status, int cmp, const int *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES int shmem_long_test_all_vector(long *ivars, size_t nelems, const int *status, int cmp, const long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES int shmem_longlong_test_all_vector(long long *ivars, size_t nelems, const int *status, int cmp, const long long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint_test_all_vector(unsigned int *ivars, size_t nelems, const int *status, int cmp, const unsigned int *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulong_test_all_vector(unsigned long *ivars, size_t nelems, const int *status, int cmp, const unsigned long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ulonglong_test_all_vector(unsigned long long *ivars, size_t nelems, const int *status, int cmp, const unsigned long long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int32_test_all_vector(int32_t *ivars, size_t nelems, const int *status, int cmp, const int32_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES int shmem_int64_test_all_vector(int64_t *ivars, size_t nelems, const int *status, int cmp, const int64_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint32_test_all_vector(uint32_t *ivars, size_t nelems, const int *status, int cmp, const uint32_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES int shmem_uint64_test_all_vector(uint64_t *ivars, size_t nelems, const int *status, int cmp, const uint64_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES int shmem_size_test_all_vector(size_t *ivars, size_t nelems, const int *status, int cmp, const size_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ptrdiff_test_all_vector(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp, const ptrdiff_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES int shmem_short_test_all_vector(short *ivars, size_t nelems, const int *status, int cmp, const short *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES int shmem_ushort_test_all_vector(unsigned short *ivars, size_t nelems, const int *status, int cmp, const unsigned short *cmp_values);

/* shmem_test_any(3): whether one of many objects satisfies a comparison. */
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int_test_any(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_long_test_any(long *ivars, size_t nelems, const int *status, int cmp, long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_longlong_test_any(long long *ivars, size_t nelems, const int *status, int cmp, long long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint_test_any(unsigned int *ivars, size_t nelems, const int *status, int cmp, unsigned int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ulong_test_any(unsigned long *ivars, size_t nelems, const int *status, int cmp, unsigned long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ulonglong_test_any(unsigned long long *ivars, size_t nelems, const int *status, int cmp, unsigned long long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int32_test_any(int32_t *ivars, size_t nelems, const int *status, int cmp, int32_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int64_test_any(int64_t *ivars, size_t nelems, const int *status, int cmp, int64_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint32_test_any(uint32_t *ivars, size_t nelems, const int *status, int cmp, uint32_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint64_test_any(uint64_t *ivars, size_t nelems, const int *status, int cmp, uint64_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_size_test_any(size_t *ivars, size_t nelems, const int *status, int cmp, size_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ptrdiff_test_any(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp, ptrdiff_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_short_test_any(short *ivars, size_t nelems, const int *status, int cmp, short cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ushort_test_any(unsigned short *ivars, size_t nelems, const int *status, int cmp, unsigned short cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int_test_any_vector(int *ivars, size_t nelems, const int *status, int cmp, const int *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_long_test_any_vector(long *ivars, size_t nelems, const int *status, int cmp, const long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_longlong_test_any_vector(long long *ivars, size_t nelems, const int *status, int cmp, const long long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint_test_any_vector(unsigned int *ivars, size_t nelems, const int *status, int cmp, const unsigned int *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ulong_test_any_vector(unsigned long *ivars, size_t nelems, const int *status, int cmp, const unsigned long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ulonglong_test_any_vector(unsigned long long *ivars, size_t nelems, const int *status, int cmp, const unsigned long long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int32_test_any_vector(int32_t *ivars, size_t nelems, const int *status, int cmp, const int32_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int64_test_any_vector(int64_t *ivars, size_t nelems, const int *status, int cmp, const int64_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint32_test_any_vector(uint32_t *ivars, size_t nelems, const int *status, int cmp, const uint32_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint64_test_any_vector(uint64_t *ivars, size_t nelems, const int *status, int cmp, const uint64_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_size_test_any_vector(size_t *ivars, size_t nelems, const int *status, int cmp, const size_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ptrdiff_test_any_vector(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp, const ptrdiff_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_short_test_any_vector(short *ivars, size_t nelems, const int *status, int cmp, const short *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ushort_test_any_vector(unsigned short *ivars, size_t nelems, const int *status, int cmp, const unsigned short *cmp_values);

/* shmem_test_some(3): which of many objects satisfy a comparison. */
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int_test_some(int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_long_test_some(long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_longlong_test_some(long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, long long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint_test_some(unsigned int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned int cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ulong_test_some(unsigned long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ulonglong_test_some(unsigned long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned long long cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int32_test_some(int32_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, int32_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int64_test_some(int64_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, int64_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint32_test_some(uint32_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, uint32_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint64_test_some(uint64_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, uint64_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_size_test_some(size_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, size_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ptrdiff_test_some(ptrdiff_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, ptrdiff_t cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_short_test_some(short *ivars, size_t nelems, size_t *indices, const int *status, int cmp, short cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ushort_test_some(unsigned short *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned short cmp_value);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int_test_some_vector(int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const int *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_long_test_some_vector(long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_longlong_test_some_vector(long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const long long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint_test_some_vector(unsigned int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned int *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ulong_test_some_vector(unsigned long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ulonglong_test_some_vector(unsigned long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned long long *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int32_test_some_vector(int32_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const int32_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_int64_test_some_vector(int64_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const int64_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint32_test_some_vector(uint32_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const uint32_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_uint64_test_some_vector(uint64_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const uint64_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_size_test_some_vector(size_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const size_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ptrdiff_test_some_vector(ptrdiff_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const ptrdiff_t *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_short_test_some_vector(short *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const short *cmp_values);
SHMEM_FUNCTION_ATTRIBUTES size_t shmem_ushort_test_some_vector(unsigned short *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned short *cmp_values);

/* Memory ordering. */

/* shmem_fence(3): order communication to each PE. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_fence(void);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_fence(shmem_ctx_t ctx);

/* shmem_quiet(3): complete communication. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_quiet(void);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_quiet(shmem_ctx_t ctx);

/* shmem_pe_quiet(3): complete communication to some PEs. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_pe_quiet(const int *target_pes, size_t npes);
SHMEM_FUNCTION_ATTRIBUTES void shmem_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes);

/* Locks. */

/* shmem_set_lock(3): distributed locks. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_set_lock(long *lock);
SHMEM_FUNCTION_ATTRIBUTES int shmem_test_lock(long *lock);
SHMEM_FUNCTION_ATTRIBUTES void shmem_clear_lock(long *lock);

/* Profiling and caches. */

/* shmem_pcontrol(3): control of profiling. */
SHMEM_FUNCTION_ATTRIBUTES void shmem_pcontrol(int level, ...);

/* shmem_udcflush(3): control of caches. */
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_set_cache_inv(void);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_clear_cache_inv(void);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_set_cache_line_inv(void *dest);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_clear_cache_line_inv(void *dest);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_udcflush(void);
SHMEM_FUNCTION_ATTRIBUTES SHMEM_DEPRECATED_ATTRIBUTE void shmem_udcflush_line(void *dest);

#ifdef SHMEMX_IS_INLINE
#include "shmemx_inline.h"
#endif

#ifdef __cplusplus
} /* extern "C" */

extern "C++" {

/* Complex numbers as C++ has them. */

static inline int shmem_complexd_sum_reduce(shmem_team_t team, std::complex<double> *dest, const std::complex<double> *source, size_t nreduce) { return shmem_complexd_sum_reduce(team, reinterpret_cast<shmem_complexd_t *>(dest), reinterpret_cast<const shmem_complexd_t *>(source), nreduce); }
static inline int shmem_complexf_sum_reduce(shmem_team_t team, std::complex<float> *dest, const std::complex<float> *source, size_t nreduce) { return shmem_complexf_sum_reduce(team, reinterpret_cast<shmem_complexf_t *>(dest), reinterpret_cast<const shmem_complexf_t *>(source), nreduce); }
static inline void shmem_complexd_sum_to_all(std::complex<double> *dest, const std::complex<double> *source, int nreduce, int PE_start, int logPE_stride, int PE_size, std::complex<double> *pWrk, long *pSync) { shmem_complexd_sum_to_all(reinterpret_cast<shmem_complexd_t *>(dest), reinterpret_cast<const shmem_complexd_t *>(source), nreduce, PE_start, logPE_stride, PE_size, reinterpret_cast<shmem_complexd_t *>(pWrk), pSync); }
static inline void shmem_complexf_sum_to_all(std::complex<float> *dest, const std::complex<float> *source, int nreduce, int PE_start, int logPE_stride, int PE_size, std::complex<float> *pWrk, long *pSync) { shmem_complexf_sum_to_all(reinterpret_cast<shmem_complexf_t *>(dest), reinterpret_cast<const shmem_complexf_t *>(source), nreduce, PE_start, logPE_stride, PE_size, reinterpret_cast<shmem_complexf_t *>(pWrk), pSync); }
static inline int shmem_complexd_prod_reduce(shmem_team_t team, std::complex<double> *dest, const std::complex<double> *source, size_t nreduce) { return shmem_complexd_prod_reduce(team, reinterpret_cast<shmem_complexd_t *>(dest), reinterpret_cast<const shmem_complexd_t *>(source), nreduce); }
static inline int shmem_complexf_prod_reduce(shmem_team_t team, std::complex<float> *dest, const std::complex<float> *source, size_t nreduce) { return shmem_complexf_prod_reduce(team, reinterpret_cast<shmem_complexf_t *>(dest), reinterpret_cast<const shmem_complexf_t *>(source), nreduce); }
static inline void shmem_complexd_prod_to_all(std::complex<double> *dest, const std::complex<double> *source, int nreduce, int PE_start, int logPE_stride, int PE_size, std::complex<double> *pWrk, long *pSync) { shmem_complexd_prod_to_all(reinterpret_cast<shmem_complexd_t *>(dest), reinterpret_cast<const shmem_complexd_t *>(source), nreduce, PE_start, logPE_stride, PE_size, reinterpret_cast<shmem_complexd_t *>(pWrk), pSync); }
static inline void shmem_complexf_prod_to_all(std::complex<float> *dest, const std::complex<float> *source, int nreduce, int PE_start, int logPE_stride, int PE_size, std::complex<float> *pWrk, long *pSync) { shmem_complexf_prod_to_all(reinterpret_cast<shmem_complexf_t *>(dest), reinterpret_cast<const shmem_complexf_t *>(source), nreduce, PE_start, logPE_stride, PE_size, reinterpret_cast<shmem_complexf_t *>(pWrk), pSync); }
static inline int shmem_complexd_sum_inscan(shmem_team_t team, std::complex<double> *dest, const std::complex<double> *source, size_t nelems) { return shmem_complexd_sum_inscan(team, reinterpret_cast<shmem_complexd_t *>(dest), reinterpret_cast<const shmem_complexd_t *>(source), nelems); }
static inline int shmem_complexf_sum_inscan(shmem_team_t team, std::complex<float> *dest, const std::complex<float> *source, size_t nelems) { return shmem_complexf_sum_inscan(team, reinterpret_cast<shmem_complexf_t *>(dest), reinterpret_cast<const shmem_complexf_t *>(source), nelems); }
static inline int shmem_complexd_sum_exscan(shmem_team_t team, std::complex<double> *dest, const std::complex<double> *source, size_t nelems) { return shmem_complexd_sum_exscan(team, reinterpret_cast<shmem_complexd_t *>(dest), reinterpret_cast<const shmem_complexd_t *>(source), nelems); }
static inline int shmem_complexf_sum_exscan(shmem_team_t team, std::complex<float> *dest, const std::complex<float> *source, size_t nelems) { return shmem_complexf_sum_exscan(team, reinterpret_cast<shmem_complexf_t *>(dest), reinterpret_cast<const shmem_complexf_t *>(source), nelems); }

/* The type-generic interface, as overloads. */

static inline void shmem_put(float *dest, const float *source, size_t nelems, int pe) { shmem_float_put(dest, source, nelems, pe); }
static inline void shmem_put(double *dest, const double *source, size_t nelems, int pe) { shmem_double_put(dest, source, nelems, pe); }
static inline void shmem_put(long double *dest, const long double *source, size_t nelems, int pe) { shmem_longdouble_put(dest, source, nelems, pe); }
static inline void shmem_put(char *dest, const char *source, size_t nelems, int pe) { shmem_char_put(dest, source, nelems, pe); }
static inline void shmem_put(signed char *dest, const signed char *source, size_t nelems, int pe) { shmem_schar_put(dest, source, nelems, pe); }
static inline void shmem_put(short *dest, const short *source, size_t nelems, int pe) { shmem_short_put(dest, source, nelems, pe); }
static inline void shmem_put(int *dest, const int *source, size_t nelems, int pe) { shmem_int_put(dest, source, nelems, pe); }
static inline void shmem_put(long *dest, const long *source, size_t nelems, int pe) { shmem_long_put(dest, source, nelems, pe); }
static inline void shmem_put(long long *dest, const long long *source, size_t nelems, int pe) { shmem_longlong_put(dest, source, nelems, pe); }
static inline void shmem_put(unsigned char *dest, const unsigned char *source, size_t nelems, int pe) { shmem_uchar_put(dest, source, nelems, pe); }
static inline void shmem_put(unsigned short *dest, const unsigned short *source, size_t nelems, int pe) { shmem_ushort_put(dest, source, nelems, pe); }
static inline void shmem_put(unsigned int *dest, const unsigned int *source, size_t nelems, int pe) { shmem_uint_put(dest, source, nelems, pe); }
static inline void shmem_put(unsigned long *dest, const unsigned long *source, size_t nelems, int pe) { shmem_ulong_put(dest, source, nelems, pe); }
static inline void shmem_put(unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe) { shmem_ulonglong_put(dest, source, nelems, pe); }
static inline void shmem_put(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, int pe) { shmem_ctx_float_put(ctx, dest, source, nelems, pe); }
static inline void shmem_put(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, int pe) { shmem_ctx_double_put(ctx, dest, source, nelems, pe); }
static inline void shmem_put(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, int pe) { shmem_ctx_longdouble_put(ctx, dest, source, nelems, pe); }
static inline void shmem_put(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, int pe) { shmem_ctx_char_put(ctx, dest, source, nelems, pe); }
static inline void shmem_put(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, int pe) { shmem_ctx_schar_put(ctx, dest, source, nelems, pe); }
static inline void shmem_put(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, int pe) { shmem_ctx_short_put(ctx, dest, source, nelems, pe); }
static inline void shmem_put(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, int pe) { shmem_ctx_int_put(ctx, dest, source, nelems, pe); }
static inline void shmem_put(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, int pe) { shmem_ctx_long_put(ctx, dest, source, nelems, pe); }
static inline void shmem_put(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, int pe) { shmem_ctx_longlong_put(ctx, dest, source, nelems, pe); }
static inline void shmem_put(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, int pe) { shmem_ctx_uchar_put(ctx, dest, source, nelems, pe); }
static inline void shmem_put(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, int pe) { shmem_ctx_ushort_put(ctx, dest, source, nelems, pe); }
static inline void shmem_put(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, int pe) { shmem_ctx_uint_put(ctx, dest, source, nelems, pe); }
static inline void shmem_put(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, int pe) { shmem_ctx_ulong_put(ctx, dest, source, nelems, pe); }
static inline void shmem_put(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe) { shmem_ctx_ulonglong_put(ctx, dest, source, nelems, pe); }
static inline void shmem_p(float *dest, float value, int pe) { shmem_float_p(dest, value, pe); }
static inline void shmem_p(double *dest, double value, int pe) { shmem_double_p(dest, value, pe); }
static inline void shmem_p(long double *dest, long double value, int pe) { shmem_longdouble_p(dest, value, pe); }
static inline void shmem_p(char *dest, char value, int pe) { shmem_char_p(dest, value, pe); }
static inline void shmem_p(signed char *dest, signed char value, int pe) { shmem_schar_p(dest, value, pe); }
static inline void shmem_p(short *dest, short value, int pe) { shmem_short_p(dest, value, pe); }
static inline void shmem_p(int *dest, int value, int pe) { shmem_int_p(dest, value, pe); }
static inline void shmem_p(long *dest, long value, int pe) { shmem_long_p(dest, value, pe); }
static inline void shmem_p(long long *dest, long long value, int pe) { shmem_longlong_p(dest, value, pe); }
static inline void shmem_p(unsigned char *dest, unsigned char value, int pe) { shmem_uchar_p(dest, value, pe); }
static inline void shmem_p(unsigned short *dest, unsigned short value, int pe) { shmem_ushort_p(dest, value, pe); }
static inline void shmem_p(unsigned int *dest, unsigned int value, int pe) { shmem_uint_p(dest, value, pe); }
static inline void shmem_p(unsigned long *dest, unsigned long value, int pe) { shmem_ulong_p(dest, value, pe); }
static inline void shmem_p(unsigned long long *dest, unsigned long long value, int pe) { shmem_ulonglong_p(dest, value, pe); }
static inline void shmem_p(shmem_ctx_t ctx, float *dest, float value, int pe) { shmem_ctx_float_p(ctx, dest, value, pe); }
static inline void shmem_p(shmem_ctx_t ctx, double *dest, double value, int pe) { shmem_ctx_double_p(ctx, dest, value, pe); }
static inline void shmem_p(shmem_ctx_t ctx, long double *dest, long double value, int pe) { shmem_ctx_longdouble_p(ctx, dest, value, pe); }
static inline void shmem_p(shmem_ctx_t ctx, char *dest, char value, int pe) { shmem_ctx_char_p(ctx, dest, value, pe); }
static inline void shmem_p(shmem_ctx_t ctx, signed char *dest, signed char value, int pe) { shmem_ctx_schar_p(ctx, dest, value, pe); }
static inline void shmem_p(shmem_ctx_t ctx, short *dest, short value, int pe) { shmem_ctx_short_p(ctx, dest, value, pe); }
static inline void shmem_p(shmem_ctx_t ctx, int *dest, int value, int pe) { shmem_ctx_int_p(ctx, dest, value, pe); }
static inline void shmem_p(shmem_ctx_t ctx, long *dest, long value, int pe) { shmem_ctx_long_p(ctx, dest, value, pe); }
static inline void shmem_p(shmem_ctx_t ctx, long long *dest, long long value, int pe) { shmem_ctx_longlong_p(ctx, dest, value, pe); }
static inline void shmem_p(shmem_ctx_t ctx, unsigned char *dest, unsigned char value, int pe) { shmem_ctx_uchar_p(ctx, dest, value, pe); }
static inline void shmem_p(shmem_ctx_t ctx, unsigned short *dest, unsigned short value, int pe) { shmem_ctx_ushort_p(ctx, dest, value, pe); }
static inline void shmem_p(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe) { shmem_ctx_uint_p(ctx, dest, value, pe); }
static inline void shmem_p(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe) { shmem_ctx_ulong_p(ctx, dest, value, pe); }
static inline void shmem_p(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe) { shmem_ctx_ulonglong_p(ctx, dest, value, pe); }
static inline void shmem_iput(float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_float_iput(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_double_iput(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_longdouble_iput(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_char_iput(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_schar_iput(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_short_iput(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_int_iput(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_long_iput(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_longlong_iput(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_uchar_iput(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ushort_iput(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_uint_iput(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ulong_iput(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ulonglong_iput(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(shmem_ctx_t ctx, float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_float_iput(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(shmem_ctx_t ctx, double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_double_iput(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(shmem_ctx_t ctx, long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_longdouble_iput(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(shmem_ctx_t ctx, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_char_iput(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(shmem_ctx_t ctx, signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_schar_iput(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(shmem_ctx_t ctx, short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_short_iput(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(shmem_ctx_t ctx, int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_int_iput(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(shmem_ctx_t ctx, long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_long_iput(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(shmem_ctx_t ctx, long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_longlong_iput(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_uchar_iput(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_ushort_iput(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_uint_iput(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_ulong_iput(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iput(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_ulonglong_iput(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_ibput(float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_float_ibput(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_double_ibput(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_longdouble_ibput(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_char_ibput(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_schar_ibput(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_short_ibput(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_int_ibput(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_long_ibput(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_longlong_ibput(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_uchar_ibput(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ushort_ibput(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_uint_ibput(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ulong_ibput(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ulonglong_ibput(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(shmem_ctx_t ctx, float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_float_ibput(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(shmem_ctx_t ctx, double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_double_ibput(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(shmem_ctx_t ctx, long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_longdouble_ibput(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(shmem_ctx_t ctx, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_char_ibput(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(shmem_ctx_t ctx, signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_schar_ibput(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(shmem_ctx_t ctx, short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_short_ibput(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(shmem_ctx_t ctx, int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_int_ibput(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(shmem_ctx_t ctx, long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_long_ibput(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(shmem_ctx_t ctx, long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_longlong_ibput(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_uchar_ibput(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_ushort_ibput(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_uint_ibput(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_ulong_ibput(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibput(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_ulonglong_ibput(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_get(float *dest, const float *source, size_t nelems, int pe) { shmem_float_get(dest, source, nelems, pe); }
static inline void shmem_get(double *dest, const double *source, size_t nelems, int pe) { shmem_double_get(dest, source, nelems, pe); }
static inline void shmem_get(long double *dest, const long double *source, size_t nelems, int pe) { shmem_longdouble_get(dest, source, nelems, pe); }
static inline void shmem_get(char *dest, const char *source, size_t nelems, int pe) { shmem_char_get(dest, source, nelems, pe); }
static inline void shmem_get(signed char *dest, const signed char *source, size_t nelems, int pe) { shmem_schar_get(dest, source, nelems, pe); }
static inline void shmem_get(short *dest, const short *source, size_t nelems, int pe) { shmem_short_get(dest, source, nelems, pe); }
static inline void shmem_get(int *dest, const int *source, size_t nelems, int pe) { shmem_int_get(dest, source, nelems, pe); }
static inline void shmem_get(long *dest, const long *source, size_t nelems, int pe) { shmem_long_get(dest, source, nelems, pe); }
static inline void shmem_get(long long *dest, const long long *source, size_t nelems, int pe) { shmem_longlong_get(dest, source, nelems, pe); }
static inline void shmem_get(unsigned char *dest, const unsigned char *source, size_t nelems, int pe) { shmem_uchar_get(dest, source, nelems, pe); }
static inline void shmem_get(unsigned short *dest, const unsigned short *source, size_t nelems, int pe) { shmem_ushort_get(dest, source, nelems, pe); }
static inline void shmem_get(unsigned int *dest, const unsigned int *source, size_t nelems, int pe) { shmem_uint_get(dest, source, nelems, pe); }
static inline void shmem_get(unsigned long *dest, const unsigned long *source, size_t nelems, int pe) { shmem_ulong_get(dest, source, nelems, pe); }
static inline void shmem_get(unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe) { shmem_ulonglong_get(dest, source, nelems, pe); }
static inline void shmem_get(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, int pe) { shmem_ctx_float_get(ctx, dest, source, nelems, pe); }
static inline void shmem_get(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, int pe) { shmem_ctx_double_get(ctx, dest, source, nelems, pe); }
static inline void shmem_get(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, int pe) { shmem_ctx_longdouble_get(ctx, dest, source, nelems, pe); }
static inline void shmem_get(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, int pe) { shmem_ctx_char_get(ctx, dest, source, nelems, pe); }
static inline void shmem_get(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, int pe) { shmem_ctx_schar_get(ctx, dest, source, nelems, pe); }
static inline void shmem_get(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, int pe) { shmem_ctx_short_get(ctx, dest, source, nelems, pe); }
static inline void shmem_get(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, int pe) { shmem_ctx_int_get(ctx, dest, source, nelems, pe); }
static inline void shmem_get(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, int pe) { shmem_ctx_long_get(ctx, dest, source, nelems, pe); }
static inline void shmem_get(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, int pe) { shmem_ctx_longlong_get(ctx, dest, source, nelems, pe); }
static inline void shmem_get(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, int pe) { shmem_ctx_uchar_get(ctx, dest, source, nelems, pe); }
static inline void shmem_get(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, int pe) { shmem_ctx_ushort_get(ctx, dest, source, nelems, pe); }
static inline void shmem_get(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, int pe) { shmem_ctx_uint_get(ctx, dest, source, nelems, pe); }
static inline void shmem_get(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, int pe) { shmem_ctx_ulong_get(ctx, dest, source, nelems, pe); }
static inline void shmem_get(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe) { shmem_ctx_ulonglong_get(ctx, dest, source, nelems, pe); }
static inline float shmem_g(const float *source, int pe) { return shmem_float_g(source, pe); }
static inline double shmem_g(const double *source, int pe) { return shmem_double_g(source, pe); }
static inline long double shmem_g(const long double *source, int pe) { return shmem_longdouble_g(source, pe); }
static inline char shmem_g(const char *source, int pe) { return shmem_char_g(source, pe); }
static inline signed char shmem_g(const signed char *source, int pe) { return shmem_schar_g(source, pe); }
static inline short shmem_g(const short *source, int pe) { return shmem_short_g(source, pe); }
static inline int shmem_g(const int *source, int pe) { return shmem_int_g(source, pe); }
static inline long shmem_g(const long *source, int pe) { return shmem_long_g(source, pe); }
static inline long long shmem_g(const long long *source, int pe) { return shmem_longlong_g(source, pe); }
static inline unsigned char shmem_g(const unsigned char *source, int pe) { return shmem_uchar_g(source, pe); }
static inline unsigned short shmem_g(const unsigned short *source, int pe) { return shmem_ushort_g(source, pe); }
static inline unsigned int shmem_g(const unsigned int *source, int pe) { return shmem_uint_g(source, pe); }
static inline unsigned long shmem_g(const unsigned long *source, int pe) { return shmem_ulong_g(source, pe); }
static inline unsigned long long shmem_g(const unsigned long long *source, int pe) { return shmem_ulonglong_g(source, pe); }
static inline float shmem_g(shmem_ctx_t ctx, const float *source, int pe) { return shmem_ctx_float_g(ctx, source, pe); }
static inline double shmem_g(shmem_ctx_t ctx, const double *source, int pe) { return shmem_ctx_double_g(ctx, source, pe); }
static inline long double shmem_g(shmem_ctx_t ctx, const long double *source, int pe) { return shmem_ctx_longdouble_g(ctx, source, pe); }
static inline char shmem_g(shmem_ctx_t ctx, const char *source, int pe) { return shmem_ctx_char_g(ctx, source, pe); }
static inline signed char shmem_g(shmem_ctx_t ctx, const signed char *source, int pe) { return shmem_ctx_schar_g(ctx, source, pe); }
static inline short shmem_g(shmem_ctx_t ctx, const short *source, int pe) { return shmem_ctx_short_g(ctx, source, pe); }
static inline int shmem_g(shmem_ctx_t ctx, const int *source, int pe) { return shmem_ctx_int_g(ctx, source, pe); }
static inline long shmem_g(shmem_ctx_t ctx, const long *source, int pe) { return shmem_ctx_long_g(ctx, source, pe); }
static inline long long shmem_g(shmem_ctx_t ctx, const long long *source, int pe) { return shmem_ctx_longlong_g(ctx, source, pe); }
static inline unsigned char shmem_g(shmem_ctx_t ctx, const unsigned char *source, int pe) { return shmem_ctx_uchar_g(ctx, source, pe); }
static inline unsigned short shmem_g(shmem_ctx_t ctx, const unsigned short *source, int pe) { return shmem_ctx_ushort_g(ctx, source, pe); }
static inline unsigned int shmem_g(shmem_ctx_t ctx, const unsigned int *source, int pe) { return shmem_ctx_uint_g(ctx, source, pe); }
static inline unsigned long shmem_g(shmem_ctx_t ctx, const unsigned long *source, int pe) { return shmem_ctx_ulong_g(ctx, source, pe); }
static inline unsigned long long shmem_g(shmem_ctx_t ctx, const unsigned long long *source, int pe) { return shmem_ctx_ulonglong_g(ctx, source, pe); }
static inline void shmem_iget(float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_float_iget(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_double_iget(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_longdouble_iget(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_char_iget(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_schar_iget(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_short_iget(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_int_iget(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_long_iget(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_longlong_iget(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_uchar_iget(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ushort_iget(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_uint_iget(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ulong_iget(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ulonglong_iget(dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(shmem_ctx_t ctx, float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_float_iget(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(shmem_ctx_t ctx, double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_double_iget(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(shmem_ctx_t ctx, long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_longdouble_iget(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(shmem_ctx_t ctx, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_char_iget(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(shmem_ctx_t ctx, signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_schar_iget(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(shmem_ctx_t ctx, short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_short_iget(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(shmem_ctx_t ctx, int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_int_iget(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(shmem_ctx_t ctx, long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_long_iget(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(shmem_ctx_t ctx, long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_longlong_iget(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_uchar_iget(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_ushort_iget(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_uint_iget(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_ulong_iget(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_iget(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { shmem_ctx_ulonglong_iget(ctx, dest, source, dst, sst, nelems, pe); }
static inline void shmem_ibget(float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_float_ibget(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_double_ibget(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_longdouble_ibget(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_char_ibget(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_schar_ibget(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_short_ibget(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_int_ibget(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_long_ibget(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_longlong_ibget(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_uchar_ibget(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ushort_ibget(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_uint_ibget(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ulong_ibget(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ulonglong_ibget(dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(shmem_ctx_t ctx, float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_float_ibget(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(shmem_ctx_t ctx, double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_double_ibget(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(shmem_ctx_t ctx, long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_longdouble_ibget(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(shmem_ctx_t ctx, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_char_ibget(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(shmem_ctx_t ctx, signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_schar_ibget(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(shmem_ctx_t ctx, short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_short_ibget(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(shmem_ctx_t ctx, int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_int_ibget(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(shmem_ctx_t ctx, long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_long_ibget(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(shmem_ctx_t ctx, long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_longlong_ibget(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_uchar_ibget(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_ushort_ibget(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_uint_ibget(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_ulong_ibget(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_ibget(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { shmem_ctx_ulonglong_ibget(ctx, dest, source, dst, sst, bsize, nblocks, pe); }
static inline void shmem_put_nbi(float *dest, const float *source, size_t nelems, int pe) { shmem_float_put_nbi(dest, source, nelems, pe); }
static inline void shmem_put_nbi(double *dest, const double *source, size_t nelems, int pe) { shmem_double_put_nbi(dest, source, nelems, pe); }
static inline void shmem_put_nbi(long double *dest, const long double *source, size_t nelems, int pe) { shmem_longdouble_put_nbi(dest, source, nelems, pe); }
static inline void shmem_put_nbi(char *dest, const char *source, size_t nelems, int pe) { shmem_char_put_nbi(dest, source, nelems, pe); }
static inline void shmem_put_nbi(signed char *dest, const signed char *source, size_t nelems, int pe) { shmem_schar_put_nbi(dest, source, nelems, pe); }
static inline void shmem_put_nbi(short *dest, const short *source, size_t nelems, int pe) { shmem_short_put_nbi(dest, source, nelems, pe); }
static inline void shmem_put_nbi(int *dest, const int *source, size_t nelems, int pe) { shmem_int_put_nbi(dest, source, nelems, pe); }
static inline void shmem_put_nbi(long *dest, const long *source, size_t nelems, int pe) { shmem_long_put_nbi(dest, source, nelems, pe); }
static inline void shmem_put_nbi(long long *dest, const long long *source, size_t nelems, int pe) { shmem_longlong_put_nbi(dest, source, nelems, pe); }
static inline void shmem_put_nbi(unsigned char *dest, const unsigned char *source, size_t nelems, int pe) { shmem_uchar_put_nbi(dest, source, nelems, pe); }
static inline void shmem_put_nbi(unsigned short *dest, const unsigned short *source, size_t nelems, int pe) { shmem_ushort_put_nbi(dest, source, nelems, pe); }
static inline void shmem_put_nbi(unsigned int *dest, const unsigned int *source, size_t nelems, int pe) { shmem_uint_put_nbi(dest, source, nelems, pe); }
static inline void shmem_put_nbi(unsigned long *dest, const unsigned long *source, size_t nelems, int pe) { shmem_ulong_put_nbi(dest, source, nelems, pe); }
static inline void shmem_put_nbi(unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe) { shmem_ulonglong_put_nbi(dest, source, nelems, pe); }
static inline void shmem_put_nbi(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, int pe) { shmem_ctx_float_put_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_put_nbi(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, int pe) { shmem_ctx_double_put_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_put_nbi(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, int pe) { shmem_ctx_longdouble_put_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_put_nbi(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, int pe) { shmem_ctx_char_put_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_put_nbi(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, int pe) { shmem_ctx_schar_put_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_put_nbi(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, int pe) { shmem_ctx_short_put_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_put_nbi(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, int pe) { shmem_ctx_int_put_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_put_nbi(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, int pe) { shmem_ctx_long_put_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_put_nbi(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, int pe) { shmem_ctx_longlong_put_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_put_nbi(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, int pe) { shmem_ctx_uchar_put_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_put_nbi(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, int pe) { shmem_ctx_ushort_put_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_put_nbi(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, int pe) { shmem_ctx_uint_put_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_put_nbi(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, int pe) { shmem_ctx_ulong_put_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_put_nbi(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe) { shmem_ctx_ulonglong_put_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_get_nbi(float *dest, const float *source, size_t nelems, int pe) { shmem_float_get_nbi(dest, source, nelems, pe); }
static inline void shmem_get_nbi(double *dest, const double *source, size_t nelems, int pe) { shmem_double_get_nbi(dest, source, nelems, pe); }
static inline void shmem_get_nbi(long double *dest, const long double *source, size_t nelems, int pe) { shmem_longdouble_get_nbi(dest, source, nelems, pe); }
static inline void shmem_get_nbi(char *dest, const char *source, size_t nelems, int pe) { shmem_char_get_nbi(dest, source, nelems, pe); }
static inline void shmem_get_nbi(signed char *dest, const signed char *source, size_t nelems, int pe) { shmem_schar_get_nbi(dest, source, nelems, pe); }
static inline void shmem_get_nbi(short *dest, const short *source, size_t nelems, int pe) { shmem_short_get_nbi(dest, source, nelems, pe); }
static inline void shmem_get_nbi(int *dest, const int *source, size_t nelems, int pe) { shmem_int_get_nbi(dest, source, nelems, pe); }
static inline void shmem_get_nbi(long *dest, const long *source, size_t nelems, int pe) { shmem_long_get_nbi(dest, source, nelems, pe); }
static inline void shmem_get_nbi(long long *dest, const long long *source, size_t nelems, int pe) { shmem_longlong_get_nbi(dest, source, nelems, pe); }
static inline void shmem_get_nbi(unsigned char *dest, const unsigned char *source, size_t nelems, int pe) { shmem_uchar_get_nbi(dest, source, nelems, pe); }
static inline void shmem_get_nbi(unsigned short *dest, const unsigned short *source, size_t nelems, int pe) { shmem_ushort_get_nbi(dest, source, nelems, pe); }
static inline void shmem_get_nbi(unsigned int *dest, const unsigned int *source, size_t nelems, int pe) { shmem_uint_get_nbi(dest, source, nelems, pe); }
static inline void shmem_get_nbi(unsigned long *dest, const unsigned long *source, size_t nelems, int pe) { shmem_ulong_get_nbi(dest, source, nelems, pe); }
static inline void shmem_get_nbi(unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe) { shmem_ulonglong_get_nbi(dest, source, nelems, pe); }
static inline void shmem_get_nbi(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, int pe) { shmem_ctx_float_get_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_get_nbi(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, int pe) { shmem_ctx_double_get_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_get_nbi(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, int pe) { shmem_ctx_longdouble_get_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_get_nbi(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, int pe) { shmem_ctx_char_get_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_get_nbi(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, int pe) { shmem_ctx_schar_get_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_get_nbi(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, int pe) { shmem_ctx_short_get_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_get_nbi(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, int pe) { shmem_ctx_int_get_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_get_nbi(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, int pe) { shmem_ctx_long_get_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_get_nbi(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, int pe) { shmem_ctx_longlong_get_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_get_nbi(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, int pe) { shmem_ctx_uchar_get_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_get_nbi(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, int pe) { shmem_ctx_ushort_get_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_get_nbi(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, int pe) { shmem_ctx_uint_get_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_get_nbi(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, int pe) { shmem_ctx_ulong_get_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_get_nbi(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe) { shmem_ctx_ulonglong_get_nbi(ctx, dest, source, nelems, pe); }
static inline void shmem_put_signal(float *dest, const float *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_float_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(double *dest, const double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_double_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(long double *dest, const long double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_longdouble_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(char *dest, const char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_char_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(signed char *dest, const signed char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_schar_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(short *dest, const short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_short_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(int *dest, const int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_int_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(long *dest, const long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_long_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(long long *dest, const long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_longlong_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(unsigned char *dest, const unsigned char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_uchar_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(unsigned short *dest, const unsigned short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ushort_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(unsigned int *dest, const unsigned int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_uint_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(unsigned long *dest, const unsigned long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ulong_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(unsigned long long *dest, const unsigned long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ulonglong_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_float_put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_double_put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_longdouble_put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_char_put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_schar_put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_short_put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_int_put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_long_put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_longlong_put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_uchar_put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_ushort_put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_uint_put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_ulong_put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_ulonglong_put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(float *dest, const float *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_float_put_signal_nbi(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(double *dest, const double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_double_put_signal_nbi(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(long double *dest, const long double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_longdouble_put_signal_nbi(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(char *dest, const char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_char_put_signal_nbi(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(signed char *dest, const signed char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_schar_put_signal_nbi(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(short *dest, const short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_short_put_signal_nbi(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(int *dest, const int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_int_put_signal_nbi(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(long *dest, const long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_long_put_signal_nbi(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(long long *dest, const long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_longlong_put_signal_nbi(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(unsigned char *dest, const unsigned char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_uchar_put_signal_nbi(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(unsigned short *dest, const unsigned short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ushort_put_signal_nbi(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(unsigned int *dest, const unsigned int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_uint_put_signal_nbi(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(unsigned long *dest, const unsigned long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ulong_put_signal_nbi(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(unsigned long long *dest, const unsigned long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ulonglong_put_signal_nbi(dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_float_put_signal_nbi(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_double_put_signal_nbi(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_longdouble_put_signal_nbi(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_char_put_signal_nbi(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_schar_put_signal_nbi(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_short_put_signal_nbi(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_int_put_signal_nbi(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_long_put_signal_nbi(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_longlong_put_signal_nbi(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_uchar_put_signal_nbi(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_ushort_put_signal_nbi(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_uint_put_signal_nbi(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_ulong_put_signal_nbi(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_put_signal_nbi(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { shmem_ctx_ulonglong_put_signal_nbi(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe); }
static inline void shmem_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe) { shmem_ctx_signal_add(ctx, sig_addr, signal, pe); }
static inline void shmem_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe) { shmem_ctx_signal_set(ctx, sig_addr, signal, pe); }
static inline float shmem_atomic_fetch(const float *source, int pe) { return shmem_float_atomic_fetch(source, pe); }
static inline double shmem_atomic_fetch(const double *source, int pe) { return shmem_double_atomic_fetch(source, pe); }
static inline int shmem_atomic_fetch(const int *source, int pe) { return shmem_int_atomic_fetch(source, pe); }
static inline long shmem_atomic_fetch(const long *source, int pe) { return shmem_long_atomic_fetch(source, pe); }
static inline long long shmem_atomic_fetch(const long long *source, int pe) { return shmem_longlong_atomic_fetch(source, pe); }
static inline unsigned int shmem_atomic_fetch(const unsigned int *source, int pe) { return shmem_uint_atomic_fetch(source, pe); }
static inline unsigned long shmem_atomic_fetch(const unsigned long *source, int pe) { return shmem_ulong_atomic_fetch(source, pe); }
static inline unsigned long long shmem_atomic_fetch(const unsigned long long *source, int pe) { return shmem_ulonglong_atomic_fetch(source, pe); }
static inline float shmem_atomic_fetch(shmem_ctx_t ctx, const float *source, int pe) { return shmem_ctx_float_atomic_fetch(ctx, source, pe); }
static inline double shmem_atomic_fetch(shmem_ctx_t ctx, const double *source, int pe) { return shmem_ctx_double_atomic_fetch(ctx, source, pe); }
static inline int shmem_atomic_fetch(shmem_ctx_t ctx, const int *source, int pe) { return shmem_ctx_int_atomic_fetch(ctx, source, pe); }
static inline long shmem_atomic_fetch(shmem_ctx_t ctx, const long *source, int pe) { return shmem_ctx_long_atomic_fetch(ctx, source, pe); }
static inline long long shmem_atomic_fetch(shmem_ctx_t ctx, const long long *source, int pe) { return shmem_ctx_longlong_atomic_fetch(ctx, source, pe); }
static inline unsigned int shmem_atomic_fetch(shmem_ctx_t ctx, const unsigned int *source, int pe) { return shmem_ctx_uint_atomic_fetch(ctx, source, pe); }
static inline unsigned long shmem_atomic_fetch(shmem_ctx_t ctx, const unsigned long *source, int pe) { return shmem_ctx_ulong_atomic_fetch(ctx, source, pe); }
static inline unsigned long long shmem_atomic_fetch(shmem_ctx_t ctx, const unsigned long long *source, int pe) { return shmem_ctx_ulonglong_atomic_fetch(ctx, source, pe); }
static inline void shmem_atomic_fetch_nbi(float *fetch, const float *source, int pe) { shmem_float_atomic_fetch_nbi(fetch, source, pe); }
static inline void shmem_atomic_fetch_nbi(double *fetch, const double *source, int pe) { shmem_double_atomic_fetch_nbi(fetch, source, pe); }
static inline void shmem_atomic_fetch_nbi(int *fetch, const int *source, int pe) { shmem_int_atomic_fetch_nbi(fetch, source, pe); }
static inline void shmem_atomic_fetch_nbi(long *fetch, const long *source, int pe) { shmem_long_atomic_fetch_nbi(fetch, source, pe); }
static inline void shmem_atomic_fetch_nbi(long long *fetch, const long long *source, int pe) { shmem_longlong_atomic_fetch_nbi(fetch, source, pe); }
static inline void shmem_atomic_fetch_nbi(unsigned int *fetch, const unsigned int *source, int pe) { shmem_uint_atomic_fetch_nbi(fetch, source, pe); }
static inline void shmem_atomic_fetch_nbi(unsigned long *fetch, const unsigned long *source, int pe) { shmem_ulong_atomic_fetch_nbi(fetch, source, pe); }
static inline void shmem_atomic_fetch_nbi(unsigned long long *fetch, const unsigned long long *source, int pe) { shmem_ulonglong_atomic_fetch_nbi(fetch, source, pe); }
static inline void shmem_atomic_fetch_nbi(shmem_ctx_t ctx, float *fetch, const float *source, int pe) { shmem_ctx_float_atomic_fetch_nbi(ctx, fetch, source, pe); }
static inline void shmem_atomic_fetch_nbi(shmem_ctx_t ctx, double *fetch, const double *source, int pe) { shmem_ctx_double_atomic_fetch_nbi(ctx, fetch, source, pe); }
static inline void shmem_atomic_fetch_nbi(shmem_ctx_t ctx, int *fetch, const int *source, int pe) { shmem_ctx_int_atomic_fetch_nbi(ctx, fetch, source, pe); }
static inline void shmem_atomic_fetch_nbi(shmem_ctx_t ctx, long *fetch, const long *source, int pe) { shmem_ctx_long_atomic_fetch_nbi(ctx, fetch, source, pe); }
static inline void shmem_atomic_fetch_nbi(shmem_ctx_t ctx, long long *fetch, const long long *source, int pe) { shmem_ctx_longlong_atomic_fetch_nbi(ctx, fetch, source, pe); }
static inline void shmem_atomic_fetch_nbi(shmem_ctx_t ctx, unsigned int *fetch, const unsigned int *source, int pe) { shmem_ctx_uint_atomic_fetch_nbi(ctx, fetch, source, pe); }
static inline void shmem_atomic_fetch_nbi(shmem_ctx_t ctx, unsigned long *fetch, const unsigned long *source, int pe) { shmem_ctx_ulong_atomic_fetch_nbi(ctx, fetch, source, pe); }
static inline void shmem_atomic_fetch_nbi(shmem_ctx_t ctx, unsigned long long *fetch, const unsigned long long *source, int pe) { shmem_ctx_ulonglong_atomic_fetch_nbi(ctx, fetch, source, pe); }
static inline float shmem_fetch(const float *source, int pe) { return shmem_float_fetch(source, pe); }
static inline double shmem_fetch(const double *source, int pe) { return shmem_double_fetch(source, pe); }
static inline int shmem_fetch(const int *source, int pe) { return shmem_int_fetch(source, pe); }
static inline long shmem_fetch(const long *source, int pe) { return shmem_long_fetch(source, pe); }
static inline long long shmem_fetch(const long long *source, int pe) { return shmem_longlong_fetch(source, pe); }
static inline void shmem_atomic_set(float *dest, float value, int pe) { shmem_float_atomic_set(dest, value, pe); }
static inline void shmem_atomic_set(double *dest, double value, int pe) { shmem_double_atomic_set(dest, value, pe); }
static inline void shmem_atomic_set(int *dest, int value, int pe) { shmem_int_atomic_set(dest, value, pe); }
static inline void shmem_atomic_set(long *dest, long value, int pe) { shmem_long_atomic_set(dest, value, pe); }
static inline void shmem_atomic_set(long long *dest, long long value, int pe) { shmem_longlong_atomic_set(dest, value, pe); }
static inline void shmem_atomic_set(unsigned int *dest, unsigned int value, int pe) { shmem_uint_atomic_set(dest, value, pe); }
static inline void shmem_atomic_set(unsigned long *dest, unsigned long value, int pe) { shmem_ulong_atomic_set(dest, value, pe); }
static inline void shmem_atomic_set(unsigned long long *dest, unsigned long long value, int pe) { shmem_ulonglong_atomic_set(dest, value, pe); }
static inline void shmem_atomic_set(shmem_ctx_t ctx, float *dest, float value, int pe) { shmem_ctx_float_atomic_set(ctx, dest, value, pe); }
static inline void shmem_atomic_set(shmem_ctx_t ctx, double *dest, double value, int pe) { shmem_ctx_double_atomic_set(ctx, dest, value, pe); }
static inline void shmem_atomic_set(shmem_ctx_t ctx, int *dest, int value, int pe) { shmem_ctx_int_atomic_set(ctx, dest, value, pe); }
static inline void shmem_atomic_set(shmem_ctx_t ctx, long *dest, long value, int pe) { shmem_ctx_long_atomic_set(ctx, dest, value, pe); }
static inline void shmem_atomic_set(shmem_ctx_t ctx, long long *dest, long long value, int pe) { shmem_ctx_longlong_atomic_set(ctx, dest, value, pe); }
static inline void shmem_atomic_set(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe) { shmem_ctx_uint_atomic_set(ctx, dest, value, pe); }
static inline void shmem_atomic_set(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe) { shmem_ctx_ulong_atomic_set(ctx, dest, value, pe); }
static inline void shmem_atomic_set(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe) { shmem_ctx_ulonglong_atomic_set(ctx, dest, value, pe); }
static inline void shmem_set(float *dest, float value, int pe) { shmem_float_set(dest, value, pe); }
static inline void shmem_set(double *dest, double value, int pe) { shmem_double_set(dest, value, pe); }
static inline void shmem_set(int *dest, int value, int pe) { shmem_int_set(dest, value, pe); }
static inline void shmem_set(long *dest, long value, int pe) { shmem_long_set(dest, value, pe); }
static inline void shmem_set(long long *dest, long long value, int pe) { shmem_longlong_set(dest, value, pe); }
static inline float shmem_atomic_swap(float *dest, float value, int pe) { return shmem_float_atomic_swap(dest, value, pe); }
static inline double shmem_atomic_swap(double *dest, double value, int pe) { return shmem_double_atomic_swap(dest, value, pe); }
static inline int shmem_atomic_swap(int *dest, int value, int pe) { return shmem_int_atomic_swap(dest, value, pe); }
static inline long shmem_atomic_swap(long *dest, long value, int pe) { return shmem_long_atomic_swap(dest, value, pe); }
static inline long long shmem_atomic_swap(long long *dest, long long value, int pe) { return shmem_longlong_atomic_swap(dest, value, pe); }
static inline unsigned int shmem_atomic_swap(unsigned int *dest, unsigned int value, int pe) { return shmem_uint_atomic_swap(dest, value, pe); }
static inline unsigned long shmem_atomic_swap(unsigned long *dest, unsigned long value, int pe) { return shmem_ulong_atomic_swap(dest, value, pe); }
static inline unsigned long long shmem_atomic_swap(unsigned long long *dest, unsigned long long value, int pe) { return shmem_ulonglong_atomic_swap(dest, value, pe); }
static inline float shmem_atomic_swap(shmem_ctx_t ctx, float *dest, float value, int pe) { return shmem_ctx_float_atomic_swap(ctx, dest, value, pe); }
static inline double shmem_atomic_swap(shmem_ctx_t ctx, double *dest, double value, int pe) { return shmem_ctx_double_atomic_swap(ctx, dest, value, pe); }
static inline int shmem_atomic_swap(shmem_ctx_t ctx, int *dest, int value, int pe) { return shmem_ctx_int_atomic_swap(ctx, dest, value, pe); }
static inline long shmem_atomic_swap(shmem_ctx_t ctx, long *dest, long value, int pe) { return shmem_ctx_long_atomic_swap(ctx, dest, value, pe); }
static inline long long shmem_atomic_swap(shmem_ctx_t ctx, long long *dest, long long value, int pe) { return shmem_ctx_longlong_atomic_swap(ctx, dest, value, pe); }
static inline unsigned int shmem_atomic_swap(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe) { return shmem_ctx_uint_atomic_swap(ctx, dest, value, pe); }
static inline unsigned long shmem_atomic_swap(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe) { return shmem_ctx_ulong_atomic_swap(ctx, dest, value, pe); }
static inline unsigned long long shmem_atomic_swap(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe) { return shmem_ctx_ulonglong_atomic_swap(ctx, dest, value, pe); }
static inline void shmem_atomic_swap_nbi(float *fetch, float *dest, float value, int pe) { shmem_float_atomic_swap_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_swap_nbi(double *fetch, double *dest, double value, int pe) { shmem_double_atomic_swap_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_swap_nbi(int *fetch, int *dest, int value, int pe) { shmem_int_atomic_swap_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_swap_nbi(long *fetch, long *dest, long value, int pe) { shmem_long_atomic_swap_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_swap_nbi(long long *fetch, long long *dest, long long value, int pe) { shmem_longlong_atomic_swap_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_swap_nbi(unsigned int *fetch, unsigned int *dest, unsigned int value, int pe) { shmem_uint_atomic_swap_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_swap_nbi(unsigned long *fetch, unsigned long *dest, unsigned long value, int pe) { shmem_ulong_atomic_swap_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_swap_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe) { shmem_ulonglong_atomic_swap_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_swap_nbi(shmem_ctx_t ctx, float *fetch, float *dest, float value, int pe) { shmem_ctx_float_atomic_swap_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_swap_nbi(shmem_ctx_t ctx, double *fetch, double *dest, double value, int pe) { shmem_ctx_double_atomic_swap_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_swap_nbi(shmem_ctx_t ctx, int *fetch, int *dest, int value, int pe) { shmem_ctx_int_atomic_swap_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_swap_nbi(shmem_ctx_t ctx, long *fetch, long *dest, long value, int pe) { shmem_ctx_long_atomic_swap_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_swap_nbi(shmem_ctx_t ctx, long long *fetch, long long *dest, long long value, int pe) { shmem_ctx_longlong_atomic_swap_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_swap_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int value, int pe) { shmem_ctx_uint_atomic_swap_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_swap_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long value, int pe) { shmem_ctx_ulong_atomic_swap_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_swap_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe) { shmem_ctx_ulonglong_atomic_swap_nbi(ctx, fetch, dest, value, pe); }
static inline float shmem_swap(float *dest, float value, int pe) { return shmem_float_swap(dest, value, pe); }
static inline double shmem_swap(double *dest, double value, int pe) { return shmem_double_swap(dest, value, pe); }
static inline int shmem_swap(int *dest, int value, int pe) { return shmem_int_swap(dest, value, pe); }
static inline long shmem_swap(long *dest, long value, int pe) { return shmem_long_swap(dest, value, pe); }
static inline long long shmem_swap(long long *dest, long long value, int pe) { return shmem_longlong_swap(dest, value, pe); }
static inline int shmem_atomic_compare_swap(int *dest, int cond, int value, int pe) { return shmem_int_atomic_compare_swap(dest, cond, value, pe); }
static inline long shmem_atomic_compare_swap(long *dest, long cond, long value, int pe) { return shmem_long_atomic_compare_swap(dest, cond, value, pe); }
static inline long long shmem_atomic_compare_swap(long long *dest, long long cond, long long value, int pe) { return shmem_longlong_atomic_compare_swap(dest, cond, value, pe); }
static inline unsigned int shmem_atomic_compare_swap(unsigned int *dest, unsigned int cond, unsigned int value, int pe) { return shmem_uint_atomic_compare_swap(dest, cond, value, pe); }
static inline unsigned long shmem_atomic_compare_swap(unsigned long *dest, unsigned long cond, unsigned long value, int pe) { return shmem_ulong_atomic_compare_swap(dest, cond, value, pe); }
static inline unsigned long long shmem_atomic_compare_swap(unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe) { return shmem_ulonglong_atomic_compare_swap(dest, cond, value, pe); }
static inline int shmem_atomic_compare_swap(shmem_ctx_t ctx, int *dest, int cond, int value, int pe) { return shmem_ctx_int_atomic_compare_swap(ctx, dest, cond, value, pe); }
static inline long shmem_atomic_compare_swap(shmem_ctx_t ctx, long *dest, long cond, long value, int pe) { return shmem_ctx_long_atomic_compare_swap(ctx, dest, cond, value, pe); }
static inline long long shmem_atomic_compare_swap(shmem_ctx_t ctx, long long *dest, long long cond, long long value, int pe) { return shmem_ctx_longlong_atomic_compare_swap(ctx, dest, cond, value, pe); }
static inline unsigned int shmem_atomic_compare_swap(shmem_ctx_t ctx, unsigned int *dest, unsigned int cond, unsigned int value, int pe) { return shmem_ctx_uint_atomic_compare_swap(ctx, dest, cond, value, pe); }
static inline unsigned long shmem_atomic_compare_swap(shmem_ctx_t ctx, unsigned long *dest, unsigned long cond, unsigned long value, int pe) { return shmem_ctx_ulong_atomic_compare_swap(ctx, dest, cond, value, pe); }
static inline unsigned long long shmem_atomic_compare_swap(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe) { return shmem_ctx_ulonglong_atomic_compare_swap(ctx, dest, cond, value, pe); }
static inline void shmem_atomic_compare_swap_nbi(int *fetch, int *dest, int cond, int value, int pe) { shmem_int_atomic_compare_swap_nbi(fetch, dest, cond, value, pe); }
static inline void shmem_atomic_compare_swap_nbi(long *fetch, long *dest, long cond, long value, int pe) { shmem_long_atomic_compare_swap_nbi(fetch, dest, cond, value, pe); }
static inline void shmem_atomic_compare_swap_nbi(long long *fetch, long long *dest, long long cond, long long value, int pe) { shmem_longlong_atomic_compare_swap_nbi(fetch, dest, cond, value, pe); }
static inline void shmem_atomic_compare_swap_nbi(unsigned int *fetch, unsigned int *dest, unsigned int cond, unsigned int value, int pe) { shmem_uint_atomic_compare_swap_nbi(fetch, dest, cond, value, pe); }
static inline void shmem_atomic_compare_swap_nbi(unsigned long *fetch, unsigned long *dest, unsigned long cond, unsigned long value, int pe) { shmem_ulong_atomic_compare_swap_nbi(fetch, dest, cond, value, pe); }
static inline void shmem_atomic_compare_swap_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe) { shmem_ulonglong_atomic_compare_swap_nbi(fetch, dest, cond, value, pe); }
static inline void shmem_atomic_compare_swap_nbi(shmem_ctx_t ctx, int *fetch, int *dest, int cond, int value, int pe) { shmem_ctx_int_atomic_compare_swap_nbi(ctx, fetch, dest, cond, value, pe); }
static inline void shmem_atomic_compare_swap_nbi(shmem_ctx_t ctx, long *fetch, long *dest, long cond, long value, int pe) { shmem_ctx_long_atomic_compare_swap_nbi(ctx, fetch, dest, cond, value, pe); }
static inline void shmem_atomic_compare_swap_nbi(shmem_ctx_t ctx, long long *fetch, long long *dest, long long cond, long long value, int pe) { shmem_ctx_longlong_atomic_compare_swap_nbi(ctx, fetch, dest, cond, value, pe); }
static inline void shmem_atomic_compare_swap_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int cond, unsigned int value, int pe) { shmem_ctx_uint_atomic_compare_swap_nbi(ctx, fetch, dest, cond, value, pe); }
static inline void shmem_atomic_compare_swap_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long cond, unsigned long value, int pe) { shmem_ctx_ulong_atomic_compare_swap_nbi(ctx, fetch, dest, cond, value, pe); }
static inline void shmem_atomic_compare_swap_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe) { shmem_ctx_ulonglong_atomic_compare_swap_nbi(ctx, fetch, dest, cond, value, pe); }
static inline int shmem_cswap(int *dest, int cond, int value, int pe) { return shmem_int_cswap(dest, cond, value, pe); }
static inline long shmem_cswap(long *dest, long cond, long value, int pe) { return shmem_long_cswap(dest, cond, value, pe); }
static inline long long shmem_cswap(long long *dest, long long cond, long long value, int pe) { return shmem_longlong_cswap(dest, cond, value, pe); }
static inline void shmem_atomic_inc(int *dest, int pe) { shmem_int_atomic_inc(dest, pe); }
static inline void shmem_atomic_inc(long *dest, int pe) { shmem_long_atomic_inc(dest, pe); }
static inline void shmem_atomic_inc(long long *dest, int pe) { shmem_longlong_atomic_inc(dest, pe); }
static inline void shmem_atomic_inc(unsigned int *dest, int pe) { shmem_uint_atomic_inc(dest, pe); }
static inline void shmem_atomic_inc(unsigned long *dest, int pe) { shmem_ulong_atomic_inc(dest, pe); }
static inline void shmem_atomic_inc(unsigned long long *dest, int pe) { shmem_ulonglong_atomic_inc(dest, pe); }
static inline void shmem_atomic_inc(shmem_ctx_t ctx, int *dest, int pe) { shmem_ctx_int_atomic_inc(ctx, dest, pe); }
static inline void shmem_atomic_inc(shmem_ctx_t ctx, long *dest, int pe) { shmem_ctx_long_atomic_inc(ctx, dest, pe); }
static inline void shmem_atomic_inc(shmem_ctx_t ctx, long long *dest, int pe) { shmem_ctx_longlong_atomic_inc(ctx, dest, pe); }
static inline void shmem_atomic_inc(shmem_ctx_t ctx, unsigned int *dest, int pe) { shmem_ctx_uint_atomic_inc(ctx, dest, pe); }
static inline void shmem_atomic_inc(shmem_ctx_t ctx, unsigned long *dest, int pe) { shmem_ctx_ulong_atomic_inc(ctx, dest, pe); }
static inline void shmem_atomic_inc(shmem_ctx_t ctx, unsigned long long *dest, int pe) { shmem_ctx_ulonglong_atomic_inc(ctx, dest, pe); }
static inline int shmem_atomic_fetch_inc(int *dest, int pe) { return shmem_int_atomic_fetch_inc(dest, pe); }
static inline long shmem_atomic_fetch_inc(long *dest, int pe) { return shmem_long_atomic_fetch_inc(dest, pe); }
static inline long long shmem_atomic_fetch_inc(long long *dest, int pe) { return shmem_longlong_atomic_fetch_inc(dest, pe); }
static inline unsigned int shmem_atomic_fetch_inc(unsigned int *dest, int pe) { return shmem_uint_atomic_fetch_inc(dest, pe); }
static inline unsigned long shmem_atomic_fetch_inc(unsigned long *dest, int pe) { return shmem_ulong_atomic_fetch_inc(dest, pe); }
static inline unsigned long long shmem_atomic_fetch_inc(unsigned long long *dest, int pe) { return shmem_ulonglong_atomic_fetch_inc(dest, pe); }
static inline int shmem_atomic_fetch_inc(shmem_ctx_t ctx, int *dest, int pe) { return shmem_ctx_int_atomic_fetch_inc(ctx, dest, pe); }
static inline long shmem_atomic_fetch_inc(shmem_ctx_t ctx, long *dest, int pe) { return shmem_ctx_long_atomic_fetch_inc(ctx, dest, pe); }
static inline long long shmem_atomic_fetch_inc(shmem_ctx_t ctx, long long *dest, int pe) { return shmem_ctx_longlong_atomic_fetch_inc(ctx, dest, pe); }
static inline unsigned int shmem_atomic_fetch_inc(shmem_ctx_t ctx, unsigned int *dest, int pe) { return shmem_ctx_uint_atomic_fetch_inc(ctx, dest, pe); }
static inline unsigned long shmem_atomic_fetch_inc(shmem_ctx_t ctx, unsigned long *dest, int pe) { return shmem_ctx_ulong_atomic_fetch_inc(ctx, dest, pe); }
static inline unsigned long long shmem_atomic_fetch_inc(shmem_ctx_t ctx, unsigned long long *dest, int pe) { return shmem_ctx_ulonglong_atomic_fetch_inc(ctx, dest, pe); }
static inline void shmem_atomic_fetch_inc_nbi(int *fetch, int *dest, int pe) { shmem_int_atomic_fetch_inc_nbi(fetch, dest, pe); }
static inline void shmem_atomic_fetch_inc_nbi(long *fetch, long *dest, int pe) { shmem_long_atomic_fetch_inc_nbi(fetch, dest, pe); }
static inline void shmem_atomic_fetch_inc_nbi(long long *fetch, long long *dest, int pe) { shmem_longlong_atomic_fetch_inc_nbi(fetch, dest, pe); }
static inline void shmem_atomic_fetch_inc_nbi(unsigned int *fetch, unsigned int *dest, int pe) { shmem_uint_atomic_fetch_inc_nbi(fetch, dest, pe); }
static inline void shmem_atomic_fetch_inc_nbi(unsigned long *fetch, unsigned long *dest, int pe) { shmem_ulong_atomic_fetch_inc_nbi(fetch, dest, pe); }
static inline void shmem_atomic_fetch_inc_nbi(unsigned long long *fetch, unsigned long long *dest, int pe) { shmem_ulonglong_atomic_fetch_inc_nbi(fetch, dest, pe); }
static inline void shmem_atomic_fetch_inc_nbi(shmem_ctx_t ctx, int *fetch, int *dest, int pe) { shmem_ctx_int_atomic_fetch_inc_nbi(ctx, fetch, dest, pe); }
static inline void shmem_atomic_fetch_inc_nbi(shmem_ctx_t ctx, long *fetch, long *dest, int pe) { shmem_ctx_long_atomic_fetch_inc_nbi(ctx, fetch, dest, pe); }
static inline void shmem_atomic_fetch_inc_nbi(shmem_ctx_t ctx, long long *fetch, long long *dest, int pe) { shmem_ctx_longlong_atomic_fetch_inc_nbi(ctx, fetch, dest, pe); }
static inline void shmem_atomic_fetch_inc_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, int pe) { shmem_ctx_uint_atomic_fetch_inc_nbi(ctx, fetch, dest, pe); }
static inline void shmem_atomic_fetch_inc_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, int pe) { shmem_ctx_ulong_atomic_fetch_inc_nbi(ctx, fetch, dest, pe); }
static inline void shmem_atomic_fetch_inc_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, int pe) { shmem_ctx_ulonglong_atomic_fetch_inc_nbi(ctx, fetch, dest, pe); }
static inline void shmem_inc(int *dest, int pe) { shmem_int_inc(dest, pe); }
static inline void shmem_inc(long *dest, int pe) { shmem_long_inc(dest, pe); }
static inline void shmem_inc(long long *dest, int pe) { shmem_longlong_inc(dest, pe); }
static inline int shmem_finc(int *dest, int pe) { return shmem_int_finc(dest, pe); }
static inline long shmem_finc(long *dest, int pe) { return shmem_long_finc(dest, pe); }
static inline long long shmem_finc(long long *dest, int pe) { return shmem_longlong_finc(dest, pe); }
static inline void shmem_atomic_add(int *dest, int value, int pe) { shmem_int_atomic_add(dest, value, pe); }
static inline void shmem_atomic_add(long *dest, long value, int pe) { shmem_long_atomic_add(dest, value, pe); }
static inline void shmem_atomic_add(long long *dest, long long value, int pe) { shmem_longlong_atomic_add(dest, value, pe); }
static inline void shmem_atomic_add(unsigned int *dest, unsigned int value, int pe) { shmem_uint_atomic_add(dest, value, pe); }
static inline void shmem_atomic_add(unsigned long *dest, unsigned long value, int pe) { shmem_ulong_atomic_add(dest, value, pe); }
static inline void shmem_atomic_add(unsigned long long *dest, unsigned long long value, int pe) { shmem_ulonglong_atomic_add(dest, value, pe); }
static inline void shmem_atomic_add(shmem_ctx_t ctx, int *dest, int value, int pe) { shmem_ctx_int_atomic_add(ctx, dest, value, pe); }
static inline void shmem_atomic_add(shmem_ctx_t ctx, long *dest, long value, int pe) { shmem_ctx_long_atomic_add(ctx, dest, value, pe); }
static inline void shmem_atomic_add(shmem_ctx_t ctx, long long *dest, long long value, int pe) { shmem_ctx_longlong_atomic_add(ctx, dest, value, pe); }
static inline void shmem_atomic_add(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe) { shmem_ctx_uint_atomic_add(ctx, dest, value, pe); }
static inline void shmem_atomic_add(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe) { shmem_ctx_ulong_atomic_add(ctx, dest, value, pe); }
static inline void shmem_atomic_add(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe) { shmem_ctx_ulonglong_atomic_add(ctx, dest, value, pe); }
static inline int shmem_atomic_fetch_add(int *dest, int value, int pe) { return shmem_int_atomic_fetch_add(dest, value, pe); }
static inline long shmem_atomic_fetch_add(long *dest, long value, int pe) { return shmem_long_atomic_fetch_add(dest, value, pe); }
static inline long long shmem_atomic_fetch_add(long long *dest, long long value, int pe) { return shmem_longlong_atomic_fetch_add(dest, value, pe); }
static inline unsigned int shmem_atomic_fetch_add(unsigned int *dest, unsigned int value, int pe) { return shmem_uint_atomic_fetch_add(dest, value, pe); }
static inline unsigned long shmem_atomic_fetch_add(unsigned long *dest, unsigned long value, int pe) { return shmem_ulong_atomic_fetch_add(dest, value, pe); }
static inline unsigned long long shmem_atomic_fetch_add(unsigned long long *dest, unsigned long long value, int pe) { return shmem_ulonglong_atomic_fetch_add(dest, value, pe); }
static inline int shmem_atomic_fetch_add(shmem_ctx_t ctx, int *dest, int value, int pe) { return shmem_ctx_int_atomic_fetch_add(ctx, dest, value, pe); }
static inline long shmem_atomic_fetch_add(shmem_ctx_t ctx, long *dest, long value, int pe) { return shmem_ctx_long_atomic_fetch_add(ctx, dest, value, pe); }
static inline long long shmem_atomic_fetch_add(shmem_ctx_t ctx, long long *dest, long long value, int pe) { return shmem_ctx_longlong_atomic_fetch_add(ctx, dest, value, pe); }
static inline unsigned int shmem_atomic_fetch_add(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe) { return shmem_ctx_uint_atomic_fetch_add(ctx, dest, value, pe); }
static inline unsigned long shmem_atomic_fetch_add(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe) { return shmem_ctx_ulong_atomic_fetch_add(ctx, dest, value, pe); }
static inline unsigned long long shmem_atomic_fetch_add(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe) { return shmem_ctx_ulonglong_atomic_fetch_add(ctx, dest, value, pe); }
static inline void shmem_atomic_fetch_add_nbi(int *fetch, int *dest, int value, int pe) { shmem_int_atomic_fetch_add_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_add_nbi(long *fetch, long *dest, long value, int pe) { shmem_long_atomic_fetch_add_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_add_nbi(long long *fetch, long long *dest, long long value, int pe) { shmem_longlong_atomic_fetch_add_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_add_nbi(unsigned int *fetch, unsigned int *dest, unsigned int value, int pe) { shmem_uint_atomic_fetch_add_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_add_nbi(unsigned long *fetch, unsigned long *dest, unsigned long value, int pe) { shmem_ulong_atomic_fetch_add_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_add_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe) { shmem_ulonglong_atomic_fetch_add_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_add_nbi(shmem_ctx_t ctx, int *fetch, int *dest, int value, int pe) { shmem_ctx_int_atomic_fetch_add_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_add_nbi(shmem_ctx_t ctx, long *fetch, long *dest, long value, int pe) { shmem_ctx_long_atomic_fetch_add_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_add_nbi(shmem_ctx_t ctx, long long *fetch, long long *dest, long long value, int pe) { shmem_ctx_longlong_atomic_fetch_add_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_add_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int value, int pe) { shmem_ctx_uint_atomic_fetch_add_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_add_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long value, int pe) { shmem_ctx_ulong_atomic_fetch_add_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_add_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe) { shmem_ctx_ulonglong_atomic_fetch_add_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_add(int *dest, int value, int pe) { shmem_int_add(dest, value, pe); }
static inline void shmem_add(long *dest, long value, int pe) { shmem_long_add(dest, value, pe); }
static inline void shmem_add(long long *dest, long long value, int pe) { shmem_longlong_add(dest, value, pe); }
static inline int shmem_fadd(int *dest, int value, int pe) { return shmem_int_fadd(dest, value, pe); }
static inline long shmem_fadd(long *dest, long value, int pe) { return shmem_long_fadd(dest, value, pe); }
static inline long long shmem_fadd(long long *dest, long long value, int pe) { return shmem_longlong_fadd(dest, value, pe); }
static inline void shmem_atomic_and(unsigned int *dest, unsigned int value, int pe) { shmem_uint_atomic_and(dest, value, pe); }
static inline void shmem_atomic_and(unsigned long *dest, unsigned long value, int pe) { shmem_ulong_atomic_and(dest, value, pe); }
static inline void shmem_atomic_and(unsigned long long *dest, unsigned long long value, int pe) { shmem_ulonglong_atomic_and(dest, value, pe); }
static inline void shmem_atomic_and(int32_t *dest, int32_t value, int pe) { shmem_int32_atomic_and(dest, value, pe); }
static inline void shmem_atomic_and(int64_t *dest, int64_t value, int pe) { shmem_int64_atomic_and(dest, value, pe); }
static inline void shmem_atomic_and(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe) { shmem_ctx_uint_atomic_and(ctx, dest, value, pe); }
static inline void shmem_atomic_and(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe) { shmem_ctx_ulong_atomic_and(ctx, dest, value, pe); }
static inline void shmem_atomic_and(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe) { shmem_ctx_ulonglong_atomic_and(ctx, dest, value, pe); }
static inline void shmem_atomic_and(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe) { shmem_ctx_int32_atomic_and(ctx, dest, value, pe); }
static inline void shmem_atomic_and(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe) { shmem_ctx_int64_atomic_and(ctx, dest, value, pe); }
static inline unsigned int shmem_atomic_fetch_and(unsigned int *dest, unsigned int value, int pe) { return shmem_uint_atomic_fetch_and(dest, value, pe); }
static inline unsigned long shmem_atomic_fetch_and(unsigned long *dest, unsigned long value, int pe) { return shmem_ulong_atomic_fetch_and(dest, value, pe); }
static inline unsigned long long shmem_atomic_fetch_and(unsigned long long *dest, unsigned long long value, int pe) { return shmem_ulonglong_atomic_fetch_and(dest, value, pe); }
static inline int32_t shmem_atomic_fetch_and(int32_t *dest, int32_t value, int pe) { return shmem_int32_atomic_fetch_and(dest, value, pe); }
static inline int64_t shmem_atomic_fetch_and(int64_t *dest, int64_t value, int pe) { return shmem_int64_atomic_fetch_and(dest, value, pe); }
static inline unsigned int shmem_atomic_fetch_and(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe) { return shmem_ctx_uint_atomic_fetch_and(ctx, dest, value, pe); }
static inline unsigned long shmem_atomic_fetch_and(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe) { return shmem_ctx_ulong_atomic_fetch_and(ctx, dest, value, pe); }
static inline unsigned long long shmem_atomic_fetch_and(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe) { return shmem_ctx_ulonglong_atomic_fetch_and(ctx, dest, value, pe); }
static inline int32_t shmem_atomic_fetch_and(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe) { return shmem_ctx_int32_atomic_fetch_and(ctx, dest, value, pe); }
static inline int64_t shmem_atomic_fetch_and(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe) { return shmem_ctx_int64_atomic_fetch_and(ctx, dest, value, pe); }
static inline void shmem_atomic_fetch_and_nbi(unsigned int *fetch, unsigned int *dest, unsigned int value, int pe) { shmem_uint_atomic_fetch_and_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_and_nbi(unsigned long *fetch, unsigned long *dest, unsigned long value, int pe) { shmem_ulong_atomic_fetch_and_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_and_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe) { shmem_ulonglong_atomic_fetch_and_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_and_nbi(int32_t *fetch, int32_t *dest, int32_t value, int pe) { shmem_int32_atomic_fetch_and_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_and_nbi(int64_t *fetch, int64_t *dest, int64_t value, int pe) { shmem_int64_atomic_fetch_and_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_and_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int value, int pe) { shmem_ctx_uint_atomic_fetch_and_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_and_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long value, int pe) { shmem_ctx_ulong_atomic_fetch_and_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_and_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe) { shmem_ctx_ulonglong_atomic_fetch_and_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_and_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int32_t value, int pe) { shmem_ctx_int32_atomic_fetch_and_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_and_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int64_t value, int pe) { shmem_ctx_int64_atomic_fetch_and_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_or(unsigned int *dest, unsigned int value, int pe) { shmem_uint_atomic_or(dest, value, pe); }
static inline void shmem_atomic_or(unsigned long *dest, unsigned long value, int pe) { shmem_ulong_atomic_or(dest, value, pe); }
static inline void shmem_atomic_or(unsigned long long *dest, unsigned long long value, int pe) { shmem_ulonglong_atomic_or(dest, value, pe); }
static inline void shmem_atomic_or(int32_t *dest, int32_t value, int pe) { shmem_int32_atomic_or(dest, value, pe); }
static inline void shmem_atomic_or(int64_t *dest, int64_t value, int pe) { shmem_int64_atomic_or(dest, value, pe); }
static inline void shmem_atomic_or(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe) { shmem_ctx_uint_atomic_or(ctx, dest, value, pe); }
static inline void shmem_atomic_or(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe) { shmem_ctx_ulong_atomic_or(ctx, dest, value, pe); }
static inline void shmem_atomic_or(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe) { shmem_ctx_ulonglong_atomic_or(ctx, dest, value, pe); }
static inline void shmem_atomic_or(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe) { shmem_ctx_int32_atomic_or(ctx, dest, value, pe); }
static inline void shmem_atomic_or(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe) { shmem_ctx_int64_atomic_or(ctx, dest, value, pe); }
static inline unsigned int shmem_atomic_fetch_or(unsigned int *dest, unsigned int value, int pe) { return shmem_uint_atomic_fetch_or(dest, value, pe); }
static inline unsigned long shmem_atomic_fetch_or(unsigned long *dest, unsigned long value, int pe) { return shmem_ulong_atomic_fetch_or(dest, value, pe); }
static inline unsigned long long shmem_atomic_fetch_or(unsigned long long *dest, unsigned long long value, int pe) { return shmem_ulonglong_atomic_fetch_or(dest, value, pe); }
static inline int32_t shmem_atomic_fetch_or(int32_t *dest, int32_t value, int pe) { return shmem_int32_atomic_fetch_or(dest, value, pe); }
static inline int64_t shmem_atomic_fetch_or(int64_t *dest, int64_t value, int pe) { return shmem_int64_atomic_fetch_or(dest, value, pe); }
static inline unsigned int shmem_atomic_fetch_or(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe) { return shmem_ctx_uint_atomic_fetch_or(ctx, dest, value, pe); }
static inline unsigned long shmem_atomic_fetch_or(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe) { return shmem_ctx_ulong_atomic_fetch_or(ctx, dest, value, pe); }
static inline unsigned long long shmem_atomic_fetch_or(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe) { return shmem_ctx_ulonglong_atomic_fetch_or(ctx, dest, value, pe); }
static inline int32_t shmem_atomic_fetch_or(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe) { return shmem_ctx_int32_atomic_fetch_or(ctx, dest, value, pe); }
static inline int64_t shmem_atomic_fetch_or(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe) { return shmem_ctx_int64_atomic_fetch_or(ctx, dest, value, pe); }
static inline void shmem_atomic_fetch_or_nbi(unsigned int *fetch, unsigned int *dest, unsigned int value, int pe) { shmem_uint_atomic_fetch_or_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_or_nbi(unsigned long *fetch, unsigned long *dest, unsigned long value, int pe) { shmem_ulong_atomic_fetch_or_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_or_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe) { shmem_ulonglong_atomic_fetch_or_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_or_nbi(int32_t *fetch, int32_t *dest, int32_t value, int pe) { shmem_int32_atomic_fetch_or_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_or_nbi(int64_t *fetch, int64_t *dest, int64_t value, int pe) { shmem_int64_atomic_fetch_or_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_or_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int value, int pe) { shmem_ctx_uint_atomic_fetch_or_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_or_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long value, int pe) { shmem_ctx_ulong_atomic_fetch_or_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_or_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe) { shmem_ctx_ulonglong_atomic_fetch_or_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_or_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int32_t value, int pe) { shmem_ctx_int32_atomic_fetch_or_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_or_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int64_t value, int pe) { shmem_ctx_int64_atomic_fetch_or_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_xor(unsigned int *dest, unsigned int value, int pe) { shmem_uint_atomic_xor(dest, value, pe); }
static inline void shmem_atomic_xor(unsigned long *dest, unsigned long value, int pe) { shmem_ulong_atomic_xor(dest, value, pe); }
static inline void shmem_atomic_xor(unsigned long long *dest, unsigned long long value, int pe) { shmem_ulonglong_atomic_xor(dest, value, pe); }
static inline void shmem_atomic_xor(int32_t *dest, int32_t value, int pe) { shmem_int32_atomic_xor(dest, value, pe); }
static inline void shmem_atomic_xor(int64_t *dest, int64_t value, int pe) { shmem_int64_atomic_xor(dest, value, pe); }
static inline void shmem_atomic_xor(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe) { shmem_ctx_uint_atomic_xor(ctx, dest, value, pe); }
static inline void shmem_atomic_xor(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe) { shmem_ctx_ulong_atomic_xor(ctx, dest, value, pe); }
static inline void shmem_atomic_xor(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe) { shmem_ctx_ulonglong_atomic_xor(ctx, dest, value, pe); }
static inline void shmem_atomic_xor(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe) { shmem_ctx_int32_atomic_xor(ctx, dest, value, pe); }
static inline void shmem_atomic_xor(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe) { shmem_ctx_int64_atomic_xor(ctx, dest, value, pe); }
static inline unsigned int shmem_atomic_fetch_xor(unsigned int *dest, unsigned int value, int pe) { return shmem_uint_atomic_fetch_xor(dest, value, pe); }
static inline unsigned long shmem_atomic_fetch_xor(unsigned long *dest, unsigned long value, int pe) { return shmem_ulong_atomic_fetch_xor(dest, value, pe); }
static inline unsigned long long shmem_atomic_fetch_xor(unsigned long long *dest, unsigned long long value, int pe) { return shmem_ulonglong_atomic_fetch_xor(dest, value, pe); }
static inline int32_t shmem_atomic_fetch_xor(int32_t *dest, int32_t value, int pe) { return shmem_int32_atomic_fetch_xor(dest, value, pe); }
static inline int64_t shmem_atomic_fetch_xor(int64_t *dest, int64_t value, int pe) { return shmem_int64_atomic_fetch_xor(dest, value, pe); }
static inline unsigned int shmem_atomic_fetch_xor(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe) { return shmem_ctx_uint_atomic_fetch_xor(ctx, dest, value, pe); }
static inline unsigned long shmem_atomic_fetch_xor(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe) { return shmem_ctx_ulong_atomic_fetch_xor(ctx, dest, value, pe); }
static inline unsigned long long shmem_atomic_fetch_xor(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe) { return shmem_ctx_ulonglong_atomic_fetch_xor(ctx, dest, value, pe); }
static inline int32_t shmem_atomic_fetch_xor(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe) { return shmem_ctx_int32_atomic_fetch_xor(ctx, dest, value, pe); }
static inline int64_t shmem_atomic_fetch_xor(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe) { return shmem_ctx_int64_atomic_fetch_xor(ctx, dest, value, pe); }
static inline void shmem_atomic_fetch_xor_nbi(unsigned int *fetch, unsigned int *dest, unsigned int value, int pe) { shmem_uint_atomic_fetch_xor_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_xor_nbi(unsigned long *fetch, unsigned long *dest, unsigned long value, int pe) { shmem_ulong_atomic_fetch_xor_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_xor_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe) { shmem_ulonglong_atomic_fetch_xor_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_xor_nbi(int32_t *fetch, int32_t *dest, int32_t value, int pe) { shmem_int32_atomic_fetch_xor_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_xor_nbi(int64_t *fetch, int64_t *dest, int64_t value, int pe) { shmem_int64_atomic_fetch_xor_nbi(fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_xor_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int value, int pe) { shmem_ctx_uint_atomic_fetch_xor_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_xor_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long value, int pe) { shmem_ctx_ulong_atomic_fetch_xor_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_xor_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe) { shmem_ctx_ulonglong_atomic_fetch_xor_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_xor_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int32_t value, int pe) { shmem_ctx_int32_atomic_fetch_xor_nbi(ctx, fetch, dest, value, pe); }
static inline void shmem_atomic_fetch_xor_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int64_t value, int pe) { shmem_ctx_int64_atomic_fetch_xor_nbi(ctx, fetch, dest, value, pe); }
static inline int shmem_sync(shmem_team_t team) { return shmem_team_sync(team); }
static inline int shmem_alltoall(shmem_team_t team, float *dest, const float *source, size_t nelems) { return shmem_float_alltoall(team, dest, source, nelems); }
static inline int shmem_alltoall(shmem_team_t team, double *dest, const double *source, size_t nelems) { return shmem_double_alltoall(team, dest, source, nelems); }
static inline int shmem_alltoall(shmem_team_t team, long double *dest, const long double *source, size_t nelems) { return shmem_longdouble_alltoall(team, dest, source, nelems); }
static inline int shmem_alltoall(shmem_team_t team, char *dest, const char *source, size_t nelems) { return shmem_char_alltoall(team, dest, source, nelems); }
static inline int shmem_alltoall(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems) { return shmem_schar_alltoall(team, dest, source, nelems); }
static inline int shmem_alltoall(shmem_team_t team, short *dest, const short *source, size_t nelems) { return shmem_short_alltoall(team, dest, source, nelems); }
static inline int shmem_alltoall(shmem_team_t team, int *dest, const int *source, size_t nelems) { return shmem_int_alltoall(team, dest, source, nelems); }
static inline int shmem_alltoall(shmem_team_t team, long *dest, const long *source, size_t nelems) { return shmem_long_alltoall(team, dest, source, nelems); }
static inline int shmem_alltoall(shmem_team_t team, long long *dest, const long long *source, size_t nelems) { return shmem_longlong_alltoall(team, dest, source, nelems); }
static inline int shmem_alltoall(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems) { return shmem_uchar_alltoall(team, dest, source, nelems); }
static inline int shmem_alltoall(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems) { return shmem_ushort_alltoall(team, dest, source, nelems); }
static inline int shmem_alltoall(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems) { return shmem_uint_alltoall(team, dest, source, nelems); }
static inline int shmem_alltoall(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems) { return shmem_ulong_alltoall(team, dest, source, nelems); }
static inline int shmem_alltoall(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems) { return shmem_ulonglong_alltoall(team, dest, source, nelems); }
static inline int shmem_alltoalls(shmem_team_t team, float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) { return shmem_float_alltoalls(team, dest, source, dst, sst, nelems); }
static inline int shmem_alltoalls(shmem_team_t team, double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) { return shmem_double_alltoalls(team, dest, source, dst, sst, nelems); }
static inline int shmem_alltoalls(shmem_team_t team, long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) { return shmem_longdouble_alltoalls(team, dest, source, dst, sst, nelems); }
static inline int shmem_alltoalls(shmem_team_t team, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) { return shmem_char_alltoalls(team, dest, source, dst, sst, nelems); }
static inline int shmem_alltoalls(shmem_team_t team, signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) { return shmem_schar_alltoalls(team, dest, source, dst, sst, nelems); }
static inline int shmem_alltoalls(shmem_team_t team, short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) { return shmem_short_alltoalls(team, dest, source, dst, sst, nelems); }
static inline int shmem_alltoalls(shmem_team_t team, int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) { return shmem_int_alltoalls(team, dest, source, dst, sst, nelems); }
static inline int shmem_alltoalls(shmem_team_t team, long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) { return shmem_long_alltoalls(team, dest, source, dst, sst, nelems); }
static inline int shmem_alltoalls(shmem_team_t team, long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) { return shmem_longlong_alltoalls(team, dest, source, dst, sst, nelems); }
static inline int shmem_alltoalls(shmem_team_t team, unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) { return shmem_uchar_alltoalls(team, dest, source, dst, sst, nelems); }
static inline int shmem_alltoalls(shmem_team_t team, unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) { return shmem_ushort_alltoalls(team, dest, source, dst, sst, nelems); }
static inline int shmem_alltoalls(shmem_team_t team, unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) { return shmem_uint_alltoalls(team, dest, source, dst, sst, nelems); }
static inline int shmem_alltoalls(shmem_team_t team, unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) { return shmem_ulong_alltoalls(team, dest, source, dst, sst, nelems); }
static inline int shmem_alltoalls(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) { return shmem_ulonglong_alltoalls(team, dest, source, dst, sst, nelems); }
static inline int shmem_broadcast(shmem_team_t team, float *dest, const float *source, size_t nelems, int PE_root) { return shmem_float_broadcast(team, dest, source, nelems, PE_root); }
static inline int shmem_broadcast(shmem_team_t team, double *dest, const double *source, size_t nelems, int PE_root) { return shmem_double_broadcast(team, dest, source, nelems, PE_root); }
static inline int shmem_broadcast(shmem_team_t team, long double *dest, const long double *source, size_t nelems, int PE_root) { return shmem_longdouble_broadcast(team, dest, source, nelems, PE_root); }
static inline int shmem_broadcast(shmem_team_t team, char *dest, const char *source, size_t nelems, int PE_root) { return shmem_char_broadcast(team, dest, source, nelems, PE_root); }
static inline int shmem_broadcast(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems, int PE_root) { return shmem_schar_broadcast(team, dest, source, nelems, PE_root); }
static inline int shmem_broadcast(shmem_team_t team, short *dest, const short *source, size_t nelems, int PE_root) { return shmem_short_broadcast(team, dest, source, nelems, PE_root); }
static inline int shmem_broadcast(shmem_team_t team, int *dest, const int *source, size_t nelems, int PE_root) { return shmem_int_broadcast(team, dest, source, nelems, PE_root); }
static inline int shmem_broadcast(shmem_team_t team, long *dest, const long *source, size_t nelems, int PE_root) { return shmem_long_broadcast(team, dest, source, nelems, PE_root); }
static inline int shmem_broadcast(shmem_team_t team, long long *dest, const long long *source, size_t nelems, int PE_root) { return shmem_longlong_broadcast(team, dest, source, nelems, PE_root); }
static inline int shmem_broadcast(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems, int PE_root) { return shmem_uchar_broadcast(team, dest, source, nelems, PE_root); }
static inline int shmem_broadcast(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems, int PE_root) { return shmem_ushort_broadcast(team, dest, source, nelems, PE_root); }
static inline int shmem_broadcast(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems, int PE_root) { return shmem_uint_broadcast(team, dest, source, nelems, PE_root); }
static inline int shmem_broadcast(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems, int PE_root) { return shmem_ulong_broadcast(team, dest, source, nelems, PE_root); }
static inline int shmem_broadcast(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems, int PE_root) { return shmem_ulonglong_broadcast(team, dest, source, nelems, PE_root); }
static inline int shmem_collect(shmem_team_t team, float *dest, const float *source, size_t nelems) { return shmem_float_collect(team, dest, source, nelems); }
static inline int shmem_collect(shmem_team_t team, double *dest, const double *source, size_t nelems) { return shmem_double_collect(team, dest, source, nelems); }
static inline int shmem_collect(shmem_team_t team, long double *dest, const long double *source, size_t nelems) { return shmem_longdouble_collect(team, dest, source, nelems); }
static inline int shmem_collect(shmem_team_t team, char *dest, const char *source, size_t nelems) { return shmem_char_collect(team, dest, source, nelems); }
static inline int shmem_collect(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems) { return shmem_schar_collect(team, dest, source, nelems); }
static inline int shmem_collect(shmem_team_t team, short *dest, const short *source, size_t nelems) { return shmem_short_collect(team, dest, source, nelems); }
static inline int shmem_collect(shmem_team_t team, int *dest, const int *source, size_t nelems) { return shmem_int_collect(team, dest, source, nelems); }
static inline int shmem_collect(shmem_team_t team, long *dest, const long *source, size_t nelems) { return shmem_long_collect(team, dest, source, nelems); }
static inline int shmem_collect(shmem_team_t team, long long *dest, const long long *source, size_t nelems) { return shmem_longlong_collect(team, dest, source, nelems); }
static inline int shmem_collect(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems) { return shmem_uchar_collect(team, dest, source, nelems); }
static inline int shmem_collect(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems) { return shmem_ushort_collect(team, dest, source, nelems); }
static inline int shmem_collect(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems) { return shmem_uint_collect(team, dest, source, nelems); }
static inline int shmem_collect(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems) { return shmem_ulong_collect(team, dest, source, nelems); }
static inline int shmem_collect(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems) { return shmem_ulonglong_collect(team, dest, source, nelems); }
static inline int shmem_fcollect(shmem_team_t team, float *dest, const float *source, size_t nelems) { return shmem_float_fcollect(team, dest, source, nelems); }
static inline int shmem_fcollect(shmem_team_t team, double *dest, const double *source, size_t nelems) { return shmem_double_fcollect(team, dest, source, nelems); }
static inline int shmem_fcollect(shmem_team_t team, long double *dest, const long double *source, size_t nelems) { return shmem_longdouble_fcollect(team, dest, source, nelems); }
static inline int shmem_fcollect(shmem_team_t team, char *dest, const char *source, size_t nelems) { return shmem_char_fcollect(team, dest, source, nelems); }
static inline int shmem_fcollect(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems) { return shmem_schar_fcollect(team, dest, source, nelems); }
static inline int shmem_fcollect(shmem_team_t team, short *dest, const short *source, size_t nelems) { return shmem_short_fcollect(team, dest, source, nelems); }
static inline int shmem_fcollect(shmem_team_t team, int *dest, const int *source, size_t nelems) { return shmem_int_fcollect(team, dest, source, nelems); }
static inline int shmem_fcollect(shmem_team_t team, long *dest, const long *source, size_t nelems) { return shmem_long_fcollect(team, dest, source, nelems); }
static inline int shmem_fcollect(shmem_team_t team, long long *dest, const long long *source, size_t nelems) { return shmem_longlong_fcollect(team, dest, source, nelems); }
static inline int shmem_fcollect(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems) { return shmem_uchar_fcollect(team, dest, source, nelems); }
static inline int shmem_fcollect(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems) { return shmem_ushort_fcollect(team, dest, source, nelems); }
static inline int shmem_fcollect(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems) { return shmem_uint_fcollect(team, dest, source, nelems); }
static inline int shmem_fcollect(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems) { return shmem_ulong_fcollect(team, dest, source, nelems); }
static inline int shmem_fcollect(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems) { return shmem_ulonglong_fcollect(team, dest, source, nelems); }
static inline int shmem_and_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce) { return shmem_uchar_and_reduce(team, dest, source, nreduce); }
static inline int shmem_and_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce) { return shmem_ushort_and_reduce(team, dest, source, nreduce); }
static inline int shmem_and_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce) { return shmem_uint_and_reduce(team, dest, source, nreduce); }
static inline int shmem_and_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce) { return shmem_ulong_and_reduce(team, dest, source, nreduce); }
static inline int shmem_and_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce) { return shmem_ulonglong_and_reduce(team, dest, source, nreduce); }
static inline int shmem_and_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce) { return shmem_int8_and_reduce(team, dest, source, nreduce); }
static inline int shmem_and_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce) { return shmem_int16_and_reduce(team, dest, source, nreduce); }
static inline int shmem_and_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce) { return shmem_int32_and_reduce(team, dest, source, nreduce); }
static inline int shmem_and_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce) { return shmem_int64_and_reduce(team, dest, source, nreduce); }
static inline int shmem_or_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce) { return shmem_uchar_or_reduce(team, dest, source, nreduce); }
static inline int shmem_or_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce) { return shmem_ushort_or_reduce(team, dest, source, nreduce); }
static inline int shmem_or_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce) { return shmem_uint_or_reduce(team, dest, source, nreduce); }
static inline int shmem_or_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce) { return shmem_ulong_or_reduce(team, dest, source, nreduce); }
static inline int shmem_or_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce) { return shmem_ulonglong_or_reduce(team, dest, source, nreduce); }
static inline int shmem_or_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce) { return shmem_int8_or_reduce(team, dest, source, nreduce); }
static inline int shmem_or_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce) { return shmem_int16_or_reduce(team, dest, source, nreduce); }
static inline int shmem_or_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce) { return shmem_int32_or_reduce(team, dest, source, nreduce); }
static inline int shmem_or_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce) { return shmem_int64_or_reduce(team, dest, source, nreduce); }
static inline int shmem_xor_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce) { return shmem_uchar_xor_reduce(team, dest, source, nreduce); }
static inline int shmem_xor_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce) { return shmem_ushort_xor_reduce(team, dest, source, nreduce); }
static inline int shmem_xor_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce) { return shmem_uint_xor_reduce(team, dest, source, nreduce); }
static inline int shmem_xor_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce) { return shmem_ulong_xor_reduce(team, dest, source, nreduce); }
static inline int shmem_xor_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce) { return shmem_ulonglong_xor_reduce(team, dest, source, nreduce); }
static inline int shmem_xor_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce) { return shmem_int8_xor_reduce(team, dest, source, nreduce); }
static inline int shmem_xor_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce) { return shmem_int16_xor_reduce(team, dest, source, nreduce); }
static inline int shmem_xor_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce) { return shmem_int32_xor_reduce(team, dest, source, nreduce); }
static inline int shmem_xor_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce) { return shmem_int64_xor_reduce(team, dest, source, nreduce); }
static inline int shmem_max_reduce(shmem_team_t team, char *dest, const char *source, size_t nreduce) { return shmem_char_max_reduce(team, dest, source, nreduce); }
static inline int shmem_max_reduce(shmem_team_t team, signed char *dest, const signed char *source, size_t nreduce) { return shmem_schar_max_reduce(team, dest, source, nreduce); }
static inline int shmem_max_reduce(shmem_team_t team, short *dest, const short *source, size_t nreduce) { return shmem_short_max_reduce(team, dest, source, nreduce); }
static inline int shmem_max_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce) { return shmem_int_max_reduce(team, dest, source, nreduce); }
static inline int shmem_max_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce) { return shmem_long_max_reduce(team, dest, source, nreduce); }
static inline int shmem_max_reduce(shmem_team_t team, long long *dest, const long long *source, size_t nreduce) { return shmem_longlong_max_reduce(team, dest, source, nreduce); }
static inline int shmem_max_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce) { return shmem_uchar_max_reduce(team, dest, source, nreduce); }
static inline int shmem_max_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce) { return shmem_ushort_max_reduce(team, dest, source, nreduce); }
static inline int shmem_max_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce) { return shmem_uint_max_reduce(team, dest, source, nreduce); }
static inline int shmem_max_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce) { return shmem_ulong_max_reduce(team, dest, source, nreduce); }
static inline int shmem_max_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce) { return shmem_ulonglong_max_reduce(team, dest, source, nreduce); }
static inline int shmem_max_reduce(shmem_team_t team, float *dest, const float *source, size_t nreduce) { return shmem_float_max_reduce(team, dest, source, nreduce); }
static inline int shmem_max_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce) { return shmem_double_max_reduce(team, dest, source, nreduce); }
static inline int shmem_max_reduce(shmem_team_t team, long double *dest, const long double *source, size_t nreduce) { return shmem_longdouble_max_reduce(team, dest, source, nreduce); }
static inline int shmem_min_reduce(shmem_team_t team, char *dest, const char *source, size_t nreduce) { return shmem_char_min_reduce(team, dest, source, nreduce); }
static inline int shmem_min_reduce(shmem_team_t team, signed char *dest, const signed char *source, size_t nreduce) { return shmem_schar_min_reduce(team, dest, source, nreduce); }
static inline int shmem_min_reduce(shmem_team_t team, short *dest, const short *source, size_t nreduce) { return shmem_short_min_reduce(team, dest, source, nreduce); }
static inline int shmem_min_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce) { return shmem_int_min_reduce(team, dest, source, nreduce); }
static inline int shmem_min_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce) { return shmem_long_min_reduce(team, dest, source, nreduce); }
static inline int shmem_min_reduce(shmem_team_t team, long long *dest, const long long *source, size_t nreduce) { return shmem_longlong_min_reduce(team, dest, source, nreduce); }
static inline int shmem_min_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce) { return shmem_uchar_min_reduce(team, dest, source, nreduce); }
static inline int shmem_min_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce) { return shmem_ushort_min_reduce(team, dest, source, nreduce); }
static inline int shmem_min_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce) { return shmem_uint_min_reduce(team, dest, source, nreduce); }
static inline int shmem_min_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce) { return shmem_ulong_min_reduce(team, dest, source, nreduce); }
static inline int shmem_min_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce) { return shmem_ulonglong_min_reduce(team, dest, source, nreduce); }
static inline int shmem_min_reduce(shmem_team_t team, float *dest, const float *source, size_t nreduce) { return shmem_float_min_reduce(team, dest, source, nreduce); }
static inline int shmem_min_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce) { return shmem_double_min_reduce(team, dest, source, nreduce); }
static inline int shmem_min_reduce(shmem_team_t team, long double *dest, const long double *source, size_t nreduce) { return shmem_longdouble_min_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, char *dest, const char *source, size_t nreduce) { return shmem_char_sum_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, signed char *dest, const signed char *source, size_t nreduce) { return shmem_schar_sum_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, short *dest, const short *source, size_t nreduce) { return shmem_short_sum_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce) { return shmem_int_sum_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce) { return shmem_long_sum_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, long long *dest, const long long *source, size_t nreduce) { return shmem_longlong_sum_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce) { return shmem_uchar_sum_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce) { return shmem_ushort_sum_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce) { return shmem_uint_sum_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce) { return shmem_ulong_sum_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce) { return shmem_ulonglong_sum_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, float *dest, const float *source, size_t nreduce) { return shmem_float_sum_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce) { return shmem_double_sum_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, long double *dest, const long double *source, size_t nreduce) { return shmem_longdouble_sum_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, shmem_complexd_t *dest, const shmem_complexd_t *source, size_t nreduce) { return shmem_complexd_sum_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, std::complex<double> *dest, const std::complex<double> *source, size_t nreduce) { return shmem_complexd_sum_reduce(team, reinterpret_cast<shmem_complexd_t *>(dest), reinterpret_cast<const shmem_complexd_t *>(source), nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, shmem_complexf_t *dest, const shmem_complexf_t *source, size_t nreduce) { return shmem_complexf_sum_reduce(team, dest, source, nreduce); }
static inline int shmem_sum_reduce(shmem_team_t team, std::complex<float> *dest, const std::complex<float> *source, size_t nreduce) { return shmem_complexf_sum_reduce(team, reinterpret_cast<shmem_complexf_t *>(dest), reinterpret_cast<const shmem_complexf_t *>(source), nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, char *dest, const char *source, size_t nreduce) { return shmem_char_prod_reduce(team, dest, source, nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, signed char *dest, const signed char *source, size_t nreduce) { return shmem_schar_prod_reduce(team, dest, source, nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, short *dest, const short *source, size_t nreduce) { return shmem_short_prod_reduce(team, dest, source, nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce) { return shmem_int_prod_reduce(team, dest, source, nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce) { return shmem_long_prod_reduce(team, dest, source, nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, long long *dest, const long long *source, size_t nreduce) { return shmem_longlong_prod_reduce(team, dest, source, nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce) { return shmem_uchar_prod_reduce(team, dest, source, nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce) { return shmem_ushort_prod_reduce(team, dest, source, nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce) { return shmem_uint_prod_reduce(team, dest, source, nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce) { return shmem_ulong_prod_reduce(team, dest, source, nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce) { return shmem_ulonglong_prod_reduce(team, dest, source, nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, float *dest, const float *source, size_t nreduce) { return shmem_float_prod_reduce(team, dest, source, nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce) { return shmem_double_prod_reduce(team, dest, source, nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, long double *dest, const long double *source, size_t nreduce) { return shmem_longdouble_prod_reduce(team, dest, source, nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, shmem_complexd_t *dest, const shmem_complexd_t *source, size_t nreduce) { return shmem_complexd_prod_reduce(team, dest, source, nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, std::complex<double> *dest, const std::complex<double> *source, size_t nreduce) { return shmem_complexd_prod_reduce(team, reinterpret_cast<shmem_complexd_t *>(dest), reinterpret_cast<const shmem_complexd_t *>(source), nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, shmem_complexf_t *dest, const shmem_complexf_t *source, size_t nreduce) { return shmem_complexf_prod_reduce(team, dest, source, nreduce); }
static inline int shmem_prod_reduce(shmem_team_t team, std::complex<float> *dest, const std::complex<float> *source, size_t nreduce) { return shmem_complexf_prod_reduce(team, reinterpret_cast<shmem_complexf_t *>(dest), reinterpret_cast<const shmem_complexf_t *>(source), nreduce); }
static inline int shmem_sum_inscan(shmem_team_t team, char *dest, const char *source, size_t nelems) { return shmem_char_sum_inscan(team, dest, source, nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems) { return shmem_schar_sum_inscan(team, dest, source, nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, short *dest, const short *source, size_t nelems) { return shmem_short_sum_inscan(team, dest, source, nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, int *dest, const int *source, size_t nelems) { return shmem_int_sum_inscan(team, dest, source, nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, long *dest, const long *source, size_t nelems) { return shmem_long_sum_inscan(team, dest, source, nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, long long *dest, const long long *source, size_t nelems) { return shmem_longlong_sum_inscan(team, dest, source, nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems) { return shmem_uchar_sum_inscan(team, dest, source, nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems) { return shmem_ushort_sum_inscan(team, dest, source, nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems) { return shmem_uint_sum_inscan(team, dest, source, nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems) { return shmem_ulong_sum_inscan(team, dest, source, nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems) { return shmem_ulonglong_sum_inscan(team, dest, source, nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, float *dest, const float *source, size_t nelems) { return shmem_float_sum_inscan(team, dest, source, nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, double *dest, const double *source, size_t nelems) { return shmem_double_sum_inscan(team, dest, source, nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, long double *dest, const long double *source, size_t nelems) { return shmem_longdouble_sum_inscan(team, dest, source, nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, shmem_complexd_t *dest, const shmem_complexd_t *source, size_t nelems) { return shmem_complexd_sum_inscan(team, dest, source, nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, std::complex<double> *dest, const std::complex<double> *source, size_t nelems) { return shmem_complexd_sum_inscan(team, reinterpret_cast<shmem_complexd_t *>(dest), reinterpret_cast<const shmem_complexd_t *>(source), nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, shmem_complexf_t *dest, const shmem_complexf_t *source, size_t nelems) { return shmem_complexf_sum_inscan(team, dest, source, nelems); }
static inline int shmem_sum_inscan(shmem_team_t team, std::complex<float> *dest, const std::complex<float> *source, size_t nelems) { return shmem_complexf_sum_inscan(team, reinterpret_cast<shmem_complexf_t *>(dest), reinterpret_cast<const shmem_complexf_t *>(source), nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, char *dest, const char *source, size_t nelems) { return shmem_char_sum_exscan(team, dest, source, nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems) { return shmem_schar_sum_exscan(team, dest, source, nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, short *dest, const short *source, size_t nelems) { return shmem_short_sum_exscan(team, dest, source, nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, int *dest, const int *source, size_t nelems) { return shmem_int_sum_exscan(team, dest, source, nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, long *dest, const long *source, size_t nelems) { return shmem_long_sum_exscan(team, dest, source, nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, long long *dest, const long long *source, size_t nelems) { return shmem_longlong_sum_exscan(team, dest, source, nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems) { return shmem_uchar_sum_exscan(team, dest, source, nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems) { return shmem_ushort_sum_exscan(team, dest, source, nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems) { return shmem_uint_sum_exscan(team, dest, source, nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems) { return shmem_ulong_sum_exscan(team, dest, source, nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems) { return shmem_ulonglong_sum_exscan(team, dest, source, nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, float *dest, const float *source, size_t nelems) { return shmem_float_sum_exscan(team, dest, source, nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, double *dest, const double *source, size_t nelems) { return shmem_double_sum_exscan(team, dest, source, nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, long double *dest, const long double *source, size_t nelems) { return shmem_longdouble_sum_exscan(team, dest, source, nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, shmem_complexd_t *dest, const shmem_complexd_t *source, size_t nelems) { return shmem_complexd_sum_exscan(team, dest, source, nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, std::complex<double> *dest, const std::complex<double> *source, size_t nelems) { return shmem_complexd_sum_exscan(team, reinterpret_cast<shmem_complexd_t *>(dest), reinterpret_cast<const shmem_complexd_t *>(source), nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, shmem_complexf_t *dest, const shmem_complexf_t *source, size_t nelems) { return shmem_complexf_sum_exscan(team, dest, source, nelems); }
static inline int shmem_sum_exscan(shmem_team_t team, std::complex<float> *dest, const std::complex<float> *source, size_t nelems) { return shmem_complexf_sum_exscan(team, reinterpret_cast<shmem_complexf_t *>(dest), reinterpret_cast<const shmem_complexf_t *>(source), nelems); }
static inline void shmem_wait_until(int *ivar, int cmp, int cmp_value) { shmem_int_wait_until(ivar, cmp, cmp_value); }
static inline void shmem_wait_until(long long *ivar, int cmp, long long cmp_value) { shmem_longlong_wait_until(ivar, cmp, cmp_value); }
static inline void shmem_wait_until(unsigned int *ivar, int cmp, unsigned int cmp_value) { shmem_uint_wait_until(ivar, cmp, cmp_value); }
static inline void shmem_wait_until(unsigned long *ivar, int cmp, unsigned long cmp_value) { shmem_ulong_wait_until(ivar, cmp, cmp_value); }
static inline void shmem_wait_until(unsigned long long *ivar, int cmp, unsigned long long cmp_value) { shmem_ulonglong_wait_until(ivar, cmp, cmp_value); }
static inline void shmem_wait_until(short *ivar, int cmp, short cmp_value) { shmem_short_wait_until(ivar, cmp, cmp_value); }
static inline void shmem_wait_until(unsigned short *ivar, int cmp, unsigned short cmp_value) { shmem_ushort_wait_until(ivar, cmp, cmp_value); }
static inline void shmem_wait_until_all(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value) { shmem_int_wait_until_all(ivars, nelems, status, cmp, cmp_value); }
static inline void shmem_wait_until_all(long *ivars, size_t nelems, const int *status, int cmp, long cmp_value) { shmem_long_wait_until_all(ivars, nelems, status, cmp, cmp_value); }
static inline void shmem_wait_until_all(long long *ivars, size_t nelems, const int *status, int cmp, long long cmp_value) { shmem_longlong_wait_until_all(ivars, nelems, status, cmp, cmp_value); }
static inline void shmem_wait_until_all(unsigned int *ivars, size_t nelems, const int *status, int cmp, unsigned int cmp_value) { shmem_uint_wait_until_all(ivars, nelems, status, cmp, cmp_value); }
static inline void shmem_wait_until_all(unsigned long *ivars, size_t nelems, const int *status, int cmp, unsigned long cmp_value) { shmem_ulong_wait_until_all(ivars, nelems, status, cmp, cmp_value); }
static inline void shmem_wait_until_all(unsigned long long *ivars, size_t nelems, const int *status, int cmp, unsigned long long cmp_value) { shmem_ulonglong_wait_until_all(ivars, nelems, status, cmp, cmp_value); }
static inline void shmem_wait_until_all(short *ivars, size_t nelems, const int *status, int cmp, short cmp_value) { shmem_short_wait_until_all(ivars, nelems, status, cmp, cmp_value); }
static inline void shmem_wait_until_all(unsigned short *ivars, size_t nelems, const int *status, int cmp, unsigned short cmp_value) { shmem_ushort_wait_until_all(ivars, nelems, status, cmp, cmp_value); }
static inline void shmem_wait_until_all_vector(int *ivars, size_t nelems, const int *status, int cmp, const int *cmp_values) { shmem_int_wait_until_all_vector(ivars, nelems, status, cmp, cmp_values); }
static inline void shmem_wait_until_all_vector(long *ivars, size_t nelems, const int *status, int cmp, const long *cmp_values) { shmem_long_wait_until_all_vector(ivars, nelems, status, cmp, cmp_values); }
static inline void shmem_wait_until_all_vector(long long *ivars, size_t nelems, const int *status, int cmp, const long long *cmp_values) { shmem_longlong_wait_until_all_vector(ivars, nelems, status, cmp, cmp_values); }
static inline void shmem_wait_until_all_vector(unsigned int *ivars, size_t nelems, const int *status, int cmp, const unsigned int *cmp_values) { shmem_uint_wait_until_all_vector(ivars, nelems, status, cmp, cmp_values); }
static inline void shmem_wait_until_all_vector(unsigned long *ivars, size_t nelems, const int *status, int cmp, const unsigned long *cmp_values) { shmem_ulong_wait_until_all_vector(ivars, nelems, status, cmp, cmp_values); }
static inline void shmem_wait_until_all_vector(unsigned long long *ivars, size_t nelems, const int *status, int cmp, const unsigned long long *cmp_values) { shmem_ulonglong_wait_until_all_vector(ivars, nelems, status, cmp, cmp_values); }
static inline void shmem_wait_until_all_vector(short *ivars, size_t nelems, const int *status, int cmp, const short *cmp_values) { shmem_short_wait_until_all_vector(ivars, nelems, status, cmp, cmp_values); }
static inline void shmem_wait_until_all_vector(unsigned short *ivars, size_t nelems, const int *status, int cmp, const unsigned short *cmp_values) { shmem_ushort_wait_until_all_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_wait_until_any(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value) { return shmem_int_wait_until_any(ivars, nelems, status, cmp, cmp_value); }
static inline size_t shmem_wait_until_any(long *ivars, size_t nelems, const int *status, int cmp, long cmp_value) { return shmem_long_wait_until_any(ivars, nelems, status, cmp, cmp_value); }
static inline size_t shmem_wait_until_any(long long *ivars, size_t nelems, const int *status, int cmp, long long cmp_value) { return shmem_longlong_wait_until_any(ivars, nelems, status, cmp, cmp_value); }
static inline size_t shmem_wait_until_any(unsigned int *ivars, size_t nelems, const int *status, int cmp, unsigned int cmp_value) { return shmem_uint_wait_until_any(ivars, nelems, status, cmp, cmp_value); }
static inline size_t shmem_wait_until_any(unsigned long *ivars, size_t nelems, const int *status, int cmp, unsigned long cmp_value) { return shmem_ulong_wait_until_any(ivars, nelems, status, cmp, cmp_value); }
static inline size_t shmem_wait_until_any(unsigned long long *ivars, size_t nelems, const int *status, int cmp, unsigned long long cmp_value) { return shmem_ulonglong_wait_until_any(ivars, nelems, status, cmp, cmp_value); }
static inline size_t shmem_wait_until_any(short *ivars, size_t nelems, const int *status, int cmp, short cmp_value) { return shmem_short_wait_until_any(ivars, nelems, status, cmp, cmp_value); }
static inline size_t shmem_wait_until_any(unsigned short *ivars, size_t nelems, const int *status, int cmp, unsigned short cmp_value) { return shmem_ushort_wait_until_any(ivars, nelems, status, cmp, cmp_value); }
static inline size_t shmem_wait_until_any_vector(int *ivars, size_t nelems, const int *status, int cmp, const int *cmp_values) { return shmem_int_wait_until_any_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_wait_until_any_vector(long *ivars, size_t nelems, const int *status, int cmp, const long *cmp_values) { return shmem_long_wait_until_any_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_wait_until_any_vector(long long *ivars, size_t nelems, const int *status, int cmp, const long long *cmp_values) { return shmem_longlong_wait_until_any_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_wait_until_any_vector(unsigned int *ivars, size_t nelems, const int *status, int cmp, const unsigned int *cmp_values) { return shmem_uint_wait_until_any_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_wait_until_any_vector(unsigned long *ivars, size_t nelems, const int *status, int cmp, const unsigned long *cmp_values) { return shmem_ulong_wait_until_any_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_wait_until_any_vector(unsigned long long *ivars, size_t nelems, const int *status, int cmp, const unsigned long long *cmp_values) { return shmem_ulonglong_wait_until_any_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_wait_until_any_vector(short *ivars, size_t nelems, const int *status, int cmp, const short *cmp_values) { return shmem_short_wait_until_any_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_wait_until_any_vector(unsigned short *ivars, size_t nelems, const int *status, int cmp, const unsigned short *cmp_values) { return shmem_ushort_wait_until_any_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_wait_until_some(int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, int cmp_value) { return shmem_int_wait_until_some(ivars, nelems, indices, status, cmp, cmp_value); }
static inline size_t shmem_wait_until_some(long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, long cmp_value) { return shmem_long_wait_until_some(ivars, nelems, indices, status, cmp, cmp_value); }
static inline size_t shmem_wait_until_some(long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, long long cmp_value) { return shmem_longlong_wait_until_some(ivars, nelems, indices, status, cmp, cmp_value); }
static inline size_t shmem_wait_until_some(unsigned int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned int cmp_value) { return shmem_uint_wait_until_some(ivars, nelems, indices, status, cmp, cmp_value); }
static inline size_t shmem_wait_until_some(unsigned long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned long cmp_value) { return shmem_ulong_wait_until_some(ivars, nelems, indices, status, cmp, cmp_value); }
static inline size_t shmem_wait_until_some(unsigned long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned long long cmp_value) { return shmem_ulonglong_wait_until_some(ivars, nelems, indices, status, cmp, cmp_value); }
static inline size_t shmem_wait_until_some(short *ivars, size_t nelems, size_t *indices, const int *status, int cmp, short cmp_value) { return shmem_short_wait_until_some(ivars, nelems, indices, status, cmp, cmp_value); }
static inline size_t shmem_wait_until_some(unsigned short *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned short cmp_value) { return shmem_ushort_wait_until_some(ivars, nelems, indices, status, cmp, cmp_value); }
static inline size_t shmem_wait_until_some_vector(int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const int *cmp_values) { return shmem_int_wait_until_some_vector(ivars, nelems, indices, status, cmp, cmp_values); }
static inline size_t shmem_wait_until_some_vector(long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const long *cmp_values) { return shmem_long_wait_until_some_vector(ivars, nelems, indices, status, cmp, cmp_values); }
static inline size_t shmem_wait_until_some_vector(long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const long long *cmp_values) { return shmem_longlong_wait_until_some_vector(ivars, nelems, indices, status, cmp, cmp_values); }
static inline size_t shmem_wait_until_some_vector(unsigned int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned int *cmp_values) { return shmem_uint_wait_until_some_vector(ivars, nelems, indices, status, cmp, cmp_values); }
static inline size_t shmem_wait_until_some_vector(unsigned long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned long *cmp_values) { return shmem_ulong_wait_until_some_vector(ivars, nelems, indices, status, cmp, cmp_values); }
static inline size_t shmem_wait_until_some_vector(unsigned long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned long long *cmp_values) { return shmem_ulonglong_wait_until_some_vector(ivars, nelems, indices, status, cmp, cmp_values); }
static inline size_t shmem_wait_until_some_vector(short *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const short *cmp_values) { return shmem_short_wait_until_some_vector(ivars, nelems, indices, status, cmp, cmp_values); }
static inline size_t shmem_wait_until_some_vector(unsigned short *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned short *cmp_values) { return shmem_ushort_wait_until_some_vector(ivars, nelems, indices, status, cmp, cmp_values); }
static inline int shmem_test(int *ivar, int cmp, int cmp_value) { return shmem_int_test(ivar, cmp, cmp_value); }
static inline int shmem_test(long *ivar, int cmp, long cmp_value) { return shmem_long_test(ivar, cmp, cmp_value); }
static inline int shmem_test(long long *ivar, int cmp, long long cmp_value) { return shmem_longlong_test(ivar, cmp, cmp_value); }
static inline int shmem_test(unsigned int *ivar, int cmp, unsigned int cmp_value) { return shmem_uint_test(ivar, cmp, cmp_value); }
static inline int shmem_test(unsigned long *ivar, int cmp, unsigned long cmp_value) { return shmem_ulong_test(ivar, cmp, cmp_value); }
static inline int shmem_test(unsigned long long *ivar, int cmp, unsigned long long cmp_value) { return shmem_ulonglong_test(ivar, cmp, cmp_value); }
static inline int shmem_test(short *ivar, int cmp, short cmp_value) { return shmem_short_test(ivar, cmp, cmp_value); }
static inline int shmem_test(unsigned short *ivar, int cmp, unsigned short cmp_value) { return shmem_ushort_test(ivar, cmp, cmp_value); }
static inline int shmem_test_all(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value) { return shmem_int_test_all(ivars, nelems, status, cmp, cmp_value); }
static inline int shmem_test_all(long *ivars, size_t nelems, const int *status, int cmp, long cmp_value) { return shmem_long_test_all(ivars, nelems, status, cmp, cmp_value); }
static inline int shmem_test_all(long long *ivars, size_t nelems, const int *status, int cmp, long long cmp_value) { return shmem_longlong_test_all(ivars, nelems, status, cmp, cmp_value); }
static inline int shmem_test_all(unsigned int *ivars, size_t nelems, const int *status, int cmp, unsigned int cmp_value) { return shmem_uint_test_all(ivars, nelems, status, cmp, cmp_value); }
static inline int shmem_test_all(unsigned long *ivars, size_t nelems, const int *status, int cmp, unsigned long cmp_value) { return shmem_ulong_test_all(ivars, nelems, status, cmp, cmp_value); }
static inline int shmem_test_all(unsigned long long *ivars, size_t nelems, const int *status, int cmp, unsigned long long cmp_value) { return shmem_ulonglong_test_all(ivars, nelems, status, cmp, cmp_value); }
static inline int shmem_test_all(short *ivars, size_t nelems, const int *status, int cmp, short cmp_value) { return shmem_short_test_all(ivars, nelems, status, cmp, cmp_value); }
static inline int shmem_test_all(unsigned short *ivars, size_t nelems, const int *status, int cmp, unsigned short cmp_value) { return shmem_ushort_test_all(ivars, nelems, status, cmp, cmp_value); }
static inline int shmem_test_all_vector(int *ivars, size_t nelems, const int *status, int cmp, const int *cmp_values) { return shmem_int_test_all_vector(ivars, nelems, status, cmp, cmp_values); }
static inline int shmem_test_all_vector(long *ivars, size_t nelems, const int *status, int cmp, const long *cmp_values) { return shmem_long_test_all_vector(ivars, nelems, status, cmp, cmp_values); }
static inline int shmem_test_all_vector(long long *ivars, size_t nelems, const int *status, int cmp, const long long *cmp_values) { return shmem_longlong_test_all_vector(ivars, nelems, status, cmp, cmp_values); }
static inline int shmem_test_all_vector(unsigned int *ivars, size_t nelems, const int *status, int cmp, const unsigned int *cmp_values) { return shmem_uint_test_all_vector(ivars, nelems, status, cmp, cmp_values); }
static inline int shmem_test_all_vector(unsigned long *ivars, size_t nelems, const int *status, int cmp, const unsigned long *cmp_values) { return shmem_ulong_test_all_vector(ivars, nelems, status, cmp, cmp_values); }
static inline int shmem_test_all_vector(unsigned long long *ivars, size_t nelems, const int *status, int cmp, const unsigned long long *cmp_values) { return shmem_ulonglong_test_all_vector(ivars, nelems, status, cmp, cmp_values); }
static inline int shmem_test_all_vector(short *ivars, size_t nelems, const int *status, int cmp, const short *cmp_values) { return shmem_short_test_all_vector(ivars, nelems, status, cmp, cmp_values); }
static inline int shmem_test_all_vector(unsigned short *ivars, size_t nelems, const int *status, int cmp, const unsigned short *cmp_values) { return shmem_ushort_test_all_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_test_any(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value) { return shmem_int_test_any(ivars, nelems, status, cmp, cmp_value); }
static inline size_t shmem_test_any(long *ivars, size_t nelems, const int *status, int cmp, long cmp_value) { return shmem_long_test_any(ivars, nelems, status, cmp, cmp_value); }
static inline size_t shmem_test_any(long long *ivars, size_t nelems, const int *status, int cmp, long long cmp_value) { return shmem_longlong_test_any(ivars, nelems, status, cmp, cmp_value); }
static inline size_t shmem_test_any(unsigned int *ivars, size_t nelems, const int *status, int cmp, unsigned int cmp_value) { return shmem_uint_test_any(ivars, nelems, status, cmp, cmp_value); }
static inline size_t shmem_test_any(unsigned long *ivars, size_t nelems, const int *status, int cmp, unsigned long cmp_value) { return shmem_ulong_test_any(ivars, nelems, status, cmp, cmp_value); }
static inline size_t shmem_test_any(unsigned long long *ivars, size_t nelems, const int *status, int cmp, unsigned long long cmp_value) { return shmem_ulonglong_test_any(ivars, nelems, status, cmp, cmp_value); }
static inline size_t shmem_test_any(short *ivars, size_t nelems, const int *status, int cmp, short cmp_value) { return shmem_short_test_any(ivars, nelems, status, cmp, cmp_value); }
static inline size_t shmem_test_any(unsigned short *ivars, size_t nelems, const int *status, int cmp, unsigned short cmp_value) { return shmem_ushort_test_any(ivars, nelems, status, cmp, cmp_value); }
static inline size_t shmem_test_any_vector(int *ivars, size_t nelems, const int *status, int cmp, const int *cmp_values) { return shmem_int_test_any_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_test_any_vector(long *ivars, size_t nelems, const int *status, int cmp, const long *cmp_values) { return shmem_long_test_any_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_test_any_vector(long long *ivars, size_t nelems, const int *status, int cmp, const long long *cmp_values) { return shmem_longlong_test_any_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_test_any_vector(unsigned int *ivars, size_t nelems, const int *status, int cmp, const unsigned int *cmp_values) { return shmem_uint_test_any_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_test_any_vector(unsigned long *ivars, size_t nelems, const int *status, int cmp, const unsigned long *cmp_values) { return shmem_ulong_test_any_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_test_any_vector(unsigned long long *ivars, size_t nelems, const int *status, int cmp, const unsigned long long *cmp_values) { return shmem_ulonglong_test_any_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_test_any_vector(short *ivars, size_t nelems, const int *status, int cmp, const short *cmp_values) { return shmem_short_test_any_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_test_any_vector(unsigned short *ivars, size_t nelems, const int *status, int cmp, const unsigned short *cmp_values) { return shmem_ushort_test_any_vector(ivars, nelems, status, cmp, cmp_values); }
static inline size_t shmem_test_some(int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, int cmp_value) { return shmem_int_test_some(ivars, nelems, indices, status, cmp, cmp_value); }
static inline size_t shmem_test_some(long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, long cmp_value) { return shmem_long_test_some(ivars, nelems, indices, status, cmp, cmp_value); }
static inline size_t shmem_test_some(long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, long long cmp_value) { return shmem_longlong_test_some(ivars, nelems, indices, status, cmp, cmp_value); }
static inline size_t shmem_test_some(unsigned int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned int cmp_value) { return shmem_uint_test_some(ivars, nelems, indices, status, cmp, cmp_value); }
static inline size_t shmem_test_some(unsigned long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned long cmp_value) { return shmem_ulong_test_some(ivars, nelems, indices, status, cmp, cmp_value); }
static inline size_t shmem_test_some(unsigned long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned long long cmp_value) { return shmem_ulonglong_test_some(ivars, nelems, indices, status, cmp, cmp_value); }
static inline size_t shmem_test_some(short *ivars, size_t nelems, size_t *indices, const int *status, int cmp, short cmp_value) { return shmem_short_test_some(ivars, nelems, indices, status, cmp, cmp_value); }
static inline size_t shmem_test_some(unsigned short *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned short cmp_value) { return shmem_ushort_test_some(ivars, nelems, indices, status, cmp, cmp_value); }
static inline size_t shmem_test_some_vector(int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const int *cmp_values) { return shmem_int_test_some_vector(ivars, nelems, indices, status, cmp, cmp_values); }
static inline size_t shmem_test_some_vector(long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const long *cmp_values) { return shmem_long_test_some_vector(ivars, nelems, indices, status, cmp, cmp_values); }
static inline size_t shmem_test_some_vector(long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const long long *cmp_values) { return shmem_longlong_test_some_vector(ivars, nelems, indices, status, cmp, cmp_values); }
static inline size_t shmem_test_some_vector(unsigned int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned int *cmp_values) { return shmem_uint_test_some_vector(ivars, nelems, indices, status, cmp, cmp_values); }
static inline size_t shmem_test_some_vector(unsigned long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned long *cmp_values) { return shmem_ulong_test_some_vector(ivars, nelems, indices, status, cmp, cmp_values); }
static inline size_t shmem_test_some_vector(unsigned long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned long long *cmp_values) { return shmem_ulonglong_test_some_vector(ivars, nelems, indices, status, cmp, cmp_values); }
static inline size_t shmem_test_some_vector(short *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const short *cmp_values) { return shmem_short_test_some_vector(ivars, nelems, indices, status, cmp, cmp_values); }
static inline size_t shmem_test_some_vector(unsigned short *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned short *cmp_values) { return shmem_ushort_test_some_vector(ivars, nelems, indices, status, cmp, cmp_values); }

} /* extern "C++" */

#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L

/* The type-generic interface. */

#define SHMEM_ARG0(...) SHMEM_ARG0_(__VA_ARGS__, 0)
#define SHMEM_ARG0_(A, ...) A
#define SHMEM_ARG1(...) SHMEM_ARG1_(__VA_ARGS__, 0, 0)
#define SHMEM_ARG1_(A, B, ...) B

/* Chosen where no function fits: takes no arguments, so that the compiler complains. */
SHMEM_FUNCTION_ATTRIBUTES void hostwire_no_function_for_this_type(void);

#define SHMEM_EACH_RMA(PREFIX, SUFFIX) \
    float *: PREFIX##float##SUFFIX, \
    double *: PREFIX##double##SUFFIX, \
    long double *: PREFIX##longdouble##SUFFIX, \
    char *: PREFIX##char##SUFFIX, \
    signed char *: PREFIX##schar##SUFFIX, \
    short *: PREFIX##short##SUFFIX, \
    int *: PREFIX##int##SUFFIX, \
    long *: PREFIX##long##SUFFIX, \
    long long *: PREFIX##longlong##SUFFIX, \
    unsigned char *: PREFIX##uchar##SUFFIX, \
    unsigned short *: PREFIX##ushort##SUFFIX, \
    unsigned int *: PREFIX##uint##SUFFIX, \
    unsigned long *: PREFIX##ulong##SUFFIX, \
    unsigned long long *: PREFIX##ulonglong##SUFFIX
#define SHMEM_EACH_CONST_RMA(PREFIX, SUFFIX) \
    const float *: PREFIX##float##SUFFIX, \
    const double *: PREFIX##double##SUFFIX, \
    const long double *: PREFIX##longdouble##SUFFIX, \
    const char *: PREFIX##char##SUFFIX, \
    const signed char *: PREFIX##schar##SUFFIX, \
    const short *: PREFIX##short##SUFFIX, \
    const int *: PREFIX##int##SUFFIX, \
    const long *: PREFIX##long##SUFFIX, \
    const long long *: PREFIX##longlong##SUFFIX, \
    const unsigned char *: PREFIX##uchar##SUFFIX, \
    const unsigned short *: PREFIX##ushort##SUFFIX, \
    const unsigned int *: PREFIX##uint##SUFFIX, \
    const unsigned long *: PREFIX##ulong##SUFFIX, \
    const unsigned long long *: PREFIX##ulonglong##SUFFIX

#define SHMEM_EACH_AMO_EXTENDED(PREFIX, SUFFIX) \
    float *: PREFIX##float##SUFFIX, \
    double *: PREFIX##double##SUFFIX, \
    int *: PREFIX##int##SUFFIX, \
    long *: PREFIX##long##SUFFIX, \
    long long *: PREFIX##longlong##SUFFIX, \
    unsigned int *: PREFIX##uint##SUFFIX, \
    unsigned long *: PREFIX##ulong##SUFFIX, \
    unsigned long long *: PREFIX##ulonglong##SUFFIX
#define SHMEM_EACH_CONST_AMO_EXTENDED(PREFIX, SUFFIX) \
    const float *: PREFIX##float##SUFFIX, \
    const double *: PREFIX##double##SUFFIX, \
    const int *: PREFIX##int##SUFFIX, \
    const long *: PREFIX##long##SUFFIX, \
    const long long *: PREFIX##longlong##SUFFIX, \
    const unsigned int *: PREFIX##uint##SUFFIX, \
    const unsigned long *: PREFIX##ulong##SUFFIX, \
    const unsigned long long *: PREFIX##ulonglong##SUFFIX

#define SHMEM_EACH_AMO_EXTENDED_OLD(PREFIX, SUFFIX) \
    float *: PREFIX##float##SUFFIX, \
    double *: PREFIX##double##SUFFIX, \
    int *: PREFIX##int##SUFFIX, \
    long *: PREFIX##long##SUFFIX, \
    long long *: PREFIX##longlong##SUFFIX
#define SHMEM_EACH_CONST_AMO_EXTENDED_OLD(PREFIX, SUFFIX) \
    const float *: PREFIX##float##SUFFIX, \
    const double *: PREFIX##double##SUFFIX, \
    const int *: PREFIX##int##SUFFIX, \
    const long *: PREFIX##long##SUFFIX, \
    const long long *: PREFIX##longlong##SUFFIX

#define SHMEM_EACH_AMO(PREFIX, SUFFIX) \
    int *: PREFIX##int##SUFFIX, \
    long *: PREFIX##long##SUFFIX, \
    long long *: PREFIX##longlong##SUFFIX, \
    unsigned int *: PREFIX##uint##SUFFIX, \
    unsigned long *: PREFIX##ulong##SUFFIX, \
    unsigned long long *: PREFIX##ulonglong##SUFFIX

#define SHMEM_EACH_AMO_OLD(PREFIX, SUFFIX) \
    int *: PREFIX##int##SUFFIX, \
    long *: PREFIX##long##SUFFIX, \
    long long *: PREFIX##longlong##SUFFIX

#define SHMEM_EACH_AMO_BITWISE(PREFIX, SUFFIX) \
    unsigned int *: PREFIX##uint##SUFFIX, \
    unsigned long *: PREFIX##ulong##SUFFIX, \
    unsigned long long *: PREFIX##ulonglong##SUFFIX, \
    int32_t *: PREFIX##int32##SUFFIX, \
    int64_t *: PREFIX##int64##SUFFIX

#define SHMEM_EACH_REDUCE_BITS(PREFIX, SUFFIX) \
    unsigned char *: PREFIX##uchar##SUFFIX, \
    unsigned short *: PREFIX##ushort##SUFFIX, \
    unsigned int *: PREFIX##uint##SUFFIX, \
    unsigned long *: PREFIX##ulong##SUFFIX, \
    unsigned long long *: PREFIX##ulonglong##SUFFIX, \
    int8_t *: PREFIX##int8##SUFFIX, \
    int16_t *: PREFIX##int16##SUFFIX, \
    int32_t *: PREFIX##int32##SUFFIX, \
    int64_t *: PREFIX##int64##SUFFIX

#define SHMEM_EACH_REDUCE_ORDER(PREFIX, SUFFIX) \
    char *: PREFIX##char##SUFFIX, \
    signed char *: PREFIX##schar##SUFFIX, \
    short *: PREFIX##short##SUFFIX, \
    int *: PREFIX##int##SUFFIX, \
    long *: PREFIX##long##SUFFIX, \
    long long *: PREFIX##longlong##SUFFIX, \
    unsigned char *: PREFIX##uchar##SUFFIX, \
    unsigned short *: PREFIX##ushort##SUFFIX, \
    unsigned int *: PREFIX##uint##SUFFIX, \
    unsigned long *: PREFIX##ulong##SUFFIX, \
    unsigned long long *: PREFIX##ulonglong##SUFFIX, \
    float *: PREFIX##float##SUFFIX, \
    double *: PREFIX##double##SUFFIX, \
    long double *: PREFIX##longdouble##SUFFIX

#define SHMEM_EACH_REDUCE_ARITHMETIC(PREFIX, SUFFIX) \
    char *: PREFIX##char##SUFFIX, \
    signed char *: PREFIX##schar##SUFFIX, \
    short *: PREFIX##short##SUFFIX, \
    int *: PREFIX##int##SUFFIX, \
    long *: PREFIX##long##SUFFIX, \
    long long *: PREFIX##longlong##SUFFIX, \
    unsigned char *: PREFIX##uchar##SUFFIX, \
    unsigned short *: PREFIX##ushort##SUFFIX, \
    unsigned int *: PREFIX##uint##SUFFIX, \
    unsigned long *: PREFIX##ulong##SUFFIX, \
    unsigned long long *: PREFIX##ulonglong##SUFFIX, \
    float *: PREFIX##float##SUFFIX, \
    double *: PREFIX##double##SUFFIX, \
    long double *: PREFIX##longdouble##SUFFIX, \
    shmem_complexd_t *: PREFIX##complexd##SUFFIX, \
    shmem_complexf_t *: PREFIX##complexf##SUFFIX

#define SHMEM_EACH_WAIT_OLD(PREFIX, SUFFIX) \
    short *: PREFIX##short##SUFFIX, \
    unsigned short *: PREFIX##ushort##SUFFIX

#define shmem_put(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_RMA(shmem_ctx_, _put), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_RMA(shmem_, _put))(__VA_ARGS__)
#define shmem_p(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_RMA(shmem_ctx_, _p), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_RMA(shmem_, _p))(__VA_ARGS__)
#define shmem_iput(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_RMA(shmem_ctx_, _iput), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_RMA(shmem_, _iput))(__VA_ARGS__)
#define shmem_ibput(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_RMA(shmem_ctx_, _ibput), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_RMA(shmem_, _ibput))(__VA_ARGS__)
#define shmem_get(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_RMA(shmem_ctx_, _get), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_RMA(shmem_, _get))(__VA_ARGS__)
#define shmem_g(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_RMA(shmem_ctx_, _g), SHMEM_EACH_CONST_RMA(shmem_ctx_, _g), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_RMA(shmem_, _g), SHMEM_EACH_CONST_RMA(shmem_, _g))(__VA_ARGS__)
#define shmem_iget(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_RMA(shmem_ctx_, _iget), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_RMA(shmem_, _iget))(__VA_ARGS__)
#define shmem_ibget(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_RMA(shmem_ctx_, _ibget), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_RMA(shmem_, _ibget))(__VA_ARGS__)
#define shmem_put_nbi(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_RMA(shmem_ctx_, _put_nbi), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_RMA(shmem_, _put_nbi))(__VA_ARGS__)
#define shmem_get_nbi(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_RMA(shmem_ctx_, _get_nbi), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_RMA(shmem_, _get_nbi))(__VA_ARGS__)
#define shmem_put_signal(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_RMA(shmem_ctx_, _put_signal), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_RMA(shmem_, _put_signal))(__VA_ARGS__)
#define shmem_put_signal_nbi(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_RMA(shmem_ctx_, _put_signal_nbi), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_RMA(shmem_, _put_signal_nbi))(__VA_ARGS__)
#define shmem_signal_add(...) _Generic((SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: shmem_ctx_signal_add, \
    default: shmem_signal_add)(__VA_ARGS__)
#define shmem_signal_set(...) _Generic((SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: shmem_ctx_signal_set, \
    default: shmem_signal_set)(__VA_ARGS__)
#define shmem_atomic_fetch(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO_EXTENDED(shmem_ctx_, _atomic_fetch), SHMEM_EACH_CONST_AMO_EXTENDED(shmem_ctx_, _atomic_fetch), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO_EXTENDED(shmem_, _atomic_fetch), SHMEM_EACH_CONST_AMO_EXTENDED(shmem_, _atomic_fetch))(__VA_ARGS__)
#define shmem_atomic_fetch_nbi(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO_EXTENDED(shmem_ctx_, _atomic_fetch_nbi), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO_EXTENDED(shmem_, _atomic_fetch_nbi))(__VA_ARGS__)
#define shmem_fetch(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO_EXTENDED_OLD(shmem_, _fetch), SHMEM_EACH_CONST_AMO_EXTENDED_OLD(shmem_, _fetch))(__VA_ARGS__)
#define shmem_atomic_set(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO_EXTENDED(shmem_ctx_, _atomic_set), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO_EXTENDED(shmem_, _atomic_set))(__VA_ARGS__)
#define shmem_set(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO_EXTENDED_OLD(shmem_, _set))(__VA_ARGS__)
#define shmem_atomic_swap(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO_EXTENDED(shmem_ctx_, _atomic_swap), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO_EXTENDED(shmem_, _atomic_swap))(__VA_ARGS__)
#define shmem_atomic_swap_nbi(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO_EXTENDED(shmem_ctx_, _atomic_swap_nbi), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO_EXTENDED(shmem_, _atomic_swap_nbi))(__VA_ARGS__)
#define shmem_swap(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO_EXTENDED_OLD(shmem_, _swap))(__VA_ARGS__)
#define shmem_atomic_compare_swap(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO(shmem_ctx_, _atomic_compare_swap), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO(shmem_, _atomic_compare_swap))(__VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO(shmem_ctx_, _atomic_compare_swap_nbi), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO(shmem_, _atomic_compare_swap_nbi))(__VA_ARGS__)
#define shmem_cswap(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO_OLD(shmem_, _cswap))(__VA_ARGS__)
#define shmem_atomic_inc(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO(shmem_ctx_, _atomic_inc), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO(shmem_, _atomic_inc))(__VA_ARGS__)
#define shmem_atomic_fetch_inc(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO(shmem_ctx_, _atomic_fetch_inc), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO(shmem_, _atomic_fetch_inc))(__VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO(shmem_ctx_, _atomic_fetch_inc_nbi), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO(shmem_, _atomic_fetch_inc_nbi))(__VA_ARGS__)
#define shmem_inc(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO_OLD(shmem_, _inc))(__VA_ARGS__)
#define shmem_finc(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO_OLD(shmem_, _finc))(__VA_ARGS__)
#define shmem_atomic_add(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO(shmem_ctx_, _atomic_add), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO(shmem_, _atomic_add))(__VA_ARGS__)
#define shmem_atomic_fetch_add(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO(shmem_ctx_, _atomic_fetch_add), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO(shmem_, _atomic_fetch_add))(__VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO(shmem_ctx_, _atomic_fetch_add_nbi), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO(shmem_, _atomic_fetch_add_nbi))(__VA_ARGS__)
#define shmem_add(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO_OLD(shmem_, _add))(__VA_ARGS__)
#define shmem_fadd(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO_OLD(shmem_, _fadd))(__VA_ARGS__)
#define shmem_atomic_and(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO_BITWISE(shmem_ctx_, _atomic_and), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO_BITWISE(shmem_, _atomic_and))(__VA_ARGS__)
#define shmem_atomic_fetch_and(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO_BITWISE(shmem_ctx_, _atomic_fetch_and), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO_BITWISE(shmem_, _atomic_fetch_and))(__VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO_BITWISE(shmem_ctx_, _atomic_fetch_and_nbi), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO_BITWISE(shmem_, _atomic_fetch_and_nbi))(__VA_ARGS__)
#define shmem_atomic_or(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO_BITWISE(shmem_ctx_, _atomic_or), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO_BITWISE(shmem_, _atomic_or))(__VA_ARGS__)
#define shmem_atomic_fetch_or(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO_BITWISE(shmem_ctx_, _atomic_fetch_or), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO_BITWISE(shmem_, _atomic_fetch_or))(__VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO_BITWISE(shmem_ctx_, _atomic_fetch_or_nbi), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO_BITWISE(shmem_, _atomic_fetch_or_nbi))(__VA_ARGS__)
#define shmem_atomic_xor(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO_BITWISE(shmem_ctx_, _atomic_xor), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO_BITWISE(shmem_, _atomic_xor))(__VA_ARGS__)
#define shmem_atomic_fetch_xor(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO_BITWISE(shmem_ctx_, _atomic_fetch_xor), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO_BITWISE(shmem_, _atomic_fetch_xor))(__VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \
        SHMEM_EACH_AMO_BITWISE(shmem_ctx_, _atomic_fetch_xor_nbi), \
        default: hostwire_no_function_for_this_type), \
    SHMEM_EACH_AMO_BITWISE(shmem_, _atomic_fetch_xor_nbi))(__VA_ARGS__)
#define shmem_sync(...) _Generic((SHMEM_ARG0(__VA_ARGS__)), \
    shmem_team_t: shmem_team_sync, \
    default: shmem_sync)(__VA_ARGS__)
#define shmem_alltoall(...) _Generic(&*(SHMEM_ARG1(__VA_ARGS__)), \
    SHMEM_EACH_RMA(shmem_, _alltoall))(__VA_ARGS__)
#define shmem_alltoalls(...) _Generic(&*(SHMEM_ARG1(__VA_ARGS__)), \
    SHMEM_EACH_RMA(shmem_, _alltoalls))(__VA_ARGS__)
#define shmem_broadcast(...) _Generic(&*(SHMEM_ARG1(__VA_ARGS__)), \
    SHMEM_EACH_RMA(shmem_, _broadcast))(__VA_ARGS__)
#define shmem_collect(...) _Generic(&*(SHMEM_ARG1(__VA_ARGS__)), \
    SHMEM_EACH_RMA(shmem_, _collect))(__VA_ARGS__)
#define shmem_fcollect(...) _Generic(&*(SHMEM_ARG1(__VA_ARGS__)), \
    SHMEM_EACH_RMA(shmem_, _fcollect))(__VA_ARGS__)
#define shmem_and_reduce(...) _Generic(&*(SHMEM_ARG1(__VA_ARGS__)), \
    SHMEM_EACH_REDUCE_BITS(shmem_, _and_reduce))(__VA_ARGS__)
#define shmem_or_reduce(...) _Generic(&*(SHMEM_ARG1(__VA_ARGS__)), \
    SHMEM_EACH_REDUCE_BITS(shmem_, _or_reduce))(__VA_ARGS__)
#define shmem_xor_reduce(...) _Generic(&*(SHMEM_ARG1(__VA_ARGS__)), \
    SHMEM_EACH_REDUCE_BITS(shmem_, _xor_reduce))(__VA_ARGS__)
#define shmem_max_reduce(...) _Generic(&*(SHMEM_ARG1(__VA_ARGS__)), \
    SHMEM_EACH_REDUCE_ORDER(shmem_, _max_reduce))(__VA_ARGS__)
#define shmem_min_reduce(...) _Generic(&*(SHMEM_ARG1(__VA_ARGS__)), \
    SHMEM_EACH_REDUCE_ORDER(shmem_, _min_reduce))(__VA_ARGS__)
#define shmem_sum_reduce(...) _Generic(&*(SHMEM_ARG1(__VA_ARGS__)), \
    SHMEM_EACH_REDUCE_ARITHMETIC(shmem_, _sum_reduce))(__VA_ARGS__)
#define shmem_prod_reduce(...) _Generic(&*(SHMEM_ARG1(__VA_ARGS__)), \
    SHMEM_EACH_REDUCE_ARITHMETIC(shmem_, _prod_reduce))(__VA_ARGS__)
#define shmem_sum_inscan(...) _Generic(&*(SHMEM_ARG1(__VA_ARGS__)), \
    SHMEM_EACH_REDUCE_ARITHMETIC(shmem_, _sum_inscan))(__VA_ARGS__)
#define shmem_sum_exscan(...) _Generic(&*(SHMEM_ARG1(__VA_ARGS__)), \
    SHMEM_EACH_REDUCE_ARITHMETIC(shmem_, _sum_exscan))(__VA_ARGS__)
#define shmem_wait_until(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO(shmem_, _wait_until), SHMEM_EACH_WAIT_OLD(shmem_, _wait_until))(__VA_ARGS__)
#define shmem_wait_until_all(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO(shmem_, _wait_until_all), SHMEM_EACH_WAIT_OLD(shmem_, _wait_until_all))(__VA_ARGS__)
#define shmem_wait_until_all_vector(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO(shmem_, _wait_until_all_vector), SHMEM_EACH_WAIT_OLD(shmem_, _wait_until_all_vector))(__VA_ARGS__)
#define shmem_wait_until_any(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO(shmem_, _wait_until_any), SHMEM_EACH_WAIT_OLD(shmem_, _wait_until_any))(__VA_ARGS__)
#define shmem_wait_until_any_vector(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO(shmem_, _wait_until_any_vector), SHMEM_EACH_WAIT_OLD(shmem_, _wait_until_any_vector))(__VA_ARGS__)
#define shmem_wait_until_some(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO(shmem_, _wait_until_some), SHMEM_EACH_WAIT_OLD(shmem_, _wait_until_some))(__VA_ARGS__)
#define shmem_wait_until_some_vector(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO(shmem_, _wait_until_some_vector), SHMEM_EACH_WAIT_OLD(shmem_, _wait_until_some_vector))(__VA_ARGS__)
#define shmem_test(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO(shmem_, _test), SHMEM_EACH_WAIT_OLD(shmem_, _test))(__VA_ARGS__)
#define shmem_test_all(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO(shmem_, _test_all), SHMEM_EACH_WAIT_OLD(shmem_, _test_all))(__VA_ARGS__)
#define shmem_test_all_vector(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO(shmem_, _test_all_vector), SHMEM_EACH_WAIT_OLD(shmem_, _test_all_vector))(__VA_ARGS__)
#define shmem_test_any(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO(shmem_, _test_any), SHMEM_EACH_WAIT_OLD(shmem_, _test_any))(__VA_ARGS__)
#define shmem_test_any_vector(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO(shmem_, _test_any_vector), SHMEM_EACH_WAIT_OLD(shmem_, _test_any_vector))(__VA_ARGS__)
#define shmem_test_some(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO(shmem_, _test_some), SHMEM_EACH_WAIT_OLD(shmem_, _test_some))(__VA_ARGS__)
#define shmem_test_some_vector(...) _Generic(&*(SHMEM_ARG0(__VA_ARGS__)), \
    SHMEM_EACH_AMO(shmem_, _test_some_vector), SHMEM_EACH_WAIT_OLD(shmem_, _test_some_vector))(__VA_ARGS__)

#endif

#endif /* SHMEM_H */
