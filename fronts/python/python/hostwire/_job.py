"""The job: what its native part does not have."""

import asyncio
import operator
import pickle
import threading
import warnings
import weakref
from typing import NamedTuple

from . import _hostwire

# How soon a thread that waits for asyncio notices that no task awaits it any more.
_LOOK_S = 0.05

# Threads that no task awaits any more, until they notice it.
_ending = weakref.WeakSet()

# The job of this process, if the program keeps it.
_of_process = None


def of_process():
    """The job that this process has open; None if it has none."""
    job = None if _of_process is None else _of_process()
    return job if job is not None and job.is_open else None


class Message(NamedTuple):
    """A message: who sent it, its tag, and its bytes."""

    source: int
    tag: int
    data: bytes


class Received(NamedTuple):
    """What is known of a message: who sent it, its tag, and how many bytes it has."""

    source: int
    tag: int
    nbytes: int


class Job(_hostwire.Job):
    """This process's place in its job: one per process. Use it in a `with` statement.

    Attaches to the job that this process was started in: by `hostwire run`, `mpiexec.hydra`, Open
    MPI's `mpirun` or `srun`; a program that nobody started so is a job of one PE.

    A `with` block that ends leaves the job, which waits for all PEs. One that an exception ends
    waits for nobody: the others see this PE as lost.

    Raises EnvironmentFault if the environment shows a job that this process cannot join.
    """

    def __init__(self):
        global _of_process
        _of_process = weakref.ref(self)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if not self.is_open:
            return
        if kind is None:
            self.close()
        else:
            self.abandon()

    def __del__(self):
        # Not if attaching failed.
        if getattr(self, "is_open", False):
            warnings.warn("a hostwire.Job was not closed", ResourceWarning, stacklevel=2)
            self.abandon()

    def __repr__(self):
        if not self.is_open:
            return "<hostwire.Job, closed>"
        return f"<hostwire.Job: PE {self.pe} of {self.pes}>"

    def zeros(self, shape, dtype="float64"):
        """Allocates a zeroed array in the memory of every PE. Collective.

        `shape` is a number of elements or a tuple of numbers, the same on all PEs; `dtype` is any
        NumPy dtype of plain data. The memory of an array that was dropped by all PEs is used again
        from the next call on.

        Raises CallerError if the heap has no room, on all PEs alike (`hostwire run --heap` makes it
        larger), or if the PEs ask for different sizes.
        """
        try:
            shape = (operator.index(shape),)
        except TypeError:
            shape = tuple(shape)
        return self._zeros(shape, dtype)

    def recv(self, source=None, tag=None, out=None):
        """Receives the next message of PE `source` with `tag`; of any, if they are None. Waits.

        Returns a Message with its bytes (`numpy.frombuffer` makes an array of them). With `out`, a
        writable array whose elements lie behind each other, the bytes are copied to its front, and
        the result has their number: `(source, tag, nbytes)`. A message that does not fit `out`
        raises CallerError and stays.
        """
        if out is None:
            return Message(*self._recv(source, tag))
        return Received(*self._recv_into(out, source, tag))

    def probe(self, source=None, tag=None):
        """What is known of the message that `recv` would get: `(source, tag, nbytes)`. Waits for
        one; the message stays."""
        return Received(*self._probe(source, tag, True))

    def try_probe(self, source=None, tag=None):
        """As `probe`, or None if no such message has arrived."""
        found = self._probe(source, tag, False)
        return None if found is None else Received(*found)

    def send_object(self, to, value, tag=0):
        """Sends any object that pickle takes to PE `to`."""
        self.send(to, pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL), tag)

    def recv_object(self, source=None, tag=None):
        """Receives what `send_object` sent: `(source, tag, value)`.

        Unpickling runs what the sender says, so all PEs have to be programs that you trust.
        """
        message = self.recv(source, tag)
        return message.source, message.tag, pickle.loads(message.data)

    def start_send(self, to, data, tag=0):
        """As `send`, in the background: a Request. `data` is copied, and may change at once."""
        return Request(self._start_send(to, data, tag), self)

    def start_recv(self, source=None, tag=None, *, room_bytes):
        """As `recv`, in the background: a Request for a message of up to `room_bytes`."""
        return Request(self._start_recv(source, tag, room_bytes), self)

    async def arrived(self, array, sign, value, index=0):
        """Waits as `array.wait_until`, while other tasks of the event loop run.

            await job.arrived(flags, ">=", 1)
        """
        if array.test(sign, value, index):
            return

        def is_there():
            return array.wait_until(sign, value, index, timeout_s=_LOOK_S)

        await _in_thread(is_there)

    def close(self):
        """Leaves the job: waits for all PEs. Later calls do nothing.

        Arrays and teams of the job then raise CallerError; NumPy arrays over its memory stay valid.

        Raises CallerError if another thread is in an operation of the job.
        """
        for thread in list(_ending):
            thread.join()
        self._close()

    def abort(self, status=1, message=""):
        """Asks the launcher to end all PEs, with this exit status, and leaves: raises SystemExit."""
        self._abort(status, message)
        raise SystemExit(status)


class Request:
    """A send or a receive in the background, made by `Job.start_send` and `Job.start_recv`.

    It makes progress whenever this PE waits for anything, and in `test` and `wait`. `await` waits
    for it while other tasks run.
    """

    def __init__(self, native, job):
        self._native = native
        # Keeps the job alive as long as its messages.
        self._job = job

    def test(self):
        """Whether it has ended. Does not wait."""
        return self._native.test()

    def wait(self):
        """Waits for its end: the Message of a receive, None of a send.

        Raises CallerError if it was cancelled, or the message has no room; PeerLost.
        """
        parts = self._native.finish()
        return None if parts is None else Message(*parts)

    def cancel(self):
        """Ends it if nothing of the message has moved yet, and says whether it does."""
        return self._native.cancel()

    def __await__(self):
        return self._arrived().__await__()

    async def _arrived(self):
        # Polling is cheap here, since a message is on its way or waits for the program. A thread
        # would have no way to be ended.
        pause_s = 0.0
        while not self.test():
            await asyncio.sleep(pause_s)
            pause_s = min(max(2 * pause_s, 2e-5), 1e-3)
        return self.wait()


async def _in_thread(is_there):
    """Calls `is_there` in a thread until it says so. It waits a little each time."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    is_over = threading.Event()

    def tell(error):
        if future.done():
            return
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)

    def look():
        error = None
        try:
            while not is_over.is_set() and not is_there():
                pass
        except Exception as raised:
            error = raised
        if not is_over.is_set():
            try:
                loop.call_soon_threadsafe(tell, error)
            except RuntimeError:
                pass  # The loop is closed: nobody waits.

    # A thread of its own: in a pool, tasks would wait for each other.
    thread = threading.Thread(target=look, name="hostwire", daemon=True)
    thread.start()
    try:
        await future
    finally:
        is_over.set()
        _ending.add(thread)
