"""Results as text."""

import pyarrow as pa


def table_text(table):
    """The rows of a `pyarrow.Table` below each other; numbers to the right."""
    columns = [_column(name, table[place]) for place, name in enumerate(table.column_names)]
    rows = zip(*columns, strict=True)
    return "\n".join("  ".join(row).rstrip() for row in rows)


def _column(name, values):
    texts = [name, *(_cell(value) for value in values.to_pylist())]
    kind = values.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    width = max(map(len, texts))
    return [text.rjust(width) if is_number else text.ljust(width) for text in texts]


def _cell(value):
    if value is None:
        return "NULL"
    return f"{value:.6f}" if isinstance(value, float) else str(value)
