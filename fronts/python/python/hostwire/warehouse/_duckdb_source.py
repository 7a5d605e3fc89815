"""Tables of a warehouse for DuckDB: as datasets of which it knows how many rows they have.

DuckDB orders joins by how many rows their sides have. Of a dataset it takes none, and then joins in whatever
order: query 21 of TPC-H takes several times as long.
"""


def source(table):
    """What to register for a table."""
    try:
        # DuckDB's own way to a dataset; it leaves out only the number of rows. No documented interface of DuckDB
        # takes it, so one without these modules gets the dataset: the answers are the same.
        from duckdb._sources.pyarrow import PyArrowDatasetSource
        from duckdb._sources.to_arrow import to_arrow
    except ImportError:
        return table

    class Source(PyArrowDatasetSource):
        """A dataset that says how many rows it has, and takes filters that spare row groups."""

        def rows(self):
            return self.obj.rows

        def accepts(self, predicate):
            # A filter that is not taken is DuckDB's own: it does not copy the rows that it keeps.
            if not super().accepts(predicate):
                return False
            return self.obj._pruning.spares(to_arrow(predicate, self.declared_schema()))

        # Objects without it are not registered. It is not called.
        def __arrow_c_stream__(self, requested_schema=None):
            return self.obj.scanner().to_reader().__arrow_c_stream__(requested_schema)

    return Source(table)
