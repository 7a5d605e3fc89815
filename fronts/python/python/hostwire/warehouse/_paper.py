"""The question of the paper on HyperTransport over Ethernet: what does it take to bring the columns of TPC-H's queries 1
and 21, and to compute, and which of the two is the limit?

J. Young, S. Yalamanchili, "Commodity Converged Fabrics for Global Address Spaces in Accelerator Clouds", 2012.
"""

import dataclasses
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import tqdm

from .._hostwire import network_wires
from ..errors import EnvironmentFault
from . import _engines, _launch, _measure, _scratch, _tpch
from ._pieces import plain, plain_schema

# The wires that go through network interfaces, and whether each one sends its data unencrypted.
WIRES = dict(network_wires())
SIMULATED_NODES = (2, 4, 8)
LIMIT_S = 300
# Printed in the paper: for each query, seconds for 1 GB over PCI Express and on the GPU (section VI.A), and the
# Gb/s that it makes of them (section VII.A). Adapters: the best case and the one without optimisations.
_PAPER = {
    "q1": {"pcie": (0.175347, 44.55), "gpu": (0.002844, 2747.0)},
    "q21": {"pcie": (0.331495, 23.57), "gpu": (0.069619, 112.0)},
}
_PAPER_ADAPTERS_GB_S = {"adapters, 8 nodes, both optimisations": 24.45, "adapters, 8 nodes": 6.99}

_EXPERIMENT = """
title = "HToE: the columns of a query, both optimisations"
[workload]
kind = "htea"
data = "{nbytes}B"
packets_per_frame = 20
nops_per_frame = 50
incoming_stages = 4
outgoing_stages = 4
transfer = "{query}"
[sweep]
key = "workload.nodes"
values = {nodes}
"""


@dataclasses.dataclass
class Row:
    """What one way takes: to bring the columns, to compute, and to do both; what has no figure is None."""

    where: str
    # "measured", "simulated" or "paper".
    kind: str
    bring_s: float | None = None
    rate_gb_s: float | None = None
    compute_s: float | None = None
    answer_s: float | None = None
    limit: str = ""


@dataclasses.dataclass
class Question:
    """A query: the bytes of its columns, and what each way takes."""

    query: str
    nbytes: int
    rows: list


def asked(options):
    """Measures and simulates: a Question for each query. `options` are those of the command."""
    ways = [None, *(options.wires if options.wires is not None else WIRES)]
    figures = len(_measure.COLUMNS) * len(_measure.FIGURES)
    steps = 1 + figures * (1 + len(ways)) + len(_measure.COLUMNS)
    with (
        _scratch.folder("hostwire-paper-", options.scratch) as (folder, lock),
        tqdm.tqdm(total=steps, disable=None, leave=False, unit="step") as bar,
    ):
        bar.set_description("data")
        _make(folder, options.scale)
        bar.update()
        bar.set_description("local memory")
        local = _local(folder, options.engine, options.threads, bar.update)
        questions = {
            query: Question(query, found["bytes"], [_local_row(found)])
            for query, found in local.items()
        }
        for wire in ways:
            bar.set_description(wire or "shared memory")
            before = bar.n
            _add_job(questions, local, wire, (folder, lock), options, bar.update)
            bar.update(before + figures - bar.n)
        for query, question in questions.items():
            bar.set_description("simulated HTEA")
            question.rows += simulated(query, question.nbytes)
            question.rows += published(query)
            bar.update()
    return list(questions.values())


def _make(folder, scale):
    """Parquet files with the columns that the queries read."""
    wanted = {}
    for tables in _measure.COLUMNS.values():
        for name, columns in tables.items():
            wanted.setdefault(name, set()).update(columns)
    parts = _tpch.Parts()
    source = {"scale": scale, "scratch": folder, "tables": list(wanted)}
    try:
        for name, columns in wanted.items():
            with pq.ParquetFile(parts.file(name, source, 0, 1)) as file:
                names = [each for each in file.schema_arrow.names if each in columns]
                schema = pa.schema([file.schema_arrow.field(each) for each in names])
                with pq.ParquetWriter(f"{folder}/{name}.parquet", schema, compression="lz4") as out:
                    for group in range(file.num_row_groups):
                        out.write_table(file.read_row_group(group, columns=names))
    finally:
        parts.clear()


