"""How waits, jobs and processes end: never in a crash, never in silence."""

import pytest


@pytest.mark.parametrize(
    "wait",
    [
        "words.wait_until('==', 1)",
        "words.wait_until('==', 1, timeout_s=1000)",
        "job.recv(1, 77)",
        "job.recv(1, 77, np.empty(1))",
        "job.probe(1, 77)",
        "job.start_recv(1, 77, room_bytes=1).wait()",
        "job.barrier()",
        "job.world.all_reduce(np.ones(10_000))",
        "job.close()",
    ],
)
def test_ctrl_c_ends_a_wait(run, wait):
    """What is waited for never comes."""
    status, text = run(
        2,
        f"""
        import os, signal, threading
        job = hostwire.Job()
        words = job.zeros(2, "int64")
        if job.pe == 1:
            signal.pause()
        else:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                {wait}
            except KeyboardInterrupt:
                print("interrupted", flush=True)
        job.abandon()
        """,
        fails=True,
    )
    # `abandon` ends the job, and the launcher reports it.
    assert "interrupted" in text and "Traceback" not in text, text
    assert status == 1 and "without finalizing" in text


def test_a_handler_may_use_the_job(run):
    run(
        1,
        """
        import signal
        with hostwire.Job() as job:
            words = job.zeros(1, "int64")
            def ring(*_):
                job.world.all_reduce(np.ones(3))
                words.put(0, [1])
            signal.signal(signal.SIGALRM, ring)
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            assert words.wait_until("==", 1)
        """,
    )


def test_a_job_is_closed_after_a_wait_that_was_given_up(run):
    run(
        1,
        """
        import asyncio
        with hostwire.Job() as job:
            words = job.zeros(1, "int64")
            try:
                asyncio.run(asyncio.wait_for(job.arrived(words, "==", 1), 0.1))
            except asyncio.TimeoutError:
                pass
        """,
    )


def test_threads_run_while_one_waits(run):
    run(
        2,
        """
        import threading
        with hostwire.Job() as job:
            words = job.zeros(9, "int64")
            other = 1 - job.pe
            def ping(index):
                for number in range(1, 101):
                    if job.pe == 0:
                        words.put(other, [number], index)
                    words.wait_until(">=", number, index)
                    if job.pe == 1:
                        words.put(other, [number], index)
                    job.send(other, b"%d" % number, index)
                    assert job.recv(other, index).data == b"%d" % number
            threads = [threading.Thread(target=ping, args=(index,)) for index in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert words.local[:4].tolist() == [100] * 4
            # The job cannot be closed under a thread that waits.
            waiting = threading.Event()
            class One:
                def __index__(self):
                    # The wait is asked what for: it is under way.
                    waiting.set()
                    return 1
            last = threading.Thread(target=lambda: words.wait_until("==", One(), 8))
            last.start()
            waiting.wait()
            try:
                job.close()
            except hostwire.CallerError as error:
                assert "another thread" in str(error), error
            else:
                raise AssertionError("closed under a thread that waits")
            words.put(job.pe, [1], 8)
            last.join()
        """,
    )


def test_views_outlive_the_job(run):
    run(
        2,
        """
        import gc
        with hostwire.Job() as job:
            array = job.zeros(1000, "int64")
            world, part = job.world, array.part(1, 2)
            request = job.start_recv(room_bytes=1)
            view, other = array.local[5:], array.view(1 - job.pe)
            array.local[:] = 7
            job.barrier()
        for call in (lambda: array.local, lambda: np.asarray(array), lambda: memoryview(array),
                     lambda: array.put(0, [1]), lambda: array.get(0), lambda: array.fetch_add(0, 1),
                     lambda: array.test("==", 7), lambda: array.part(0, 1), lambda: array.view(0),
                     lambda: array.put_signal(0, [1], array, 1), lambda: part.local,
                     lambda: np.from_dlpack(array), lambda: array.__array_interface__,
                     lambda: job.pe, lambda: job.zeros(1), lambda: job.barrier(), lambda: job.world,
                     lambda: world.rank, lambda: world.barrier(), lambda: job.send(0, b""),
                     lambda: job.recv(), lambda: request.wait(), lambda: request.test()):
            try:
                call()
            except (hostwire.CallerError, BufferError) as error:
                assert "closed" in str(error), error
                continue
            raise AssertionError("a closed job was used")
        job.close()
        job.abandon()
        del array, world, part, request, job
        gc.collect()
        assert view.tolist() == [7] * 995 and other[0] == 7
        view[:] = 8
        assert view.base is not None and view.sum() == 8 * 995
        """,
    )


