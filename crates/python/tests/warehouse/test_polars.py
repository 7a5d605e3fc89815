"""What of a predicate of Polars prunes row groups."""

import datetime
import decimal

import polars as pl
import pyarrow as pa
import pytest

from hostwire.warehouse._polars_source import _implied

SCHEMA = pa.schema(
    [("i", pa.int32()), ("s", pa.string()), ("d", pa.date32()), ("m", pa.decimal128(15, 2))]
)
I, S, D, M = (pl.col(name) for name in SCHEMA.names)
DAY = datetime.date(1998, 9, 2)


@pytest.mark.parametrize(
    "predicate, expected",
    [
        (I < 5, "(i < 5)"),
        (pl.lit(5) >= I, "(i <= 5)"),
        ((I > 1) & (I.abs() > 2) & (S == "x"), '((i > 1) and (s == "x"))'),
        (D <= DAY, "(d <= 1998-09-02)"),
        (M >= decimal.Decimal("0.05"), "(m >= 0.05)"),
        # Nothing is said of these.
        ((I < 5) | (S == "x"), "None"),
        (I != 5, "None"),
        (I < I, "None"),
        (~(I < 5), "None"),
        (pl.col("other") < 5, "None"),
        # A literal that the column's type does not have.
        (I < 1 << 40, "None"),
    ],
)
def test_comparisons_of_columns_with_literals(predicate, expected):
    assert str(_implied(predicate, SCHEMA)) == expected
