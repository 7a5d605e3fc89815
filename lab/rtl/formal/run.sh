#!/bin/bash
# Proves what cannot be seen by running: that no queue overflows, no credit is lost, order is kept. Prints a table.
#
#     lab/rtl/formal/run.sh          the quick proofs
#     lab/rtl/formal/run.sh long     larger blocks and more cycles, some minutes
#
# The properties of a block are in formal/<block>.svh, which the block includes when Yosys reads it for a proof. A proof
# by induction holds for all cycles. A bounded one holds for the first cycles after the reset, as many as it says. Every
# proof by induction also checks its first cycles. yosys-smtbmc asks z3.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
long=$([[ ${1:-} == long ]] && echo 1 || echo 0)
out=${OUT:-../../target/rtl/formal}
mkdir -p "$out"
failed=0

for tool in yosys yosys-smtbmc z3; do
    command -v "$tool" >/dev/null || { echo "formal: $tool is missing" >&2; exit 1; }
done

# `solve FILE OPTION...`: the last word of the solver.
solve() {
    local file=$1
    shift
    timeout 900 yosys-smtbmc -s z3 --logic QF_BV --unroll --noprogress "$@" "$file" >>"$file.log" 2>&1
}

# `prove WHEN BLOCK PARAMETERS BOUND DEFINE WHAT`, where BOUND is `all` or a number of cycles.
prove() {
    local when=$1 block=$2 parameters=$3 bound=$4 define=$5 what=$6 options="" file started result parameter
    [[ $when == long && $long == 0 ]] && return
    file=$out/$block-$(echo "$parameters" | tr -c 'A-Za-z0-9\n' -)-$bound.smt2
    for parameter in $parameters; do options+=" -chparam ${parameter%=*} ${parameter#*=}"; done
    started=$SECONDS
    : >"$file.log"
    if ! yosys -q -p "read_verilog ${define:+-D$define} -sv -formal -Iformal pcie/pcie_pkg.sv $(ls prim/arbiter.sv prim/"$block".sv pcie/"$block".sv 2>/dev/null | sort -u | tr '\n' ' ');
        hierarchy -top $block $options; prep -flatten; async2sync; memory_map -formal; opt -full; dffunmap;
        write_smt2 -wires $file" >>"$file.log" 2>&1; then
        result=unreadable
    elif [[ $bound == all ]]; then
        solve "$file" -t 3 && solve "$file" -i -t 1 && result=proved || result=FAILED
    else
        solve "$file" -t "$bound" && result=proved || result=FAILED
    fi
    [[ $result == proved ]] || failed=1
    local cycles=$bound
    [[ $bound == all ]] && cycles='all, by induction' || cycles="the first $bound"
    printf '%-19s %-34s %-18s %-9s %4d s  %s\n' "$block" "${parameters:-as it is}" "$cycles" "$result" \
        $((SECONDS - started)) "$what"
}

printf '%-19s %-34s %-18s %-9s %6s  %s\n' block parameters cycles result time 'what is proved'
prove quick fifo 'Width=4 Depth=5' all '' 'no overflow; each word comes out once, in order'
prove quick fifo 'Width=8 Depth=8' all '' 'the same'
prove quick arbiter 'Count=3' all '' 'one grant, kept for a packet; nobody waits for more than two others'
prove quick pcie_credit_tx 'DataW=8' all '' 'a receiver never overflows; no credit is lost (data modulo 256)'
prove long pcie_credit_tx 'DataW=12' all '' 'the same, data modulo 4,096'
prove quick pcie_credit_rx '' all '' 'what left the buffer was given, and is told'
prove quick pcie_rx_buffer 'Words=4 Dwords=1' all '' 'no overflow; what is complete comes out, in order'
prove long pcie_rx_buffer 'Words=16 Dwords=2' all '' 'the same'
prove quick pcie_replay_buffer 'Words=4 Tlps=2 SeqW=3 Width=1' all '' 'no TLP is left out or overwritten, whatever Acks come'
prove long pcie_replay_buffer 'Words=512 Tlps=32 SeqW=12 Width=33' all '' 'the same, in full size'
prove quick pcie_replay_buffer 'Words=4 Tlps=2 SeqW=3 Width=1' 12 WITH_DATA 'no beat is overwritten; what comes out is what went in'
prove long pcie_replay_buffer 'Words=4 Tlps=2 SeqW=3 Width=1' 18 WITH_DATA 'the same'
exit "$failed"
