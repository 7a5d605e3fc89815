#!/bin/bash
# Proves what lab/rtl/ht/formal/proofs lists, with yosys and z3: the properties of a module are put into a copy of it.
#
#     lab/rtl/ht/formal/run.sh            all proofs
#     lab/rtl/ht/formal/run.sh NAME...    only those of these modules
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../../.."
formal=lab/rtl/ht/formal
out=${OUT:-target/rtl/formal}
mkdir -p "$out"

prove() {
    local module=$1 how=$2 steps=$3 clocks=$4 source work files settle=async2sync
    shift 4
    source=$(find lab/rtl/prim lab/rtl/ht -name "$module.sv")
    work=$out/$module-$(tr -cd 'A-Za-z0-9' <<<"$*")
    mkdir -p "$work"
    # The last line of a module is `endmodule`.
    sed '$d' "$source" >"$work/$module.sv"
    cat "$formal/$module.svh" >>"$work/$module.sv"
    echo endmodule >>"$work/$module.sv"
    mapfile -t files < <(ls lab/rtl/ht/ht_pkg.sv lab/rtl/prim/*.sv lab/rtl/ht/ht_*.sv | grep -v "/$module.sv" | sort -u)
    # The package is first. Only the module itself is read with its properties.
    [[ $clocks == many ]] && settle=clk2fflogic
    yosys -q -l "$work/yosys.log" -p "
        read_verilog -sv lab/rtl/ht/ht_pkg.sv $(printf '%s ' "${files[@]}" | sed 's|lab/rtl/ht/ht_pkg.sv||')
        read_verilog -sv -formal $work/$module.sv
        chparam $* $module
        hierarchy -check -top $module; proc; opt_clean; flatten; memory -nordff; opt_clean
        $settle; opt_clean; setundef -undriven -anyseq; dffunmap; write_smt2 -wires $work/$module.smt2" 2>&1 |
        grep -v '^Warning' || true
    local parameters=" $*" begin=$SECONDS log=$work/smt.log
    if ! timeout 500 yosys-smtbmc -s z3 --unroll --noprogress -t "$steps" "$work/$module.smt2" >"$log" 2>&1; then
        tail -5 "$log" >&2
        printf 'formal: %s %s: FAILED, see %s\n' "$module" "$*" "$log" >&2
        return 1
    fi
    if [[ $how == induction ]] && ! timeout 500 yosys-smtbmc -s z3 --unroll --noprogress -i -t "$steps" "$work/$module.smt2" >"$log" 2>&1; then
        tail -5 "$log" >&2
        printf 'formal: %s %s: the induction FAILED, see %s\n' "$module" "$*" "$log" >&2
        return 1
    fi
    printf 'proof | %s%s | %s, %d steps, %d s\n' "$module" "${parameters//-set / }" "$how" "$steps" $((SECONDS - begin))
}

while read -r module rest; do
    [[ -z $module || $module == '#'* ]] && continue
    (($# == 0)) || [[ " $* " == *" $module "* ]] || continue
    # shellcheck disable=SC2086
    prove "$module" $rest
done <"$formal/proofs"
