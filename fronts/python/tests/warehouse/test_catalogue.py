"""Ranges, pieces and catalogues, without a job."""

import datetime
import decimal
import random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import hostwire.warehouse as warehouse
from hostwire.errors import CallerError
from hostwire.warehouse import _catalogue, _pieces
from hostwire.warehouse._pruning import Pruning
from hostwire.warehouse._ranges import Ranges


def test_ranges_against_a_list_of_bytes():
    """Whatever is taken and given, a range is free exactly if each of its bytes is."""
    choose = random.Random(1)
    ranges, taken, used = Ranges(64 * 100), [], np.zeros(100, bool)
    for _ in range(5000):
        if taken and choose.random() < 0.5:
            begin, blocks = taken.pop(choose.randrange(len(taken)))
            ranges.give(begin, blocks * 64 - choose.randrange(64))
            used[begin // 64 : begin // 64 + blocks] = False
        else:
            blocks = choose.randrange(1, 20)
            begin = ranges.take(blocks * 64 - choose.randrange(64))
            fits = any(not used[at : at + blocks].any() for at in range(101 - blocks))
            assert (begin is not None) == fits
            if begin is None:
                continue
            assert begin % 64 == 0 and not used[begin // 64 : begin // 64 + blocks].any()
            used[begin // 64 : begin // 64 + blocks] = True
            taken.append((begin, blocks))
        assert ranges.free_bytes == 64 * (~used).sum()
        begin, end = ranges.largest()
        assert not used[begin // 64 : end // 64].any()


COLUMNS = {
    "int64": pa.array([1, -2, None, 4], pa.int64()),
    "uint8": pa.array([1, 2, 3, 255], pa.uint8()),
    "float64": pa.array([0.5, None, float("nan"), -1.0]),
    "bool": pa.array([True, None, False, True]),
    "string": pa.array(["a", "", None, "längere Wörter"]),
    "large_string": pa.array(["a", "", None, "b"], pa.large_string()),
    "binary": pa.array([b"\0", b"", None, b"\xff"]),
    "fixed": pa.array([b"ab", None, b"cd", b"ef"], pa.binary(2)),
    "date": pa.array([datetime.date(1998, 9, 2), None, datetime.date(1970, 1, 1), datetime.date(1, 1, 1)]),
    "timestamp": pa.array([0, 1, None, 3], pa.timestamp("ns", "UTC")),
    "decimal": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-3"), decimal.Decimal(0)], pa.decimal128(15, 2)),
    "null": pa.nulls(4),
    "list": pa.array([[1, 2], [], None, [None]], pa.list_(pa.int16())),
    "large_list": pa.array([["x"], [], None, ["y", "z"]], pa.large_list(pa.string())),
    "fixed_list": pa.array([[1, 2], None, [3, 4], [5, 6]], pa.list_(pa.int8(), 2)),
    "map": pa.array([[("x", 1)], [], None, [("y", None), ("z", 3)]], pa.map_(pa.string(), pa.int8())),
    "map_of_maps": pa.array(
        [[(1, [("x", 1)])], [(2, None)], [], None], pa.map_(pa.int8(), pa.map_(pa.string(), pa.int8()))
    ),
    "struct": pa.array([{"a": 1, "b": ["x"]}, None, {"a": None, "b": None}, {"a": 4, "b": []}]),
}


def table_of(columns):
    return pa.table(columns)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("part", [slice(0, 4), slice(1, 3), slice(2, 2)])
def test_a_column_comes_back_as_it_was(name, part):
    array = COLUMNS[name][part]
    table = pa.table({"column": array})
    (piece,), packed = _pieces.pack(table)
    assert _pieces.plain_schema(table.schema) == table.schema
    assert piece.nbytes == len(packed) and piece.nbytes % 64 == 0
    back = _pieces.array_of(array.type, piece, pa.py_buffer(packed.tobytes()))
    back.validate(full=True)
    assert back.equals(array) or (name == "float64" and str(back) == str(array))
    assert _pieces.checksum(packed) == piece.checksum


def test_slices_take_no_more_memory_than_their_rows():
    table = pa.table({"column": pa.array(range(100_000))})
    _, packed = _pieces.pack(table.slice(5, 8))
    assert len(packed) == 64


def test_what_is_kept_has_no_views_and_no_dictionaries():
    schema = pa.schema(
        [
            ("v", pa.string_view()),
            ("d", pa.dictionary(pa.int8(), pa.string())),
            ("l", pa.list_(pa.dictionary(pa.int32(), pa.binary_view()))),
            ("m", pa.map_(pa.string_view(), pa.binary_view(), keys_sorted=True)),
        ]
    )
    plain = [("v", pa.string()), ("d", pa.string()), ("l", pa.list_(pa.binary()))]
    plain = pa.schema([*plain, ("m", pa.map_(pa.string(), pa.binary(), keys_sorted=True))])
    assert _pieces.plain_schema(schema) == plain
    union = pa.dense_union([pa.field("a", pa.int8())])
    for kind in (union, pa.list_(union), pa.run_end_encoded(pa.int32(), pa.int8()), pa.uuid()):
        with pytest.raises(CallerError, match="column x: expected numbers.*, got the type"):
            _pieces.plain_schema(pa.schema([("x", kind)]))
    with pytest.raises(CallerError, match="several columns x"):
        _pieces.plain_schema(pa.schema([("x", pa.int8()), ("x", pa.int8())]))


def test_statistics():
    def of(name):
        return [value.as_py() for value in _pieces.statistics(COLUMNS[name])]

    assert of("int64") == [-2, 4]
    assert of("string") == ["", "längere Wörter"]
    assert of("date") == [datetime.date(1, 1, 1), datetime.date(1998, 9, 2)]
    assert of("decimal") == [decimal.Decimal("-3.00"), decimal.Decimal("1.25")]
    # Engines order NaN differently.
    assert of("float64") == [None, None]
    assert of("list") == of("null") == [None, None]
    assert [each.as_py() for each in _pieces.statistics(pa.array(["x" * 300]))] == [None, None]


def entries(rows=3):
    """The bytes of a catalogue of some row groups behind each other, and their table."""
    columns = {name: array for name, array in COLUMNS.items() if name != "float64"}
    table = pa.table(columns)
    entries, at = _catalogue.Entries("t", table.schema), 0
    for number in range(rows):
        pieces, packed = _pieces.pack(table)
        found = [_pieces.statistics(column) for column in table.columns]
        entries.add((0, number, 0, table.num_rows, at, len(packed)), pieces, found)
        at += len(packed)
    return entries.to_bytes(), table, at


def test_a_catalogue_comes_back_as_it_was():
    data, table, end = entries()
    name, schema, rows = _catalogue.read(data, 1, end)
    assert (name, schema, rows.num_rows) == ("t", table.schema, 3)
    catalogue = _catalogue.merged([(1, name, schema, rows)])
    assert (catalogue.rows, catalogue.nbytes) == (12, end)
    assert [group.homes for group in catalogue.row_groups] == [
        [(1, 0)],
        [(1, end // 3)],
        [(1, 2 * end // 3)],
    ]
    least, greatest = catalogue.statistics[schema.get_field_index("int64")]
    assert least.to_pylist() == [-2] * 3 and greatest.to_pylist() == [4] * 3


def test_damaged_bytes_of_a_catalogue_are_refused():
    """Each bit that is another is found by the checksum."""
    data, _, end = entries(1)
    choose = random.Random(2)
    cases = [data[:length] for length in range(0, len(data), 101)]
    for _ in range(500):
        place = choose.randrange(len(data))
        other = bytearray(data)
        other[place] ^= 1 << choose.randrange(8)
        cases.append(bytes(other))
    for case in cases:
        with pytest.raises(warehouse.Damaged, match="the catalogue of PE 7") as error:
            _catalogue.read(case, 7, end)
        assert error.value.pe == 7


def test_bytes_behind_a_right_checksum_are_refused_or_safe():
    """What a broken PE sends with a checksum: an error, or a catalogue whose arrays lie in memory."""
    data, table, end = entries(2)
    body = data[16:]
    memory = pa.py_buffer(bytes(end))
    choose = random.Random(3)
    read = refused = 0
    for _ in range(3000):
        other = bytearray(body)
        for _ in range(choose.randrange(1, 4)):
            other[choose.randrange(len(other))] = choose.choice([0, 1, 127, 128, 255, choose.randrange(256)])
        if choose.random() < 0.1:
            del other[choose.randrange(len(other)) :]
        try:
            found = _catalogue.read_body(bytes(other), 7, end)
            catalogue = _catalogue.merged([(7, *found)])
        except warehouse.Damaged as error:
            assert error.pe == 7 and str(error)
            refused += 1
            continue
        read += 1
        for group in catalogue.row_groups:
            (_, at), *_ = group.homes
            for place, piece in enumerate(group.pieces):
                assert 0 <= at + piece.at and at + piece.end <= end
                try:
                    kind = catalogue.schema.field(place).type
                    _pieces.array_of(kind, piece, memory.slice(at + piece.at, piece.nbytes))
                except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                    pass
    assert read > 10 and refused > 1000, (read, refused)


def test_catalogues_have_to_fit_their_memory():
    data, _, end = entries(1)
    with pytest.raises(warehouse.Damaged, match="do not lie in"):
        _catalogue.read(data, 1, end - 1)


def parts_of_a_table():
    """Some row groups, as tables: sorted numbers, numbers with nulls, with NaN, and texts."""
    choose = random.Random(3)
    for part in range(12):
        numbers = range(10 * part, 10 * part + 10)
        holes = [None if part % 3 == 0 and choose.random() < 0.4 else number % 37 for number in numbers]
        floats = [float("nan") if part % 4 == 1 and number % 5 == 0 else number / 2 for number in numbers]
        nothing = pa.nulls(10, pa.int8()) if part % 5 == 2 else pa.array([part] * 10, pa.int8())
        columns = [pa.array(numbers), pa.array(holes, pa.int64()), pa.array(floats), nothing]
        words = pa.array([f"word {number:03}" for number in numbers])
        yield pa.table([*columns, words], names=["sorted", "holes", "floats", "part", "words"])


N, H, F, P, W = (pc.field(name) for name in ("sorted", "holes", "floats", "part", "words"))
FILTERS = [
    N < 45,
    (N >= 20) & (N < 61),
    (N < 5) | (N > 100),
    N == 33,
    ~(N == 33),
    N != N,
    N.isin([1, 77]),
    N.is_valid(),
    H.is_valid(),
    H.is_null(),
    H >= 0,
    (H > 3) & H.is_valid(),
    F > 10,
    ~(F > 10),
    F <= 1000,
    P >= 0,
    P.is_null() | (P < 4),
    W >= "word 050",
    (N + H) > 20,
    pc.scalar(True),
    pc.scalar(False),
]


@pytest.mark.parametrize("place", range(len(FILTERS)))
def test_what_statistics_say_of_a_filter_is_true(place):
    parts = list(parts_of_a_table())
    collected = _catalogue.Entries("t", parts[0].schema)
    for number, part in enumerate(parts):
        pieces, packed = _pieces.pack(part)
        found = [_pieces.statistics(column) for column in part.columns]
        collected.add((0, number, 0, part.num_rows, 0, len(packed)), pieces, found)
    catalogue = _catalogue.merged([(1, *_catalogue.read(collected.to_bytes(), 1, 1 << 20))])
    pruning = Pruning(catalogue)
    groups = range(len(parts))
    matched = [part.filter(FILTERS[place]).num_rows for part in parts]
    pruned = pruning.may_match(FILTERS[place], groups)
    assert all(matched[group] == 0 for group in groups if group not in pruned)
    whole = pruning.all_match(FILTERS[place], pruned)
    assert all(matched[group] == parts[group].num_rows for group in whole)
    assert pruning.spares(FILTERS[place]) == (len(pruned) < len(parts))
    # It excludes row groups where it can.
    if place == 0:
        assert pruned == [0, 1, 2, 3, 4] and whole == {0, 1, 2, 3}
    if place == 8:
        assert whole == {group for group in groups if group % 3 and matched[group]}