def _local(folder, engine, threads, tell):
    """The figures of `_measure`, of Arrow tables in the memory of this process. Calls `tell` for each."""
    tables = {}
    for path in Path(folder).glob("*.parquet"):
        table = pq.read_table(path)
        tables[path.stem] = plain(table, plain_schema(table.schema)).combine_chunks()
    found = {}
    for query, columns in _measure.COLUMNS.items():
        buffers = [
            np.frombuffer(buffer, "uint8")
            for name, names in columns.items()
            for column in tables[name].select(names).columns
            for buffer in column.chunk(0).buffers()
            if buffer is not None and buffer.size
        ]
        nbytes = sum(map(len, buffers))
        tell()
        bring_s = _measure.median_s(functools.partial(_copy, buffers))
        tell()
        ask = functools.partial(_engines.run, engine, query, tables, threads=threads)
        found[query] = {"bytes": nbytes, "bring_s": bring_s, "answer_s": _measure.median_s(ask)}
        tell()
    return found


def _copy(buffers, piece_bytes=1 << 20):
    """Copies memory into a cache: what one core reads."""
    room = np.empty(piece_bytes, "uint8")
    for buffer in buffers:
        for begin in range(0, len(buffer), piece_bytes):
            part = buffer[begin : begin + piece_bytes]
            np.copyto(room[: len(part)], part)


def _local_row(found):
    return Row(
        "local memory",
        "measured",
        found["bring_s"],
        _rate_gb_s(found["bytes"], found["bring_s"]),
        found["answer_s"],
        found["answer_s"],
        _limit(found["bring_s"], found["answer_s"], "memory"),
    )


def _rate_gb_s(nbytes, seconds):
    return nbytes * 8 / 1e9 / seconds


def _limit(bring_s, compute_s, what):
    return what if bring_s > compute_s else "the engine"


def _add_job(questions, local, wire, data, options, tell):
    """Adds a row to each question: what a job over a wire measures. `data` is the folder with its data, and its lock."""
    owners = options.owners
    where = f"shared memory, {owners} owners"
    if wire is not None:
        where = f"{wire}, {owners + 1} hosts" + (", not encrypted" if WIRES.get(wire) else "")
    found, trouble = _job(wire, data, options, tell)
    for query, question in questions.items():
        question.rows.append(_job_row(where, wire, found.get(query, {}), local[query], trouble))


def _job_row(where, wire, found, local, trouble):
    """The row of the figures that a job has found, and why it has not found the others."""
    row = Row(where, "measured")
    if "bring_s" in found:
        row.bring_s, row.rate_gb_s = found["bring_s"], _rate_gb_s(found["bytes"], found["bring_s"])
        row.compute_s = local["answer_s"]
        row.limit = _limit(row.bring_s, row.compute_s, "the wire" if wire else "memory")
    row.answer_s = found.get("answer_s")
    if row.answer_s is None:
        row.limit = "; ".join(each for each in (row.limit, trouble) if each)
    return row


def _job(wire, data, options, tell):
    """The figures that `_measure` prints as PE 0 of a job, by query; and why some are missing. Calls `tell` for
    each."""
    if wire is not None and os.geteuid():
        return {}, "not run: hosts are made of this machine by root alone"
    found, trouble = {}, "not run: it ended without figures"
    folder, lock = data
    with (
        tempfile.TemporaryFile("w+") as said,
        subprocess.Popen(
            _job_command(wire, folder, options),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            # The launcher may outlive this process, so it gets the lock, too.
            pass_fds=[lock],
        ) as launcher,
    ):
        for line in launcher.stdout:
            if line.startswith("["):
                query, figure, value = json.loads(line)
                found.setdefault(query, {})[figure] = value
                tell()
        status = launcher.wait()
        said.seek(0)
        lines = said.read().strip().splitlines()
    if status == _TIMED_OUT:
        trouble = f"not finished in {options.limit} s"
    elif status:
        trouble = f"not run: {lines[-1] if lines else f'exit status {status}'}"
    return found, trouble


