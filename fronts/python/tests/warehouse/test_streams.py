"""Loading and streaming, with real jobs."""

import os

import pytest
from conftest import ENGINES

# A table of 40 row groups, sorted by `key`; 64 kB of data each.
TABLE = """
rows, groups = 4000, 40
def make(path, begin=0, end=groups):
    keys = pa.array(range(begin * rows, end * rows))
    words = pc.binary_join_element_wise(pa.scalar("word"), keys.cast(pa.string()), "-")
    table = pa.table({"key": keys, "half": pc.divide(keys, 2), "word": words})
    pq.write_table(table, path, row_group_size=rows)
    return table
SETTINGS = {}
"""


def test_what_lies_behind_each_other_in_both_memories_is_one_part():
    from hostwire.warehouse._memory import add_part

    parts = []
    for part in [(64, 0, 10), (74, 10, 6), (80, 20, 5), (90, 25, 5), (95, 30, 1), (0, 31, 2)]:
        add_part(parts, *part)
    assert parts == [(64, 0, 16), (80, 20, 5), (90, 25, 6), (0, 31, 2)]


def test_a_table_comes_as_it_was_loaded(warehouse):
    warehouse(
        3,
        TABLE
        + """
def main(w):
    table = make("t.parquet")
    w.load("t", ["t.parquet"])
    t = w.tables["t"]
    assert (t.rows, t.row_groups, t.names) == (160_000, 40, ["key", "half", "word"])
    assert t.to_table().sort_by("key").equals(table)
    assert w.counts.batches == 40 and w.counts.moved_bytes == t.nbytes
    # Nothing moves for what nobody wants.
    w.reset_counts()
    assert t.count_rows() == 160_000 and w.counts.moved_bytes == 0
    assert t.to_table(columns=["half"]).num_columns == 1
    assert 160_000 * 8 <= w.counts.moved_bytes <= 160_000 * 8.1
    # Nor do row groups that a filter cannot match.
    w.reset_counts()
    found = t.to_table(columns=["word"], filter=(pc.field("key") >= 7999) & (pc.field("key") < 8001))
    assert found.sort_by("word").to_pydict() == {"word": ["word-7999", "word-8000"]}
    assert w.counts.batches == 2 and w.counts.pruned_groups == 38, vars(w.counts)
    w.reset_counts()
    assert t.to_table(filter=pc.field("word") == "none").num_rows == 0
    assert w.counts.batches == 0
    # DataFusion makes a scalar of a condition that is always the same.
    assert (t.count_rows(filter=pa.scalar(True)), t.count_rows(filter=pa.scalar(False))) == (160_000, 0)
    # DuckDB and Polars say what they need.
    for engine in ENGINES:
        w.reset_counts()
        found = w.query("SELECT sum(half) AS s FROM t WHERE key < 4000", engine=engine)
        assert found["s"].to_pylist() == [sum(key // 2 for key in range(4000))]
        assert w.counts.batches == 1, (engine, w.report())
    # DuckDB orders joins by how many rows there are; it has no statistics of a plain dataset.
    (plan,) = w.query("EXPLAIN SELECT key FROM t")["explain_value"].to_pylist()
    assert "160,000 rows" in plan, plan
    assert t.head(3, columns=["key"]).num_rows == 3
    # Parts of a table are the table.
    parts = [t.scanner(["key"], part=part, parts=3).to_table() for part in range(3)]
    assert pa.concat_tables(parts).sort_by("key") == table.select(["key"])
    print("done")
""",
    )


