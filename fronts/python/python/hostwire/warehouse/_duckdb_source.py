"""Tables of a warehouse for DuckDB: as datasets of which it knows how many rows they have.

DuckDB orders joins by how many rows their sides have. Of a dataset it takes none, and then joins in whatever
order: query 21 of TPC-H takes several times as long.
"""


def source(table):
    """What to register for a table."""
    try:
        # DuckDB's own source for datasets, which lacks only the number of rows. No documented interface of
        # DuckDB takes that number. A DuckDB without these modules gets the dataset: the answers are the same.
        from duckdb._sources.pyarrow import PyArrowDatasetSource
        from duckdb._sources.to_arrow import to_arrow
    except ImportError:
        return table

    class Source(PyArrowDatasetSource):
        """A dataset that says how many rows it has, and takes filters that spare row groups."""

        def rows(self):
            return self.obj.rows

        def accepts(self, predicate):
            # DuckDB applies a filter that is refused here: it does not copy the rows that it keeps.
            if not super().accepts(predicate):
                return False
            return self.obj._pruning.spares(to_arrow(predicate, self.declared_schema()))

        # DuckDB registers only objects that have this method. It does not call it.
        def __arrow_c_stream__(self, requested_schema=None):
            return self.obj.scanner().to_reader().__arrow_c_stream__(requested_schema)

    return Source(table)
