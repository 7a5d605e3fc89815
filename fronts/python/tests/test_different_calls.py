"""Collective operations that PEs call differently: no PE gets a number, and none waits for ever."""

import pytest

# The calls of PE 0 and of PE 1, and the possible texts of the error, one of which is seen.
PAIRS = {
    "dtype": (
        "world.all_reduce(np.ones(1, 'int64'))",
        "world.all_reduce(np.ones(1))",
        ("sum of int64", "sum of float64"),
    ),
    "op": (
        "world.all_reduce(np.ones(1), 'sum')",
        "world.all_reduce(np.ones(1), 'max')",
        ("sum of float64", "maximum of float64"),
    ),
    "half": (
        "world.all_reduce(np.ones(300, 'float16'))",
        "world.all_reduce(np.ones(300, 'int16'))",
        ("sum of float16", "sum of int16"),
    ),
    "bool": (
        "world.all_reduce(np.ones(1, bool), 'or')",
        "world.all_reduce(np.ones(1, 'uint8'), 'or')",
        ("or of bool", "or of uint8"),
    ),
    "long": (
        "world.all_reduce(np.ones(100_000, 'int64'))",
        "world.all_reduce(np.ones(100_000))",
        ("sum of int64", "sum of float64"),
    ),
    "none": (
        "world.all_reduce(np.ones(0))",
        "world.all_reduce(np.ones(1))",
        ("0 bytes", "8 bytes"),
    ),
    "root": (
        "world.broadcast(np.ones(1), 0)",
        "world.broadcast(np.ones(1), 1)",
        ("other roots in earlier operations",),
    ),
    "crossed roots": (
        "world.broadcast(np.ones(1), 1)",
        "world.broadcast(np.ones(1), 0)",
        ("root 0", "root 1"),
    ),
    "broadcast": (
        "world.broadcast(np.ones(1))",
        "world.broadcast(np.ones(1, 'uint64'))",
        ("float64", "uint64"),
    ),
    "gather": (
        "world.all_gather(np.ones(2, 'float32'))",
        "world.all_gather(np.ones(1))",
        ("float32", "float64"),
    ),
    "records": (
        "world.all_gather(np.zeros(1, 'i4,i4'))",
        "world.all_gather(np.ones(1))",
        ("elements of another type", "float64"),
    ),
    "scatter": (
        "world.scatter(np.ones(2), np.ones(1))",
        "world.scatter(None, np.ones(1, 'int64'))",
        ("float64", "int64"),
    ),
    "kind": (
        "world.all_gather(np.ones(2))",
        "world.all_to_all(np.ones(4))",
        ("a gather from all", "an all-to-all"),
    ),
    "scan": (
        "world.scan(np.ones(1))",
        "world.all_reduce(np.ones(1))",
        ("a scan", "a reduction"),
    ),
    "barrier": (
        "world.barrier()",
        "world.all_reduce(np.ones(1))",
        ("a barrier", "a reduction"),
    ),
    "long root": (
        "world.broadcast(np.ones(100_000), 0)",
        "world.barrier()",
        ("a broadcast", "a barrier"),
    ),
    "collect": (
        "world.collect(np.ones((1, 2), 'int32'))",
        "world.collect(np.ones(1))",
        ("int32", "float64"),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_calls_that_differ_give_an_error_and_no_number(run, name):
    *calls, texts = PAIRS[name]
    lines = run(
        2,
        f"""
        job = hostwire.Job()
        world = job.world
        for other in (1, 2):
            # A message that is there before, and one behind it, are not touched.
            job.send(1 - job.pe, b"%d" % other, other)
        try:
            ({calls[0]}) if job.pe == 0 else ({calls[1]})
            # Who has only given something hears of it at the latest here.
            world.all_reduce([1])
            print("a number")
        except hostwire.CallerError as error:
            print("told:", error)
        except hostwire.PeerError:
            print("gone")
        assert [job.recv(1 - job.pe, other).data for other in (1, 2)] == [b"1", b"2"]
        print("messages")
        """,
        fails=True,
    )[1].splitlines()
    told = [line for line in lines if line.startswith("told:")]
    assert told, lines
    assert all("the PEs disagree" in line for line in told), told
    assert any(text in line for line in told for text in texts), told
    assert "a number" not in lines and "AssertionError" not in "".join(lines), lines
