"""Collective operations, compared with NumPy over the values of all PEs."""

import pytest


@pytest.mark.parametrize("pes", [1, 2, 4])
def test_reductions_are_those_of_numpy(run, pes):
    run(
        pes,
        """
        def of(pe, dtype, size):
            rng = np.random.default_rng(pe)
            if dtype == "bool":
                return rng.integers(0, 2, size).astype(bool)
            # Small whole numbers: sums and products are exact in any order.
            return rng.integers(0, 3, size).astype(dtype)

        numpys = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum,
                  "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
        with hostwire.Job() as job:
            world = job.world
            for dtype in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
                          "uint64", "float32", "float64", "complex64", "complex128"):
                for name, ufunc in numpys.items():
                    kind = np.dtype(dtype).kind
                    is_bitwise = name in ("and", "or", "xor")
                    if kind == "b" and not is_bitwise or kind in "fc" and is_bitwise or (
                            kind == "c" and name in ("min", "max")):
                        try:
                            world.all_reduce(of(0, dtype, 3), name)
                        except hostwire.CallerError:
                            continue
                        raise AssertionError((dtype, name))
                    for size in (0, 1, 3, 4 * 300):
                        values = [of(pe, dtype, size) for pe in range(job.pes)]
                        expected = values[0]
                        for more in values[1:]:
                            expected = ufunc(expected, more)
                        mine = values[job.pe]
                        kept = mine.copy()
                        got = world.all_reduce(mine, name)
                        assert got.dtype == mine.dtype and (got == expected).all(), (dtype, name)
                        assert (mine == kept).all()
                        scanned = values[0]
                        for more in values[1:job.pe + 1]:
                            scanned = ufunc(scanned, more)
                        assert (world.scan(mine, name) == scanned).all(), (dtype, name)
                        last = job.pes - 1
                        reduced = world.reduce(mine, name, last)
                        assert (reduced is None) == (job.pe != last)
                        assert reduced is None or (reduced == expected).all()
                        if size == 1200:
                            piece = np.split(expected, job.pes)[job.pe]
                            assert (world.reduce_scatter(mine, name) == piece).all()
        """,
    )


@pytest.mark.parametrize("pes", [1, 2, 4])
def test_data_goes_where_it_belongs(run, pes):
    run(
        pes,
        """
        with hostwire.Job() as job:
            world, pe, pes = job.world, job.pe, job.pes
            for dtype in ("int16", "float64", "S3", [("a", "i1"), ("b", "i4")]):
                for rows in (0, 1, 5, 3000):
                    def of(pe, rows=rows):
                        raw = np.random.default_rng(pe).bytes(rows * 2 * np.dtype(dtype).itemsize)
                        return np.frombuffer(raw, dtype).reshape(rows, 2)
                    every = [of(one) for one in range(pes)]
                    same = lambda got, expected: (got.shape == expected.shape
                        and got.tobytes() == expected.tobytes())
                    assert same(world.all_gather(of(pe)), np.stack(every))
                    for root in range(pes):
                        got = world.gather(of(pe), root)
                        assert same(got, np.stack(every)) if pe == root else got is None
                        out = of(pe).copy()
                        assert world.broadcast(out, root) is out and same(out, of(root))
                        everything = np.stack(every) if pe == root else None
                        out = np.empty((rows, 2), dtype)
                        assert same(world.scatter(everything, out, root), of(pe))
                    ragged = [of(one, rows * one) for one in range(pes)]
                    assert same(world.collect(ragged[pe]), np.concatenate(ragged))
                    out = world.all_to_all(of(pe, rows * pes))
                    pieces = [np.split(of(one, rows * pes), pes)[pe] for one in range(pes)]
                    assert same(out, np.concatenate(pieces))
            # The root may scatter to a part of what it gives.
            everything = np.arange(3.0 * pes)
            mine = everything[1:4] if pe == 0 and pes > 1 else np.empty(3)
            world.scatter(everything if pe == 0 else None, mine)
            assert mine.tolist() == [3.0 * pe, 3.0 * pe + 1, 3.0 * pe + 2]
            # Rows may have no elements.
            assert world.collect(np.empty((pe + 1, 0))).shape == (pes * (pes + 1) // 2, 0)
            in_place = np.ones(3)
            assert world.all_reduce(in_place, out=in_place) is in_place
            assert in_place.tolist() == [pes] * 3
            symmetric = job.zeros(3)
            symmetric.local[:] = pe
            world.all_reduce(symmetric, "max", symmetric.local)
            assert symmetric.local.tolist() == [pes - 1] * 3
        """,
    )


