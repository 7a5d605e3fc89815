"""The command `hostwire-warehouse`."""

import contextlib
import json
import os
import pty
import signal
import subprocess

import duckdb
import pyarrow as pa
import pytest
from conftest import BIN, COMMAND, LIMIT_S
from pyarrow import flight

# Little memory: the tests of several projects may run on one machine.
SMALL = ("--memory", "256M", "--buffers", "32M")


@pytest.fixture
def people(tmp_path):
    """A small file."""
    path = tmp_path / "people.parquet"
    duckdb.sql(
        f"COPY (SELECT range AS id, 'name ' || range AS name FROM range(1000)) TO '{path}' (FORMAT parquet)"
    )
    return path


def test_one_command_loads_and_asks(command, people):
    status, text, errors = command(
        "run", "--table", f"people={people}", "--rows", "100", *SMALL,
        "--query", "SELECT id, name FROM people WHERE id IN (7, 999) ORDER BY id",
        "--query", "SELECT count(*) AS c, avg(id) AS a FROM people",
    )
    assert status == 0, errors
    assert text == " id  name\n  7  name 7\n999  name 999\n   c           a\n1000  499.500000\n"
    assert "loaded 1 tables" in errors and "2 owners" in errors
    assert "moved in" in errors and "of 32.0 MB of buffers" not in errors
    assert "of 33.6 MB of buffers" in errors, errors


def test_owners_have_the_memory_that_was_asked_for(command, people):
    arguments = ("run", "--table", f"people={people}", "--buffers", "32M", "--query", "SELECT 1 AS one")
    assert command(*arguments, "--memory", "1M")[:2] == (0, "one\n  1\n")
    status, _, errors = command(*arguments, "--memory", "4K")
    assert status == 1 and "is full: 4096 bytes do not hold its part of people" in errors, errors


def test_q1_of_tpch(command):
    status, text, errors = command(
        "run", "--scale", "0.01", "--owners", "3", "--copies", "2", "--query", "q1", "--format", "csv", *SMALL
    )
    assert status == 0, errors
    lines = text.splitlines()
    assert lines[0].startswith('"l_returnflag","l_linestatus","sum_qty"') and len(lines) == 5
    # Of the specification's generator at this scale factor.
    assert lines[1].startswith('"A","F",380456.00,532348211.65,505822441.4861,526165934.000839,')


def test_under_a_launcher(command, people):
    arguments = ("run", "--table", f"people={people}", "--query", "SELECT max(id) AS m FROM people")
    status, text, errors = command(*arguments, launcher=(BIN / "hostwire", "run", "-n", "3"))
    assert (status, text) == (0, "  m\n999\n"), errors


def test_a_bar_on_a_terminal(people):
    """Loads show how far they are, if somebody looks."""
    ours, theirs = pty.openpty()
    words = [COMMAND, "run", "--table", f"people={people}", "--query", "SELECT 1 AS one", *SMALL]
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        seen = b""
        # The terminal ends with the last process that has it.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 4096):
                seen += part
        assert process.stdout.read().split() == [b"one", b"1"]
    os.close(ours)
    assert b"load people:" in seen and b"rows/s" in seen, seen


@pytest.mark.parametrize(
    "arguments, text",
    [
        (("run", "--query", "q1"), "give --scale or --table"),
        (("run", "--scale", "0", "--query", "q1"), "expected a number above 0"),
        (("run", "--table", "people", "--query", "q1"), "expected NAME=FILE"),
        (("run", "--table", "t=missing.parquet", "--query", "q1", *SMALL), "missing.parquet"),
        (("run", "--scale", "1", "--query", "q1", "--memory", "1000T"), "--memory: "),
        (("run", "--scale", "1", "--query", "q1", "--memory", "many"), "expected a number of bytes"),
        (("run", "--scale", "1", "--query", "q23"), "there is no query 'q23': expected SQL, or q1 to q22"),
        (("query", "--at", "grpc://127.0.0.1:1", "q1"), "127.0.0.1:1"),
        (("other",), "invalid choice"),
    ],
)
def test_mistakes_are_told(command, arguments, text):
    status, _, errors = command(*arguments)
    assert status != 0 and text in errors and "Traceback" not in errors, errors


