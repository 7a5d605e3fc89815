"""Data of TPC-H, and warehouses: each test runs a small program as a job."""

import functools
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hostwire.warehouse

BIN = Path(sys.executable).parent
COMMAND = BIN / "hostwire-warehouse"
# The scale of the data: make test-long has a larger one. Without that, one of three engines answers the queries for
# data in which each query finds rows; all other tests have a tenth of it.
_LONG_SCALE = os.environ.get("HOSTWIRE_WAREHOUSE_SCALE")
SCALE = float(_LONG_SCALE or "0.1")
LITTLE_SCALE = float(_LONG_SCALE or "0.01")
LIMIT_S = 600

# `make test` installs one of them, `make test-long` all: see scripts/python.sh.
ENGINES = [engine for engine in hostwire.warehouse.ENGINES if importlib.util.find_spec(engine)]

HEAD = f"""
ENGINES = {ENGINES!r}
import hostwire.warehouse as warehouse
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
"""


@pytest.fixture(scope="session")
def tpch(tmp_path_factory):
    """`tpch(scale)` is a folder with the tables of TPC-H as Parquet files."""

    @functools.cache
    def tpch(scale):
        folder = tmp_path_factory.mktemp("tpch")
        command = [BIN / "tpchgen-cli", "parquet", "--quiet", "--scale-factor", str(scale)]
        subprocess.run([*command, "--output-dir", folder], check=True, timeout=LIMIT_S)
        return folder

    return tpch


@pytest.fixture
def command():
    """`command(arguments)` runs `hostwire-warehouse`, and returns its exit status, output, errors."""

    def command(*arguments, launcher=()):
        words = [str(word) for word in (*launcher, COMMAND, *arguments)]
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL, check=False
        )
        return done.returncode, done.stdout, done.stderr

    return command


@pytest.fixture
def warehouse(run):
    """`warehouse(pes, program)` runs a program whose `main(w)` is called on PE 0, and returns the lines
    that it printed."""

    def warehouse(pes, program, **options):
        return run(pes, HEAD + program + "\nwarehouse.run(main, **SETTINGS)\n", **options)

    return warehouse
