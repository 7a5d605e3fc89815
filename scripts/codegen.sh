#!/usr/bin/env bash
# The machine code of the 64-byte put: writes bench/codegen/put_64.x86-64, or with --check
# compares all of it with what is committed there. Either way nothing may stand between a put and
# its first return that calls or locks.
#
# Addresses of other things and hashes in names change with everything around, so they are left
# out of the listing; jumps within the function stay.
set -euo pipefail
cd "$(dirname "$0")/.."

committed=bench/codegen/put_64.x86-64
if [ "$(uname -m)" != x86_64 ]; then
    echo "codegen: skipped: the listing is of x86-64"
    exit 0
fi
if ! command -v objdump >/dev/null; then
    echo "codegen: skipped: there is no objdump (Debian package binutils)"
    [ -z "${HOSTWIRE_TESTS_DEMAND:-}" ] || exit 1
    exit 0
fi

# As objdump -d writes the function; behind it only int3 fills up.
normalise() {
    sed -E 's/[[:space:]]+$//
        s/::h[0-9a-f]{16}//g
        s/-?0x[0-9a-f]+\(%rip\)[[:space:]]+# <[^>]*>$/ADDRESS(%rip)/
        /<codegen::put_64\+0x[0-9a-f]+>$/! s/<([^>+]*)\+0x[0-9a-f]+>$/<\1>/' |
        awk '/^\tint3$/ {held = held $0 "\n"; next} {printf "%s", held; held = ""; print}'
}

cargo=${CARGO:-cargo}
# Of the library alone, as users have it: what OpenSHMEM's suite builds is used again.
"$cargo" build --quiet --locked --release -p hostwire-bench --bin codegen
listing=$(objdump -d -C --no-show-raw-insn --no-addresses \
    "${CARGO_TARGET_DIR:-target}/release/codegen" |
    awk '/^$/{on=0} /^<codegen::put_64>:/{on=1} on' | normalise)
[ -n "$listing" ] || { echo "codegen: put_64 is not in the program"; exit 1; }
hot=$(awk '!done {print} /\tret/{done=1}' <<<"$listing")
if grep -nE '\b(call|lock|xchg)\b' <<<"$hot"; then
    echo "codegen: the lines above stand between a 64-byte put and its return"
    exit 1
fi

# Another compiler may choose other instructions.
compiler=$(rustc --version | cut -d' ' -f1,2)
text=$(
    echo "# The 64-byte put, x86-64, $compiler, by scripts/codegen.sh. Up to the first ret is what a put"
    echo "# costs; behind it is what happens when the target sleeps, is lost or out of range."
    echo "$listing"
)
if [ "${1:-}" != --check ]; then
    echo "$text" >"$committed"
    exit 0
fi
was=$(sed -nE '1s/.*(rustc [0-9.a-z-]+),.*/\1/p' "$committed")
if [ "$was" != "$compiler" ]; then
    echo "codegen: $committed is of $was, this is $compiler: only the way to the first return was looked at"
    echo "codegen: scripts/codegen.sh writes it anew"
    [ -z "${HOSTWIRE_TESTS_DEMAND:-}" ] || exit 1
elif ! diff -u --label "$committed" --label "what is built now" "$committed" - <<<"$text"; then
    echo "codegen: a put is not what is committed. If that is meant, write it anew with"
    echo "codegen: scripts/codegen.sh, and say in the commit what it costs or saves"
    exit 1
fi
echo "codegen: 64-byte put: $(grep -c $'\t' <<<"$hot") instructions, no call, no lock"