def test_a_finaliser_may_use_what_is_closed(run):
    """It may run where the exception that says so is made."""
    run(
        1,
        """
        import gc
        asked = 0
        class Cycle:
            def __init__(self):
                self.itself = self
            def __del__(self):
                global asked
                for call in (lambda: job.pe, lambda: request.wait()):
                    try:
                        call()
                    except hostwire.CallerError:
                        asked += 1
        with hostwire.Job() as job:
            request = job.start_recv(room_bytes=1)
            request.cancel()
            try:
                request.wait()
            except hostwire.CallerError:
                pass
        for call in (lambda: job.pe, lambda: request.wait(), lambda: job.zeros(1)):
            # The collector runs at the n-th object that is made: at that of each step once.
            for nth in range(1, 30):
                gc.disable()
                gc.collect()
                Cycle()
                gc.set_threshold(nth)
                gc.enable()
                try:
                    call()
                except hostwire.CallerError:
                    continue
                raise AssertionError("not refused")
        assert asked
        """,
    )


def test_memory_comes_back_when_all_have_dropped_it_and_its_views(run):
    run(
        2,
        """
        with hostwire.Job() as job:
            free = job.free_bytes
            for round in range(20):
                # More than half of the heap: two of them do not fit.
                array = job.zeros(3 << 20, "uint8")
                view = array.local[10:]
                array.local[:] = round
                del array
                try:
                    job.zeros(3 << 20, "uint8")
                except hostwire.CallerError as error:
                    assert "full" in str(error)
                else:
                    raise AssertionError("memory with a view was given away")
                assert (view == round).all()
                del view
        """,
        launcher=["--heap", "4M"],
    )


def test_a_copy_of_the_process_is_told(run):
    lines = run(
        2,
        """
        import multiprocessing, os, sys
        def in_child(results):
            told = []
            for call in (lambda: array.put(0, [1]), lambda: array.fetch_add(0, 1), hostwire.Job,
                         lambda: job.barrier(), lambda: job.recv(), lambda: job.send(0, b""),
                         lambda: job.zeros(1), lambda: array.test("==", 0), lambda: job.fence(),
                         lambda: job.world.all_reduce([1]), lambda: array.get(0),
                         lambda: job.start_recv(room_bytes=1), lambda: array.local,
                         lambda: np.asarray(array), lambda: memoryview(array),
                         lambda: array.view(0), lambda: array.part(0, 1), lambda: job.close()):
                try:
                    call()
                    told.append("nothing")
                except hostwire.CopiedError as error:
                    told.append("copied")
            results.put(told)
        with hostwire.Job() as job:
            array = job.zeros(4, "int64")
            context = multiprocessing.get_context("fork")
            results = context.Queue()
            child = context.Process(target=in_child, args=(results,))
            child.start()
            assert results.get(timeout=60) == ["copied"] * 18
            child.join()
            assert child.exitcode == 0
            # One that ends as programs do, with all that is dropped then.
            if (pid := os.fork()) == 0:
                sys.exit(3)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
            array.put(1 - job.pe, [5])
            job.barrier()
            assert array.local[0] == 5
            print("goes on")
        """,
    )
    assert lines == ["goes on", "goes on"]


def test_a_job_that_is_dropped_does_not_hang(run):
    status, text = run(
        2,
        """
        import gc, warnings
        warnings.simplefilter("always")
        class Cycle:
            pass
        cycle = Cycle()
        cycle.job = hostwire.Job()
        cycle.array = cycle.job.zeros(10)
        cycle.itself = cycle
        cycle.job.barrier()
        del cycle
        gc.collect()
        print("collected", flush=True)
        """,
        fails=True,
    )
    assert status == 1
    assert "was not closed" in text and "collected" in text and "without finalizing" in text


def test_an_exception_ends_the_job_and_others_are_not_left_waiting(run):
    status, text = run(
        2,
        """
        with hostwire.Job() as job:
            if job.pe == 1:
                raise RuntimeError("of the program")
            job.barrier()
        """,
        fails=True,
    )
    assert status == 1 and "RuntimeError: of the program" in text and "PE 1 exited" in text


def test_a_lost_pe_has_a_number(run):
    status, text = run(
        2,
        """
        import os
        job = hostwire.Job()
        if job.pe == 1:
            os._exit(0)
        try:
            job.barrier()
        except hostwire.PeerLost as error:
            assert error.pe == 1 and isinstance(error, hostwire.PeerError)
            print("lost", error, flush=True)
        """,
        fails=True,
        launcher=["--keep-going"],
    )
    assert "lost PE 1" in text, text
