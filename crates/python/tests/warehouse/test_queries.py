"""The 22 queries of TPC-H: each engine gives what it gives for the same data in local Parquet files."""

from pathlib import Path

import pytest
from conftest import ENGINES, LITTLE_SCALE, SCALE

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
