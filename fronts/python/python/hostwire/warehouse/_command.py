"""The command `hostwire-warehouse`."""

import argparse
import contextlib
import sys
import time

import pyarrow as pa

from .. import errors
from . import _launch, _tpch
from ._engines import ENGINES
from ._errors import Damaged
from ._paper import LIMIT_S, WIRES
from ._text import table_text
from ._warehouse import BUFFER_BYTES, ROWS_MAX, run

_URL = "grpc://127.0.0.1:8815"


def _bytes(text):
    try:
        return _launch.nbytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _count(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, got {text!r}")
    return int(text)


def _scale(text):
    try:
        scale = float(text)
    except ValueError:
        scale = 0.0
    if not 0 < scale < 1e6:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text!r}")
    return scale


def _query_text(text):
    try:
        _tpch.check(text)
    except errors.CallerError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def _wires(text):
    """Wires between hosts, with commas between them; none is a list, too."""
    names = [word for word in text.split(",") if word]
    for name in names:
        if name not in WIRES:
            raise argparse.ArgumentTypeError(f"expected {', '.join(WIRES)}, got {name!r}")
    return names


def _table(text):
    name, sign, files = text.partition("=")
    if not sign or not files or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"expected NAME=FILE[,FILE...], got {text!r}")
    return name, files.split(",")


def add_launch_options(parser):
    """Options for the job; where a launcher has started it, it has none."""
    group = parser.add_argument_group(
        "the job", "of processes of this machine; or start the command by hostwire run -n N, srun, mpirun"
    )
    group.add_argument(
        "--owners", type=_count, default=2, metavar="N", help="processes that hold the tables (2)"
    )
    group.add_argument(
        "--hosts", type=_count, metavar="N", help="hosts to make of this machine; needs root"
    )
    group.add_argument(
        "--wire", metavar="WIRE", help=f"as of hostwire run: shm, {', '.join(WIRES)}, ..."
    )
    group.add_argument(
        "--insecure-wire", action="store_true", help="do not encrypt what goes between hosts"
    )
    group.add_argument(
        "--memory",
        type=_bytes,
        metavar="SIZE",
        help="memory of each owner for tables (a share of 85 %% of the machine's, taken as it is used)",
    )
    # The terminal for bars; the process that starts the job passes it on.
    group.add_argument("--terminal", help=argparse.SUPPRESS)
    parser.add_argument(
        "--buffers",
        type=_bytes,
        default=BUFFER_BYTES,
        metavar="SIZE",
        help="memory into which tables are streamed: no more is used (256M)",
    )


def _add_load_options(parser):
    group = parser.add_argument_group("the tables")
    group.add_argument("--scale", type=_scale, metavar="S", help="TPC-H at this scale factor")
    group.add_argument(
        "--table",
        type=_table,
        action="append",
        default=[],
        metavar="NAME=FILES",
        help="a table of Parquet files, separated by commas; may be given several times",
    )
    group.add_argument(
        "--copies", type=_count, default=1, metavar="N", help="owners of each row group (1)"
    )
    group.add_argument(
        "--rows", type=_count, default=ROWS_MAX, metavar="N", help="most rows of a row group (65536)"
    )
    group.add_argument("--scratch", metavar="DIR", help="folder for the files that tpchgen-cli makes")


def _add_engine(parser):
    parser.add_argument("--engine", choices=sorted(ENGINES), default="duckdb", help="(duckdb)")
    parser.add_argument("--threads", type=_count, metavar="N", help="threads of the engine")


def _add_format(parser):
    parser.add_argument(
        "--format", choices=("table", "csv"), default="table", help="of results (table)"
    )


