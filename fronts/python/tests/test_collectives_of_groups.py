"""Lanes and what goes over them, below the process groups of PyTorch, with NumPy arrays."""

import textwrap

import pytest

# A group of the PEs `members`, in this order; None on the others.
GROUP = """
import hostwire._lanes as lanes

SUM = ("float32", "sum")
NOTHING = np.empty(0, "uint8")

def group(job, arena, members):
    slot, number = arena.take() if job.pe in members else (0, 0)
    of_all = job.world.all_gather(np.array([slot, number]))
    if job.pe not in members:
        return None
    here = arena.lanes(
        members.index(job.pe),
        members,
        [int(of_all[pe, 0]) for pe in members],
        int(of_all[members[0], 1]),
    )
    slots[here] = slot
    return here

slots = {}
"""


def in_group(program):
    return GROUP + textwrap.dedent(program)


def test_all_reduce_gives_all_the_bits_of_the_order_of_ranks(run):
    program = in_group("""
    with hostwire.Job() as job:
        arena = lanes.Arena(job)
        for members in ([0, 1, 2, 3], [3, 1, 0], [2, 0], [1]):
            members = [pe for pe in members if pe < job.pes]
            team = group(job, arena, members)
            if team is None:
                continue
            # Empty, one-shot, its limit, one piece, parts that are empty, several rounds.
            for count in (0, 1, 1000, 1 << 14, (1 << 14) + 1, 100_003, 1_000_001):
                def of(pe):
                    generator = np.random.default_rng([pe, count])
                    return generator.standard_normal(count, "float32") * 10.0 ** pe
                expected = of(members[0])
                for pe in members[1:]:
                    expected = expected + of(pe)
                values = of(job.pe)
                team.all_reduce(values, SUM, 100.0)
                assert values.tobytes() == expected.astype("float32").tobytes(), count
                for root in range(len(members)):
                    values = of(job.pe)
                    if team.rank == root:
                        team.reduce(values, SUM, None)
                    else:
                        sent = [NOTHING] * team.size
                        sent[root] = values
                        team.exchange(sent, [NOTHING] * team.size, ("reduce", *SUM), None)
                    right = expected if team.rank == root else of(job.pe)
                    assert values.tobytes() == right.tobytes(), count
    """)
    run(4, program)


def test_pieces_go_where_they_belong(run):
    program = in_group("""
    with hostwire.Job() as job:
        team = group(job, lanes.Arena(job), list(range(job.pes)))
        rank, size = team.rank, team.size
        for count in (0, 1, 300, 700_001):
            def of(source, to):
                return np.full((count + 1000 * source) * (to + 1), 16 * source + to, "uint8")
            outs = [np.zeros_like(of(source, rank)) for source in range(size)]
            team.exchange([of(rank, to) for to in range(size)], outs, ("all_to_all", "uint8", None), None)
            for source, out in enumerate(outs):
                assert np.array_equal(out, of(source, rank))
            parts = [np.full(count, rank + to, "float32") for to in range(size)]
            out = np.empty(count, "float32")
            team.reduce_scatter(parts, out, SUM, None)
            assert (out == sum(range(size)) + size * rank).all()
            # In place: what is sent lies in what is received.
            rows = np.zeros((size, count), "uint8")
            rows[rank] = rank + 1
            team.exchange([rows[rank]] * size, list(rows), ("all_gather", "uint8", None), None)
            assert (rows == np.arange(1, size + 1, dtype="uint8")[:, None]).all()
        team.barrier(None)
        try:
            team.exchange([NOTHING] * size, [rows[0]] * size, ("gather", "uint8", None), None)
        except hostwire.CallerError as error:
            assert str(error).startswith("outputs: two of them"), error
        else:
            raise AssertionError("no error")
    """)
    run(3, program)


@pytest.mark.parametrize("pes", [2, 3])
def test_a_barrier_waits_for_all(run, pes):
    program = in_group("""
    with hostwire.Job() as job:
        team = group(job, lanes.Arena(job), list(range(job.pes)))
        seen = job.zeros(job.pes, "int64")
        for step in range(1, 200):
            for pe in range(job.pes):
                seen.put(pe, [step], job.pe)
            job.quiet()
            team.barrier(None)
            assert seen.local.min() >= step
    """)
    run(pes, program)


def test_different_calls_are_an_error(run):
    program = in_group("""
    with hostwire.Job() as job:
        arena = lanes.Arena(job)
        for first, second in (
            (lambda team: team.all_reduce(np.zeros(2, "float32"), SUM, None),
             lambda team: team.all_reduce(np.zeros(4, "float32"), SUM, None)),
            (lambda team: team.barrier(None),
             lambda team: team.all_reduce(np.zeros(4, "float32"), SUM, None)),
        ):
            team = group(job, arena, [0, 1])
            try:
                (first if job.pe == 0 else second)(team)
            except hostwire.CallerError as error:
                assert f"rank {1 - job.pe} (PE {1 - job.pe}) sent " in str(error), error
            else:
                raise AssertionError("no error")
    """)
    run(2, program)


