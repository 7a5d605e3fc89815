"""Tables of a warehouse for Polars: as a source of its streaming engine."""

import decimal
import functools
import json
import operator

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from polars.io.plugins import register_io_source

_SIGNS = {
    "Lt": operator.lt,
    "LtEq": operator.le,
    "Gt": operator.gt,
    "GtEq": operator.ge,
    "Eq": operator.eq,
}
# The same comparison with its sides exchanged.
_TURNED = {"Lt": "Gt", "LtEq": "GtEq", "Gt": "Lt", "GtEq": "LtEq", "Eq": "Eq"}


def frame(table):
    """A lazy frame over a table."""
    schema = pl.from_arrow(table.schema.empty_table()).schema

    def source(with_columns, predicate, n_rows, batch_size):
        names = table.names if with_columns is None else with_columns
        groups = None
        if predicate is not None:
            wanted = set(names) | set(predicate.meta.root_names())
            columns = [name for name in table.names if name in wanted]
            groups = _implied(predicate, table.schema)
        else:
            columns = list(names)
        left = n_rows
        for batch in table.scanner(columns, only_groups_of=groups).to_batches():
            found = pl.from_arrow(batch)
            del batch
            if predicate is not None:
                found = found.filter(predicate)
            if left is not None:
                found = found.head(left)
                left -= len(found)
            yield found.select(names)
            if left == 0:
                return

    return register_io_source(source, schema=schema)


def _implied(predicate, schema):
    """What of a predicate of Polars can be said to Arrow: each row that Polars keeps matches it. None
    if nothing can."""
    try:
        tree = json.loads(predicate.meta.serialize(format="json"))
    except (ValueError, pl.exceptions.PolarsError):
        return None
    known = [said for part in _conjuncts(tree) if (said := _comparison(part, schema)) is not None]
    return functools.reduce(operator.and_, known) if known else None


def _conjuncts(tree):
    binary = tree.get("BinaryExpr") if isinstance(tree, dict) else None
    if isinstance(binary, dict) and binary.get("op") == "And":
        return _conjuncts(binary["left"]) + _conjuncts(binary["right"])
    return [tree]


def _comparison(tree, schema):
    """`column < literal` and the like, as an expression of Arrow."""
    binary = tree.get("BinaryExpr") if isinstance(tree, dict) else None
    if not isinstance(binary, dict) or binary.get("op") not in _SIGNS:
        return None
    left, right, sign = binary["left"], binary["right"], binary["op"]
    if _column(left) is None:
        left, right, sign = right, left, _TURNED[sign]
    name = _column(left)
    if name is None or name not in schema.names:
        return None
    bound = _bound(right, schema.field(name).type)
    return None if bound is None else _SIGNS[sign](pc.field(name), bound)


def _column(tree):
    name = tree.get("Column") if isinstance(tree, dict) else None
    return name if isinstance(name, str) else None


def _bound(tree, kind):
    """A literal as a value of a column's type. None if it is not exactly one: what is rounded excludes rows."""
    literal = tree.get("Literal") if isinstance(tree, dict) else None
    if not isinstance(literal, dict):
        return None
    # Without and with a type of its own.
    scalar = literal.get("Dyn", literal.get("Scalar"))
    if not isinstance(scalar, dict) or len(scalar) != 1:
        return None
    (name, value), *_ = scalar.items()
    is_a = pa.types
    try:
        if name.startswith(("Int", "UInt", "Float")) and is_a.is_floating(kind):
            bound = pa.scalar(float(value), kind)
            return bound if bound.as_py() == value else None
        if name.startswith(("Int", "UInt")):
            if is_a.is_integer(kind):
                return pa.scalar(value, kind)
            if is_a.is_decimal(kind):
                return pa.scalar(decimal.Decimal(value), kind)
        if name == "String" and (is_a.is_string(kind) or is_a.is_large_string(kind)):
            return pa.scalar(value, kind)
        if name == "Date" and is_a.is_date32(kind):
            return pa.scalar(value, pa.int32()).cast(kind)
        if name == "Decimal" and is_a.is_decimal(kind):
            digits, _, scale = value
            # Whose text is exact; arithmetic keeps 28 digits.
            return pa.scalar(decimal.Decimal(f"{digits}e{-scale}"), kind)
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError):
        # The type has no such value.
        pass
    return None
