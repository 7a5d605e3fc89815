"""Draws rows.csv of real.sh beside the paper's figure 3: time of STREAM relative to local memory, on a
logarithmic scale. The paper's own bars are those of its text (1P, 4P, 16P); its bars with swap are in a figure
whose numbers it does not print."""

import csv
import html
import math
import sys

PAPER = [("paper: own board (4P)", 1.0268), ("paper: remote (16P)", 3.0268)]


def measured(path):
    """Names and times of STREAM relative to the first row; rows that failed are left out."""
    rows = []
    for row in csv.reader(open(path)):
        try:
            rows.append((row[0], float(row[1])))
        except (ValueError, IndexError):
            continue
    return [(name, value / rows[0][1]) for name, value in rows]


def bars(rows):
    highest = max(value for _, value in rows)
    decades = max(1, math.ceil(math.log10(highest)))
    width, left, step = 520, 190, 24
    lines = []
    for at, (name, value) in enumerate(rows):
        y = 40 + at * step
        length = max(1, math.log10(max(value, 1)) / decades * width)
        colour = "#9aa5b1" if name.startswith("paper") else "#2f6f9f"
        lines.append(f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{html.escape(name)}</text>')
        lines.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="16" fill="{colour}"/>')
        lines.append(f'<text x="{left + length + 6:.1f}" y="{y + 13}">{value:.3g}</text>')
    height = 60 + len(rows) * step
    title = "time of a STREAM kernel relative to local memory (logarithmic)"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="800" height="{height}" font-family="sans-serif" font-size="12">'
    return "\n".join([head, f'<text x="10" y="20" font-size="14">{title}</text>', *lines, "</svg>"])


print(bars(measured(sys.argv[1]) + PAPER))