def test_a_wait_ends_at_its_limit(run):
    program = in_group("""
    with hostwire.Job() as job:
        team = group(job, lanes.Arena(job), [0, 1])
        if job.pe == 0:
            try:
                team.barrier(0.2)
            except TimeoutError as error:
                print(error)
        job.barrier()
    """)
    said = run(2, program)
    assert said == ["rank 1 (PE 1) has not done its part within 0.2 s"]


def test_slots_are_used_again_when_nobody_writes_there(run):
    program = in_group("""
    with hostwire.Job() as job:
        arena = lanes.Arena(job)
        other = 1 - job.pe
        for step in range(3 * lanes.SLOTS_MAX):
            team = group(job, arena, [0, 1])
            values = np.full(8, step + job.pe, "float32")
            team.all_reduce(values, SUM, None)
            assert (values == 2 * step + 1).all()
            arena.give_back(slots[team], team)
        # One that PE 1 has not taken part in yet: PE 0 has something on its way.
        team = group(job, arena, [0, 1])
        if job.pe == 0:
            team.exchange([NOTHING, np.zeros(8, "uint8")], [NOTHING] * 2, ("scatter", "uint8", None), None)
            arena.give_back(slots[team], team)
            held = [arena.take()[0] for _ in range(lanes.SLOTS_MAX - 1)]
            assert slots[team] not in held
            try:
                arena.take()
            except hostwire.CallerError as error:
                print(error)
            job.barrier()
            job.barrier()
            assert arena.take()[0] == slots[team]
        else:
            job.barrier()
            team.exchange([NOTHING] * 2, [np.zeros(8, "uint8"), NOTHING], ("scatter", "uint8", None), None)
            job.barrier()
    """)
    said = run(2, program, launcher=("--heap", "256M"))
    assert len(said) == 1 and said[0].startswith("too many groups at a time")


def test_who_leaves_is_missed_at_once(run):
    program = in_group("""
    import time

    with hostwire.Job() as job:
        arena = lanes.Arena(job)
        team = group(job, arena, list(range(job.pes)))
        values = np.full(100_000, 1.0, "float32")
        team.all_reduce(values, SUM, None)
        assert (values == job.pes).all()
        if job.pe == 1:
            # Its part of the last operation still counts.
            team.barrier(None)
            team.leave()
        else:
            team.barrier(None)
            begin = time.monotonic()
            try:
                team.all_reduce(values, SUM, 100.0)
            except hostwire.PeerLeft as error:
                assert error.pe == 1 and time.monotonic() - begin < 50
                print(error)
    """)
    text = "rank 1 (PE 1) has left the group, while this rank still waits for it"
    assert run(3, program) == [text, text]


def test_elements_of_all_kinds_are_combined(run):
    program = in_group("""
    KINDS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
             "float16", "float32", "float64", "complex64", "complex128"]

    with hostwire.Job() as job:
        team = group(job, lanes.Arena(job), list(range(job.pes)))
        for dtype in KINDS:
            def of(pe):
                generator = np.random.default_rng([pe, 7])
                return (generator.standard_normal(1000) * 9).astype(dtype)
            op = "xor" if dtype == "bool" else "prod" if "complex" in dtype else "sum"
            function = {"xor": np.logical_xor, "prod": np.multiply, "sum": np.add}[op]
            expected = of(0)
            for pe in range(1, job.pes):
                expected = function(expected, of(pe))
            values = of(job.pe)
            team.all_reduce(values, (dtype, op), None)
            if "complex" in dtype:
                # NumPy may fuse a product and a sum.
                assert np.allclose(values, expected, rtol=1e-5), dtype
            else:
                assert values.tobytes() == expected.tobytes(), dtype
            # The operations of teams know the same kinds.
            assert job.world.all_reduce(of(job.pe), op).tobytes() == values.tobytes(), dtype
        # 1.0 + 2^-8 has no bfloat16; ties go to the even one.
        values = np.full(5, 0x3F80, "uint16") if job.pe == 0 else np.full(5, 0x3B80, "uint16")
        team.all_reduce(values, ("bfloat16", "sum"), None)
        assert (values == 0x3F80).all()
        # As NumPy's minimum and maximum, whoever has the NaN; and zeros have an order.
        for pe in range(2):
            for op in ("min", "max"):
                values = np.array([np.nan if job.pe == pe else 1.0, -0.0 if job.pe == pe else 0.0])
                assert np.isnan(job.world.all_reduce(values, op)[0])
                team.all_reduce(values, ("float64", op), None)
                assert np.isnan(values[0]) and np.signbit(values[1]) == (op == "min")
    """)
    run(2, program)
