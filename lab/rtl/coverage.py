#!/usr/bin/env python3
"""What tests have run of the hardware: `coverage.py MERGED HOLES`, from what verilator_coverage has merged.

Prints for each folder of lab/rtl the share of lines that were run, and of bits that have changed, and writes the others to HOLES,
by module. A line or bit counts once, in whichever design and instance it was seen.
"""
import collections
import pathlib
import re
import sys

merged, holes = sys.argv[1:]
folders = {path.stem: path.parent.name for path in pathlib.Path("lab/rtl").glob("*/*.sv")}
points = collections.Counter()
with open(merged, encoding="latin-1") as file:
    for line in file:
        match = re.match(r"C '(.*)' (\d+)$", line)
        if not match:
            continue
        fields = dict(part.split("\x02", 1) for part in match[1].split("\x01") if "\x02" in part)
        kind, module = re.match(r"v_(\w+)/(\w+)", fields["page"]).groups()
        kind = "bits" if kind == "toggle" else "lines"
        # A bit by its name, a line by its place; the other way of an `if` is a line of its own.
        what = fields["o"] if kind == "bits" else f"{fields['l']} ({fields['o']})"
        points[kind, module.split("__")[0], what] += int(match[2])

seen, missing = collections.Counter(), collections.defaultdict(list)
for (kind, module, what), count in points.items():
    seen[folders[module], kind, count > 0] += 1
    if not count:
        missing[kind, module].append(what)
with open(holes, "w", encoding="utf-8") as file:
    for (kind, module), what in sorted(missing.items()):
        file.write(f"{kind} of {module}: {', '.join(sorted(what))}\n")
for (folder, kind, was_seen), count in list(seen.items()):
    seen["", kind, was_seen] += count
for folder in sorted({folder for folder, _, _ in seen}):
    shares = []
    for kind in ("lines", "bits"):
        hit, total = seen[folder, kind, True], seen[folder, kind, True] + seen[folder, kind, False]
        shares.append(f"{100 * hit / total:.1f} % of {total} {kind}")
    print(f"coverage | {folder or 'all'} | {', '.join(shares)}")
