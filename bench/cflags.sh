#!/bin/sh
# The compiler flags for C programs that are timed; CFLAGS in the environment overrides them.
#
# The address of a short loop would change its time on Intel's processors of 2015 to 2019: they run
# it at half speed if one of its jumps touches the end of 32 bytes of code. Where the assembler can
# avoid that, it does, for all programs alike.
set -eu
avoid=-Wa,-mbranches-within-32B-boundaries
${CC:-cc} $avoid -c -x c -o /dev/null /dev/null 2>/dev/null || avoid=
echo "${CFLAGS--O2 $avoid}"
