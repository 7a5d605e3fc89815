"""Copies between memory of hosts and devices."""

import ctypes
from importlib.util import find_spec

import pytest

AROUND = """
    from hostwire import tca

    with hostwire.Job() as job, tca.open(job) as t:
        inbox, outbox = t.malloc(8000, DEVICE), t.malloc(8000, DEVICE)
        words = t.malloc(64)
        spots, flags = t.exchange(inbox), t.exchange(words)
        right, left = (job.pe + 1) % job.pes, (job.pe - 1) % job.pes
        outbox.write(np.arange(1000, dtype="int64") + job.pe)
        stream = t.stream()
        stream.memcpy_peer(spots[right], outbox.spot, 8000)
        stream.signal(flags[right], 1)
        words.wait_until(0, 1)
        got = np.empty(1000, dtype="int64")
        inbox.read_into(got)
        assert (got == np.arange(1000) + left).all()
        stream.synchronize()
        assert stream.is_done()
        job.barrier()

        # Every second number, by a chain that is started twice.
        chain = tca.Chain()
        chain.block_stride(
            spots[right], outbox.spot, block_bytes=8, blocks=500, to_step=8, from_step=16
        )
        chain.signal(flags[right], 3)
        prepared = t.prepare(chain)
        assert (len(chain), prepared.len_bytes) == (2, 4000)
        stream.wait_value(flags[job.pe].at(8), 1)
        stream.start(prepared)
        t.stream().signal(flags[job.pe].at(8), 1)
        words.wait_until(0, 3)
        assert np.frombuffer(inbox.read(0, 4000), "int64").tolist() == list(
            range(left, 1000 + left, 2)
        )
        stream.synchronize()
        job.barrier()
        print(t.device_name(DEVICE).split(" (")[0], t.devices)
"""


@pytest.mark.parametrize(("device", "name"), [("None", "host memory 2"), ("1", "modelled device 1 2")])
def test_bytes_go_around(run, device, name):
    program = AROUND.replace("DEVICE", device)
    lines = run(3, program, launcher=["--devices", "modelled:2"])
    assert lines == [name] * 3


def test_host_memory_is_an_array_and_spots_travel(run):
    lines = run(
        2,
        """
        import pickle
        from hostwire import tca

        with hostwire.Job() as job, tca.open(job, 1 << 16) as t:
            memory = t.malloc(80)
            array = np.frombuffer(memory, dtype="float64")
            array[:] = job.pe + 0.5
            spots = t.exchange(memory)
            other = pickle.loads(pickle.dumps(spots[1 - job.pe]))
            assert other == spots[1 - job.pe] and other.pe == 1 - job.pe and other.device is None
            job.barrier()
            t.memcpy_peer(other.at(8), memory.spot, 8)
            job.barrier()
            assert array.tolist() == [job.pe + 0.5, 1.5 - job.pe] + [job.pe + 0.5] * 8
            for wrong in (
                lambda: t.memcpy_peer(memory.spot, other, 8),
                lambda: t.memcpy_peer(other, memory.spot.at(73), 8),
                lambda: t.malloc(1, 99),
                lambda: memory.read(81),
                lambda: memory.write(b"x", 80),
            ):
                try:
                    wrong()
                    raise SystemExit("it was not refused")
                except hostwire.CallerError as error:
                    print(error)
            device = t.malloc(8, 0)
            assert not hasattr(device, "__cuda_array_interface__")
            assert not hasattr(memory, "__cuda_array_interface__")
            try:
                memoryview(device)
            except BufferError as error:
                print(error)
        """,
        launcher=["--devices", "modelled"],
    )
    assert len(lines) == 12
    for text in ("only writes cross between PEs", "not in an allocation of this PE", "has no device 99"):
        assert sum(text in line for line in lines) == 2


def gpus():
    """How many GPUs the driver of CUDA shows."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int()
    return count.value if driver.cuInit(0) == 0 == driver.cuDeviceGetCount(ctypes.byref(count)) else 0


on_a_gpu = pytest.mark.skipif(not gpus(), reason="not run: the driver of CUDA shows no GPU")


@on_a_gpu
def test_bytes_go_around_between_gpus(run):
    lines = run(3, AROUND.replace("DEVICE", "0"), launcher=["--devices", "cuda"])
    assert lines == [f"CUDA device 0 {gpus()}"] * 3


KERNELS = {
    "torch": """
        import torch

        def array(buffer):
            return torch.as_tensor(buffer, device="cuda:0").view(torch.float32)

        arange, finish = torch.arange, torch.cuda.synchronize
    """,
    "cupy": """
        import cupy

        def array(buffer):
            return cupy.asarray(buffer).view("float32")

        arange, finish = cupy.arange, cupy.cuda.get_current_stream().synchronize
    """,
}


@on_a_gpu
@pytest.mark.parametrize("library", KERNELS)
def test_kernels_use_memory_of_a_gpu(run, library):
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    lines = run(
        2,
        KERNELS[library]
        + """
        from hostwire import tca

        with hostwire.Job() as job, tca.open(job) as t:
            inbox, outbox, words = t.malloc(4 << 20, 0), t.malloc(4 << 20, 0), t.malloc(64)
            spots, flags = t.exchange(inbox), t.exchange(words)
            other = 1 - job.pe
            stream, mine, theirs = t.stream(), array(outbox), array(inbox)
            numbers = arange(1 << 20, device="cuda:0") if "torch" in globals() else arange(1 << 20)
            for turn in range(1, 6):
                mine[:] = numbers % 4096 + turn + job.pe
                finish()
                stream.memcpy_peer(spots[other], outbox.spot, 4 << 20)
                stream.signal(flags[other], turn)
                words.wait_until(0, turn)
                assert bool((theirs == numbers % 4096 + turn + other).all()), turn
                stream.synchronize()
                job.barrier()
            del mine, theirs
            print("fine")
        """,
        launcher=["--devices", "cuda"],
    )
    assert lines == ["fine"] * 2
