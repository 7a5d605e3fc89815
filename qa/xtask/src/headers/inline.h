/* Short puts, gets and atomics as part of the program, for programs that define SHMEMX_INLINE
 * before they include shmem.h (`oshcc --inline` does). Part of shmem.h: not to be included
 * by itself.
 *
 * Each function here looks whether the object is in reach of stores and loads, does the work in
 * place, and else calls pshmem_NAME, which is what the library has under the name that the
 * function stands for. So it does what the call does, and says what the call says; but tools that
 * stand in front of shmem_NAME do not see it. */
#ifndef SHMEMX_INLINE_H
#define SHMEMX_INLINE_H

#ifndef SHMEM_H
#error "include shmem.h, with SHMEMX_INLINE defined"
#endif

/* What the library says of the memory of the PEs, as shmemx_reach_1; programs must not write it.
 * What is here, and what it means, never changes: a library that finds memory in another way leaves
 * pes at 0, and programs compiled with this call it. */
struct shmemx_reach_1 {
    uint32_t version;
    uint32_t size;
    /* PEs in reach. None before shmem_init and behind shmem_finalize, with SHMEM_DEBUG, and where a
     * PE is on another host. All else is written once, before this. */
    size_t pes;
    /* From the memory of one PE to that of the next. */
    size_t stride;
    /* The doorbell of PE 0: what has to be looked at behind a store. */
    size_t doorbell;
    /* The symmetric heap: its address on this PE, at how many of its bytes an access of up to 64
     * bytes may begin, what to add to an address here for that of PE 0, and its length. */
    size_t heap;
    size_t heap_starts;
    size_t heap_to_first;
    size_t heap_bytes;
    /* The same of static objects. */
    size_t statics;
    size_t statics_starts;
    size_t statics_to_first;
    size_t statics_bytes;
};

/* For a doorbell that is not at rest, behind a store by `routine`. */
SHMEM_FUNCTION_ATTRIBUTES void shmemx_ring_1(const char *routine, int pe);

#define HOSTWIRE_INLINE static __inline__ __attribute__((always_inline, unused))
/* Compilers move nothing across it. */
#define HOSTWIRE_BARRIER() __asm__ __volatile__("" ::: "memory")
/* Behind the loads of a get, which is complete when it returns: nothing later is done before them. */
#if defined(__x86_64__)
#define HOSTWIRE_GOT() HOSTWIRE_BARRIER()
#else
#define HOSTWIRE_GOT() __asm__ __volatile__("dmb ishld" ::: "memory")
#endif

/* What it points to is unknown from here on: compilers warn of what code for longer runs would do to a
 * short object, although nobody asks for that. */
#define HOSTWIRE_HIDE(pointer) __asm__("" : "+r"(pointer))

/* By way of the table of addresses, so that the linker makes no copy of it in the program, where it
 * would be a static object, and so symmetric. */
HOSTWIRE_INLINE const struct shmemx_reach_1 *hostwire_reach(void)
{
    const struct shmemx_reach_1 *reach;
#if defined(__x86_64__)
    __asm__("{movq shmemx_reach_1@GOTPCREL(%%rip), %0|mov %0, QWORD PTR shmemx_reach_1@GOTPCREL[rip]}"
            : "=r"(reach));
#else
    __asm__("adrp %0, :got:shmemx_reach_1\n\tldr %0, [%0, :got_lo12:shmemx_reach_1]" : "=r"(reach));
#endif
    return reach;
}

/* What follows is worked out by instructions that compilers see as sums of numbers, not as loads: so
 * they may keep the results in registers, across barriers and calls. In a loop that is done once for
 * each PE, and for each address; what is left is a compare.
 *
 * A value from before the library was initialised may be kept, too. Then no access may begin at any
 * byte of a region, or all bytes are far from it, and it is a call. `starts`, which is that number of
 * bytes, is 0 until all else is there, and all else is read `after` it. If it was kept while the
 * library ended, that is seen by who uses the library behind its end only, in the function that was
 * in it before. */
#if defined(__x86_64__)
#define HOSTWIRE_FIELD(field) [field] "i"(offsetof(struct shmemx_reach_1, field))

