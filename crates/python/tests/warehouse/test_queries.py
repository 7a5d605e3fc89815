"""The 22 queries of TPC-H: each engine gives what it gives for the same data in local Parquet files."""

import pytest
from conftest import LITTLE_SCALE, SCALE

PROGRAM = """
import sys
from hostwire.warehouse import _tpch
SETTINGS = {}
engine, folder, scale = sys.argv[1], sys.argv[2], float(sys.argv[3])

def local(query):
    paths = {name: f"{folder}/{name}.parquet" for name in _tpch.TABLES}
    # Not where owners load it, too: engines take long to import.
    if engine == "polars":
        import polars
        from hostwire.warehouse import _polars_queries
        frames = {name: polars.scan_parquet(path) for name, path in paths.items()}
        return _polars_queries.query(query, scale)(frames).collect().to_arrow()
    text = _tpch.sql(query, scale)
    if engine == "datafusion":
        import datafusion
        context = datafusion.SessionContext()
        for name, path in paths.items():
            context.register_parquet(name, path)
        return context.sql(text).to_arrow_table()
    import duckdb
    with duckdb.connect() as connection:
        for name, path in paths.items():
            connection.execute(f"CREATE VIEW {name} AS SELECT * FROM '{path}'")
        return connection.sql(text).to_arrow_table()

def rows(table):
    return [tuple(row.values()) for row in table.to_pylist()]

def is_equal(one, other):
    # Sums of floating-point numbers depend on the order of rows.
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-12 * abs(other)
    return one == other

def main(w):
    w.load_tpch(scale, rows_max=max(4096, round(65536 * min(1, scale))))
    for query in _tpch.QUERIES:
        found, expected = w.query(query, engine=engine), local(query)
        assert found.column_names == expected.column_names, query
        found, expected = rows(found), rows(expected)
        is_same = len(found) == len(expected) and all(
            len(one) == len(other) and all(map(is_equal, one, other))
            for one, other in zip(found, expected)
        )
        assert is_same, (query, found[:3], expected[:3])
        assert expected or query in MAY_BE_EMPTY, f"{query} has no row"
    assert w.counts.buffers_most_bytes <= w.buffer_bytes
    print("22 queries")
"""


@pytest.mark.parametrize(
    "engine, scale", [("duckdb", SCALE), ("datafusion", LITTLE_SCALE), ("polars", LITTLE_SCALE)]
)
def test_results_are_those_of_local_files(warehouse, tpch, engine, scale):
    # With little data some filters match nothing.
    may_be_empty = {"q2", "q11", "q18", "q20"} if scale < 0.1 else set()
    lines = warehouse(
        4,
        f"MAY_BE_EMPTY = {may_be_empty!r}\n" + PROGRAM,
        arguments=[engine, tpch(scale), scale],
        launcher=["--heap", f"{1 + round(2 * scale)}G"],
    )
    assert lines == ["22 queries"]
