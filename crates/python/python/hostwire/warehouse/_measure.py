"""What it takes to bring the columns of queries, and to answer these: a job of the command `paper`.

`hostwire run -n N python -m hostwire.warehouse._measure FOLDER` loads the Parquet files of a folder, and
prints a line of JSON.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

from . import _warehouse

# The columns that queries 1 and 21 read, those of their conditions among them.
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


def median_s(call, runs=RUNS):
    """The seconds of a call; the median of several, behind one that does not count."""
    call()
    taken = []
    for _ in range(runs):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


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
    """For each query: bytes, seconds to bring them, and seconds to answer."""
    found = {}
    for query in COLUMNS:
        found[query] = {
            "bytes": bytes_of(warehouse, query),
            "bring_s": median_s(lambda query=query: bring(warehouse, query)),
            "answer_s": median_s(
                lambda query=query: warehouse.query(query, engine=engine, threads=threads)
            ),
        }
    return found


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
        print(json.dumps(measured(warehouse, options.engine, options.threads)), flush=True)

    _warehouse.run(consume, buffer_bytes=options.buffers)


if __name__ == "__main__":
    main()
