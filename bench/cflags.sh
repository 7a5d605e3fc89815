#!/bin/sh
# What C programs that are timed are compiled with; CFLAGS in the environment says something else.
#
# Where a loop of a nanosecond lies would decide how long it takes on Intel's processors of 2015 to
# 2019, which run it at half its speed if one of its jumps touches the end of 32 bytes of code: where
# the assembler can avoid that, it does, for all programs alike.
set -eu
avoid=-Wa,-mbranches-within-32B-boundaries
${CC:-cc} $avoid -c -x c -o /dev/null /dev/null 2>/dev/null || avoid=
echo "${CFLAGS--O2 $avoid}"
