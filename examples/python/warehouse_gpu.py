"""Queries 1 and 21 of TPC-H on a GPU, by PyTorch, from tables that lie in the memory of other processes.

    hostwire run -n 5 --heap 2G python examples/python/warehouse_gpu.py --scale 1

PEs 1 to 4 own the tables. They put the columns that a query needs into the buffers of PE 0, and the GPU copies them
from there: the buffers are pinned, so one row group comes by the wire while another goes to the GPU. Decimals
are whole numbers of cents, so that sums are exact. With --check the answers are compared with DuckDB's. Without a
GPU, or with --device cpu, PyTorch computes on the CPU.

Needs `pip install 'hostwire[warehouse]' torch`.
"""

import argparse
import ctypes
import time
from decimal import Decimal

import pyarrow.types as types
import torch

import hostwire.warehouse as warehouse

# Sums of doubles are exact up to here.
EXACT = 1 << 53
# Q1: shipped until 1998-09-02, as days since 1970.
LAST_DAY = 10471
# Row groups that are on their way to the GPU.
UNDER_WAY = 2
Q1 = ["l_returnflag", "l_linestatus", "l_quantity", "l_extendedprice", "l_discount", "l_tax", "l_shipdate"]
ORDERS = ["o_orderkey", "o_orderstatus"]
Q21 = ["l_orderkey", "l_suppkey", "l_commitdate", "l_receiptdate"]


