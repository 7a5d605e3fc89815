#!/bin/sh
# Records the loads and stores of a program, for `kind = "memory-trace"` of `hostwire sim`.
#
#     tools/memory-trace/record.sh OUT.trace PROGRAM [ARGUMENT...]
#
# Needs Valgrind. The trace is text, some 12 bytes per access and per instruction: a second
# of a program makes gigabytes. What Valgrind and the program print goes to standard error
# and standard output; the trace has neither. The exit status is the program's.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: record.sh OUT.trace PROGRAM [ARGUMENT...]" >&2
    exit 2
fi
if ! command -v valgrind >/dev/null; then
    echo "record.sh: valgrind is not installed (apt-get install valgrind)" >&2
    exit 2
fi
out=$1
shift
# An incomplete trace must not look like a complete one.
part=$out.part
trap 'rm -f "$part"' EXIT
status=0
valgrind --tool=lackey --trace-mem=yes --log-file="$part" "$@" || status=$?
if [ ! -s "$part" ]; then
    echo "record.sh: valgrind wrote no trace" >&2
    exit 2
fi
mv "$part" "$out"
exit "$status"
