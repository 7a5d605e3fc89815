"""Streams columns of a table from the memory of owners, by hostwire.warehouse and by Arrow Flight.

    hostwire run -n 3 [--wire W --hosts 3] python warehouse.py FILE COLUMN...

FILE is a Parquet file that all PEs see. The owners hold its row groups twice: in a warehouse, and as record
batches of a Flight server, without and with TLS (certificate.pem and key.pem here). PE 0 streams all by turns, and drops the batches. It also copies as many bytes out of
the memory of an owner that it maps, where it maps one: what one consumer gets from memory. Prints JSON.
"""

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import flight

import hostwire.warehouse as warehouse

RUNS = 5
ROWS = 65536
PORT = 18815


class Server(flight.FlightServerBase):
    def __init__(self, location, batches, **options):
        super().__init__(location, **options)
        self._batches = batches

    def do_get(self, context, ticket):
        reader = pa.RecordBatchReader.from_batches(self._batches[0].schema, self._batches)
        return flight.RecordBatchStream(reader)


def own_address():
    """The address of this host's interface, that of `lo` if there is no other."""
    found = json.loads(subprocess.check_output(["ip", "-j", "-4", "addr", "show", "up"]))
    addresses = [each["local"] for link in found for each in link["addr_info"]]
    return next((each for each in addresses if not each.startswith("127.")), "127.0.0.1")


def serve(path, columns, pe, owners):
    """Serves this owner's share of the row groups by Flight."""
    file = pq.ParquetFile(path)
    groups = range(pe - 1, file.num_row_groups, owners)
    table = file.read_row_groups(groups, columns=columns).combine_chunks()
    # Flight sends the types that a warehouse keeps: no views.
    plain = [f.with_type(pa.string()) if f.type == pa.string_view() else f for f in table.schema]
    batches = table.cast(pa.schema(plain)).combine_chunks().to_batches(ROWS)
    pair = (Path("certificate.pem").read_bytes(), Path("key.pem").read_bytes())
    for scheme, port, options in (
        ("grpc", PORT, {}),
        ("grpc+tls", PORT + 100, {"tls_certificates": [pair]}),
    ):
        server = Server(f"{scheme}://0.0.0.0:{port + pe}", batches, **options)
        threading.Thread(target=server.serve, daemon=True).start()
        Path(f"{scheme}-{pe}").write_text(f"{scheme}://{own_address()}:{port + pe}")


def clients_of(scheme, pes):
    options = {"disable_server_verification": True} if scheme == "grpc+tls" else {}
    return [flight.connect(Path(f"{scheme}-{pe}").read_text(), **options) for pe in range(1, pes)]


def by_flight(clients):
    """The bytes that came."""
    moved = [0] * len(clients)

    def read(place):
        for chunk in clients[place].do_get(flight.Ticket(b"")):
            moved[place] += chunk.data.nbytes

    threads = [threading.Thread(target=read, args=(place,)) for place in range(len(clients))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(moved)


def by_hostwire(w, columns):
    w.reset_counts()
    for batch in w.tables["t"].to_batches(columns=columns):
        batch = None
    return w.counts.moved_bytes


def by_copy(w, nbytes):
    """Copies out of the memory of an owner on this host, a slot's bytes at a time into the same buffers."""
    store = next((view for pe in w.owners if (view := w._memory.store.view(pe)) is not None), None)
    if store is None:
        return 0
    piece = 4 << 20
    room = w._flow.pool[: 8 * piece]
    copied = 0
    while copied < nbytes:
        at, to = copied % (nbytes // 2 // piece * piece), copied % len(room)
        np.copyto(room[to : to + piece], store[at : at + piece])
        copied += piece
    return copied


def main():
    path, *columns = sys.argv[1:]
    rank, pes = int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])
    if rank:
        serve(path, columns, rank, pes - 1)

    def consume(w):
        w.load("t", [path], rows_max=ROWS)
        plain, sealed = clients_of("grpc", pes), clients_of("grpc+tls", pes)
        ways = {
            "hostwire": lambda: by_hostwire(w, columns),
            "flight": lambda: by_flight(plain),
            "flight, TLS": lambda: by_flight(sealed),
            "copy": lambda: by_copy(w, w.tables["t"].nbytes),
        }
        rates = {name: [] for name in ways}
        for turn in range(RUNS + 1):
            for name, way in ways.items():
                begin = time.perf_counter()
                moved = way()
                # The first turn is not counted.
                if turn and moved:
                    rates[name].append(moved / (time.perf_counter() - begin) / 1e9)
        found = {name: round(statistics.median(each), 3) for name, each in rates.items() if each}
        print(json.dumps({"bytes": by_hostwire(w, columns), "GB/s": found}), flush=True)
        for client in plain + sealed:
            client.close()

    warehouse.run(consume)
    if rank:
        # The server has threads that do not end by themselves.
        os._exit(0)


main()
