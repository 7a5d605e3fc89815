"""Symmetric arrays: put, get, atomics, and what NumPy sees of them."""

import pytest


@pytest.mark.parametrize("pes", [1, 2, 4])
def test_a_put_to_the_right_arrives(run, pes):
    lines = run(
        pes,
        """
        with hostwire.Job() as job:
            inbox = job.zeros(4, "int64")
            right = (job.pe + 1) % job.pes
            inbox.put(right, np.arange(4) + 10 * job.pe)
            job.barrier()
            left = (job.pe - 1) % job.pes
            assert inbox.local.tolist() == [10 * left + i for i in range(4)], inbox.local
            assert inbox.get(right).tolist() == [10 * job.pe + i for i in range(4)]
            print("PE", job.pe, "of", job.pes)
            job.barrier()
        """,
    )
    assert lines == [f"PE {pe} of {pes}" for pe in range(pes)]


def test_random_puts_and_gets_are_as_on_plain_arrays(run):
    """PE 0 alone writes and reads PE 1's copy; a plain array is the oracle."""
    lines = run(
        2,
        """
        import random
        with hostwire.Job() as job:
            for dtype in ("int8", "bool", "float32", "int64", "complex128", "datetime64[s]", "S5",
                          [("kind", "i4"), ("place", "f8", (3,))], ">i4"):
                array = job.zeros((5, 7), dtype)
                if job.pe == 0:
                    rng = random.Random(7)
                    oracle = np.zeros(35, array.dtype)
                    for _ in range(200):
                        begin = rng.randrange(36)
                        count = rng.randrange(36 - begin)
                        step = rng.choice([1, 1, 2, -1])
                        raw = rng.randbytes(count * abs(step) * oracle.itemsize)
                        if dtype == "bool":
                            raw = bytes(byte & 1 for byte in raw)
                        values = np.frombuffer(raw, array.dtype)[::step]
                        array.put(1, values, begin)
                        oracle[begin:begin + count] = values
                        at = rng.randrange(36)
                        length = rng.randrange(36 - at)
                        got = array.get(1, index=at, count=length)
                        assert got.tobytes() == oracle[at:at + length].tobytes()
                        apart = np.zeros(2 * length, array.dtype)
                        array.get(1, apart[::2], at)
                        assert apart[::2].tobytes() == oracle[at:at + length].tobytes()
                    assert array.get(1).shape == (5, 7)
                    assert array.get(1).tobytes() == oracle.tobytes()
                job.barrier()
            print("same")
        """,
    )
    assert lines == ["same", "same"]


def test_long_values_and_those_that_overlap(run):
    run(
        2,
        """
        with hostwire.Job() as job:
            array = job.zeros(100_000, "int32")
            numbers = np.arange(100_000, dtype="int32")
            array.put(1 - job.pe, numbers + job.pe)
            job.barrier()
            assert (array.local == numbers + 1 - job.pe).all()
            # Within the own copy: source and target share elements.
            array.put(job.pe, array.local[:99_990], 10)
            assert (array.local[10:] == numbers[:99_990] + 1 - job.pe).all()
            array.get(job.pe, array.local[:99_990], 10)
            assert (array.local[:99_990] == numbers[:99_990] + 1 - job.pe).all()
            job.barrier()
        """,
    )


def test_numpy_and_others_see_the_memory_itself(run):
    run(
        2,
        """
        with hostwire.Job() as job:
            array = job.zeros((3, 4), "float32")
            ways = [array.local, np.asarray(array), np.from_dlpack(array), array.view(job.pe),
                    np.frombuffer(array, "float32").reshape(3, 4), np.asarray(memoryview(array))]
            address = array.__array_interface__["data"][0]
            for number, way in enumerate(ways):
                assert way.ctypes.data == address and way.shape == (3, 4), way
                way[2, 3] = number
                assert array.local[2, 3] == number
            assert array.__dlpack_device__() == (1, 0)
            copy = np.array(array)
            copy[:] = 5
            assert array.local[0, 0] == 0
            other = array.view(1 - job.pe)
            job.barrier()
            other[0, 0] = 10 + job.pe
            job.fence()
            job.barrier()
            assert array.local[0, 0] == 11 - job.pe
            part = array.part(1, 3)
            assert part.shape == (2, 4) and part.local.ctypes.data == address + 16
            assert np.asarray(job.zeros((0, 3))).shape == (0, 3)
            assert job.zeros(()).shape == ()
        """,
    )


