"""Random tables and filters: a column `v` of some type, values that lie close together, and rows of their own number `id`."""

import decimal
import operator
import string

import numpy as np
import pyarrow as pa

ROWS_OF_GROUP = 4
GROUPS = 12


def _integers(bits, is_signed=True):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    # Also integers that floating-point numbers cannot represent.
    centres = [each for each in (low, high, 0, 100, 1 << 11, 1 << 24, 1 << 53, -(1 << 53)) if low <= each <= high]

    def make(choose, kind):
        some = choose.choices(centres, k=2)
        near = [choose.choice(some) + choose.randrange(-9, 10) for _ in range(40)]
        return pa.array([each for each in near if low <= each <= high], kind)

    return make


def _counts(choose, kind):
    """Times, as the numbers that they are: small ones, whole ones of larger units, and large ones."""
    bits = kind.bit_width
    unit = choose.choice([1, 1000, 10**6, 10**9] if bits == 64 else [1, 1000])
    # Values within a day are valid for every type.
    numbers = [choose.randrange(-30, 30) * unit + choose.choice([0, 0, 1]) for _ in range(40)]
    if pa.types.is_time(kind):
        numbers = list(map(abs, numbers))
        units = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}[kind.unit]
        numbers = [number % (86_400 * units) for number in numbers]
    if kind == pa.date64():
        numbers = [number * 86_400_000 for number in range(-20, 20)]
    array = pa.array(numbers, pa.int64() if bits == 64 else pa.int32())
    return pa.Array.from_buffers(kind, len(array), array.buffers())


def _floats(choose, kind):
    some = [0.0, -0.0, float("inf"), float("-inf"), 5e-324, -5e-324, 0.1, 1 / 3, 16777217.0, 9007199254740992.0, 1.5, -2.0]
    # Tables with NaN and without, which have statistics everywhere.
    some += [float("nan")] * choose.choice([0, 6])
    values = [choose.choice(some) for _ in range(20)] + [choose.randrange(-40, 40) / 4 for _ in range(20)]
    with np.errstate(over="ignore"):
        return pa.array(np.array(values, kind.to_pandas_dtype()), kind)


def _decimals(choose, kind):
    most = 10**kind.precision - 1
    centres = [each for each in (0, most, -most, 10**28, 3 * 10**32, -(10**36), 10**37) if abs(each) <= most]
    some = choose.choices(centres, k=2)
    near = [choose.choice(some) + choose.randrange(-9, 10) for _ in range(40)]
    # Text is exact; arithmetic is rounded to 28 digits.
    return pa.array([decimal.Decimal(f"{each}e{-kind.scale}") for each in near if abs(each) <= most], kind)


def _text(choose):
    front = choose.choice(["", "word ", "wörd \U0001f600", "x" * 255, "x" * 256, "x" * 300])
    return front + "".join(choose.choice(string.ascii_letters[:4] + "~é") for _ in range(choose.randrange(3)))


def _texts(choose, kind):
    return pa.array([_text(choose) for _ in range(40)], kind)


def _bytes(choose, kind):
    width = kind.byte_width if pa.types.is_fixed_size_binary(kind) else None
    return pa.array(
        [bytes(choose.choice([0, 65, 66, 127, 128, 255]) for _ in range(width or choose.randrange(4))) for _ in range(40)], kind
    )


def _flags(choose, kind):
    return pa.array([choose.random() < 0.5 for _ in range(40)], kind)


