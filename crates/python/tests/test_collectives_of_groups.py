"""Lanes and what goes over them, below the process groups of PyTorch, with NumPy arrays."""

import textwrap

import pytest

# A group of the PEs `members`, in this order; None on the others.
GROUP = """
import hostwire._lanes as lanes
from hostwire._collectives import Collectives

def group(job, arena, members):
    slot = arena.take()[0] if job.pe in members else 0
    slots = job.world.all_gather(np.array([slot]))[:, 0].tolist()
    if job.pe not in members:
        return None
    here = lanes.Lanes(arena, members.index(job.pe), members, [slots[pe] for pe in members])
    here.slot = slot
    return Collectives(here)

def adding(out, left, right):
    np.add(left.view("float32"), right.view("float32"), out=out.view("float32"))
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
                team.all_reduce(values.view("uint8"), adding)
                assert values.tobytes() == expected.astype("float32").tobytes(), count
                for root in range(len(members)):
                    values = of(job.pe)
                    team.reduce(values.view("uint8"), adding, root)
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
            team.exchange([of(rank, to) for to in range(size)], outs, "all_to_all")
            for source, out in enumerate(outs):
                assert np.array_equal(out, of(source, rank))
            parts = [np.full(count, rank + to, "float32").view("uint8") for to in range(size)]
            out = np.empty(4 * count, "uint8")
            team.reduce_scatter(parts, out, adding)
            assert (out.view("float32") == sum(range(size)) + size * rank).all()
        team.barrier()
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
            team.barrier()
            assert seen.local.min() >= step
    """)
    run(pes, program)


def test_different_calls_are_an_error(run):
    program = in_group("""
    with hostwire.Job() as job:
        arena = lanes.Arena(job)
        for first, second in (
            (lambda team: team.all_reduce(np.zeros(8, "uint8"), adding),
             lambda team: team.all_reduce(np.zeros(16, "uint8"), adding)),
            (lambda team: team.barrier(),
             lambda team: team.all_reduce(np.zeros(16, "uint8"), adding)),
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
            team.lanes.limit(0.2)
            try:
                team.barrier()
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
            team.all_reduce(values.view("uint8"), adding)
            assert (values == 2 * step + 1).all()
            arena.give_back(team.lanes.slot, team.lanes)
        # One that PE 1 has not taken part in yet: PE 0 has something on its way.
        team = group(job, arena, [0, 1])
        if job.pe == 0:
            team.lanes.put(1, np.zeros(8, "uint8"), 1)
            arena.give_back(team.lanes.slot, team.lanes)
            held = [arena.take()[0] for _ in range(lanes.SLOTS_MAX - 1)]
            assert team.lanes.slot not in held
            try:
                arena.take()
            except hostwire.CallerError as error:
                print(error)
            job.barrier()
            job.barrier()
            assert arena.take()[0] == team.lanes.slot
        else:
            job.barrier()
            team.lanes.take(0, 8, 1)
            team.lanes.release(0)
            job.barrier()
    """)
    said = run(2, program, launcher=("--heap", "256M"))
    assert len(said) == 1 and said[0].startswith("too many groups at a time")
