"""Dask reads a table of a warehouse that serves Arrow Flight: each partition is a part of the table.

    hostwire-warehouse serve --scale 0.1 --owners 4
    python examples/python/warehouse_dask.py grpc://127.0.0.1:8815

Workers of Dask need no hostwire: they ask the warehouse for their part. Needs `pip install 'dask[dataframe]'
pyarrow`. Any cluster engine can do the same: a worker reads the tickets that it gets.
"""

import sys

import dask.dataframe as dd
import pandas as pd
from pyarrow import flight


def tickets_of(url, table):
    """The tickets of a table, one for each of its parts, and its schema."""
    with flight.connect(url) as client:
        info = client.get_flight_info(flight.FlightDescriptor.for_path(table))
        return [endpoint.ticket.ticket for endpoint in info.endpoints], info.schema


def read(ticket, url):
    """A partition. Its columns keep the types of Arrow."""
    with flight.connect(url) as client:
        table = client.do_get(flight.Ticket(ticket)).read_all()
    return table.to_pandas(types_mapper=pd.ArrowDtype)


def frame(url, table):
    """A table as a Dask data frame."""
    tickets, schema = tickets_of(url, table)
    meta = schema.empty_table().to_pandas(types_mapper=pd.ArrowDtype)
    return dd.from_map(read, tickets, url=url, meta=meta)


def main():
    url = sys.argv[1] if len(sys.argv) > 1 else "grpc://127.0.0.1:8815"
    lines = frame(url, "lineitem")
    print(f"{lines.npartitions} partitions")
    lines = lines.assign(days=(lines["l_receiptdate"] - lines["l_commitdate"]).dt.days)
    late = lines[lines["days"] > 0].groupby("l_shipmode")["days"].agg(["count", "max"])
    print(late.compute().sort_index().to_string())


if __name__ == "__main__":
    main()
