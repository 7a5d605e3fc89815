#!/bin/bash
# Proves what cannot be seen by running: that no queue overflows, no credit is lost, order is kept. Prints a table.
#
#     lab/rtl/formal/run.sh          the quick proofs, half a minute
#     lab/rtl/formal/run.sh long     larger blocks and more clocks, some minutes
#     BLOCK='net_*' lab/rtl/formal/run.sh   only these blocks
#
# The properties of a block are in formal/<block>.svh, and are put into a copy of it. A proof by induction holds for all
# clocks; its first clocks are checked as well. A bounded one holds for the first clocks after the reset, as many as it
# says. yosys-smtbmc asks z3.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
long=$([[ ${1:-} == long ]] && echo 1 || echo 0)
out=${OUT:-target/rtl/formal}
mkdir -p "$out"
failed=0

for tool in yosys yosys-smtbmc z3; do
    command -v "$tool" >/dev/null || { echo "formal: $tool is missing" >&2; exit 1; }
done

# `model WORK BLOCK PARAMETER...`: what the solver reads.
model() {
    local work=$1 block=$2 options="" parameter source others
    shift 2
    source=$(find lab/rtl/prim lab/rtl/pcie lab/rtl/network -name "$block.sv")
    others=$(find lab/rtl/prim/arbiter.sv lab/rtl/network/link_accept.sv ! -name "$block.sv" -printf '%p ')
    { sed '$d' "$source"; cat "lab/rtl/formal/$block.svh"; echo endmodule; } >"$work/$block.sv"
    for parameter in "$@"; do options+=" -chparam ${parameter%=*} ${parameter#*=}"; done
    yosys -q -p "read_verilog ${define:+-D$define} -sv -formal lab/rtl/pcie/pcie_pkg.sv lab/rtl/network/net_pkg.sv $others $work/$block.sv;
        hierarchy -top $block $options; prep -flatten; async2sync; memory_map -formal; opt -full; dffunmap;
        write_smt2 -wires $work/model.smt2"
}

# `solve WORK OPTION...`: whether the solver finds nothing wrong.
solve() {
    local work=$1
    shift
    timeout 900 yosys-smtbmc -s z3 --logic QF_BV --unroll --noprogress "$@" "$work/model.smt2"
}

# `prove WHEN BLOCK PARAMETERS CLOCKS DEFINE WHAT`, where CLOCKS is `all` or a number.
prove() {
    local when=$1 block=$2 parameters=$3 clocks=$4 define=$5 what=$6 work started=$SECONDS how
    [[ $when == long && $long == 0 ]] && return
    [[ $block == ${BLOCK:-*} ]] || return 0
    work=$out/$block-$(tr -cd 'A-Za-z0-9' <<<"$parameters")-$clocks$define
    how="all clocks, by induction"
    [[ $clocks == all ]] || how="the first $clocks clocks"
    mkdir -p "$work"
    # shellcheck disable=SC2086
    if ! {
        model "$work" "$block" $parameters && if [[ $clocks == all ]]; then
            solve "$work" -t 3 && solve "$work" -i -t 1
        else
            solve "$work" -t "$clocks"
        fi
    } >"$work/log" 2>&1; then
        failed=1
        how="FAILED, see $work/log"
    fi
    printf 'proof | %s: %s | %s, %d s\n' "$block${parameters:+ $parameters}" "$what" "$how" $((SECONDS - started))
}

prove quick fifo 'Width=4 Depth=5' all '' 'no overflow; each word comes out once, in order'
prove quick fifo 'Width=8 Depth=8' all '' 'the same'
prove quick arbiter 'Count=3' all '' 'one grant, kept for a packet; nobody waits for more than two'
prove quick pcie_credit_tx 'DataW=5' all '' 'no receiver overflows; no credit is lost'
prove long pcie_credit_tx 'DataW=12' all '' 'the same'
prove quick pcie_credit_rx '' all '' 'what left the buffer was given, and is told'
prove quick pcie_rx_buffer 'Words=4 Dwords=1' all '' 'no overflow; what is complete comes out, in order'
prove long pcie_rx_buffer 'Words=16 Dwords=2' all '' 'the same'
prove quick pcie_replay_buffer 'Words=4 Tlps=2 SeqW=3 Width=1' all '' 'no TLP is left out or overwritten, whatever Acks come'
prove long pcie_replay_buffer 'Words=512 Tlps=32 SeqW=12 Width=33' all '' 'the same, in full size'
prove quick pcie_replay_buffer 'Words=4 Tlps=2 SeqW=3 Width=1' 12 WITH_DATA 'what comes out is what went in'
prove long pcie_replay_buffer 'Words=4 Tlps=2 SeqW=3 Width=1' 16 WITH_DATA 'the same'
prove quick net_fifo 'Width=2 Words=4' all '' 'no overflow; what is committed comes out once, in order, and nothing else'
prove quick link_ring 'SeqW=3 Words=8 Messages=2' 12 '' 'no word is overwritten that is kept; what is read again is what was written'
prove quick link_window 'SeqW=4 Frames=7 Timeout=3 Patience=2' all '' 'at most Frames in flight; none is left out, none is forgotten while it is sent'
prove quick link_window 'SeqW=4 Frames=7 Timeout=3 Patience=2' all WITH_RECEIVER 'each message is taken once, in order, whatever is lost'
exit "$failed"