def test_teams(run):
    lines = run(
        4,
        """
        with hostwire.Job() as job:
            halves = job.world.split(job.pe // 2, key=4 - job.pe)
            assert (halves.size, halves.rank) == (2, 1 - job.pe % 2)
            assert [halves.pe(0), halves.pe(1)] == [job.pe // 2 * 2 + 1, job.pe // 2 * 2]
            assert halves.rank_of(3 - job.pe) is None and job.world.rank_of(3) == 3
            assert halves.all_reduce([job.pe]).tolist() == [[1], [5]][job.pe // 2]
            assert job.world.split(None if job.pe else 1) is None or job.pe == 0
            odd = job.world.split_strided(1, 2, 2)
            assert (odd is not None) == (job.pe % 2 == 1)
            if odd is not None:
                odd.barrier()
                assert odd.all_gather([job.pe]).tolist() == [[1], [3]]
            for strided in ((0, 1, 5), (3, 2, 2), (0, 0, 2), (0, 1, 0), (4, 1, 1), (1 << 63, 9, 9)):
                try:
                    job.world.split_strided(*strided)
                except hostwire.CallerError:
                    continue
                raise AssertionError(strided)
            for _ in range(200):
                assert job.world.split(0).size == 4
            print("done")
        """,
    )
    assert lines == ["done"] * 4


def test_what_is_refused_changes_no_result(run):
    run(
        1,
        """
        job = hostwire.Job()
        out = np.zeros(4)
        fixed = np.zeros(2)
        fixed.flags.writeable = False
        world = job.world
        for call in (lambda: world.all_reduce(np.ones(4), "mean", out),
                     lambda: world.all_reduce(np.ones(4), "xor", out),
                     lambda: world.all_reduce(np.ones(2), "sum", out[::2]),
                     lambda: world.all_reduce(np.ones(2), "sum", fixed),
                     lambda: world.all_reduce(np.ones(3), "sum", out),
                     lambda: job.close() or world.all_reduce(np.ones(4), "sum", out)):
            try:
                call()
            except hostwire.CallerError:
                assert not out.any()
                continue
            raise AssertionError("not refused")
        """,
    )


def test_pes_that_disagree_are_told(run):
    lines = run(
        2,
        """
        job = hostwire.Job()
        try:
            job.world.all_reduce(np.ones(2 + job.pe))
        except hostwire.CallerError as error:
            assert "disagree" in str(error), error
            print("told")
        for call in (lambda: job.world.all_to_all([1, 2, 3]), lambda: job.world.pe(2),
                     lambda: job.world.scatter(None, np.ones(1), job.pe),
                     lambda: job.world.broadcast(np.ones(4)[::2]), lambda: job.world.collect(1.0),
                     lambda: job.world.split(1 << 32), lambda: job.world.split(0, 1 << 32),
                     lambda: job.world.all_reduce([1], "mean"), lambda: job.world.all_reduce(["x"]),
                     lambda: job.world.all_reduce([1], out=np.ones(1)),
                     lambda: job.world.all_gather([object()])):
            try:
                call()
            except hostwire.CallerError:
                continue
            raise AssertionError(call)
        job.close()
        """,
    )
    assert lines == ["told", "told"]
