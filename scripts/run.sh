#!/bin/bash
# The main job: builds everything, runs the example programs on real input, checks what
# they say, measures, and ends with one page that says what was seen, as text and as HTML
# (out/index.html). Writes to out/ only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}
bin=${CARGO_TARGET_DIR:-$PWD/target}/release
out=out
text_bytes=52428800
export LC_ALL=C

scripts/setup.sh run
"$cargo" build --locked --release
mkdir -p "$out"
# Folders in it are of others, such as bench/shmem/run.sh.
find "$out" -mindepth 1 -maxdepth 1 ! -type d -delete

begin=$SECONDS
pes=$(nproc)
pes=$((pes < 2 ? 2 : pes > 8 ? 8 : pes))
page=$out/report.txt
failures=()

say() { printf '%s\n' "$*" >>"$page"; }

# The lines of a log that match, indented.
quote() { # LOG PATTERN
    grep -E -- "$2" "$out/$1.log" | sed 's/^/  /' >>"$page" || true
}

# Runs a command and notes if it fails. All that it says goes to out/NAME.log.
try() { # NAME COMMAND...
    local name=$1 status=0
    shift
    printf 'running %s\n' "$name"
    "$@" >"$out/$name.log" 2>&1 || status=$?
    if ((status)); then
        failures+=("$name ended with status $status: see $out/$name.log")
    fi
}

# Runs a program on all PEs.
job() { # NAME PROGRAM ARGS...
    local name=$1 program=$2
    shift 2
    try "$name" "$bin/hostwire" run -n "$pes" --timeout 120s -- "$bin/$program" "$@"
}

# Counts words, and counts them again with the tools that everybody has. The newline
# between files keeps their words apart.
count() { # NAME FILES...
    local name=$1 start verdict
    shift
    job "$name" wordcount --top 3 --output "$out/$name.counts" "$@"
    printf 'running tr, sort and uniq on the same\n'
    start=$EPOCHREALTIME
    for file; do cat -- "$file" && echo; done |
        tr -cs '[:alnum:]' '\n' | grep . | sort -T "$out" | uniq -c | sort -T "$out" -rn \
        >"$out/$name.pipeline"
    if cmp -s "$out/$name.counts" "$out/$name.pipeline"; then
        verdict='byte for byte the same'
    else
        verdict='NOT THE SAME'
        failures+=("$out/$name.counts and $out/$name.pipeline differ")
    fi
    quote "$name" '^ *[0-9]+ [[:alnum:]]+$|different;|^check'
    say "  tr | sort | uniq -c | sort -rn in $(seconds_since "$start") s: $verdict"
}

seconds_since() {
    awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'
}

cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
say "HOSTWIRE: WHAT WAS SEEN    commit $commit, $(date -u '+%Y-%m-%d %H:%M UTC')"
say "$(nproc) CPUs (${cpu:-unknown}), Linux $(uname -r), $pes PEs"

mapfile -d '' -t files < <(
    find README.md CHANGELOG.md CONTRIBUTING.md Cargo.toml Makefile LICENSE-* \
        runtime fronts tools lab qa docs examples scripts -type f -print0 | sort -z
)
say ''
say "wordcount: the files of this repository"
count repository "${files[@]}"

say ''
say "wordcount: $out/text, made by maketext"
"$bin/maketext" --bytes "$text_bytes" "$out/text"
count text "$out/text"

say ''
say "gups: random updates all over the memory of all PEs"
for mode in bucket atomic; do
    job "gups-$mode" gups --mode "$mode"
    say "  --mode $mode"
    quote "gups-$mode" 'GUPS|^check'
done

say ''
say "heat2d: heat spreading in a plate"
job heat2d heat2d --size 256x256 --picture "$out/heat2d.png"
quote heat2d 'cells|^check|^picture'

say ''
say "hostwire bench all"
try bench "$bin/hostwire" bench all --csv "$out/bench.csv" --html "$out/bench.html"
quote bench .
# Others on the same machine, where they are installed.
try peers bench/peers/page.sh "$out/peers.csv"

# The same as a page, whatever failed. What is not there is left out of it.
html=$out/index.html
parts=(--report "$page")
[[ -s $out/bench.csv ]] && parts+=(--figures "$out/bench.csv")
[[ -s $out/bench.csv && -s $out/peers.csv ]] && parts+=(--peers "$out/peers.csv")
[[ -s $out/heat2d.png ]] &&
    parts+=(--picture "$out/heat2d.png" 'heat2d: temperatures of the plate, and their scale')
for failure in "${failures[@]}"; do parts+=(--failure "$failure"); done
try page "$bin/hostwire" run-page "${parts[@]}" "$html"

say ''
if ((${#failures[@]})); then
    say "FAILED, after $((SECONDS - begin)) s:"
    for failure in "${failures[@]}"; do say "  $failure"; done
else
    say "All checks passed, after $((SECONDS - begin)) s. This page: $out/report.txt;" \
        "logs, counts and picture: $out/"
fi
printf '\n'
cat "$page"
if [[ -s $html ]]; then
    printf '\nThe same as a page, with charts and the picture:\n%s\n' "file://$PWD/$html"
fi
((${#failures[@]} == 0))
