"""TPC-H: its tables, made by tpchgen-cli, and its queries."""

import os
import re
import subprocess
import sys
import sysconfig
from importlib import resources
from pathlib import Path

from ..errors import CallerError, EnvironmentFault
from . import _scratch

TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")
QUERIES = tuple(f"q{number}" for number in range(1, 23))

# What folders for generated files are called.
_FOLDER = "hostwire-tpch-"
# Rows at scale factor 1, for progress bars only.
_ROWS = {
    "supplier": 10_000,
    "customer": 150_000,
    "part": 200_000,
    "partsupp": 800_000,
    "orders": 1_500_000,
    "lineitem": 6_001_215,
}
_FIXED_ROWS = {"region": 5, "nation": 25}


def rows_about(table, scale):
    """How many rows a table has, about."""
    return _FIXED_ROWS.get(table) or round(_ROWS[table] * scale)


def sql(query, scale):
    """The text of a query with the values of its validation run."""
    text = resources.files(__package__).joinpath("queries", f"{query}.sql").read_text()
    # Query 11 asks for a share of the stock that depends on the scale factor.
    return text.replace(":share", f"{0.0001 / scale:.12f}")


def tables_of(query):
    """The tables that a query reads."""
    words = set(re.findall(r"\w+", sql(query, 1.0)))
    return [name for name in TABLES if name in words]


def is_query(text):
    return re.fullmatch(r"q([1-9]|1[0-9]|2[0-2])", text) is not None


def check(text):
    """Raises CallerError for what looks like a query of TPC-H, and is none."""
    if re.fullmatch(r"\s*q\d*\s*", text, re.IGNORECASE) and not is_query(text):
        raise CallerError(f"there is no query {text!r}: expected SQL, or q1 to q22 of TPC-H")


def generator():
    """The path of tpchgen-cli."""
    for folder in (sysconfig.get_path("scripts"), Path(sys.executable).parent):
        path = Path(folder, "tpchgen-cli")
        if path.exists():
            return path
    raise EnvironmentFault(
        "tpchgen-cli is not installed beside this Python: pip install 'hostwire[warehouse]'"
    )


class Parts:
    """Parts of the tables of TPC-H as Parquet files, for as long as they are needed. They have no names, so they are
    gone with this process, however it ends."""

    def __init__(self):
        self._files = {}

    def file(self, table, source, part, parts):
        """The open file with part `part` of `parts` of a table; None if the table has no such part."""
        if part not in self._files:
            self._files[part] = _generated(source, part, parts)
        return self._files[part].get(table)

    def clear(self):
        """Lets go of the files."""
        for files in self._files.values():
            for file in files.values():
                file.close()
        self._files.clear()


def _generated(source, part, parts):
    """Part `part` of each table that is wanted, as open files: starting tpchgen-cli takes longer than making small
    tables."""
    command = [generator(), "parquet", "--quiet", "--no-progress"]
    command += ["--tables", ",".join(source["tables"])]
    command += ["--scale-factor", f"{source['scale']:g}"]
    command += ["--parts", str(parts), "--part", str(part + 1)]
    command += ["--num-threads", str(max(1, (os.cpu_count() or 1) // parts))]
    with _scratch.folder(_FOLDER, source["scratch"]) as (folder, lock):
        done = subprocess.run(
            [*command, "--output-dir", folder], capture_output=True, text=True, check=False, pass_fds=[lock]
        )
        if done.returncode:
            text = done.stderr.strip() or f"exit status {done.returncode}"
            raise CallerError(f"tpchgen-cli has made no tables: {text}")
        paths = {table: next(iter(sorted(folder.glob(f"{table}/*.parquet"))), None) for table in source["tables"]}
        return {table: open(path, "rb") for table, path in paths.items() if path is not None}