class Gpu:
    """Brings the columns of tables to a device."""

    def __init__(self, device, buffers):
        self.device = torch.device(device)
        self.moved_bytes = 0
        self.buffers = buffers
        self.is_pinned = False
        if self.device.type == "cuda":
            pinned = torch.cuda.cudart().cudaHostRegister(buffers.ctypes.data, buffers.nbytes, 0)
            # Where the machine refuses, copies are slower.
            self.is_pinned = int(pinned) == 0

    def close(self):
        if self.is_pinned:
            torch.cuda.cudart().cudaHostUnregister(self.buffers.ctypes.data)

    @property
    def name(self):
        return torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else "the CPU"

    def batches(self, table, columns):
        """The columns of each row group, as tensors by name. A row group is kept until it is on the device."""
        under_way = []
        for batch in table.to_batches(columns=columns):
            tensors = {name: self.column(batch.column(name)) for name in columns}
            under_way.append((self.mark(), batch))
            del batch
            if len(under_way) > UNDER_WAY:
                mark, _ = under_way.pop(0)
                if mark is not None:
                    mark.synchronize()
                del _
            yield tensors
        self.finish()

    def mark(self):
        if self.device.type != "cuda":
            return None
        event = torch.cuda.Event()
        event.record()
        return event

    def finish(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def column(self, array):
        """A column on the device: keys and dates as they are, decimals in units of their last digit, and texts of one
        letter as the number of the letter."""
        kind, rows = array.type, len(array)
        if array.null_count:
            raise ValueError("a column with nulls")
        if types.is_decimal128(kind):
            # The upper half is the sign: the columns here are not negative, and smaller than 2^63.
            return self.copy(array, 1, torch.int64, 2).view(rows, 2)[:, 0]
        if types.is_string_view(kind):
            # A view has the length, and up to 12 bytes behind it.
            return self.copy(array, 1, torch.uint8, 16).view(rows, 16)[:, 4]
        if types.is_string(kind):
            self.check_letters(array)
            return self.copy(array, 2, torch.uint8, 1)
        if types.is_int64(kind):
            return self.copy(array, 1, torch.int64, 1)
        if types.is_int32(kind) or types.is_date32(kind):
            return self.copy(array, 1, torch.int32, 1)
        raise TypeError(f"a column of {kind}")

    def check_letters(self, array):
        _, offsets, _ = array.buffers()
        first, last = (int.from_bytes(offsets[at : at + 4].to_pybytes(), "little") for at in (0, 4 * len(array)))
        if array.offset or first or last != len(array):
            raise ValueError("a column of texts that are longer than a letter")

    def copy(self, array, buffer, dtype, per_row):
        """Starts to copy a buffer of an array to the device."""
        memory = array.buffers()[buffer]
        count, size = len(array) * per_row, dtype.itemsize
        skipped = array.offset * per_row * size
        if count * size > memory.size - skipped:
            raise ValueError("a column that is shorter than it says")
        # PyTorch warns of memory that it may not write.
        raw = (ctypes.c_char * (count * size)).from_address(memory.address + skipped)
        self.moved_bytes += count * size
        tensor = torch.frombuffer(raw, dtype=dtype, count=count)
        return tensor.to(self.device, non_blocking=True, copy=True)


def sums_by_letters(w, gpu, keys=None):
    """The sums of Q1 by the two letters of a line, where a row of the tensor is what its row in `keys` has, and all
    letters that there are. Without `keys`, those of the first row group. Nothing here waits for the device."""
    has = torch.zeros(1 << 16, dtype=torch.bool, device=gpu.device)
    sums, most = 0, torch.zeros((), dtype=torch.double, device=gpu.device)
    for batch in gpu.batches(w.tables["lineitem"], Q1):
        key = batch["l_returnflag"].long() * 256 + batch["l_linestatus"].long()
        keys = torch.unique(key) if keys is None else keys
        has[key] = True
        price, discount = batch["l_extendedprice"], batch["l_discount"]
        net = price * (100 - discount)
        values = torch.stack(
            [batch["l_quantity"], price, net, net * (100 + batch["l_tax"]), discount, torch.ones_like(price)], 1
        )
        # Grouping as a product of matrices: row g of the first has 1 where a line is of group g.
        is_of = (key[None, :] == keys[:, None]) & (batch["l_shipdate"] <= LAST_DAY)
        some = is_of.double() @ values.double()
        most = torch.maximum(most, some.max())
        sums = sums + some.long()
    if most >= EXACT:
        raise OverflowError("sums of a row group that are not exact: load it with fewer rows")
    return keys, sums, has.nonzero().flatten()


def q1(w, gpu):
    """The price summary of the lines that were shipped by a day."""
    keys, sums, found = sums_by_letters(w, gpu)
    if len(keys) < len(found):
        keys, sums, _ = sums_by_letters(w, gpu, found)
    sums = dict(zip(keys.tolist(), sums.tolist(), strict=True))
    answer = []
    for letters, (quantity, price, net, charge, discount, count) in sorted(sums.items()):
        if not count:
            continue
        flags = (chr(letters // 256), chr(letters % 256))
        cents = [Decimal(number).scaleb(-digits) for number, digits in ((quantity, 2), (price, 2), (net, 4), (charge, 6))]
        averages = [number / 100 / count for number in (quantity, price, discount)]
        answer.append((*flags, *cents, *averages, count))
    return answer


def q21(w, gpu):
    """Suppliers of a nation that alone kept orders waiting."""
    nation = w.tables["nation"].to_table(columns=["n_nationkey", "n_name"]).to_pylist()
    (wanted,) = (row["n_nationkey"] for row in nation if row["n_name"] == "SAUDI ARABIA")
    suppliers = w.tables["supplier"].to_table(columns=["s_suppkey", "s_name", "s_nationkey"])
    names = dict(zip(suppliers["s_suppkey"].to_pylist(), suppliers["s_name"].to_pylist(), strict=True))
    keys, nations = (torch.tensor(suppliers[name].to_pylist()) for name in ("s_suppkey", "s_nationkey"))
    is_wanted = torch.zeros(int(keys.max()) + 1, dtype=torch.bool)
    is_wanted[keys[nations == wanted]] = True
    is_wanted = is_wanted.to(gpu.device)

    finished = []
    for batch in gpu.batches(w.tables["orders"], ORDERS):
        finished.append(batch["o_orderkey"][batch["o_orderstatus"] == ord("F")])
    finished = torch.cat(finished)
    orders = int(finished.max()) + 1
    is_finished = torch.zeros(orders, dtype=torch.bool, device=gpu.device)
    is_finished[finished] = True

    # The least and the greatest supplier of each order, and of its late lines: if they differ there are others.
    least, late_least = (torch.full((orders,), 1 << 62, device=gpu.device) for _ in range(2))
    most, late_most = (torch.zeros(orders, dtype=torch.int64, device=gpu.device) for _ in range(2))
    candidates = []
    for batch in gpu.batches(w.tables["lineitem"], Q21):
        order, supplier = batch["l_orderkey"], batch["l_suppkey"]
        is_late = batch["l_receiptdate"] > batch["l_commitdate"]
        # Order 0, which there is not, stands for all that do not count.
        order = torch.where(is_finished[order.clamp(max=orders - 1)] & (order < orders), order, 0)
        late = torch.where(is_late, order, 0)
        for at, low, high in ((order, least, most), (late, late_least, late_most)):
            low.scatter_reduce_(0, at, supplier, "amin")
            high.scatter_reduce_(0, at, supplier, "amax")
        ours = is_wanted[supplier] & (late > 0)
        candidates.append((order[ours], supplier[ours]))
    order, supplier = (torch.cat(column) for column in zip(*candidates, strict=True))
    alone = (least[order] != most[order]) & (late_least[order] == late_most[order])
    counts = torch.bincount(supplier[alone], minlength=len(is_wanted)).cpu()
    answer = [(names[int(key)], int(counts[key])) for key in counts.nonzero().flatten()]
    return sorted(answer, key=lambda row: (-row[1], row[0]))[:100]


def same(got, expected):
    """Whether rows are the same; averages may differ in their last digits."""

    def near(a, b):
        return abs(a - b) <= 1e-9 * abs(b) if isinstance(a, float) else a == b

    rows = [tuple(row.values()) for row in expected.to_pylist()]
    return len(got) == len(rows) and all(
        all(near(a, float(b) if isinstance(a, float) else b) for a, b in zip(one, other, strict=True))
        for one, other in zip(got, rows, strict=True)
    )


def only_bring(name):
    """Brings the columns of a query to the device, and computes nothing."""
    tables = {"q1": [("lineitem", Q1)], "q21": [("orders", ORDERS), ("lineitem", Q21)]}

    def bring(w, gpu):
        for table, columns in tables[name]:
            for _ in gpu.batches(w.tables[table], columns):
                pass

    return bring


def timed(what, w, gpu):
    """What something returns, how many bytes came to the device for it, and how long it took, in seconds."""
    gpu.moved_bytes, begin = 0, time.perf_counter()
    result = what(w, gpu)
    gpu.finish()
    return result, gpu.moved_bytes, time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=0.1, help="scale factor of TPC-H [default: 0.1]")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", help="of PyTorch")
    parser.add_argument("--turns", type=int, default=2, help="how often each query is asked [default: 2]")
    parser.add_argument("--check", action="store_true", help="compare with DuckDB")
    options = parser.parse_args()

    def ask(w):
        w.load_tpch(options.scale, tables=["nation", "supplier", "orders", "lineitem"])
        gpu = Gpu(options.device, w.buffers)
        try:
            for name, query in (("q1", q1), ("q21", q21)):
                for _ in range(options.turns):
                    (answer, nbytes, seconds), (_, _, alone) = timed(query, w, gpu), timed(only_bring(name), w, gpu)
                    print(
                        f"{name}: {seconds:.3f} s on {gpu.name}; {nbytes / 1e6:.1f} MB come in {alone:.3f} s if "
                        f"nothing is computed, {nbytes / alone / 1e9:.2f} GB/s"
                    )
                print(*(" ".join(map(str, row)) for row in answer[:4]), sep="\n")
                if options.check:
                    begin = time.perf_counter()
                    expected = w.query(name)
                    seconds = time.perf_counter() - begin
                    verdict = "the same" if same(answer, expected) else "NOT the same"
                    print(f"DuckDB, {seconds:.3f} s: {verdict}", flush=True)
        finally:
            gpu.close()

    warehouse.run(ask)


if __name__ == "__main__":
    main()
