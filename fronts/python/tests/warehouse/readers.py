"""Asks a table of random_tables.py by Arrow and by engines, with pruning and without. Runs in a job: see test_pruning.py."""

import functools
import os
import random

import pyarrow as pa
import pyarrow.compute as pc
import random_tables

from hostwire.warehouse import _engines
from hostwire.warehouse._pruning import Pruning

CONDITIONS = 8
# Tables of a type on which engines and bounds differ.
TURNS = 4 if os.environ.get("HOSTWIRE_TESTS_LONG") else 2


class NoPruning(Pruning):
    """Every row group comes, and every row is looked at."""

    def may_match(self, filter, groups):
        return groups

    def all_match(self, filter, groups):
        return set()

    def spares(self, filter):
        return False


def compare(w, reader, seed):
    """How many tables were compared, and how many row groups were spared."""
    compared = 0
    for number, kind in enumerate(random_tables.KINDS):
        for turn in range(TURNS if kind in random_tables.DIFFICULT else 1):
            choose = random.Random(f"{seed} {number} {turn}")
            table, pool = random_tables.table_of(choose, kind)
            conditions = [random_tables.condition_of(choose, pool) for _ in range(CONDITIONS)]
            w.insert("t", random_tables.batches_of(table), table.schema)
            pruned = w.tables["t"]
            plain = pruned._watched(None)
            plain._pruning = NoPruning(pruned._catalogue)
            try:
                expected = READERS[reader](plain, conditions)
            except BaseException as error:
                # Not every engine takes every type. A panic of Rust is no Exception.
                print(f"{reader}, {kind}: {error}")
            else:
                found = READERS[reader](pruned, conditions)
                compared += 1
                assert found == expected, _difference(seed, table, conditions, found, expected)
            w.drop("t")
    return compared, w.counts.pruned_groups


def _difference(seed, table, conditions, found, expected):
    place = next(place for place, each in enumerate(found) if each != expected[place])
    what = f"{table['v'].type}, {conditions[place]}: rows {found[place]}, not {expected[place]}"
    return f"HOSTWIRE_TEST_SEED={seed}: {what} of {table['v'].to_pylist()}"


def by_arrow(table, conditions):
    class Literal:
        of = staticmethod(lambda value: value)
        isin = staticmethod(lambda column, values: column.isin(pa.array(values, values[0].type)))

    filters = [random_tables.expression_of(each, pc.field("v"), Literal) for each in conditions]
    return [sorted(table.to_table(columns=["id"], filter=each)["id"].to_pylist()) for each in filters]


def by_polars(table, conditions):
    import polars as pl

    from hostwire.warehouse import _polars_source

    def series(values):
        return pl.from_arrow(pa.array(values, values[0].type))

    class Literal:
        of = staticmethod(lambda value: pl.lit(series([value])[0]))
        isin = staticmethod(lambda column, values: column.is_in(series(values).implode()))

    filters = [random_tables.expression_of(each, pl.col("v"), Literal) for each in conditions]
    frame = _polars_source.frame(table)
    return [sorted(each["id"].to_list()) for each in pl.collect_all([frame.filter(each) for each in filters])]


def by_sql(engine, literal):
    def ask(table, conditions):
        # One query for all of them: engines take long to start.
        texts = [random_tables.sql_of(each, literal) for each in conditions]
        text = " UNION ALL ".join(f"SELECT {place} AS c, id FROM t WHERE {each}" for place, each in enumerate(texts))
        found = [[] for _ in conditions]
        for row in _engines.run(engine, text, {"t": table}, threads=1).to_pylist():
            found[row["c"]].append(row["id"])
        return list(map(sorted, found))

    return ask


@functools.cache
def duckdb_():
    import duckdb

    return duckdb.connect()


@functools.cache
def duckdb_text(value):
    duckdb_().register("p", pa.table({"v": pa.array([value], value.type)}))
    ((kind, text),) = duckdb_().execute("SELECT typeof(v), CAST(v AS VARCHAR) FROM p").fetchall()
    return f"CAST({_quoted(text)} AS {kind})"


def datafusion_text(value):
    kind = value.type
    if pa.types.is_boolean(kind):
        return str(value.as_py()).upper()
    if "binary" in str(kind):
        text = f"X'{value.as_py().hex()}'"
    elif pa.types.is_decimal(kind):
        text = _quoted(f"{value.as_py():f}")
    elif pa.types.is_temporal(kind) and not pa.types.is_time(kind):
        text = value.value
    else:
        text = _quoted(str(value.cast(pa.string())))
    return f"arrow_cast({text}, '{_datafusion_type(kind)}')"


def _quoted(text):
    return "'" + text.replace("'", "''") + "'"


_DATAFUSION = {
    "halffloat": "Float16",
    "float": "Float32",
    "double": "Float64",
    "string": "Utf8",
    "large_string": "LargeUtf8",
    "binary": "Binary",
    "large_binary": "LargeBinary",
    "fixed_size_binary[3]": "FixedSizeBinary(3)",
    "date32[day]": "Date32",
    "date64[ms]": "Date64",
}


def _datafusion_type(kind):
    text = str(kind)
    if text in _DATAFUSION:
        return _DATAFUSION[text]
    if pa.types.is_timestamp(kind):
        zone = "None" if kind.tz is None else f'Some("{kind.tz}")'
        return f"Timestamp({kind.unit}, {zone})"
    text = text.replace("uint", "UInt") if text.startswith("u") else text[0].upper() + text[1:]
    return text.replace("[", "(").replace("]", ")")


READERS = {
    "arrow": by_arrow,
    "polars": by_polars,
    "duckdb": by_sql("duckdb", duckdb_text),
    "datafusion": by_sql("datafusion", datafusion_text),
}
