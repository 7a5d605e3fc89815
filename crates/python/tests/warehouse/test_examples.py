"""examples/python: Dask reads a table of a warehouse."""

import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from conftest import BIN, COMMAND, LIMIT_S

EXAMPLES = Path(__file__).parents[4] / "examples" / "python"


def test_dask_reads_the_parts_of_a_table(tpch):
    path = tpch / "lineitem.parquet"
    arguments = ["--table", f"lineitem={path}", "--rows", "8192", "--memory", "256M", "--buffers", "32M"]
    with subprocess.Popen(
        [COMMAND, "serve", *arguments, "--at", "grpc://127.0.0.1:0"], stdout=subprocess.PIPE, text=True
    ) as server:
        url = server.stdout.readline().split()[2].rstrip(";")
        done = subprocess.run(
            [BIN / "python", EXAMPLES / "warehouse_dask.py", url],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        server.terminate()
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "4 partitions"
    table = pq.read_table(path, columns=["l_shipmode", "l_receiptdate", "l_commitdate"])
    table = table.cast(table.schema.set(0, table.schema.field(0).with_type(pa.string())))
    days = pc.subtract(table["l_receiptdate"].cast("int32"), table["l_commitdate"].cast("int32"))
    late = table.append_column("days", days).filter(pc.field("days") > 0)
    expected = late.group_by("l_shipmode").aggregate([("days", "count"), ("days", "max")]).sort_by("l_shipmode")
    # Ship modes may have a blank.
    got = [line.rsplit(maxsplit=2) for line in lines[3:]]
    assert [(name.strip(), int(count), int(most)) for name, count, most in got] == [
        tuple(row.values()) for row in expected.to_pylist()
    ]
