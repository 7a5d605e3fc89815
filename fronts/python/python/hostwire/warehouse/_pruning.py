"""Which row groups a filter can match: nothing else decides it.

Arrow does, and gets the statistics as what is guaranteed of a fragment. It may only be asked what it answers
rightly: tests/warehouse/test_pruning.py compares random filters, of all types and engines, with no pruning.
"""

import functools
import math
import operator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
from pyarrow import fs


class Pruning:
    """What the statistics of a table say of filters. Row groups are their numbers."""

    def __init__(self, catalogue):
        self._schema = catalogue.schema
        self._row_groups = catalogue.row_groups
        self._statistics = catalogue.statistics

    def may_match(self, filter, groups):
        """The row groups of these that may have a row that `filter` matches."""
        if _has_nan(filter):
            return groups
        wanted = self.columns_of(filter)
        try:
            fragments = [
                _FORMAT.make_fragment(str(group), _FILES, self._guarantee(wanted, group)) for group in groups
            ]
            dataset = pads.FileSystemDataset(fragments, self._schema, _FORMAT, _FILES)
            return [int(fragment.path) for fragment in dataset.get_fragments(filter)]
        except (pa.ArrowException, TypeError):
            # A filter that Arrow cannot simplify: all of them may.
            return groups

    def all_match(self, filter, groups):
        """The row groups of these of which `filter` matches every row: it is never null, as no column that it
        names has nulls, and never false."""
        named = self.columns_of(filter)
        without_nulls = [group for group in groups if not any(self._nulls(column, group) for column in named)]
        return set(without_nulls).difference(self.may_match(~filter, without_nulls))

    def spares(self, filter):
        """Whether there are row groups in which `filter` matches nothing."""
        count = len(self._row_groups)
        return len(self.may_match(filter, range(count))) < count

    def columns_of(self, filter):
        """The columns, by number, that a filter may name. Arrow does not tell, but it prints them."""
        text = str(filter)
        if "FieldPath" in text or "FieldRef" in text:
            return list(range(len(self._schema)))
        return [place for place, name in enumerate(self._schema.names) if name in text]

    def _nulls(self, column, group):
        return self._row_groups[group].pieces[column].nodes[1]

    def _guarantee(self, columns, group):
        known = []
        for column in columns:
            least, greatest = (each[group] for each in self._statistics[column])
            if not (least.is_valid and greatest.is_valid):
                continue
            field = pc.field(self._schema.names[column])
            among = (field >= least) & (field <= greatest)
            known.append(among | field.is_null() if self._nulls(column, group) else among)
        return functools.reduce(operator.and_, known, pc.scalar(True))


# Format and file system of the fragments, which are never read.
_FORMAT = pads.ParquetFileFormat()
_FILES = fs.LocalFileSystem()


def _has_nan(filter):
    """Whether a filter has a NaN, or may have one. Arrow orders it above all numbers where it compares it with
    statistics, and nowhere where it compares it with values."""
    try:
        # How an expression is pickled: its literals are the columns of a batch.
        (data,) = filter.__reduce__()[1]
        with pa.ipc.open_file(data) as file:
            literals = file.get_batch(0).columns
        return any(_is_nan(each.to_pylist()) for each in literals if "float" in str(each.type) or "double" in str(each.type))
    except (pa.ArrowException, TypeError, ValueError):
        return True


def _is_nan(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return any(map(_is_nan, value))
    return isinstance(value, float) and math.isnan(value)
