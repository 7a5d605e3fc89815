"""examples/python: Dask reads a table of a warehouse; the notebook asks one."""

import base64
import subprocess
from pathlib import Path

import nbclient
import nbformat
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from conftest import BIN, COMMAND, LIMIT_S

EXAMPLES = Path(__file__).parents[4] / "examples" / "python"


def test_dask_reads_the_parts_of_a_table(tpch):
    # Small in make test-long as well, since the example has little memory.
    path = tpch(0.01) / "lineitem.parquet"
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


def test_the_notebook_runs(tmp_path):
    notebook = nbformat.read(EXAMPLES / "warehouse.ipynb", as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs for cell in cells), "it is kept without outputs"
    nbclient.NotebookClient(notebook, timeout=LIMIT_S, resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [cell.outputs for cell in cells]

    def printed(cell):
        return "".join(output.text for output in outputs[cell] if output.output_type == "stream")

    assert printed(0).startswith("serving at grpc://127.0.0.1:")
    tables = {line.split()[0]: int(line.split()[1]) for line in printed(1).splitlines()}
    # Of the specification's generator at this scale factor.
    assert len(tables) == 8 and tables["lineitem"] == 60175 and tables["nation"] == 25
    (q1,) = (output.data["text/plain"] for output in outputs[2])
    assert "532348211.65" in q1 and len(q1.splitlines()) >= 5, q1
    (q21,) = (output.data["text/plain"] for output in outputs[3])
    assert "Supplier#000000074" in q21, q21
    lines = printed(4).splitlines()
    for line, query, groups in zip(lines, ("q1", "q21"), (15, 15), strict=True):
        words = line.split()
        assert words[0] == f"{query}:" and line.endswith(("the columns", "the engine"))
        assert 0 < float(words[1]) < float(words[4]) and int(words[8]) >= groups, line
    (picture,) = (output.data["image/png"] for output in outputs[4] if output.output_type == "display_data")
    assert base64.b64decode(picture)[:8] == b"\x89PNG\r\n\x1a\n"
    assert printed(5) == "exit status 130\n"