def test_the_buffers_stay_as_small_as_they_are(warehouse):
    """Also with streams that are open at once, and batches that somebody keeps."""
    warehouse(
        2,
        TABLE
        + """
SETTINGS["buffer_bytes"] = 2 << 20
def main(w):
    table = make("t.parquet")
    w.load("t", ["t.parquet"])
    t = w.tables["t"]
    assert t.nbytes > 2 * w.buffer_bytes
    # An engine that keeps all batches gets copies.
    kept = list(t.to_batches())
    assert pa.Table.from_batches(kept).sort_by("key").equals(table)
    assert 0 < w.counts.copied_bytes < w.counts.moved_bytes, w.report()
    # One that lets them go gets none.
    del kept
    w.reset_counts()
    for batch in t.to_batches():
        batch = None
    assert w.counts.copied_bytes == 0 and w.counts.moved_bytes == t.nbytes, w.report()
    # Several streams, each ahead of the others by turns.
    streams = [t.to_batches() for _ in range(5)]
    for turn in range(40):
        for stream in streams:
            next(stream)
    assert all(next(stream, None) is None for stream in streams)
    del stream, streams
    w._flow.sweep()
    assert w.counts.buffers_bytes == 0
    assert w.counts.buffers_most_bytes <= w.buffer_bytes
    # A batch that is kept is not stored over, also after its stream has ended.
    stream = t.to_batches()
    first = next(stream)
    was = first.to_pydict()
    del stream
    for _ in range(3):
        for batch in t.to_batches():
            batch = None
    assert first.to_pydict() == was
    # Nothing is left behind by a stream that is dropped in the middle.
    del first
    for _ in range(50):
        stream = t.to_batches()
        next(stream)
        del stream
    w._flow.sweep()
    assert w.counts.buffers_bytes == 0
    # More streams at once than have room are refused, and told why.
    streams = []
    try:
        for _ in range(100):
            streams.append(t.to_batches())
            next(streams[-1])
    except hostwire.CallerError as error:
        assert "have no room for batches" in str(error) and "--buffers" in str(error)
    else:
        raise AssertionError("not refused")
    print("done")
""",
    )


def test_ctrl_c_anywhere_in_a_credit(warehouse):
    """The next streams go on with the right numbers, whether the credit was sent or not."""
    warehouse(
        2,
        TABLE
        + """
SETTINGS["buffer_bytes"] = 2 << 20
def main(w):
    table = make("t.parquet")
    w.load("t", ["t.parquet"])
    t, job, send = w.tables["t"], w._memory.job, w._memory.job.send
    for turn in range(12):
        left = [turn // 2]
        def interrupted(*message):
            left[0] -= 1
            if left[0] < 0 and turn % 2:
                send(*message)
            if left[0] < 0:
                del job.send
                raise KeyboardInterrupt
            send(*message)
        job.send = interrupted
        try:
            t.to_table()
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("not interrupted")
        w._flow.sweep()
        assert w.counts.buffers_bytes == 0
        assert t.to_table().sort_by("key").equals(table)
    assert w.counts.damaged_groups == 0
    print("done")
""",
    )


def test_a_dropped_table_stays_for_who_reads_it(warehouse):
    warehouse(
        2,
        TABLE
        + """
def main(w):
    table = make("t.parquet")
    free = {pe: ranges.free_bytes for pe, ranges in w._stores.items()}
    w.load("t", ["t.parquet"])
    t = w.tables["t"]
    stream = t.to_batches()
    batches = [next(stream)]
    w.drop("t")
    assert "t" not in w.tables and w._stores[1].free_bytes < free[1]
    # A table of the same name, elsewhere.
    make("u.parquet", 40, 80)
    w.load("t", ["u.parquet"])
    batches += stream
    assert pa.Table.from_batches(batches).sort_by("key").equals(table)
    for read in (t.to_table, lambda: next(t.to_batches())):
        try:
            read()
        except hostwire.CallerError as error:
            assert "the table t was dropped" in str(error), error
        else:
            raise AssertionError("not refused")
    assert w.query("SELECT min(key) AS m FROM t").to_pylist() == [{"m": 160_000}]
    w.drop("t")
    assert {pe: ranges.free_bytes for pe, ranges in w._stores.items()} == free
    print("done")
""",
    )


def test_batches_outlive_the_job(warehouse):
    lines = warehouse(
        2,
        TABLE
        + """
def main(w):
    global kept
    make("t.parquet")
    w.load("t", ["t.parquet"])
    kept = next(w.tables["t"].to_batches())
import atexit
@atexit.register
def last():
    if "kept" in globals():
        print(kept.num_rows, pc.sum(kept["key"]).as_py() > 0)
""",
    )
    assert lines == ["4000 True"]


