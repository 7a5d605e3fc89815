"""Tables in the memory of many processes, for SQL engines.

    import hostwire.warehouse as warehouse

    def main(w):
        w.load_tpch(scale=0.1)
        print(w.query("SELECT count(*) FROM lineitem", engine="duckdb"))

    warehouse.run(main)

Start it with `hostwire run -n 5 python program.py`: PE 0 calls `main`, the other four hold the tables.
The command `hostwire-warehouse` does this without a program. docs/warehouse.md of the repository has
more. Needs `pip install 'hostwire[warehouse]'`.
"""

try:
    import pyarrow as _pyarrow
    import tqdm as _tqdm
    import xxhash as _xxhash
except ImportError as error:
    raise ImportError(f"{error}: pip install 'hostwire[warehouse]'") from error

from ._dataset import Scanner, Table
from ._engines import ENGINES
from ._errors import Damaged
from ._warehouse import Warehouse, run

__all__ = ["ENGINES", "Damaged", "Scanner", "Table", "Warehouse", "run"]
