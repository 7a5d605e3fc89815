from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import IO, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads

from ..errors import PeerError

_Result = TypeVar("_Result")

ENGINES: dict[str, Callable[..., pa.Table]]

class Damaged(PeerError): ...

class Scanner:
    @property
    def dataset_schema(self) -> pa.Schema: ...
    @property
    def projected_schema(self) -> pa.Schema: ...
    def to_batches(self) -> Iterator[pa.RecordBatch]: ...
    def to_reader(self) -> pa.RecordBatchReader: ...
    def to_table(self) -> pa.Table: ...
    def head(self, num_rows: int) -> pa.Table: ...
    def count_rows(self) -> int: ...

class Table(pads.Dataset):
    @property
    def name(self) -> str: ...
    @property
    def schema(self) -> pa.Schema: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def row_groups(self) -> int: ...
    def scanner(
        self,
        columns: Sequence[str] | None = None,
        filter: pc.Expression | None = None,
        *,
        only_groups_of: pc.Expression | None = None,
        part: int = 0,
        parts: int = 1,
        **_: Any,
    ) -> Scanner: ...
    def to_batches(
        self, columns: Sequence[str] | None = None, filter: pc.Expression | None = None, **_: Any
    ) -> Iterator[pa.RecordBatch]: ...
    def to_table(
        self, columns: Sequence[str] | None = None, filter: pc.Expression | None = None, **_: Any
    ) -> pa.Table: ...
    def head(
        self,
        num_rows: int,
        columns: Sequence[str] | None = None,
        filter: pc.Expression | None = None,
        **_: Any,
    ) -> pa.Table: ...
    def count_rows(self, filter: pc.Expression | None = None, **_: Any) -> int: ...
    def get_fragments(self, filter: pc.Expression | None = None) -> Iterator[Any]: ...

class Counts:
    batches: int
    rows: int
    moved_bytes: int
    copied_bytes: int
    asked_bytes: int
    waited_s: float
    pruned_groups: int
    lost_groups: int
    damaged_groups: int
    buffers_bytes: int
    buffers_most_bytes: int

class Warehouse:
    tables: dict[str, Table]
    scale: float
    @property
    def owners(self) -> list[int]: ...
    @property
    def buffer_bytes(self) -> int: ...
    @property
    def buffers(self) -> np.ndarray[Any, np.dtype[np.uint8]]: ...
    @property
    def store_bytes(self) -> int: ...
    @property
    def counts(self) -> Counts: ...
    def load_tpch(
        self,
        scale: float = 1.0,
        *,
        tables: Iterable[str] = ...,
        copies: int = 1,
        rows_max: int = 65536,
        scratch: str | PathLike[str] | None = None,
    ) -> None: ...
    def load(
        self, name: str, files: Iterable[str | PathLike[str]], *, copies: int = 1, rows_max: int = 65536
    ) -> None: ...
    def insert(
        self,
        name: str,
        batches: Iterable[pa.RecordBatch],
        schema: pa.Schema,
        *,
        copies: int = 1,
        rows_max: int = 65536,
    ) -> None: ...
    def drop(self, name: str) -> None: ...
    def query(self, text: str, *, engine: str = "duckdb", threads: int | None = None) -> pa.Table: ...
    def reset_counts(self) -> None: ...
    def report(self) -> str: ...

def run(
    main: Callable[[Warehouse], _Result],
    *,
    buffer_bytes: int = ...,
    store_bytes: int | None = None,
    progress: IO[str] | None = None,
) -> _Result | None: ...
