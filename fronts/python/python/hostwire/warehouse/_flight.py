"""Arrow Flight: clients without hostwire ask a warehouse.

A ticket is JSON: `{"table": "lineitem", "columns": ["l_tax"], "part": 0, "parts": 4}`, where all but the
table may be left out, or `{"query": "SELECT ...", "engine": "duckdb"}`. Who can reach the port may ask for
all tables, and load others: it is for one machine, or for a network that one trusts.
"""

import contextlib
import json

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import flight

from .. import errors
from ._engines import ENGINES
from ._pieces import plain, plain_schema
from ._tpch import is_query

# A table is offered in so many parts for each owner: clients may read them at the same time.
_PARTS_PER_OWNER = 2


def serve(warehouse, url, engine="duckdb", threads=None, *, on_ready=None):
    """Answers at `url` (`grpc://127.0.0.1:0` takes any free port) until Ctrl-C or SIGTERM."""
    server = Server(warehouse, url, engine, threads)
    # The port that was taken.
    host = url.rpartition("//")[2].rpartition(":")[0]
    (on_ready or _say)(f"grpc://{host}:{server.port}")
    server.serve()


def _say(url):
    print(f"serving at {url}; Ctrl-C ends it", flush=True)


class Server(flight.FlightServerBase):
    """The tables of a warehouse by Arrow Flight."""

    def __init__(self, warehouse, url, engine, threads):
        super().__init__(url)
        self._warehouse = warehouse
        self._engine = engine
        self._threads = threads

    def _table(self, name):
        table = self._warehouse.tables.get(name)
        if table is None:
            raise flight.FlightServerError(f"there is no table {name}")
        return table

    def _info(self, table):
        count = min(table.row_groups, _PARTS_PER_OWNER * len(self._warehouse.owners)) or 1
        tickets = [
            _ticket({"table": table.name, "part": part, "parts": count}) for part in range(count)
        ]
        return flight.FlightInfo(
            table.schema,
            flight.FlightDescriptor.for_path(table.name),
            [flight.FlightEndpoint(ticket, []) for ticket in tickets],
            table.rows,
            table.nbytes,
        )

    def list_flights(self, context, criteria):
        for table in list(self._warehouse.tables.values()):
            yield self._info(table)

    def get_flight_info(self, context, descriptor):
        if descriptor.command is not None:
            text = _text(descriptor.command)
            result = self._query({"query": text})
            endpoint = flight.FlightEndpoint(_ticket({"query": text}), [])
            return flight.FlightInfo(
                result.schema, descriptor, [endpoint], result.num_rows, result.nbytes
            )
        return self._info(self._table(_name_of(descriptor)))

    def _query(self, wanted):
        engine = wanted.get("engine") or self._engine
        if engine == "polars" and not is_query(wanted["query"]):
            # Its SQL has functions that read any file of this host.
            raise flight.FlightServerError("of Polars only q1 to q22 are offered here")
        with _in_words_of_flight():
            return self._warehouse.query(wanted["query"], engine=engine, threads=self._threads)

    def do_get(self, context, ticket):
        wanted = _wanted(ticket.ticket)
        if "query" in wanted:
            return flight.RecordBatchStream(self._query(wanted))
        table = self._table(wanted["table"])
        part, parts = wanted.get("part", 0), wanted.get("parts", 1)
        with _in_words_of_flight():
            scanner = table.scanner(wanted.get("columns"), part=part, parts=parts)
        return flight.GeneratorStream(scanner.projected_schema, _told(scanner.to_batches()))

    def do_put(self, context, descriptor, reader, writer):
        name = _name_of(descriptor)
        batches = (chunk.data for chunk in reader)
        with _in_words_of_flight():
            self._warehouse.insert(name, batches, reader.schema)

    def list_actions(self, context):
        return [
            ("report", "What has moved to the consumer since it began, as a line."),
            ("counts", "The same as JSON: an object of numbers."),
            ("drop", "Drops the table whose name is the body of the action."),
        ]

    def do_action(self, context, action):
        if action.type == "report":
            return [self._warehouse.report().encode()]
        if action.type == "counts":
            return [json.dumps(vars(self._warehouse.counts)).encode()]
        if action.type == "drop":
            with _in_words_of_flight():
                self._warehouse.drop(_text(action.body.to_pybytes()))
            return []
        raise flight.FlightServerError(f"there is no action {action.type}; expected report, counts or drop")


def _told(batches):
    """Batches, with errors of the warehouse in words of Flight."""
    with _in_words_of_flight():
        yield from batches


@contextlib.contextmanager
def _in_words_of_flight():
    try:
        yield
    except errors.Error as error:
        raise flight.FlightServerError(str(error)) from error


def _text(data):
    """Text that a client has sent."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise flight.FlightServerError(f"expected text in UTF-8, got {data!r}") from error


def _ticket(wanted):
    return flight.Ticket(json.dumps(wanted))


_OF_QUERY = {"query": str, "engine": str}
_OF_TABLE = {"table": str, "columns": list, "part": int, "parts": int}


def _wanted(ticket):
    """What a ticket asks for. Raises FlightServerError if it is none."""
    try:
        wanted = json.loads(ticket)
    except ValueError:
        wanted = None
    if not isinstance(wanted, dict):
        raise flight.FlightServerError("expected a ticket in JSON, an object")
    expected = _OF_QUERY if "query" in wanted else _OF_TABLE
    for key, value in wanted.items():
        if key not in expected or not isinstance(value, expected[key]):
            raise flight.FlightServerError(f"a ticket has no {key} {value!r}")
    if "query" not in wanted and "table" not in wanted:
        raise flight.FlightServerError("expected a ticket for a table or a query")
    if wanted.get("engine", "duckdb") not in ENGINES:
        raise flight.FlightServerError(f"there is no engine {wanted['engine']}")
    if not all(isinstance(name, str) for name in wanted.get("columns", [])):
        raise flight.FlightServerError("the columns of a ticket are names")
    if not 0 <= wanted.get("part", 0) < wanted.get("parts", 1):
        raise flight.FlightServerError("part: expected a number from 0 to parts - 1")
    return wanted


def _name_of(descriptor):
    path = descriptor.path or []
    if len(path) != 1:
        raise flight.FlightServerError("expected the name of a table as the path")
    return _text(path[0])


class Client:
    """Asks a warehouse that serves. Any other client of Arrow Flight can do the same."""

    def __init__(self, url):
        self._client = flight.connect(url)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._client.close()

    def query(self, text, engine=None):
        """The result of a query, as a `pyarrow.Table`."""
        wanted = {"query": text} if engine is None else {"query": text, "engine": engine}
        return self._client.do_get(_ticket(wanted)).read_all()

    def load(self, name, files):
        """Sends Parquet files as table `name`. How many rows they have."""
        rows = 0
        with pq.ParquetFile(files[0]) as file:
            schema = plain_schema(file.schema_arrow)
        descriptor = flight.FlightDescriptor.for_path(name)
        writer, _ = self._client.do_put(descriptor, schema)
        with writer:
            for path in files:
                with pq.ParquetFile(path) as file:
                    for batch in file.iter_batches():
                        table = plain(pa.Table.from_batches([batch]), schema)
                        writer.write_table(table)
                        rows += batch.num_rows
        return rows

    def drop(self, name):
        """Drops a table. Streams of it that have begun go on."""
        list(self._client.do_action(flight.Action("drop", name.encode())))

    def tables(self):
        """`(name, rows, bytes)` of each table."""
        found = self._client.list_flights()
        return [
            (each.descriptor.path[0].decode(), each.total_records, each.total_bytes)
            for each in found
        ]