UNITS = ("s", "ms", "us", "ns")
KINDS = {
    **{getattr(pa, f"int{bits}")(): _integers(bits) for bits in (8, 16, 32, 64)},
    **{getattr(pa, f"uint{bits}")(): _integers(bits, False) for bits in (8, 16, 32, 64)},
    **dict.fromkeys((pa.float16(), pa.float32(), pa.float64()), _floats),
    pa.bool_(): _flags,
    **dict.fromkeys((pa.string(), pa.large_string()), _texts),
    **dict.fromkeys((pa.binary(), pa.large_binary(), pa.binary(3)), _bytes),
    **dict.fromkeys((pa.date32(), pa.date64()), _counts),
    **dict.fromkeys((pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")), _counts),
    **dict.fromkeys([pa.timestamp(unit, zone) for unit in UNITS for zone in (None, "UTC", "Asia/Tokyo")], _counts),
    **dict.fromkeys([pa.duration(unit) for unit in UNITS], _counts),
    **dict.fromkeys([pa.decimal32(9, 2), pa.decimal64(18, 4), pa.decimal128(15, 2)], _decimals),
    **dict.fromkeys([pa.decimal128(38, 0), pa.decimal128(38, 10), pa.decimal128(20, -3)], _decimals),
    **dict.fromkeys([pa.decimal256(76, 0), pa.decimal256(50, 39)], _decimals),
}


# Types whose bounds are easily rounded, or whose values have no order.
DIFFICULT = (pa.float32(), pa.float64(), pa.int64(), pa.uint64(), pa.decimal128(38, 0), pa.decimal128(38, 10))


def table_of(choose, kind):
    """Sorted for the most part, so that row groups have narrow bounds, with nulls here and there; and other values, for
    filters."""
    pool = KINDS[kind](choose, kind)
    order = sorted(range(len(pool)), key=lambda place: _rank(pool[place]))
    places = sorted(choose.randrange(len(pool)) for _ in range(ROWS_OF_GROUP * GROUPS))
    rows = [None if choose.random() < 0.05 else order[place] for place in places]
    # The first row group is all null, and the last one has no null.
    rows[:ROWS_OF_GROUP] = [None] * ROWS_OF_GROUP
    rows[-ROWS_OF_GROUP:] = [choose.randrange(len(pool)) for _ in range(ROWS_OF_GROUP)]
    values = pool.take(pa.array(rows, pa.int32()))
    return pa.table({"id": pa.array(range(len(rows)), pa.int32()), "v": values}), pool


def _rank(scalar):
    if hasattr(scalar, "value") and isinstance(scalar.value, int):
        return scalar.value
    value = scalar.as_py()
    # NaN comes after all others.
    return (value != value, 0 if value != value else value) if isinstance(value, float | np.floating) else value


def batches_of(table):
    """Its row groups."""
    for begin in range(0, table.num_rows, ROWS_OF_GROUP):
        yield from table.slice(begin, ROWS_OF_GROUP).combine_chunks().to_batches()


def condition_of(choose, pool, depth=2):
    """A condition on `v`: a tree of words and values."""
    if depth and choose.random() < 0.3:
        word = choose.choice(["and", "or", "not"])
        return (word, *(condition_of(choose, pool, depth - 1) for _ in range(1 if word == "not" else 2)))
    word = choose.choice([*COMPARED, *COMPARED, "in", "null", "between"])
    count = {"in": choose.randrange(1, 12), "null": 0, "between": 2}.get(word, 1)
    return (word, *(pool[choose.randrange(len(pool))] for _ in range(count)))


def expression_of(condition, column, literal):
    """A condition as an expression of Arrow or Polars."""
    word, *rest = condition
    if word in ("and", "or", "not"):
        sides = [expression_of(each, column, literal) for each in rest]
        return ~sides[0] if word == "not" else _JOINED[word](*sides)
    if word == "null":
        return column.is_null()
    if word == "in":
        return literal.isin(column, rest)
    values = list(map(literal.of, rest))
    if word == "between":
        return (column >= values[0]) & (column <= values[1])
    return COMPARED[word](column, *values)


_JOINED = {"and": operator.and_, "or": operator.or_}
COMPARED = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def sql_of(condition, literal):
    """A condition as SQL; `literal` makes the text of a value."""
    word, *rest = condition
    if word == "not":
        return f"NOT ({sql_of(rest[0], literal)})"
    if word in ("and", "or"):
        return f"({sql_of(rest[0], literal)}) {word.upper()} ({sql_of(rest[1], literal)})"
    values = list(map(literal, rest))
    if word == "null":
        return "v IS NULL"
    if word == "in":
        return f"v IN ({', '.join(values)})"
    return f"v BETWEEN {values[0]} AND {values[1]}" if word == "between" else f"v {word} {values[0]}"
