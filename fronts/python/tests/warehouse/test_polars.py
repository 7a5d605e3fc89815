"""What of a predicate of Polars prunes row groups."""

import datetime
import decimal

import polars as pl
import pyarrow as pa
import pytest

from hostwire.warehouse._polars_source import _implied

SCHEMA = pa.schema(
    [
        ("i", pa.int32()),
        ("s", pa.string()),
        ("d", pa.date32()),
        ("m", pa.decimal128(15, 2)),
        ("long", pa.decimal128(38, 0)),
        ("f", pa.float32()),
    ]
)
I, S, D, M, LONG, F = (pl.col(name) for name in SCHEMA.names)
DAY = datetime.date(1998, 9, 2)


@pytest.mark.parametrize(
    "predicate, expected",
    [
        (I < 5, "(i < 5)"),
        (pl.lit(5) >= I, "(i <= 5)"),
        ((I > 1) & (I.abs() > 2) & (S == "x"), '((i > 1) and (s == "x"))'),
        (D <= DAY, "(d <= 1998-09-02)"),
        (M >= decimal.Decimal("0.05"), "(m >= 0.05)"),
        # Arrow gets nothing for these.
        ((I < 5) | (S == "x"), "None"),
        (I != 5, "None"),
        (I < I, "None"),
        (~(I < 5), "None"),
        (pl.col("other") < 5, "None"),
        # A literal with more digits than Python's arithmetic has.
        (decimal.Decimal(10**28 + 1) == LONG, "(long == 10000000000000000000000000001)"),
        (F > 0.5, "(f > 0.5)"),
        (F > 2, "(f > 2)"),
        # Literals that the column's type cannot represent exactly.
        (I < 1 << 40, "None"),
        (I < 1 << 70, "None"),
        (F > 0.1, "None"),
        (F < float("nan"), "None"),
        ((1 << 24) + 1 > F, "None"),
        (M < decimal.Decimal("0.001"), "None"),
    ],
)
def test_comparisons_of_columns_with_literals(predicate, expected):
    assert str(_implied(predicate, SCHEMA)) == expected