def parser():
    """The options of all commands."""
    parser = argparse.ArgumentParser(
        prog="hostwire-warehouse",
        description="Tables in the memory of many processes, streamed to SQL engines.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    one = commands.add_parser("run", help="load tables, and answer queries, in one command")
    one.add_argument(
        "--query",
        type=_query_text,
        action="append",
        required=True,
        metavar="TEXT",
        help="SQL, or q1 to q22 of TPC-H; may be given several times",
    )
    _add_engine(one)
    _add_format(one)
    _add_load_options(one)
    add_launch_options(one)
    serve = commands.add_parser("serve", help="load tables, and answer Arrow Flight until Ctrl-C")
    serve.add_argument("--at", default=_URL, metavar="URL", help=f"({_URL})")
    _add_engine(serve)
    _add_load_options(serve)
    add_launch_options(serve)
    query = commands.add_parser("query", help="ask a warehouse that serves")
    query.add_argument("text", type=_query_text, nargs="+", metavar="TEXT", help="SQL, or q1 to q22 of TPC-H")
    query.add_argument("--at", default=_URL, metavar="URL", help=f"({_URL})")
    query.add_argument("--engine", choices=sorted(ENGINES), help="(that of serve)")
    _add_format(query)
    load = commands.add_parser("load", help="send Parquet files to a warehouse that serves")
    load.add_argument("table", type=_table, metavar="NAME=FILES")
    load.add_argument("--at", default=_URL, metavar="URL", help=f"({_URL})")
    drop = commands.add_parser("drop", help="drop a table of a warehouse that serves")
    drop.add_argument("table", metavar="NAME")
    drop.add_argument("--at", default=_URL, metavar="URL", help=f"({_URL})")
    tables = commands.add_parser("tables", help="list the tables of a warehouse that serves")
    tables.add_argument("--at", default=_URL, metavar="URL", help=f"({_URL})")
    _add_paper(commands)
    return parser


def _add_paper(commands):
    paper = commands.add_parser(
        "paper",
        help="the question of the paper on HyperTransport over Ethernet: what is the limit of queries 1 and 21?",
    )
    paper.add_argument("--scale", type=_scale, default=1.0, metavar="S", help="scale factor of TPC-H (1)")
    paper.add_argument("--html", metavar="FILE", help="write a page with charts, too")
    paper.add_argument(
        "--wires",
        type=_wires,
        metavar="LIST",
        help=f"wires between hosts ({','.join(WIRES)}); hosts are made of this machine, which needs root",
    )
    paper.add_argument(
        "--limit",
        type=_count,
        default=LIMIT_S,
        metavar="S",
        help="seconds for each way; what it has measured until then is kept (300)",
    )
    paper.add_argument("--owners", type=_count, default=2, metavar="N", help="owners of the tables (2)")
    paper.add_argument("--memory", type=_bytes, metavar="SIZE", help="memory of each owner for tables")
    paper.add_argument("--buffers", type=_bytes, default=BUFFER_BYTES, metavar="SIZE", help="(256M)")
    paper.add_argument("--scratch", metavar="DIR", help="folder for Parquet files meanwhile")
    _add_engine(paper)


def main(arguments=None):
    """Returns the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parser().parse_args(arguments)
    try:
        return _COMMANDS[options.command](options, arguments) or 0
    except (errors.Error, OSError, pa.ArrowException) as error:
        print(f"hostwire-warehouse: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _in_job(options, arguments, main):
    """Runs `main` with the warehouse of this job, or starts one."""
    if not _launch.is_in_job():
        _launch.start(options, arguments)
    refused = []

    def told(warehouse):
        # On an error the owners still leave in peace; the error is reported afterwards.
        try:
            main(warehouse)
        except (errors.CallerError, errors.EnvironmentFault, Damaged, OSError) as error:
            refused.append(error)

    with contextlib.ExitStack() as stack:
        progress = sys.stderr
        if options.terminal is not None:
            with contextlib.suppress(OSError):
                progress = stack.enter_context(open(options.terminal, "w", encoding="utf-8"))
        run(told, buffer_bytes=options.buffers, store_bytes=options.memory, progress=progress)
    if refused:
        raise refused[0]


def _load_tables(warehouse, options):
    shared = {"copies": options.copies, "rows_max": options.rows}
    begin = time.perf_counter()
    if options.scale is not None:
        warehouse.load_tpch(options.scale, scratch=options.scratch, **shared)
    for name, files in options.table:
        warehouse.load(name, files, **shared)
    held = sum(table.nbytes for table in warehouse.tables.values()) * options.copies
    seconds = time.perf_counter() - begin
    owners = len(warehouse.owners)
    print(
        f"loaded {len(warehouse.tables)} tables, {held / 1e6:.1f} MB in the memory of {owners} "
        f"owners, in {seconds:.2f} s",
        file=sys.stderr,
    )


def _check_tables(options):
    if options.scale is None and not options.table:
        raise errors.CallerError("there is no table: give --scale or --table")


def _run(options, arguments):
    _check_tables(options)

    def main(warehouse):
        _load_tables(warehouse, options)
        for text in options.query:
            warehouse.reset_counts()
            begin = time.perf_counter()
            result = warehouse.query(text, engine=options.engine, threads=options.threads)
            seconds = time.perf_counter() - begin
            print_result(result, options.format)
            print(f"{seconds:.3f} s; {warehouse.report()}", file=sys.stderr, flush=True)

    _in_job(options, arguments, main)


def print_result(result, form):
    """Prints a `pyarrow.Table`."""
    if form == "csv":
        from pyarrow import csv

        csv.write_csv(result, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        print(table_text(result), flush=True)


def _serve(options, arguments):
    from ._flight import serve

    def main(warehouse):
        if options.scale is not None or options.table:
            _load_tables(warehouse, options)
        serve(warehouse, options.at, options.engine, options.threads)

    _in_job(options, arguments, main)


def _query(options, _):
    from ._flight import Client

    with Client(options.at) as client:
        for text in options.text:
            print_result(client.query(text, options.engine), options.format)


def _load(options, _):
    from ._flight import Client

    name, files = options.table
    with Client(options.at) as client:
        rows = client.load(name, files)
    print(f"loaded {rows} rows as {name}", file=sys.stderr)


def _drop(options, _):
    from ._flight import Client

    with Client(options.at) as client:
        client.drop(options.table)


def _tables(options, _):
    from ._flight import Client

    with Client(options.at) as client:
        for name, rows, size in client.tables():
            print(f"{name:12} {rows:>12} rows {size / 1e6:>10.1f} MB")


def _paper(options, _):
    from . import _page, _paper

    questions = _paper.asked(options)
    print(_paper.text_of(questions, options))
    if options.html is not None:
        with open(options.html, "w", encoding="utf-8") as file:
            file.write(_page.html(questions, options))


_COMMANDS = {
    "run": _run,
    "serve": _serve,
    "query": _query,
    "load": _load,
    "drop": _drop,
    "tables": _tables,
    "paper": _paper,
}
