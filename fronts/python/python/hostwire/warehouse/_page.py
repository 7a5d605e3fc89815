"""The page of `hostwire-warehouse paper --html`. It needs no other file and no network."""

import html as _html
import math
import re

from ._paper import NOTES, rate, seconds

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; padding: .25em .6em; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child, td:first-child, th:last-child, td:last-child { text-align: left; white-space: normal; }
.simulated { background: #f3f7fd; } .paper { background: #faf6ec; }
.bar { fill: #3b6ea5; } .simulated-bar { fill: #8fb3da; } .paper-bar { fill: #d2a640; }
.bring { fill: #3b6ea5; } .compute { fill: #d9822b; } .grid { stroke: #ddd; } .between { stroke: #bbb; stroke-width: 3; }
svg { margin: 1em 0; } svg text { font: 12px system-ui, sans-serif; } svg .title { font-weight: bold; }
svg .mark { text-anchor: middle; fill: #666; }
"""


def html(questions, options):
    """The page: a table and two charts for each query."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        "<title>hostwire-warehouse: what limits queries 1 and 21</title>",
        f"<style>{_STYLE}</style>",
        "<h1>What limits queries 1 and 21?</h1>",
        f"<p>TPC-H at scale factor {options.scale:g}, {_html.escape(options.engine)}. The question is that of "
        "J. Young and S. Yalamanchili, <i>Commodity Converged Fabrics for Global Address Spaces in "
        "Accelerator Clouds</i>, 2012.</p>",
    ]
    for question in questions:
        parts.append(f"<h2>{question.query.upper()}: {question.nbytes / 1e6:.1f} MB of columns</h2>")
        parts += [_table(question), _times(question), _rates(question)]
    parts += [f"<p>{_html.escape(note)}</p>" for note in NOTES]
    return "\n".join(parts) + "\n"


def _table(question):
    head = "where,bring,Gb/s,compute,both,limit".split(",")
    rows = ["<tr>" + "".join(f"<th>{each}</th>" for each in head) + "</tr>"]
    for row in question.rows:
        cells = [f"{row.kind}: {row.where}", seconds(row.bring_s), rate(row.rate_gb_s)]
        cells += [seconds(row.compute_s), seconds(row.answer_s), row.limit]
        cells = "".join(f"<td>{_html.escape(each)}</td>" for each in cells)
        rows.append(f'<tr class="{row.kind}">{cells}</tr>')
    return "<table>" + "\n".join(rows) + "</table>"


# Where the axis of a chart begins, and its length; the width of all.
_LEFT, _LENGTH, _WIDTH = 340, 480, 900
_ROW = 22


def _times(question):
    """Two marks for each way: the right one is the limit."""
    rows = [row for row in question.rows if row.bring_s and row.compute_s]
    if not rows:
        return ""
    axis = _Axis([each for row in rows for each in (row.bring_s, row.compute_s)])
    lines = _begun("Time to bring the columns, and to compute: the right one is the limit", len(rows) + 1)
    lines += axis.grid(len(rows), lambda value: re.sub(r"\.0+ ", " ", seconds(value)))
    for place, row in enumerate(rows):
        middle = _ROW * place + 51
        lines.append(_name(row, middle))
        at = {"bring": axis.at(row.bring_s), "compute": axis.at(row.compute_s)}
        ends = 'x1="{:.1f}" x2="{:.1f}"'.format(*at.values())
        lines.append(f'<line class="between" {ends} y1="{middle}" y2="{middle}"/>')
        for what, x in at.items():
            lines.append(f'<circle class="{what}" cx="{x:.1f}" cy="{middle}" r="5"/>')
    middle = _ROW * len(rows) + 51
    for place, what in enumerate(("bring", "compute")):
        x = _LEFT + 100 * place
        lines.append(f'<circle class="{what}" cx="{x}" cy="{middle}" r="5"/>')
        lines.append(f'<text x="{x + 10}" y="{middle + 4}">{what}</text>')
    return "\n".join([*lines, "</svg>"])


def _rates(question):
    """Bars: the rates at which columns come."""
    rows = [row for row in question.rows if row.rate_gb_s]
    if not rows:
        return ""
    axis = _Axis([row.rate_gb_s for row in rows])
    lines = _begun("Gb/s at which the columns come", len(rows))
    lines += axis.grid(len(rows), lambda value: f"{value:g}")
    for place, row in enumerate(rows):
        middle = _ROW * place + 51
        colour = "bar" if row.kind == "measured" else f"{row.kind}-bar"
        end = axis.at(row.rate_gb_s)
        lines.append(_name(row, middle))
        lines.append(
            f'<rect class="{colour}" x="{_LEFT}" y="{middle - 8}" width="{end - _LEFT:.1f}" height="16"/>'
        )
        lines.append(f'<text x="{end + 5:.1f}" y="{middle + 4}">{rate(row.rate_gb_s)}</text>')
    return "\n".join([*lines, "</svg>"])


def _begun(title, rows):
    height = _ROW * rows + 46
    return [
        f'<svg width="100%" viewBox="0 0 {_WIDTH} {height}" role="img">',
        f'<text class="title" x="0" y="14">{_html.escape(title)}</text>',
    ]


def _name(row, middle):
    return f'<text x="0" y="{middle + 4}">{_html.escape(f"{row.kind}: {row.where}")}</text>'


class _Axis:
    """A logarithmic axis over whole powers of ten: the ways differ by more than a hundred times."""

    def __init__(self, values):
        self._first = math.floor(math.log10(min(values)))
        self._last = max(math.ceil(math.log10(max(values))), self._first + 1)

    def at(self, value):
        share = (math.log10(value) - self._first) / (self._last - self._first)
        return _LEFT + share * _LENGTH

    def grid(self, rows, text):
        """A line for each power of ten, and what it is."""
        lines = []
        for power in range(self._first, self._last + 1):
            value = 10.0**power
            x = f"{self.at(value):.1f}"
            lines.append(f'<line class="grid" x1="{x}" x2="{x}" y1="38" y2="{_ROW * rows + 40}"/>')
            lines.append(f'<text class="mark" x="{x}" y="32">{text(value)}</text>')
        return lines