def test_a_job_of_one_pe_is_both(warehouse):
    warehouse(
        1,
        TABLE
        + """
def main(w):
    make("t.parquet")
    w.load("t", ["t.parquet"], rows_max=777)
    assert w.query("SELECT count(DISTINCT word) FROM t").to_pydict() == {"count(DISTINCT word)": [160_000]}
    assert w.tables["t"].row_groups == 40 * 6
""",
    )


def test_files_of_all_kinds(warehouse):
    warehouse(
        4,
        """
SETTINGS = {}
def main(w):
    # Dictionaries and views become plain; one large row group is spread over all owners.
    table = pa.table({
        "d": pa.array(["x", None, "y"] * 5000).dictionary_encode(),
        "l": pa.array([[1], [], None] * 5000),
        "n": pa.nulls(15_000),
        "fn": pa.array([[None, None], None, [None, None]] * 5000, pa.list_(pa.null(), 2)),
        "ln": pa.array([[[None]], [], None] * 5000, pa.list_(pa.list_(pa.null()))),
        "m": pa.array([[("x", 1), ("y", None)], [], None] * 5000, pa.map_(pa.string(), pa.int8())),
    })
    pq.write_table(table, "kinds.parquet")
    w.load("kinds", ["kinds.parquet"], rows_max=1000)
    kinds = w.tables["kinds"]
    assert kinds.schema.field("d").type == pa.string()
    assert kinds.to_table().sort_by("d")["d"].null_count == 5000
    # Arrow casts lists of nulls wrongly, also to what they are.
    plain = table.select(["fn", "ln"])
    w.insert("plain", plain.slice(3000).to_batches(), plain.schema)
    for name, rows in (("kinds", 5000), ("plain", 4000)):
        found = w.tables[name].to_table(columns=["fn", "ln"])
        assert found.schema == plain.schema and found["ln"].null_count == found["fn"].null_count == rows
        found.validate(full=True)
    maps = kinds.to_table(columns=["m"])["m"]
    assert maps.type == table["m"].type and maps.null_count == 5000
    assert sum(each == [("x", 1), ("y", None)] for each in maps.to_pylist()) == 5000
    assert {home[0] for group in kinds._catalogue.row_groups for home in group.homes} == {1, 2, 3}
    assert w.query("SELECT count(l) AS c, count(n) AS n, sum(len(l)) AS s FROM kinds").to_pylist() == [
        {"c": 10_000, "n": 0, "s": 5000}]
    # A table without rows.
    pq.write_table(pa.table({"a": pa.array([], pa.int8())}), "none.parquet")
    w.load("none", ["none.parquet"])
    assert w.query("SELECT count(*) AS c FROM none").to_pylist() == [{"c": 0}]
    assert w.tables["none"].to_table().schema.names == ["a"]
    # Batches of this process; a table that is dropped gives its memory back.
    free = [ranges.free_bytes for ranges in w._stores.values()]
    for _ in range(3):
        w.insert("mine", [pa.record_batch({"a": [1, 2, 3]})] * 7, pa.schema([("a", pa.int64())]), copies=2)
        assert w.query("SELECT sum(a) AS s FROM mine").to_pylist() == [{"s": 42}]
        w.drop("mine")
    assert [ranges.free_bytes for ranges in w._stores.values()] == free
    # Mistakes.
    pq.write_table(pa.table({"a": ["x"]}), "other.parquet")
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["x", "y"])])
    union = pa.record_batch({"u": union})
    with open("text.parquet", "w") as file:
        file.write("no Parquet at all")
    for call, text in (
        (lambda: w.load("kinds", ["none.parquet"]), "there is a table kinds"),
        (lambda: w.load("a b", ["none.parquet"]), "expected a word"),
        (lambda: w.load("a", []), "one or more files"),
        (lambda: w.load("a", ["missing.parquet"]), "missing.parquet"),
        (lambda: w.load("a", ["text.parquet"]), "Parquet magic bytes not found"),
        (lambda: w.load("a", ["none.parquet", "other.parquet"]), "do not have the same columns"),
        (lambda: w.insert("a", [union], union.schema), "column u: expected numbers, times, texts"),
        (lambda: w.insert("a", plain.to_batches(), pa.schema([("z", pa.int8())])), "expected rows with the columns ['z'], got"),
        (lambda: w.insert("a", [union], union.schema), "got the type sparse_union<0: int64=0, 1: string=1>"),
        (lambda: w.load("a", ["none.parquet"], copies=4), "expected 1 to 3"),
        (lambda: w.drop("a"), "there is no table a"),
        (lambda: w.query("SELECT * FROM missing"), "missing"),
        (lambda: w.query("q1"), "lineitem is not loaded"),
        (lambda: w.query("SELECT 1", engine="other"), "there is no engine other"),
        (lambda: w.query("SET threads = 1"), "locked"),
        (lambda: w.query("SELECT * FROM read_csv('/etc/passwd')"), "disabled"),
        (lambda: w.tables["kinds"].to_table(columns=["z"]), "expected names of columns of kinds, got z"),
    ):
        try:
            call()
        except hostwire.CallerError as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"not refused: {text}")
    assert w.query("SELECT count(*) AS c FROM kinds").to_pylist() == [{"c": 15_000}]
    print("done")
""",
    )


