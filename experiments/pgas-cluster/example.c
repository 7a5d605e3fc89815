/* The program behind example.trace: 3,000 updates anywhere in a table of 1 MiB.
 *
 *     cc -O1 -static -nostdlib -o example example.c
 *     ../../tools/memory-trace/record.sh example.lackey ./example
 *     awk -f ../../tools/memory-trace/shorten.awk example.lackey > example.trace
 *
 * Without a library, so that the trace holds nothing but the loop. x86-64 Linux. */

static unsigned long table[1 << 17];

__attribute__((force_align_arg_pointer)) void _start(void) {
    unsigned long x = 1;
    for (int i = 0; i < 3000; i++) {
        x = x * 6364136223846793005UL + 1442695040888963407UL;
        table[x >> 47] ^= x;
    }
    __asm__ volatile("syscall" : : "a"(60), "D"(0));
    __builtin_unreachable();
}
