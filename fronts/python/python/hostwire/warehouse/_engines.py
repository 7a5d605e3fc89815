"""Engines: they read tables of the warehouse as streams of record batches."""

import contextlib
import re

import pyarrow as pa

from ..errors import CallerError, EnvironmentFault
from . import _tpch


def _module(name):
    try:
        return __import__(name)
    except ImportError as error:
        raise EnvironmentFault(
            f"the engine {name} is not installed: pip install 'hostwire[warehouse]'"
        ) from error


@contextlib.contextmanager
def _taking(engine, name):
    """Says which table has what an engine does not take."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise CallerError(f"{engine} does not take the table {name}: {error}") from error


def _duckdb(text, tables, threads):
    duckdb = _module("duckdb")
    from . import _duckdb_source

    with duckdb.connect() as connection:
        if threads:
            connection.execute(f"SET threads = {int(threads)}")
        for name, table in tables.items():
            known = isinstance(table, pa.Table)
            with _taking("duckdb", name):
                connection.register(name, table if known else _duckdb_source.source(table))
        # The query reads these tables, and no files of this machine.
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        result = connection.sql(text)
        if result is None:
            raise CallerError(f"expected a query with a result, got {text!r}")
        return result.to_arrow_table()


def _datafusion(text, tables, threads):
    datafusion = _module("datafusion")
    config = datafusion.SessionConfig()
    if threads:
        config = config.with_target_partitions(int(threads))
    context = datafusion.SessionContext(config)
    for name, table in tables.items():
        with _taking("datafusion", name):
            context.register_dataset(name, table)
    allowed = datafusion.SQLOptions().with_allow_ddl(False).with_allow_dml(False)
    allowed = allowed.with_allow_statements(False)
    return context.sql_with_options(text, allowed).to_arrow_table()


def _polars(text, tables, threads):
    polars = _module("polars")
    from . import _polars_source

    frames = {}
    for name, table in tables.items():
        with _taking("polars", name):
            frames[name] = _polars_source.frame(table)
    if callable(text):
        lazy = text(frames)
    else:
        lazy = polars.SQLContext(frames).execute(text)
    return lazy.collect(engine="streaming").to_arrow()


ENGINES = {"duckdb": _duckdb, "datafusion": _datafusion, "polars": _polars}


def run(engine, text, tables, scale=1.0, threads=None):
    """The result of a query as a `pyarrow.Table`. `text` is SQL, or q1 to q22 for those of TPC-H.

    Raises CallerError for what the engine refuses.
    """
    if engine not in ENGINES:
        raise CallerError(f"there is no engine {engine}; expected one of {', '.join(ENGINES)}")
    _tpch.check(text)
    # An engine gets only tables that the query names: others may have columns that it does not take.
    if _tpch.is_query(text):
        named = _tpch.tables_of(text)
        missing = [name for name in named if name not in tables]
        if missing:
            raise CallerError(f"{text} is a query of TPC-H, and the table {missing[0]} is not loaded")
        if engine == "polars":
            from . import _polars_queries

            text = _polars_queries.query(text, scale)
        else:
            text = _tpch.sql(text, scale)
    else:
        words = set(re.findall(r"\w+", text.casefold()))
        named = [name for name in tables if name.casefold() in words]
    result = ENGINES[engine](text, {name: tables[name] for name in named}, threads)
    return result if isinstance(result, pa.Table) else pa.table(result)