# The exit status of `hostwire run` after its time limit.
_TIMED_OUT = 124


def _job_command(wire, folder, options):
    heap = _launch.heap_bytes(options.owners, options.memory, options.buffers)
    words = [_launch.launcher(), "run", "-n", str(options.owners + 1), "--heap", str(heap)]
    words += ["--timeout", f"{options.limit}s"]
    if wire is not None:
        words += ["--wire", wire, "--hosts", str(options.owners + 1)]
        if WIRES.get(wire):
            words += ["--insecure-wire"]
    words += ["--", sys.executable, "-m", "hostwire.warehouse._measure", str(folder)]
    words += ["--engine", options.engine, "--buffers", str(options.buffers)]
    if options.threads is not None:
        words += ["--threads", str(options.threads)]
    return words


def simulated(query, nbytes):
    """Rows of the modelled adapters that bring so many bytes, with the paper's PCI Express behind them."""
    # Rounded up to whole packets.
    nbytes = -(-nbytes // 64) * 64
    text = _EXPERIMENT.format(nbytes=nbytes, query=query, nodes=list(SIMULATED_NODES))
    done = subprocess.run(
        [_launch.launcher(), "sim", "-", "--json"], input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise EnvironmentFault(f"hostwire sim: {done.stderr.strip()}")
    return [_simulated_row(query, nbytes, each) for each in json.loads(done.stdout)["results"]]


def _simulated_row(query, nbytes, result):
    metrics = {each["name"]: each["value"] for each in result["metrics"]}
    parts = {}
    for each in result["bottlenecks"]:
        # The same parts are listed for both queries. The way to the accelerator is PCI Express here.
        part, _, of = each["part"].partition(" of query ")
        if of.lower() == query or not (of or part.startswith("way ")):
            parts[part] = each["limit_gb_s"]
    row = Row(f"HTEA, {result['value']} nodes", "simulated")
    row.bring_s = metrics["time"] / 1e9
    row.rate_gb_s = metrics["throughput"]
    row.compute_s = nbytes * 8 / 1e9 / parts["computation"]
    row.limit = min(parts, key=parts.get).partition(",")[0]
    return row


def published(query):
    """Rows of what the paper prints, for its 1 GB."""
    (pcie_s, pcie_gb_s), (gpu_s, _) = _PAPER[query]["pcie"], _PAPER[query]["gpu"]
    rows = [
        Row(f"{where} (1 GB)", "paper", 8 / rate, rate, gpu_s, limit="the adapters")
        for where, rate in _PAPER_ADAPTERS_GB_S.items()
    ]
    return [*rows, Row("PCI Express to the GPU (1 GB)", "paper", pcie_s, pcie_gb_s, gpu_s, limit="-")]


def text_of(questions, options):
    """The table as text."""
    lines = []
    for question in questions:
        lines.append(
            f"{question.query.upper()}: {question.nbytes / 1e6:.1f} MB of columns, scale factor "
            f"{options.scale:g}, {options.engine}"
        )
        lines.append(f"  {'':56} {'bring':>9} {'Gb/s':>8} {'compute':>9} {'both':>9}  limit")
        for row in question.rows:
            lines.append(
                f"  {row.kind + ': ' + row.where:56} {seconds(row.bring_s):>9} {rate(row.rate_gb_s):>8} "
                f"{seconds(row.compute_s):>9} {seconds(row.answer_s):>9}  {row.limit}"
            )
        lines.append("")
    return "\n".join(lines + list(NOTES))


NOTES = (
    "bring: the columns come into the memory of the consumer, and are dropped. compute: the engine, on local tables.",
    "both: the engine answers while its columns come. limit: the longer of bring and compute.",
    "Hosts are network namespaces of this machine: their processors are shared, and no cable limits.",
    "HTEA: hostwire sim, the paper's adapters with both optimisations; its PCI Express and GPU behind them.",
)


def seconds(value):
    """Three digits, with the unit that fits; nothing for None."""
    if value is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size or unit == "us":
            return f"{_digits(value / size)} {unit}"


def rate(value):
    """Two digits behind the point, as the paper prints them; nothing for None."""
    return "" if value is None else f"{value:.2f}"


def _digits(value):
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"
