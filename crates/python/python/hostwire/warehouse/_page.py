"""The page of `hostwire-warehouse paper --html`. It needs no other file and no network."""

import html as _html

from ._paper import NOTES

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; padding: .25em .6em; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child, td:first-child, th:last-child, td:last-child { text-align: left; white-space: normal; }
.simulated { background: #f3f7fd; } .paper { background: #faf6ec; }
.bar { fill: #3b6ea5; } .simulated-bar { fill: #8fb3da; } .paper-bar { fill: #d2a640; }
svg text { font: 12px system-ui, sans-serif; }
"""


def html(questions, options):
    """The page: a table and a chart for each query."""
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
        parts += [_table(question), _chart(question)]
    parts += [f"<p>{_html.escape(note)}</p>" for note in NOTES]
    return "\n".join(parts) + "\n"


def _table(question):
    head = "where,bring (s),Gb/s,compute (s),both (s),limit".split(",")
    rows = ["<tr>" + "".join(f"<th>{each}</th>" for each in head) + "</tr>"]
    for row in question.rows:
        figures = (row.bring_s, row.rate_gb_s, row.compute_s, row.answer_s)
        cells = [f"{row.kind}: {row.where}", *(_figure(each) for each in figures), row.limit]
        cells = "".join(f"<td>{_html.escape(each)}</td>" for each in cells)
        rows.append(f'<tr class="{row.kind}">{cells}</tr>')
    return "<table>" + "\n".join(rows) + "</table>"


def _figure(value):
    return "" if value is None else f"{value:.4g}"


def _chart(question):
    """Bars: the rates at which columns come."""
    rows = [row for row in question.rows if row.rate_gb_s is not None]
    most = max(row.rate_gb_s for row in rows)
    lines = [f'<svg width="100%" viewBox="0 0 900 {22 * len(rows) + 26}" role="img">']
    lines.append('<text x="0" y="14">Gb/s at which the columns come</text>')
    for place, row in enumerate(rows):
        y = 22 * place + 22
        width = 480 * row.rate_gb_s / most
        colour = "bar" if row.kind == "measured" else f"{row.kind}-bar"
        lines.append(f'<text x="0" y="{y + 14}">{_html.escape(f"{row.kind}: {row.where}")}</text>')
        lines.append(f'<rect class="{colour}" x="340" y="{y + 2}" width="{width:.1f}" height="16"/>')
        lines.append(f'<text x="{345 + width:.1f}" y="{y + 14}">{row.rate_gb_s:.2f}</text>')
    return "\n".join([*lines, "</svg>"])