def test_what_the_engine_refuses(command, people):
    status, text, errors = command("run", "--table", f"people={people}", "--query", "SELEC", *SMALL)
    assert (status, text) == (1, "") and "Parser Error" in errors and "Traceback" not in errors, errors
    # The owners have left in peace.
    assert "PE 1" not in errors and "PE 2" not in errors, errors


@pytest.fixture
def served(people):
    """A warehouse that serves, and its address."""
    arguments = ["serve", "--table", f"people={people}", "--rows", "100", "--at", "grpc://127.0.0.1:0", *SMALL]
    with subprocess.Popen(
        [COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        line = process.stdout.readline()
        assert line.startswith("serving at grpc://127.0.0.1:"), line + process.stderr.read()
        yield line.split()[2].rstrip(";")
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=LIMIT_S)
        assert "Traceback" not in errors, errors


def test_serving(command, served, people, tmp_path):
    assert command("tables", "--at", served)[1].split()[:3] == ["people", "1000", "rows"]
    status, text, _ = command("query", "--at", served, "SELECT sum(id) AS s FROM people", "--format", "csv")
    assert (status, text) == (0, '"s"\n499500\n')
    status, _, errors = command("load", "--at", served, f"more={people},{people}")
    assert status == 0 and "loaded 2000 rows as more" in errors
    status, _, errors = command("load", "--at", served, f"more={people}")
    assert status == 1 and "there is a table more" in errors and "Traceback" not in errors
    # Any client can ask.
    with flight.connect(served) as client:
        infos = {info.descriptor.path[0]: info for info in client.list_flights()}
        assert sorted(infos) == [b"more", b"people"]
        info = infos[b"people"]
        assert info.total_records == 1000 and len(info.endpoints) == 4
        parts = [client.do_get(endpoint.ticket).read_all() for endpoint in info.endpoints]
        ids = sorted(value for part in parts for value in part["id"].to_pylist())
        assert ids == list(range(1000))
        ticket = flight.Ticket(json.dumps({"table": "people", "columns": ["name"]}))
        assert client.do_get(ticket).read_all().column_names == ["name"]
        query = flight.FlightDescriptor.for_command("SELECT count(*) AS c FROM more")
        (endpoint,) = client.get_flight_info(query).endpoints
        assert client.do_get(endpoint.ticket).read_all().to_pydict() == {"c": [2000]}
        (report,) = client.do_action(flight.Action("report", b""))
        assert b"moved in" in report.body.to_pybytes()
        for wanted, text in (
            (b"no JSON", "expected a ticket"),
            (b"[]", "expected a ticket"),
            (b'{"table": "t"}', "there is no table t"),
            (b'{"table": "people", "part": 4, "parts": 4}', "part: expected"),
            (b'{"table": "people", "columns": [1]}', "are names"),
            (b'{"table": "people", "columns": ["z"]}', "got z"),
            (b'{"columns": ["z"]}', "expected a ticket for"),
            (b'{"table": "people", "more": 1}', "has no more"),
            (b'{"query": "SELECT 1", "engine": "other"}', "there is no engine"),
            (b'{"query": "SELECT nothing"}', "nothing"),
            (b'{"query": ""}', "expected a query with a result, got ''"),
            (b'{"query": "q23"}', "there is no query 'q23'"),
            (b'{"query": "SELECT * FROM read_csv(\'/etc/passwd\')"}', "disabled"),
            (b'{"query": "SELECT 1", "engine": "polars"}', "only q1 to q22"),
        ):
            with pytest.raises(flight.FlightError, match=text):
                client.do_get(flight.Ticket(wanted)).read_all()
        # A client that begins to send a table and then stops blocks nobody, nor does it when the server ends.
        silent, _ = client.do_put(flight.FlightDescriptor.for_path("silent"), pa.schema([("a", pa.int64())]))
        silent.write_batch(pa.record_batch({"a": [1]}))
        assert command("load", "--at", served, f"other={people}")[0] == 0
        status, _, errors = command("drop", "--at", served, "other")
        assert status == 0, errors
        status, _, errors = command("drop", "--at", served, "other")
        assert status == 1 and "there is no table other" in errors and "Traceback" not in errors
        # Many at once.
        tickets = [flight.Ticket(b'{"table": "people"}')] * 8
        readers = [client.do_get(ticket) for ticket in tickets]
        assert [reader.read_all().num_rows for reader in readers] == [1000] * 8
