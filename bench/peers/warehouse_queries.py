"""Queries of TPC-H on streams of a warehouse and on local Parquet files, compared; and the memory of the consumer.

    tpchgen-cli parquet --scale-factor 10 --output-dir FOLDER
    hostwire run -n 3 --heap 7700M python bench/peers/warehouse_queries.py FOLDER 10 duckdb:q1,q21 polars:all

FOLDER has a Parquet file for each table. Only tables that the queries read are loaded: at scale factor 10 all of
them take 14 GB, over all owners. A line for each query says whether both gave the same rows, the seconds of both, what
moved, and the most memory of the consumer meanwhile: `shared` is the buffers into which tables are streamed and the
rest of the symmetric heap, `own` what the engine and Python took.
"""

import sys
import threading
import time
from pathlib import Path

import hostwire.warehouse as warehouse
from hostwire.warehouse import _tpch

sys.path.insert(0, str(Path(__file__).parents[2] / "fronts/python/tests/warehouse"))
from answers import are_same, local

LOOK_S = 0.05


class Memory(threading.Thread):
    """The most memory of this process while it runs, in GB."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most = {"RssShmem": 0.0, "RssAnon": 0.0}
        self._ends = threading.Event()

    def run(self):
        while not self._ends.wait(LOOK_S):
            with open("/proc/self/status") as file:
                for line in file:
                    name, _, value = line.partition(":")
                    if name in self.most:
                        self.most[name] = max(self.most[name], int(value.split()[0]) / 1e6)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        self.join()


def compare(w, engine, query, folder, scale):
    w.reset_counts()
    with Memory() as memory:
        begin = time.perf_counter()
        found = w.query(query, engine=engine)
        streamed_s = time.perf_counter() - begin
    begin = time.perf_counter()
    expected = local(engine, query, folder, scale)
    local_s = time.perf_counter() - begin
    verdict = "equal" if are_same(found, expected, query) else "DIFFERENT"
    shared, own = memory.most.values()
    print(
        f"{engine} {query}: {verdict}, {found.num_rows} rows; {streamed_s:.2f} s on streams, {local_s:.2f} s on local "
        f"Parquet; {w.report()}; memory {shared:.2f} GB shared, {own:.2f} GB own",
        flush=True,
    )
    return verdict == "equal"


def main():
    folder, scale, *wanted = sys.argv[1:]
    scale = float(scale)
    asked = []
    for each in wanted:
        engine, _, queries = each.partition(":")
        queries = _tpch.QUERIES if queries == "all" else queries.split(",")
        asked += [(engine, query) for query in queries]

    def consume(w):
        names = {name for _, query in asked for name in _tpch.tables_of(query)}
        begin = time.perf_counter()
        for name in sorted(names):
            w.load(name, [f"{folder}/{name}.parquet"])
        w.scale = scale
        held = sum(table.nbytes for table in w.tables.values()) / 1e9
        print(f"{held:.2f} GB loaded in {time.perf_counter() - begin:.1f} s", flush=True)
        results = [compare(w, engine, query, folder, scale) for engine, query in asked]
        if not all(results):
            sys.exit("some results are different")

    warehouse.run(consume)


main()
