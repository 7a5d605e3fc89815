"""The command `paper`: its simulated rows, its table and its page."""

import argparse
import html.parser
import os
import re
import signal
import subprocess
import sys

import pytest

from hostwire.warehouse import _page, _paper


def test_simulated_adapters_have_the_rates_of_the_model():
    """With both optimisations 6.99 Gb/s for one sender, three times that for three, 3.5 times for seven."""
    rows = _paper.simulated("q1", 64 * 500_000)
    assert [row.where for row in rows] == ["HTEA, 2 nodes", "HTEA, 4 nodes", "HTEA, 8 nodes"]
    assert [row.rate_gb_s for row in rows] == pytest.approx([6.99, 20.97, 24.47], rel=2e-3)
    for row in rows:
        assert row.bring_s * row.rate_gb_s == pytest.approx(64 * 500_000 * 8 / 1e9)
        # 1 GB in 0.002844 s.
        assert row.compute_s == pytest.approx(0.002844 * 64 * 500_000 / 1e9)
        assert row.limit == "de-encapsulation"


def test_pci_express_limits_query_21_with_eight_nodes():
    *_, eight = _paper.simulated("q21", 64 * 500_000 - 1)
    assert eight.limit == "PCI Express" and 24.0 < eight.rate_gb_s < 24.14


# A run that is still making its data.
RUNNING = """
import argparse, sys, time
from hostwire.warehouse import _paper

def make(folder, scale):
    print(folder, flush=True)
    time.sleep(1000)

_paper._make = make
_paper.asked(argparse.Namespace(wires=[], scratch=sys.argv[1], scale=0.001))
"""


def test_a_killed_run_leaves_what_the_next_one_removes(tmp_path, monkeypatch):
    def folders_of_a_run():
        seen = []

        def make(folder, scale):
            seen.extend(each.name for each in tmp_path.iterdir())
            raise KeyboardInterrupt

        monkeypatch.setattr(_paper, "_make", make)
        with pytest.raises(KeyboardInterrupt):
            _paper.asked(argparse.Namespace(wires=[], scratch=str(tmp_path), scale=0.001))
        return seen

    command = [sys.executable, "-c", RUNNING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        theirs = os.path.basename(running.stdout.readline().strip())
        assert theirs.startswith("hostwire-paper-")
        seen = folders_of_a_run()
        assert theirs in seen and len(seen) == 2
        running.send_signal(signal.SIGKILL)
    assert [each.name for each in tmp_path.iterdir()] == [theirs]
    (tmp_path / theirs / "lineitem.parquet").write_bytes(b"x")
    seen = folders_of_a_run()
    assert theirs not in seen and len(seen) == 1
    assert not list(tmp_path.iterdir())


EMPTY = ("rect", "line", "circle")


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "html", *EMPTY):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag in EMPTY or self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_has_what_the_table_has():
    rows = [_paper._local_row({"bytes": 8000, "bring_s": 0.5, "answer_s": 0.25}), *_paper.published("q1")]
    rows.append(_paper.Row("xdp, 3 hosts", "measured", limit="not run: <no root>"))
    questions = [_paper.Question("q1", 8000, rows)]
    options = argparse.Namespace(scale=1.0, engine="duckdb")
    text = _paper.text_of(questions, options)
    assert "measured: local memory" in text and "500 ms" in text and "24.45" in text and "<no root>" in text
    tags = Tags()
    tags.feed(_page.html(questions, options))
    assert not tags.open
    page = "".join(tags.text)
    for row in rows:
        assert row.where in page and row.limit in page
    # All that is drawn lies in the picture, and a row without figures is not drawn.
    drawn = [float(x) for x in re.findall(r' (?:cx|x|x1|x2)="([^"]*)"', _page.html(questions, options))]
    assert drawn and 0 <= min(drawn) and max(drawn) <= 850
    assert page.count("xdp, 3 hosts") == 1 and page.count("local memory") == 3


@pytest.mark.parametrize(
    "value, text",
    [
        (None, ""),
        (0.0, "0.00 us"),
        (1.336e-5, "13.4 us"),
        (0.0028444, "2.84 ms"),
        (0.09999, "100 ms"),
        (12.3456, "12.3 s"),
        (1234.6, "1235 s"),
    ],
)
def test_seconds_have_three_digits(value, text):
    assert _paper.seconds(value) == text


@pytest.mark.parametrize(
    "found, trouble, limit, has_answer",
    [
        ({"bytes": 8000, "bring_s": 0.5, "answer_s": 1.0}, "not run", "the wire", True),
        ({"bytes": 8000, "bring_s": 0.1}, "not finished in 7 s", "the engine; not finished in 7 s", False),
        ({"bytes": 8000}, "not finished in 7 s", "not finished in 7 s", False),
        ({}, "not run: no root", "not run: no root", False),
    ],
)
def test_what_a_job_has_measured_is_kept(found, trouble, limit, has_answer):
    row = _paper._job_row("xdp, 3 hosts", "xdp", found, {"answer_s": 0.25}, trouble)
    assert row.limit == limit and (row.answer_s is not None) == has_answer
    assert (row.rate_gb_s is None) == ("bring_s" not in found)


def test_the_command_measures_shared_memory(command, tmp_path):
    """The wires between hosts need root, and minutes: they are tried by hand."""
    page = tmp_path / "page.html"
    status, text, errors = command(
        "paper", "--scale", "0.01", "--wires", "", "--memory", "256M", "--buffers", "32M", "--html", page
    )
    assert status == 0, errors
    for query in ("Q1", "Q21"):
        part = text.split(f"{query}: ")[1].split("\n\n")[0]
        for where in ("local memory", "shared memory, 2 owners", "HTEA, 8 nodes", "adapters, 8 nodes"):
            assert where in part
        assert "not run" not in part
    assert page.read_text().startswith("<!doctype html>")
