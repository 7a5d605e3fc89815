/* Included before every file that `oshcc --race` compiles: copies go by functions that report to the
 * detector of races what they touch (csrc/race.c in the sources of hostwire). */
#if !defined(SHMEMX_RACE_H) && !defined(__ASSEMBLER__)
#define SHMEMX_RACE_H
#if defined(__cplusplus)
#if __cplusplus >= 201103L
#define SHMEMX_NOTHROW noexcept
#else
#define SHMEMX_NOTHROW throw()
#endif
extern "C" {
#else
#define SHMEMX_NOTHROW
#endif
extern void *memcpy(void *, const void *, __SIZE_TYPE__) SHMEMX_NOTHROW __asm__("__tsan_memcpy");
extern void *memmove(void *, const void *, __SIZE_TYPE__) SHMEMX_NOTHROW __asm__("__tsan_memmove");
extern void *memset(void *, int, __SIZE_TYPE__) SHMEMX_NOTHROW __asm__("__tsan_memset");
/* The C++ library calls the compiler's own. */
extern void *__tsan_memcpy(void *, const void *, __SIZE_TYPE__) SHMEMX_NOTHROW;
extern void *__tsan_memmove(void *, const void *, __SIZE_TYPE__) SHMEMX_NOTHROW;
extern void *__tsan_memset(void *, int, __SIZE_TYPE__) SHMEMX_NOTHROW;
#define __builtin_memcpy __tsan_memcpy
#define __builtin_memmove __tsan_memmove
#define __builtin_memset __tsan_memset
#if defined(__cplusplus)
}
#endif
#undef SHMEMX_NOTHROW
#endif
