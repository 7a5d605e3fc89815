#!/usr/bin/env python3
"""Looks where clocks meet in a design: `clocks.py NETLIST TOP`, a flat netlist that Yosys has written as JSON.

A register may take what another clock's register holds, also through gates, only if it is the first of a synchroniser,
or if it is in the serialiser, whose clock has twice the frequency of the core's and rises with it. The memory of
async_fifo is no register: its pointers say when it can be read.
"""
import json
import sys

sys.setrecursionlimit(100_000)
with open(sys.argv[1], encoding="utf-8") as file:
    module = json.load(file)["modules"][sys.argv[2]]

names = {}
for name, net in module["netnames"].items():
    for bit in net["bits"]:
        if not name.startswith("$") and (bit not in names or len(name) < len(names[bit])):
            names[bit] = name

drivers, registers = {}, {}
for cell in module["cells"].values():
    pins = cell["connections"]
    if "dff" in cell["type"]:
        for at, bit in enumerate(pins["Q"]):
            registers[bit] = (pins["CLK"][0], pins["D"][at])
    else:
        for pin, bits in pins.items():
            if cell["port_directions"].get(pin) == "output":
                drivers.update((bit, cell) for bit in bits)

known = {}


def sources(bit):
    """The registers behind a bit."""
    if not isinstance(bit, int):
        return frozenset()
    if bit in registers:
        return frozenset([bit])
    if bit not in known:
        known[bit] = frozenset()
        cell = drivers.get(bit)
        found = set()
        for pin, bits in cell["connections"].items() if cell else ():
            if cell["port_directions"][pin] == "input" and "CLK" not in pin:
                for each in bits:
                    found |= sources(each)
        known[bit] = frozenset(found)
    return known[bit]


wrong = 0
crossings = 0
for register, (clock, data) in registers.items():
    for source in sources(data):
        if registers[source][0] == clock:
            continue
        crossings += 1
        to = names.get(register, "?")
        clocks = (names[registers[source][0]], names[clock])
        if to.endswith("first_q") or ("u_serialiser." in to and clocks == ("core_clk_i", "tx_clk_i")):
            continue
        wrong += 1
        print(f"clocks: {to} ({clocks[1]}) takes {names.get(source, '?')} ({clocks[0]})", file=sys.stderr)
if not crossings and len({clock for clock, _ in registers.values()}) > 1:
    sys.exit("clocks: no crossing was found at all: is this the netlist?")
sys.exit(1 if wrong else 0)