def test_atomics_of_all_pes_add_up(run):
    run(
        4,
        """
        with hostwire.Job() as job:
            for dtype in ("int32", "uint32", "int64", "uint64"):
                words = job.zeros(8, dtype)
                for _ in range(500):
                    words.fetch_add(0, 1, 2)
                words.fetch_or(0, 1 << job.pe, 3)
                words.fetch_max(0, job.pe, 4)
                words.fetch_xor(0, 6, 5)
                won = words.compare_swap(0, 0, job.pe + 1, 6) == 0
                job.barrier()
                seen = [words.fetch(0, index) for index in range(8)]
                assert seen[2:6] == [2000, 15, 3, 0], seen
                assert won == (seen[6] == job.pe + 1)
                job.barrier()
                assert words.swap(job.pe, 7, 1) == 0 or job.pe == 0
                words.set(job.pe, 9, 1)
                assert words.fetch_and(job.pe, 8, 1) == 9 and words.fetch(job.pe, 1) == 8
                assert words.fetch_min(job.pe, 3, 1) == 8 and words.fetch(job.pe, 1) == 3
            floats = job.zeros(1)
            assert floats.swap(job.pe, 1.5) == 0.0 and floats.fetch(job.pe) == 1.5
            signed = job.zeros(1, "int64")
            assert signed.fetch_add(job.pe, -3) == 0 and signed.fetch(job.pe) == -3
        """,
    )


def test_what_cannot_be_done_is_refused_and_nothing_is_done(run):
    run(
        2,
        """
        import pickle
        with hostwire.Job() as job:
            array, words = job.zeros(4, "float32"), job.zeros(4, "uint64")
            world = job.world
            refused = [
                lambda: array.put(2, [1]), lambda: array.put(-1, [1]), lambda: array.put("1", [1]),
                lambda: array.put(1 << 70, [1]), lambda: array.put(1, [1, 2], 3),
                lambda: array.put(1, [1], 1 << 62), lambda: array.put(1, [1j]),
                lambda: array.put(1, np.array(["x"])), lambda: words.put(1, [1.5]),
                lambda: words.put(1, [-1]), lambda: words.put(1, np.array([1, 2])),
                lambda: array.get(1, index=5), lambda: array.get(1, count=5),
                lambda: array.get(1, np.zeros(1)), lambda: array.get(1, [0]),
                lambda: array.get(1, np.zeros(5, "float32")), lambda: array.get(1, count=1 << 62),
                lambda: array.get(1, np.frombuffer(bytes(4), "float32")),
                lambda: array.fetch_add(1, 1), lambda: words.fetch_add(1, -1),
                lambda: words.fetch_add(1, 1.5), lambda: words.fetch(1, 4), lambda: words.fetch(2),
                lambda: words.set(1, 1 << 64), lambda: array.compare_swap(1, 0, 1),
                lambda: array.put_signal(1, [1], array, 1),
                lambda: array.put_signal(1, [1], words, 1, signal_index=4),
                lambda: array.wait_until("=", 1), lambda: array.wait_until("==", 1, 4),
                lambda: array.wait_until("==", 1, timeout_s=-1),
                lambda: array.wait_until("==", 1, timeout_s=float("nan")),
                lambda: array.part(3, 2), lambda: array.part(0, 5),
                lambda: job.zeros(-1), lambda: job.zeros(1, "O"), lambda: job.zeros(1, "V0"),
                lambda: job.zeros((1 << 40, 1 << 40)), lambda: job.fence(2),
            ]
            for number, call in enumerate(refused):
                try:
                    call()
                except hostwire.CallerError as error:
                    assert isinstance(error, ValueError) and len(str(error)) > 10, (number, error)
                else:
                    raise AssertionError(f"number {number} was not refused")
            job.barrier()
            assert not array.local.any() and not words.local.any()
        """,
    )


