"""Messages of bytes, arrays and objects, at once and in the background."""


def test_bytes_arrays_and_objects(run):
    run(
        2,
        """
        with hostwire.Job() as job:
            other = 1 - job.pe
            for size in (0, 1, 47, 4096, 1_000_000):
                data = np.random.default_rng(size).bytes(size)
                request = job.start_send(other, data, size)
                got = job.recv(other, size)
                assert got == hostwire.Message(other, size, data) and request.wait() is None
            job.send(other, np.arange(12).reshape(3, 4)[:, ::2], 5)
            assert job.probe() == (other, 5, 48)
            assert job.try_probe(other, 6) is None and job.try_probe(other).tag == 5
            try:
                job.recv(out=np.empty(5, "int64"))
            except hostwire.CallerError as error:
                assert "48 bytes" in str(error), error
            out = np.zeros(7, "int64")
            assert job.recv(out=out) == hostwire.Received(other, 5, 48)
            assert out.tolist() == [0, 2, 4, 6, 8, 10, 0]
            job.send_object(other, {"values": np.arange(3), "nothing": None}, tag=2**64 - 1)
            source, tag, value = job.recv_object(other)
            assert (source, tag) == (other, 2**64 - 1) and value["values"].tolist() == [0, 1, 2]
            for call in (lambda: job.send(2, b""), lambda: job.send(0, [1]),
                         lambda: job.send(0, "x"),
                         lambda: job.send(0, b"", -1), lambda: job.recv(2), lambda: job.recv(tag=1.5),
                         lambda: job.start_recv(room_bytes=-1),
                         lambda: job.send(0, np.array([None])), lambda: job.send(0, np.array([None])[::2]),
                         lambda: job.recv(out=np.array([None])),
                         lambda: job.recv(out=memoryview(np.array([None]))),
                         lambda: job.recv(out=np.zeros(2, [("a", "O"), ("b", "i4")])),
                         lambda: job.recv(out=b"xy"), lambda: job.recv(out=np.zeros(4)[::2]),
                         lambda: job.world.broadcast(np.array([None])), lambda: job.start_send(2, b"x")):
                try:
                    call()
                except hostwire.CallerError:
                    continue
                raise AssertionError("not refused")
        """,
    )


def test_requests_end_in_any_order(run):
    run(
        2,
        """
        with hostwire.Job() as job:
            other = 1 - job.pe
            receives = [job.start_recv(other, tag, room_bytes=8) for tag in range(50)]
            never = job.start_recv(other, 99, room_bytes=8)
            assert not never.test()
            sends = [job.start_send(other, str(tag).encode(), tag) for tag in reversed(range(50))]
            for tag, request in enumerate(receives):
                assert request.wait() == (other, tag, str(tag).encode())
                assert request.test() and request.wait().tag == tag
            assert all(request.wait() is None for request in sends)
            short = job.start_recv(other, 60, room_bytes=2)
            job.send(other, b"long", 60)
            for request in (never, short):
                if request is never:
                    assert request.cancel()
                try:
                    request.wait()
                except hostwire.CallerError:
                    continue
                raise AssertionError("no error")
            assert job.recv(other, 60).data == b"long"
        """,
    )


def test_asyncio(run):
    run(
        2,
        """
        import asyncio
        async def main(job, flags):
            other, ticks = 1 - job.pe, []
            async def tick():
                while True:
                    ticks.append(1)
                    await asyncio.sleep(0)
            ticking = asyncio.create_task(tick())
            request = job.start_recv(other, room_bytes=9)
            waits = [job.arrived(flags, ">=", 1, index) for index in range(40)]
            waiting = asyncio.gather(*waits)
            # Nothing comes before the other PE is asked, and tasks run meanwhile.
            while len(ticks) < 20:
                await asyncio.sleep(0)
            assert not waiting.done()
            job.send(other, b"go", 1)
            message = await request
            assert message.data == b"go"
            for index in reversed(range(40)):
                flags.put(other, [1], index)
            await waiting
            try:
                await asyncio.wait_for(job.arrived(flags, "==", 5), 0.1)
            except asyncio.TimeoutError:
                pass
            else:
                raise AssertionError("nobody stored 5")
            try:
                await job.arrived(flags, "==", 1, 40)
            except hostwire.CallerError:
                pass
            ticking.cancel()
        with hostwire.Job() as job:
            flags = job.zeros(40, "int64")
            asyncio.run(main(job, flags))
            job.barrier()
        """,
    )
