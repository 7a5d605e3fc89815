"""What an engine gives for a query of TPC-H by itself, out of Parquet files. Also for bench/peers/warehouse_queries.py."""

from hostwire.warehouse import _tpch


# Engines are imported in the functions: they take long to import, and owners load this module, too.
def local(engine, query, folder, scale):
    """The answer of an engine that reads the files of a folder itself."""
    paths = {name: f"{folder}/{name}.parquet" for name in _tpch.tables_of(query)}
    if engine == "polars":
        import polars
        from hostwire.warehouse import _polars_queries

        frames = {name: polars.scan_parquet(path) for name, path in paths.items()}
        return _polars_queries.query(query, scale)(frames).collect(engine="streaming").to_arrow()
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


# For queries whose order has ties, the columns that define the order: rows that are equal in them come in any order.
_TIES = {"q11": "value"}


def are_same(one, other, query):
    """Whether two answers to a query have the same columns, and the same rows in the order that the query asks for."""
    if one.column_names != other.column_names or one.num_rows != other.num_rows:
        return False
    if query in _TIES:
        keys = (table[_TIES[query]].to_pylist() for table in (one, other))
        if not all(map(_are_equal, *keys)):
            return False
        one, other = (table.sort_by([(name, "ascending") for name in table.column_names]) for table in (one, other))
    rows = zip(one.to_pylist(), other.to_pylist(), strict=True)
    return all(all(map(_are_equal, row.values(), its.values())) for row, its in rows)


def _are_equal(one, other):
    # Sums of floating-point numbers depend on the order of rows.
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-12 * abs(other)
    return one == other