def test_strided_puts_and_gets_are_as_on_plain_arrays(run):
    run(
        2,
        """
        with hostwire.Job() as job:
            for dtype in ("uint8", "int32", "float64", "complex128", "S5"):
                array = job.zeros((4, 6), dtype)
                if job.pe == 0:
                    oracle = np.zeros(24, dtype)
                    for count, stride, index in ((0, 3, 24), (1, 99, 23), (4, 6, 2), (8, 3, 1), (24, 1, 0)):
                        values = np.arange(count).astype(dtype)
                        array.put_strided(1, values, stride, index)
                        oracle[index : index + count * stride : stride] = values
                        got = array.get_strided(1, count, stride, index)
                        assert got.dtype == array.dtype and got.tobytes() == values.tobytes()
                    assert array.get(1).tobytes() == oracle.tobytes()
                    for call in (
                        lambda: array.put_strided(1, values[:5], 6),
                        lambda: array.put_strided(1, values[:2], 0),
                        lambda: array.get_strided(1, 5, 6),
                        lambda: array.get_strided(1, 2, 2**63),
                        lambda: array.get_strided(1, 2**62, 2**62),
                    ):
                        try:
                            call()
                        except hostwire.CallerError:
                            continue
                        raise AssertionError("no error")
                    assert array.get(1).tobytes() == oracle.tobytes()
                job.barrier()
        """,
    )


def test_gets_that_do_not_wait(run):
    run(
        3,
        """
        import gc
        with hostwire.Job() as job:
            array = job.zeros(1000, "float32")
            array.local[:] = np.arange(1000) + 1000 * job.pe
            job.barrier()
            begun = [array.start_get(pe) for pe in range(job.pes)]
            # One that nobody waits for.
            array.start_get(0, 5)
            gc.collect()
            for pe, get in enumerate(begun):
                assert (get.wait() == np.arange(1000) + 1000 * pe).all()
                assert get.wait() is get.wait()
            assert array.start_get(1, index=998).wait().tolist() == [1998, 1999]
            assert array.start_get(1, 3, 2).wait().tolist() == [1003, 1004]
            assert array.start_get(1, 1000).wait().size == 0
            for call in (lambda: array.start_get(3), lambda: array.start_get(0, 999, 2)):
                try:
                    call()
                except hostwire.CallerError:
                    continue
                raise AssertionError("no error")
            job.barrier()
            late = array.start_get(0)
        try:
            late.wait()
        except hostwire.CallerError as error:
            assert "closed" in str(error), error
        else:
            raise AssertionError("no error")
        """,
    )


def test_waiting_for_several_words(run):
    run(
        2,
        """
        with hostwire.Job() as job:
            flags = job.zeros(6, "int32")
            assert flags.test_any("!=", 0) is None and flags.test_some("!=", 0) == []
            assert not flags.test_all("!=", 0) and flags.test_all("==", 0)
            assert flags.wait_until_any("!=", 0, []) is None
            job.barrier()
            if job.pe == 0:
                for index in (4, 1, 2, 3, 0, 5):
                    flags.put(1, [index + 10], index)
                    job.fence()
            else:
                # The first of those in the order of the list.
                first = flags.wait_until_any(">=", 10, [1, 4])
                assert first in (1, 4)
                some = flags.wait_until_some(">=", 10, [2, 4])
                assert set(some) <= {2, 4} and some
                flags.wait_until_all(">=", 10)
                assert flags.local.tolist() == [10, 11, 12, 13, 14, 15]
                assert flags.test_any("==", 12) == 2
                assert flags.test_some(">", 12, [5, 0, 3]) == [5, 3]
                try:
                    flags.wait_until_any("==", 0, [6])
                except hostwire.CallerError:
                    pass
                else:
                    raise AssertionError("no error")
        """,
    )


def test_values_may_come_by_dlpack(run):
    run(
        2,
        """
        class Foreign:
            def __init__(self, values):
                self._values = np.array(values, "float32")
            def __dlpack__(self, **options):
                return self._values.__dlpack__(**options)
            def __dlpack_device__(self):
                return self._values.__dlpack_device__()

        with hostwire.Job() as job:
            array = job.zeros(3, "float32")
            array.put(1 - job.pe, Foreign([1, 2, job.pe]))
            job.barrier()
            assert array.local.tolist() == [1, 2, 1 - job.pe]
            assert job.world.all_reduce(Foreign([job.pe, 4])).tolist() == [1, 8]
            # And the other way, with a version and a device.
            shared = np.from_dlpack(array, device="cpu", copy=False)
            shared[0] = 7
            assert array.local[0] == 7
            assert array.__dlpack__(max_version=(1, 0), stream=None) is not None
        """,
    )