def test_a_table_that_an_engine_does_not_take_is_no_other_querys_matter(warehouse):
    """Nor is what an engine raises that is no Exception, as Polars does where Rust panics."""
    warehouse(
        1,
        """
SETTINGS = {}
def main(w):
    bad = {
        "half": pa.table({"h": pa.array([1], pa.float16()), "k": [1]}),
        "long": pa.table({"h": pa.array([1], pa.decimal256(60, 0)), "k": [1]}),
        "nothing": pa.table({}),
    }
    for name, table in {"good": pa.table({"k": [1, 2, 3]}), **bad}.items():
        w.insert(name, table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)], table.schema)
    refused = 0
    for engine in ENGINES:
        for _ in range(2):
            assert w.query("SELECT sum(k) AS s FROM good", engine=engine).to_pylist() == [{"s": 6}]
            for name in bad:
                try:
                    w.query(f"SELECT max(h) FROM {name}", engine=engine)
                except hostwire.CallerError as error:
                    assert str(error).startswith(engine), error
                    refused += 1
    assert refused >= 2 * len(ENGINES), refused
    # DuckDB does not look at case.
    assert w.query("SELECT sum(k) AS s FROM GOOD").to_pylist() == [{"s": 6}]
    class Panic(BaseException):
        pass
    def panics(*_):
        raise Panic("it panicked")
    warehouse.ENGINES["duckdb"] = panics
    try:
        w.query("SELECT sum(k) FROM good")
    except hostwire.CallerError as error:
        assert str(error) == "duckdb: it panicked", error
    else:
        raise AssertionError("not refused")
    print("done")
""",
    )


def test_a_full_owner_is_told(warehouse):
    warehouse(
        2,
        TABLE
        + """
def main(w):
    make("t.parquet")
    for _ in range(2):
        try:
            w.load("t", ["t.parquet"])
        except hostwire.CallerError as error:
            assert "the memory of PE 1 is full" in str(error), error
        else:
            raise AssertionError("not refused")
    assert w.store_bytes < 8 << 20
    print("done")
""",
        launcher=["--heap", "8M"],
    )