/* How far a PE is from the first. */
HOSTWIRE_INLINE size_t hostwire_distance(const struct shmemx_reach_1 *reach, size_t pe, size_t after)
{
    __asm__("{imulq %c[stride](%[reach]), %[pe]|imul %[pe], QWORD PTR [%[reach]+%c[stride]]}"
            : [pe] "+r"(pe)
            : [reach] "r"(reach), "r"(after), HOSTWIRE_FIELD(stride)
            : "cc");
    return pe;
}

/* Where the doorbell of that PE is. */
HOSTWIRE_INLINE size_t hostwire_doorbell(const struct shmemx_reach_1 *reach, size_t distance,
                                         size_t after)
{
    __asm__("{addq %c[doorbell](%[reach]), %[at]|add %[at], QWORD PTR [%[reach]+%c[doorbell]]}"
            : [at] "+r"(distance)
            : [reach] "r"(reach), "r"(after), HOSTWIRE_FIELD(doorbell)
            : "cc");
    return distance;
}

#define HOSTWIRE_PART(part) \
    /* How far in the region an address is. */ \
    HOSTWIRE_INLINE size_t hostwire_in_##part(const struct shmemx_reach_1 *reach, size_t address) \
    { \
        __asm__("{subq %c[begin](%[reach]), %[at]|sub %[at], QWORD PTR [%[reach]+%c[begin]]}" \
                : [at] "+r"(address) \
                : [reach] "r"(reach), [begin] "i"(offsetof(struct shmemx_reach_1, part)) \
                : "cc"); \
        return address; \
    } \
    /* At how many of its bytes up to 64 bytes may begin: none if the PE is not in reach. */ \
    HOSTWIRE_INLINE size_t hostwire_##part##_starts(const struct shmemx_reach_1 *reach, size_t pe) \
    { \
        size_t starts; \
        __asm__("{cmpq %c[pes](%[reach]), %[pe]\n\tsbbq %[starts], %[starts]\n\t" \
                "andq %c[all](%[reach]), %[starts]" \
                "|cmp %[pe], QWORD PTR [%[reach]+%c[pes]]\n\tsbb %[starts], %[starts]\n\t" \
                "and %[starts], QWORD PTR [%[reach]+%c[all]]}" \
                : [starts] "=&r"(starts) \
                : [reach] "r"(reach), [pe] "r"(pe), HOSTWIRE_FIELD(pes), \
                  [all] "i"(offsetof(struct shmemx_reach_1, part##_starts)) \
                : "cc"); \
        return starts; \
    } \
    /* The same of `bytes`, which are not 0. */ \
    HOSTWIRE_INLINE size_t hostwire_##part##_starts_of(const struct shmemx_reach_1 *reach, \
                                                       size_t pe, size_t bytes) \
    { \
        size_t starts; \
        __asm__("{cmpq %c[pes](%[reach]), %[pe]\n\tsbbq %[starts], %[starts]\n\t" \
                "andq %c[all](%[reach]), %[starts]\n\tsubq %[bytes], %[starts]\n\t" \
                "leaq 1(%[starts]), %[starts]\n\tcmovbq %[none], %[starts]" \
                "|cmp %[pe], QWORD PTR [%[reach]+%c[pes]]\n\tsbb %[starts], %[starts]\n\t" \
                "and %[starts], QWORD PTR [%[reach]+%c[all]]\n\tsub %[starts], %[bytes]\n\t" \
                "lea %[starts], [%[starts]+1]\n\tcmovb %[starts], %[none]}" \
                : [starts] "=&r"(starts) \
                : [reach] "r"(reach), [pe] "r"(pe), [bytes] "r"(bytes), [none] "r"((size_t)0), \
                  HOSTWIRE_FIELD(pes), \
                  [all] "i"(offsetof(struct shmemx_reach_1, part##_bytes)) \
                : "cc"); \
        return starts; \
    } \
    /* What to add to an address in it for that of a PE. */ \
    HOSTWIRE_INLINE size_t hostwire_##part##_at(const struct shmemx_reach_1 *reach, \
                                                size_t distance, size_t after) \
    { \
        __asm__("{addq %c[first](%[reach]), %[to]|add %[to], QWORD PTR [%[reach]+%c[first]]}" \
                : [to] "+r"(distance) \
                : [reach] "r"(reach), "r"(after), \
                  [first] "i"(offsetof(struct shmemx_reach_1, part##_to_first)) \
                : "cc"); \
        return distance; \
    }
HOSTWIRE_PART(heap)
HOSTWIRE_PART(statics)
#undef HOSTWIRE_PART
#undef HOSTWIRE_FIELD
#else
/* 64-bit Arm: no instruction works on what it loads, so each field is loaded by itself, `after` another
 * value, and the compiler does the sums. There is no jump, so in a loop only a compare is left. */
#define HOSTWIRE_FIELD(name, field) \
    HOSTWIRE_INLINE size_t hostwire_field_##name(const struct shmemx_reach_1 *reach, size_t after) \
    { \
        size_t value; \
        __asm__("ldr %0, [%1, %2]" \
                : "=r"(value) \
                : "r"(reach), "i"(offsetof(struct shmemx_reach_1, field)), "r"(after)); \
        return value; \
    }
HOSTWIRE_FIELD(pes, pes)
HOSTWIRE_FIELD(stride, stride)
HOSTWIRE_FIELD(doorbell, doorbell)

/* How far a PE is from the first. */
HOSTWIRE_INLINE size_t hostwire_distance(const struct shmemx_reach_1 *reach, size_t pe, size_t after)
{
    return pe * hostwire_field_stride(reach, after);
}

/* Where the doorbell of that PE is. */
HOSTWIRE_INLINE size_t hostwire_doorbell(const struct shmemx_reach_1 *reach, size_t distance,
                                         size_t after)
{
    return distance + hostwire_field_doorbell(reach, after);
}

#define HOSTWIRE_PART(part) \
    HOSTWIRE_FIELD(part##_begin, part) \
    HOSTWIRE_FIELD(part##_all_starts, part##_starts) \
    HOSTWIRE_FIELD(part##_to_first, part##_to_first) \
    HOSTWIRE_FIELD(part##_bytes, part##_bytes) \
    /* How far in the region an address is. */ \
    HOSTWIRE_INLINE size_t hostwire_in_##part(const struct shmemx_reach_1 *reach, size_t address) \
    { \
        return address - hostwire_field_##part##_begin(reach, 0); \
    } \
    /* At how many of its bytes up to 64 bytes may begin: none if the PE is not in reach. */ \
    HOSTWIRE_INLINE size_t hostwire_##part##_starts(const struct shmemx_reach_1 *reach, size_t pe) \
    { \
        size_t starts = hostwire_field_##part##_all_starts(reach, 0); \
        __asm__("cmp %[pe], %[pes]\n\tcsel %[starts], %[starts], xzr, lo" \
                : [starts] "+r"(starts) \
                : [pe] "r"(pe), [pes] "r"(hostwire_field_pes(reach, 0)) \
                : "cc"); \
        return starts; \
    } \
    /* The same of `bytes`, which are not 0. */ \
    HOSTWIRE_INLINE size_t hostwire_##part##_starts_of(const struct shmemx_reach_1 *reach, \
                                                       size_t pe, size_t bytes) \
    { \
        size_t starts = hostwire_field_##part##_bytes(reach, 0); \
        __asm__("cmp %[pe], %[pes]\n\tcsel %[starts], %[starts], xzr, lo\n\t" \
                "subs %[starts], %[starts], %[bytes]\n\tcsinc %[starts], xzr, %[starts], lo" \
                : [starts] "+&r"(starts) \
                : [pe] "r"(pe), [pes] "r"(hostwire_field_pes(reach, 0)), [bytes] "r"(bytes) \
                : "cc"); \
        return starts; \
    } \
    /* What to add to an address in it for that of a PE. */ \
    HOSTWIRE_INLINE size_t hostwire_##part##_at(const struct shmemx_reach_1 *reach, \
                                                size_t distance, size_t after) \
    { \
        return distance + hostwire_field_##part##_to_first(reach, after); \
    }
HOSTWIRE_PART(heap)
HOSTWIRE_PART(statics)
#undef HOSTWIRE_PART
#undef HOSTWIRE_FIELD
#endif

/* Where an object is at a PE, and the doorbell of that PE. */
struct hostwire_place {
    size_t at;
    size_t doorbell;
};

/* Where up to 64 bytes at `address` here lie at `pe`, if they are in the region; and the same of any
 * number of bytes. It is worked out before it is known whether they are, so that it may be kept. */
#define HOSTWIRE_IN(part) \
    HOSTWIRE_INLINE int hostwire_##part##_short(struct hostwire_place *place, const void *address, \
                                                int pe) \
    { \
        const struct shmemx_reach_1 *reach = hostwire_reach(); \
        size_t number = (unsigned int)pe; \
        size_t starts = hostwire_##part##_starts(reach, number); \
        size_t distance = hostwire_distance(reach, number, starts); \
        place->at = (size_t)address + hostwire_##part##_at(reach, distance, starts); \
        place->doorbell = hostwire_doorbell(reach, distance, starts); \
        return hostwire_in_##part(reach, (size_t)address) < starts; \
    } \
    HOSTWIRE_INLINE int hostwire_##part##_long(struct hostwire_place *place, const void *address, \
                                               size_t bytes, int pe) \
    { \
        const struct shmemx_reach_1 *reach = hostwire_reach(); \
        size_t number = (unsigned int)pe; \
        size_t starts = hostwire_##part##_starts_of(reach, number, bytes); \
        size_t distance = hostwire_distance(reach, number, starts); \
        place->at = (size_t)address + hostwire_##part##_at(reach, distance, starts); \
        place->doorbell = hostwire_doorbell(reach, distance, starts); \
        return hostwire_in_##part(reach, (size_t)address) < starts; \
    }
HOSTWIRE_IN(heap)
HOSTWIRE_IN(statics)
#undef HOSTWIRE_IN

/* Where up to 64 bytes at `address` here lie at `pe`, if they are in reach. */
HOSTWIRE_INLINE int hostwire_short(struct hostwire_place *place, const void *address, int pe)
{
    return __builtin_expect(hostwire_heap_short(place, address, pe), 1)
           || hostwire_statics_short(place, address, pe);
}

/* The same of any number of bytes. */
HOSTWIRE_INLINE int hostwire_long(struct hostwire_place *place, const void *address, size_t bytes,
                                  int pe)
{
    return __builtin_expect(hostwire_heap_long(place, address, bytes, pe), 1)
           || hostwire_statics_long(place, address, bytes, pe);
}

/* The same of a word of `bytes`, 4 or 8, for atomics. */
HOSTWIRE_INLINE int hostwire_word(struct hostwire_place *place, const void *address, size_t bytes,
                                  int pe)
{
    return ((size_t)address & (bytes - 1)) == 0 && hostwire_short(place, address, pe);
}

/* Behind a store: the PE may sleep, or be lost. */
HOSTWIRE_INLINE void hostwire_stored(const struct hostwire_place *place, const char *routine,
                                     int pe)
{
    HOSTWIRE_BARRIER();
    if (__builtin_expect(*(const volatile uint32_t *)place->doorbell != 0, 0))
        shmemx_ring_1(routine, pe);
}

/* The PE may be dead: the library has to look more closely. */
HOSTWIRE_INLINE int hostwire_may_be_dead(const struct hostwire_place *place)
{
    return __builtin_expect(*(const volatile uint32_t *)place->doorbell == 2, 0);
}

typedef uint8_t hostwire_u8 __attribute__((__may_alias__));
typedef uint16_t hostwire_u16 __attribute__((__may_alias__, __aligned__(1)));
typedef uint32_t hostwire_u32 __attribute__((__may_alias__, __aligned__(1)));
typedef uint64_t hostwire_u64 __attribute__((__may_alias__, __aligned__(1)));
typedef uint64_t hostwire_v16
    __attribute__((__vector_size__(16), __may_alias__, __aligned__(1)));

/* A word of 1, 2, 4 or 8 bytes, in one piece if it is aligned. */
HOSTWIRE_INLINE void hostwire_store(size_t at, const void *from, size_t bytes)
{
    if (bytes == 8)
        *(volatile hostwire_u64 *)at = *(const hostwire_u64 *)from;
    else if (bytes == 4)
        *(volatile hostwire_u32 *)at = *(const hostwire_u32 *)from;
    else if (bytes == 2)
        *(volatile hostwire_u16 *)at = *(const hostwire_u16 *)from;
    else
        *(volatile hostwire_u8 *)at = *(const hostwire_u8 *)from;
}

HOSTWIRE_INLINE void hostwire_load(void *to, size_t at, size_t bytes)
{
    if (bytes == 8)
        *(hostwire_u64 *)to = *(const volatile hostwire_u64 *)at;
    else if (bytes == 4)
        *(hostwire_u32 *)to = *(const volatile hostwire_u32 *)at;
    else if (bytes == 2)
        *(hostwire_u16 *)to = *(const volatile hostwire_u16 *)at;
    else
        *(hostwire_u8 *)to = *(const volatile hostwire_u8 *)at;
}

/* A word to a PE, behind a barrier. */
HOSTWIRE_INLINE void hostwire_put_word(const struct hostwire_place *place, const void *from,
                                       size_t bytes, const char *routine, int pe)
{
    hostwire_store(place->at, from, bytes);
    hostwire_stored(place, routine, pe);
}

/* 16 to 64 bytes: two or four vectors that may overlap, all loaded before any is stored. */
HOSTWIRE_INLINE void hostwire_vectors(void *to, const void *from, size_t bytes)
{
    char *const dest = (char *)to;
    const char *const source = (const char *)from;
    size_t last = bytes - 16;
    hostwire_v16 a = *(const hostwire_v16 *)source;
    hostwire_v16 d = *(const hostwire_v16 *)(source + last);
    if (bytes > 32) {
        hostwire_v16 b = *(const hostwire_v16 *)(source + 16);
        hostwire_v16 c = *(const hostwire_v16 *)(source + last - 16);
        *(hostwire_v16 *)(dest + 16) = b;
        *(hostwire_v16 *)(dest + last - 16) = c;
    }
    *(hostwire_v16 *)dest = a;
    *(hostwire_v16 *)(dest + last) = d;
}

/* 64 to 128 bytes: as many vectors from the front as from the back, all loaded before any is stored. */
HOSTWIRE_INLINE void hostwire_more_vectors(void *to, const void *from, size_t bytes)
{
    hostwire_v16 *const dest = (hostwire_v16 *)to;
    const hostwire_v16 *const source = (const hostwire_v16 *)from;
    hostwire_v16 *const dest_back = (hostwire_v16 *)((char *)to + bytes - 64);
    const hostwire_v16 *const back = (const hostwire_v16 *)((const char *)from + bytes - 64);
    hostwire_v16 a = source[0], b = source[1], c = source[2], d = source[3];
    hostwire_v16 e = back[0], f = back[1], g = back[2], h = back[3];
    dest[0] = a;
    dest[1] = b;
    dest[2] = c;
    dest[3] = d;
    dest_back[0] = e;
    dest_back[1] = f;
    dest_back[2] = g;
    dest_back[3] = h;
}

/* So many bytes, or more than there can be. */
HOSTWIRE_INLINE size_t hostwire_bytes(size_t nelems, size_t element)
{
    return nelems > ~(size_t)0 / element ? ~(size_t)0 : nelems * element;
}

/* Whether it was put. Left to the library are lengths below 16 bytes that are no word, which are rare.
 *
 * Here and below, words have code of their own for each of the regions: what both would share would
 * have to be moved to the same registers first, which takes as long as the put does. */
HOSTWIRE_INLINE int hostwire_put(void *dest, const void *source, size_t nelems, size_t element,
                                 int pe)
{
    struct hostwire_place place;
    size_t bytes = hostwire_bytes(nelems, element);
    if (!__builtin_constant_p(bytes))
        HOSTWIRE_HIDE(source);
    if (bytes > 128) {
        if (!hostwire_long(&place, dest, bytes, pe))
            return 0;
        HOSTWIRE_BARRIER();
        __builtin_memmove((void *)place.at, source, bytes);
    } else if (bytes == 8 || bytes == 4) {
        HOSTWIRE_BARRIER();
        if (__builtin_expect(hostwire_heap_short(&place, dest, pe), 1))
            hostwire_put_word(&place, source, bytes, "shmem_put", pe);
        else if (hostwire_statics_short(&place, dest, pe))
            hostwire_put_word(&place, source, bytes, "shmem_put", pe);
        else
            return 0;
        return 1;
    } else if (bytes > 64) {
        if (!hostwire_long(&place, dest, bytes, pe))
            return 0;
        HOSTWIRE_BARRIER();
        hostwire_more_vectors((void *)place.at, source, bytes);
    } else if (bytes >= 16) {
        if (!hostwire_short(&place, dest, pe))
            return 0;
        HOSTWIRE_BARRIER();
        hostwire_vectors((void *)place.at, source, bytes);
    } else {
        return 0;
    }
    hostwire_stored(&place, "shmem_put", pe);
    return 1;
}

/* Whether it was got. Up to 64 bytes without a look whether the PE is dead, which takes as long as the
 * get does: what it left is still there. */
HOSTWIRE_INLINE int hostwire_get(void *dest, const void *source, size_t nelems, size_t element,
                                 int pe)
{
    struct hostwire_place place;
    size_t bytes = hostwire_bytes(nelems, element);
    if (!__builtin_constant_p(bytes))
        HOSTWIRE_HIDE(dest);
    if (bytes > 64) {
        if (!hostwire_long(&place, source, bytes, pe) || hostwire_may_be_dead(&place))
            return 0;
        HOSTWIRE_BARRIER();
        __builtin_memmove(dest, (const void *)place.at, bytes);
    } else if (bytes == 8 || bytes == 4) {
        HOSTWIRE_BARRIER();
        if (__builtin_expect(hostwire_heap_short(&place, source, pe), 1))
            hostwire_load(dest, place.at, bytes);
        else if (hostwire_statics_short(&place, source, pe))
            hostwire_load(dest, place.at, bytes);
        else
            return 0;
    } else if (bytes >= 16) {
        if (!hostwire_short(&place, source, pe))
            return 0;
        HOSTWIRE_BARRIER();
        hostwire_vectors(dest, (const void *)place.at, bytes);
    } else {
        return 0;
    }
    HOSTWIRE_GOT();
    return 1;
}

#define HOSTWIRE_PUT(function, TYPE, BYTES) \
    SHMEM_FUNCTION_ATTRIBUTES void p##function(TYPE *dest, const TYPE *source, size_t nelems, \
                                               int pe); \
    HOSTWIRE_INLINE void function(TYPE *dest, const TYPE *source, size_t nelems, int pe) \
    { \
        if (!hostwire_put(dest, source, nelems, BYTES, pe)) \
            p##function(dest, source, nelems, pe); \
    }
#define HOSTWIRE_GET(function, TYPE, BYTES) \
    SHMEM_FUNCTION_ATTRIBUTES void p##function(TYPE *dest, const TYPE *source, size_t nelems, \
                                               int pe); \
    HOSTWIRE_INLINE void function(TYPE *dest, const TYPE *source, size_t nelems, int pe) \
    { \
        if (!hostwire_get(dest, source, nelems, BYTES, pe)) \
            p##function(dest, source, nelems, pe); \
    }
#define HOSTWIRE_P(function, TYPE, BYTES) \
    SHMEM_FUNCTION_ATTRIBUTES void p##function(TYPE *dest, TYPE value, int pe); \
    HOSTWIRE_INLINE void function(TYPE *dest, TYPE value, int pe) \
    { \
        struct hostwire_place place; \
        HOSTWIRE_BARRIER(); \
        if (__builtin_expect(hostwire_heap_short(&place, dest, pe), 1)) \
            hostwire_put_word(&place, &value, BYTES, "shmem_p", pe); \
        else if (hostwire_statics_short(&place, dest, pe)) \
            hostwire_put_word(&place, &value, BYTES, "shmem_p", pe); \
        else \
            p##function(dest, value, pe); \
    }
#define HOSTWIRE_G(function, TYPE, BYTES) \
    SHMEM_FUNCTION_ATTRIBUTES TYPE p##function(const TYPE *source, int pe); \
    HOSTWIRE_INLINE TYPE function(const TYPE *source, int pe) \
    { \
        struct hostwire_place place; \
        TYPE value; \
        HOSTWIRE_BARRIER(); \
        if (__builtin_expect(hostwire_heap_short(&place, source, pe), 1)) \
            hostwire_load(&value, place.at, BYTES); \
        else if (hostwire_statics_short(&place, source, pe)) \
            hostwire_load(&value, place.at, BYTES); \
        else \
            return p##function(source, pe); \
        HOSTWIRE_GOT(); \
        return value; \
    }

#define HOSTWIRE_ATOMIC_FETCH(function, TYPE, BYTES) \
    SHMEM_FUNCTION_ATTRIBUTES TYPE p##function(const TYPE *source, int pe); \
    HOSTWIRE_INLINE TYPE function(const TYPE *source, int pe) \
    { \
        struct hostwire_place place; \
        TYPE value; \
        if (!hostwire_word(&place, source, BYTES, pe)) \
            return p##function(source, pe); \
        __atomic_load((const TYPE *)place.at, &value, __ATOMIC_SEQ_CST); \
        if (hostwire_may_be_dead(&place)) \
            return p##function(source, pe); \
        return value; \
    }
#define HOSTWIRE_ATOMIC_SET(function, TYPE, BYTES) \
    SHMEM_FUNCTION_ATTRIBUTES void p##function(TYPE *dest, TYPE value, int pe); \
    HOSTWIRE_INLINE void function(TYPE *dest, TYPE value, int pe) \
    { \
        struct hostwire_place place; \
        if (hostwire_word(&place, dest, BYTES, pe)) { \
            __atomic_store((TYPE *)place.at, &value, __ATOMIC_RELEASE); \
            hostwire_stored(&place, "shmem_atomic_set", pe); \
        } else { \
            p##function(dest, value, pe); \
        } \
    }
#define HOSTWIRE_ATOMIC_SWAP(function, TYPE, BYTES) \
    SHMEM_FUNCTION_ATTRIBUTES TYPE p##function(TYPE *dest, TYPE value, int pe); \
    HOSTWIRE_INLINE TYPE function(TYPE *dest, TYPE value, int pe) \
    { \
        struct hostwire_place place; \
        TYPE old; \
        if (!hostwire_word(&place, dest, BYTES, pe)) \
            return p##function(dest, value, pe); \
        __atomic_exchange((TYPE *)place.at, &value, &old, __ATOMIC_SEQ_CST); \
        hostwire_stored(&place, "shmem_atomic_swap", pe); \
        return old; \
    }
#define HOSTWIRE_ATOMIC_COMPARE_SWAP(function, TYPE, BYTES) \
    SHMEM_FUNCTION_ATTRIBUTES TYPE p##function(TYPE *dest, TYPE cond, TYPE value, int pe); \
    HOSTWIRE_INLINE TYPE function(TYPE *dest, TYPE cond, TYPE value, int pe) \
    { \
        struct hostwire_place place; \
        if (!hostwire_word(&place, dest, BYTES, pe)) \
            return p##function(dest, cond, value, pe); \
        __atomic_compare_exchange_n((TYPE *)place.at, &cond, value, 0, __ATOMIC_SEQ_CST, \
                                    __ATOMIC_SEQ_CST); \
        hostwire_stored(&place, "shmem_atomic_compare_swap", pe); \
        return cond; \
    }
#define HOSTWIRE_FETCHING(function, TYPE, BYTES, operation, routine) \
    SHMEM_FUNCTION_ATTRIBUTES TYPE p##function(TYPE *dest, TYPE value, int pe); \
    HOSTWIRE_INLINE TYPE function(TYPE *dest, TYPE value, int pe) \
    { \
        struct hostwire_place place; \
        TYPE old; \
        if (!hostwire_word(&place, dest, BYTES, pe)) \
            return p##function(dest, value, pe); \
        old = operation((TYPE *)place.at, value, __ATOMIC_SEQ_CST); \
        hostwire_stored(&place, routine, pe); \
        return old; \
    }
#define HOSTWIRE_CHANGING(function, TYPE, BYTES, operation, routine) \
    SHMEM_FUNCTION_ATTRIBUTES void p##function(TYPE *dest, TYPE value, int pe); \
    HOSTWIRE_INLINE void function(TYPE *dest, TYPE value, int pe) \
    { \
        struct hostwire_place place; \
        if (hostwire_word(&place, dest, BYTES, pe)) { \
            (void)operation((TYPE *)place.at, value, __ATOMIC_SEQ_CST); \
            hostwire_stored(&place, routine, pe); \
        } else { \
            p##function(dest, value, pe); \
        } \
    }
#define HOSTWIRE_ATOMIC_FETCH_INC(function, TYPE, BYTES) \
    SHMEM_FUNCTION_ATTRIBUTES TYPE p##function(TYPE *dest, int pe); \
    HOSTWIRE_INLINE TYPE function(TYPE *dest, int pe) \
    { \
        struct hostwire_place place; \
        TYPE old; \
        if (!hostwire_word(&place, dest, BYTES, pe)) \
            return p##function(dest, pe); \
        old = __atomic_fetch_add((TYPE *)place.at, 1, __ATOMIC_SEQ_CST); \
        hostwire_stored(&place, "shmem_atomic_fetch_inc", pe); \
        return old; \
    }
#define HOSTWIRE_ATOMIC_INC(function, TYPE, BYTES) \
    SHMEM_FUNCTION_ATTRIBUTES void p##function(TYPE *dest, int pe); \
    HOSTWIRE_INLINE void function(TYPE *dest, int pe) \
    { \
        struct hostwire_place place; \
        if (hostwire_word(&place, dest, BYTES, pe)) { \
            (void)__atomic_fetch_add((TYPE *)place.at, 1, __ATOMIC_SEQ_CST); \
            hostwire_stored(&place, "shmem_atomic_inc", pe); \
        } else { \
            p##function(dest, pe); \
        } \
    }
#define HOSTWIRE_ATOMIC_FETCH_ADD(function, TYPE, BYTES) \
    HOSTWIRE_FETCHING(function, TYPE, BYTES, __atomic_fetch_add, "shmem_atomic_fetch_add")
#define HOSTWIRE_ATOMIC_FETCH_AND(function, TYPE, BYTES) \
    HOSTWIRE_FETCHING(function, TYPE, BYTES, __atomic_fetch_and, "shmem_atomic_fetch_and")
#define HOSTWIRE_ATOMIC_FETCH_OR(function, TYPE, BYTES) \
    HOSTWIRE_FETCHING(function, TYPE, BYTES, __atomic_fetch_or, "shmem_atomic_fetch_or")
#define HOSTWIRE_ATOMIC_FETCH_XOR(function, TYPE, BYTES) \
    HOSTWIRE_FETCHING(function, TYPE, BYTES, __atomic_fetch_xor, "shmem_atomic_fetch_xor")
#define HOSTWIRE_ATOMIC_ADD(function, TYPE, BYTES) \
    HOSTWIRE_CHANGING(function, TYPE, BYTES, __atomic_fetch_add, "shmem_atomic_add")
#define HOSTWIRE_ATOMIC_AND(function, TYPE, BYTES) \
    HOSTWIRE_CHANGING(function, TYPE, BYTES, __atomic_fetch_and, "shmem_atomic_and")
#define HOSTWIRE_ATOMIC_OR(function, TYPE, BYTES) \
    HOSTWIRE_CHANGING(function, TYPE, BYTES, __atomic_fetch_or, "shmem_atomic_or")
#define HOSTWIRE_ATOMIC_XOR(function, TYPE, BYTES) \
    HOSTWIRE_CHANGING(function, TYPE, BYTES, __atomic_fetch_xor, "shmem_atomic_xor")
@FUNCTIONS@
#endif /* SHMEMX_INLINE_H */
