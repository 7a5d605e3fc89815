"""What it takes to bring the columns of queries, and to answer these: a job of the command `paper`.

`hostwire run -n N python -m hostwire.warehouse._measure FOLDER` loads the Parquet files of a folder, and
prints a line of JSON for each figure as soon as it has it, so that a job that is ended loses only the others.
"""

import argparse
import functools
import json
import statistics
import time
from pathlib import Path

from . import _warehouse

# The columns that queries 1 and 21 read, including those of their conditions.
_LINES_1 = "quantity extendedprice discount tax returnflag linestatus shipdate"
_LINES_21 = "orderkey suppkey commitdate receiptdate"
COLUMNS = {
    "q1": {"lineitem": [f"l_{name}" for name in _LINES_1.split()]},
    "q21": {
        "lineitem": [f"l_{name}" for name in _LINES_21.split()],
        "orders": ["o_orderkey", "o_orderstatus"],
        "supplier": ["s_suppkey", "s_name", "s_nationkey"],
        "nation": ["n_nationkey", "n_name"],
    },
}
RUNS = 3
# If the runs of a figure take longer than this altogether, fewer are done, but at least one.
ENOUGH_S = 10.0
FIGURES = ("bytes", "bring_s", "answer_s")


def median_s(call, runs=RUNS, enough_s=ENOUGH_S):
    """The seconds of a call; the median of several, behind one that does not count if it is short."""
    taken = []
    for _ in range(runs + 1):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
        if sum(taken) >= enough_s:
            break
    return statistics.median(taken[1:] or taken)


def bring(warehouse, query):
    """Streams what a query reads, and drops it."""
    for name, columns in COLUMNS[query].items():
        for batch in warehouse.tables[name].to_batches(columns=columns):
            batch = None


def bytes_of(warehouse, query):
    """The bytes that `bring` moves."""
    warehouse.reset_counts()
    bring(warehouse, query)
    return warehouse.counts.moved_bytes


def measured(warehouse, engine, threads):
    """`query, figure, value` for each query and each of FIGURES: bytes, seconds to bring them, and seconds to
    answer."""
    for query in COLUMNS:
        yield query, "bytes", bytes_of(warehouse, query)
        yield query, "bring_s", median_s(lambda query=query: bring(warehouse, query))
    # Answers come last, since they may take longest.
    for query in COLUMNS:
        ask = functools.partial(warehouse.query, query, engine=engine, threads=threads)
        yield query, "answer_s", median_s(ask)


def main(arguments=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", default="duckdb")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--buffers", type=int, default=_warehouse.BUFFER_BYTES)
    options = parser.parse_args(arguments)

    def consume(warehouse):
        for path in sorted(options.folder.glob("*.parquet")):
            warehouse.load(path.stem, [path])
        for figure in measured(warehouse, options.engine, options.threads):
            print(json.dumps(figure), flush=True)

    _warehouse.run(consume, buffer_bytes=options.buffers)


if __name__ == "__main__":
    main()