def test_damaged_memory_is_found(warehouse):
    """An owner's memory is changed behind its back."""
    warehouse(
        3,
        TABLE
        + """
def main(w):
    table = make("t.parquet")
    w.load("once", ["t.parquet"])
    w.load("twice", ["t.parquet"], copies=2)
    for name in ("once", "twice"):
        group = w.tables[name]._catalogue.row_groups[5]
        pe, at = group.homes[0]
        place = at + group.pieces[0].at + 100
        w._memory.store.put(pe, [255 - w._memory.store.get(pe, index=place, count=1)[0]], place)
        w._job.quiet()
    # The other owner has it, too.
    assert w.query("SELECT sum(key) AS s FROM twice")["s"].to_pylist() == [sum(range(160_000))]
    assert w.counts.damaged_groups == 1 and "they were damaged" in w.report()
    for engine in ENGINES:
        try:
            w.query("SELECT sum(key) FROM once", engine=engine)
        except warehouse.Damaged as error:
            bad = w.tables["once"]._catalogue.row_groups[5]
            assert error.pe == bad.homes[0][0]
            assert f"row group {bad.label} of once, column key, is damaged" in str(error), error
        else:
            raise AssertionError("damage was not found")
    # Other columns are as they were.
    assert w.query("SELECT sum(half) AS s FROM once")["s"].to_pylist() == [sum(k // 2 for k in range(160_000))]
    print("done")
""",
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_a_lost_owner(warehouse, engine):
    """It dies in the middle of a query: with copies the query goes on."""
    _, text = warehouse(
        4,
        TABLE
        + f"""
engine = {engine!r}
"""
        + """
import os, signal
with open(f"pid-{os.environ['PMI_RANK']}", "w") as file:
    file.write(str(os.getpid()))
def main(w):
    make("t.parquet")
    w.load("once", ["t.parquet"])
    w.load("twice", ["t.parquet"], copies=2)
    pid = int(open("pid-2").read())
    # It dies when the third batch has come; by then it has been asked for three at most.
    table, seen = w.tables["twice"], []
    whole = table._watched
    def watched(watch):
        came = watch.batch_came
        def batch_came():
            seen.append(1)
            if len(seen) == 3:
                os.kill(pid, signal.SIGKILL)
            came()
        watch.batch_came = batch_came
        return whole(watch)
    table._watched = watched
    found = w.query("SELECT sum(key) AS s, count(*) AS c FROM twice", engine=engine)
    assert found.to_pylist() == [{"s": sum(range(160_000)), "c": 160_000}]
    assert w.counts.lost_groups > 0 and "theirs is lost" in w.report(), w.report()
    print("went on", flush=True)
    try:
        w.query("SELECT sum(key) FROM once", engine=engine)
    except hostwire.PeerLost as error:
        assert error.pe == 2
        assert "PE 2 is lost, and with it" in str(error) and "--copies 2" in str(error), error
        print("told", flush=True)
    # New tables do without it.
    w.load("later", ["t.parquet"])
    assert w.query("SELECT count(*) AS c FROM later", engine=engine).to_pylist() == [{"c": 160_000}]
    print("loads", flush=True)
""",
        fails=True,
        launcher=["--keep-going"],
    )
    for word in ("went on", "told", "loads"):
        assert word in text, text
    assert "Traceback" not in text, text


@pytest.mark.skipif(os.geteuid() != 0, reason="hosts are made of this machine by root alone")
def test_a_host_that_dies(warehouse):
    """Two owners on each of two hosts, the consumer on a third; copies are on different hosts."""
    _, text = warehouse(
        6,
        TABLE
        + """
import os, signal
with open(f"pid-{os.environ['PMI_RANK']}", "w") as file:
    file.write(str(os.getpid()))
def main(w):
    make("t.parquet")
    assert w._job.node(0) == w._job.node(1) == 0 and w._job.node(5) == 2
    w.load("t", ["t.parquet"], copies=2)
    for group in w.tables["t"]._catalogue.row_groups:
        (one, _), (other, _) = group.homes
        assert w._job.node(one) != w._job.node(other)
    assert w.tables["t"].to_table().num_rows == 160_000
    stream = w.tables["t"].to_batches()
    rows = next(stream).num_rows
    for pe in (4, 5):
        os.kill(int(open(f"pid-{pe}").read()), signal.SIGKILL)
    rows += sum(batch.num_rows for batch in stream)
    assert rows == 160_000 and w.counts.lost_groups > 0, w.report()
    print("went on", flush=True)
""",
        fails=True,
        launcher=["--keep-going", "--wire", "udp", "--hosts", "3"],
    )
    assert "went on" in text and "Traceback" not in text, text
