"""The 22 queries of TPC-H: each engine gives what it gives for the same data in local Parquet files."""

import fcntl
import os
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest import ENGINES, LITTLE_SCALE, SCALE

from hostwire.errors import CallerError
from hostwire.warehouse import _scratch, _tpch

PROGRAM = """
import sys
from hostwire.warehouse import _tpch
from answers import are_same, local
SETTINGS = {}
engine, folder, scale = sys.argv[1], sys.argv[2], float(sys.argv[3])

def main(w):
    w.load_tpch(scale, rows_max=max(4096, round(65536 * min(1, scale))))
    for query in _tpch.QUERIES:
        found, expected = w.query(query, engine=engine), local(engine, query, folder, scale)
        assert are_same(found, expected, query), (query, found.slice(0, 3), expected.slice(0, 3))
        assert expected.num_rows or query in MAY_BE_EMPTY, f"{query} has no row"
    assert w.counts.buffers_most_bytes <= w.buffer_bytes
    print("22 queries")
"""
FOLDER = str(Path(__file__).parent)


@pytest.mark.parametrize("engine", ENGINES)
def test_results_are_those_of_local_files(warehouse, tpch, engine):
    scale = SCALE if engine == "duckdb" else LITTLE_SCALE
    # With little data some filters match nothing.
    may_be_empty = {"q2", "q11", "q18", "q20"} if scale < 0.1 else set()
    lines = warehouse(
        4,
        f"import sys\nsys.path.insert(0, {FOLDER!r})\nMAY_BE_EMPTY = {may_be_empty!r}\n" + PROGRAM,
        arguments=[engine, tpch(scale), scale],
        launcher=["--heap", f"{1 + round(2 * scale)}G"],
    )
    assert lines == ["22 queries"]


def test_generation_leaves_no_files(tmp_path):
    """Files have names only while tpchgen-cli writes; what `kill -9` leaves then, the next one removes."""
    source = {"scale": 0.001, "scratch": str(tmp_path), "tables": ["nation", "orders"]}
    parts, rows = _tpch.Parts(), 0
    for part in range(3):
        rows += pq.read_table(parts.file("orders", source, part, 3)).num_rows
    # Files may be read again.
    for part, length in ((0, 25), (0, 25), (2, None)):
        file = parts.file("nation", source, part, 3)
        assert (None if file is None else pq.read_table(file).num_rows) == length
    assert rows == 1500 and not list(tmp_path.iterdir())
    parts.clear()
    # One folder that another process uses, as a generator does whose owner is gone; and one that no process uses.
    used = tmp_path / "hostwire-tpch-used"
    used.mkdir()
    left = tmp_path / "hostwire-tpch-left" / "orders"
    left.mkdir(parents=True)
    (left / "orders.parquet").write_bytes(b"x")
    lock = os.open(used, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[lock]) as orphan:
        os.close(lock)
        with _scratch.folder("hostwire-tpch-", tmp_path) as (folder, _):
            assert sorted(tmp_path.iterdir()) == sorted([used, folder])
        orphan.stdin.close()
    with _scratch.folder("hostwire-tpch-", tmp_path) as (folder, _):
        assert list(tmp_path.iterdir()) == [folder]
    assert not list(tmp_path.iterdir())
    # A mistake leaves nothing, either.
    with pytest.raises(CallerError, match="has made no tables"):
        parts.file("other", {**source, "tables": ["other"]}, 0, 1)
    assert not list(tmp_path.iterdir())
