"""What an operation gives back: something to wait for."""

import queue
import threading
import time
from collections import deque
from datetime import timedelta

import torch
import torch.distributed as dist

import hostwire

# PyTorch passes this for a wait without a limit of its own.
_NO_LIMIT = timedelta(0)
# How long a wait with a limit sleeps between two polls, at most.
_PAUSE_MAX_S = 1e-3


def failure(error):
    """`error` as programs of PyTorch expect it: what is not the caller's fault, as a
    DistBackendError."""
    if isinstance(error, (TimeoutError, hostwire.PeerError, hostwire.EnvironmentFault)):
        raised = dist.DistBackendError(f"hostwire: {error}")
        raised.__cause__ = error
        return raised
    return error


class Work(dist.Work):
    """An operation that has ended, or will."""

    _error = _future = _lock = None
    # None if it has ended.
    _ended = None
    _tensors = None

    # PyTorch's own `__init__` is called without one of this class between: it is a third of the time.
    @classmethod
    def of(cls, tensors):
        work = cls()
        work._tensors = tensors
        return work

    def begin(self):
        """It will end by `end`, of the thread that does it."""
        self._ended = threading.Event()
        self._lock = threading.Lock()
        return self

    def end(self, error=None):
        """It has ended. True if its future is there already: then `tell` has to be called."""
        self._error = error
        with self._lock:
            self._ended.set()
            return self._future is not None

    def tell(self):
        """Fills the future, which runs the callbacks of the program in this thread."""
        self._fill(self._future)

    def _fill(self, future):
        if self._error is None:
            future.set_result(self._tensors)
        else:
            future.set_exception(self._error)

    def is_completed(self):
        return self._ended is None or self._ended.is_set()

    def is_success(self):
        return self.is_completed() and self._error is None

    def exception(self):
        return self._error

    def wait(self, timeout=_NO_LIMIT):
        if self._ended is not None and not self._ended.wait(_seconds(timeout)):
            raise dist.DistBackendError(f"hostwire: the operation has not ended within {timeout}")
        if self._error is not None:
            raise self._error
        return True

    def synchronize(self):
        self.wait()

    def result(self):
        return self._tensors

    def get_future(self):
        if self._ended is None:
            return self._ended_future()
        with self._lock:
            if not self._ended.is_set():
                if self._future is None:
                    self._future = torch.futures.Future()
                return self._future
        return self._ended_future()

    def _ended_future(self):
        if self._future is None:
            self._future = torch.futures.Future()
            self._fill(self._future)
        return self._future

    # The names that PyTorch's C++ side gives them in Python.
    def source_rank(self):
        return -1

    def _source_rank(self):
        return self.source_rank()


def _seconds(timeout):
    return timeout.total_seconds() if timeout is not None and timeout > _NO_LIMIT else None


class MessageWork(Work):
    """A send, or a receive whose bytes `take` copies to where they belong.

    It makes progress when this process waits for something of hostwire.
    """

    def __init__(self, tensors, request, take=None):
        super().__init__()
        self._tensors = tensors
        self._request, self._take = request, take
        self._source = -1
        self._end_lock = threading.Lock()
        self._waiter = None

    def is_completed(self):
        # Held by the thread that waits for the end and takes the message.
        if not self._end_lock.acquire(blocking=False):
            return self._request is None
        try:
            return self._request is None or self._request.test()
        finally:
            self._end_lock.release()

    def is_success(self):
        return self.is_completed() and self._end() and self._error is None

    def exception(self):
        if self.is_completed():
            self._end()
        return self._error

    def wait(self, timeout=_NO_LIMIT):
        limit_s = _seconds(timeout)
        if limit_s is not None and not self._arrives_within(limit_s):
            raise dist.DistBackendError(f"hostwire: the message has not moved within {timeout}")
        self._end()
        if self._error is not None:
            raise self._error
        return True

    def _arrives_within(self, limit_s):
        deadline, pause_s = time.monotonic() + limit_s, 0.0
        while not self.is_completed():
            if time.monotonic() > deadline:
                return False
            time.sleep(pause_s)
            pause_s = min(max(2 * pause_s, 2e-5), _PAUSE_MAX_S)
        return True

    def _end(self):
        """Waits, and keeps what came of it."""
        with self._end_lock:
            if self._request is None:
                return True
            try:
                message = self._request.wait()
                if self._take is not None:
                    self._source = self._take(message)
            except Exception as error:
                # Errors of PyTorch, too: a future must not stay empty.
                self._error = failure(error)
            self._request = None
        return True

    def source_rank(self):
        return self._source

    def get_future(self):
        with self._end_lock:
            if self._future is None:
                self._future = torch.futures.Future()
                self._waiter = threading.Thread(target=self._wait_and_fill, daemon=True)
                self._waiter.start()
            return self._future

    def _wait_and_fill(self):
        self._end()
        self._fill(self._future)


class Worker:
    """Does the operations of one group in the order of their calls: the asynchronous ones in a
    thread, the others at once if none is under way."""

    def __init__(self):
        self._tasks = queue.SimpleQueue()
        # Ended operations whose futures the thread has to complete.
        self._untold = deque()
        self._lock = threading.Lock()
        # How many of the tasks have not ended.
        self._waiting = 0
        # Held while an operation runs.
        self._going = threading.Lock()
        self._thread = self._thread_id = None
        self._is_closed = False
        # The failure after which no operation is possible.
        self._broken = None

    def run(self, operation, limit_s, tensors, is_async):
        """Does `operation(limit_s)`: a Work."""
        if not is_async and self._going.acquire(blocking=False):
            try:
                # A task that waits was called before this one.
                if not self._waiting:
                    self._check_is_open()
                    self._do(operation, limit_s)
                    return Work.of(tensors)
            finally:
                self._going.release()
        work = self._start(operation, limit_s, tensors)
        if threading.get_ident() == self._thread_id:
            # This is a callback of the program, which may wait for an operation that only this
            # thread does. Tasks come in the order of their calls, so this one comes before the task
            # that ends the thread.
            while not work.is_completed():
                self._do_next(self._tasks.get())
        if not is_async:
            work.wait()
        return work

    def _start(self, operation, limit_s, tensors):
        work = Work.of(tensors).begin()
        with self._lock:
            self._check_is_open()
            self._waiting += 1
            self._tasks.put((operation, limit_s, work))
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._serve, name="hostwire-group", daemon=True
                )
                self._thread.start()
        return work

    def _check_is_open(self):
        if self._is_closed:
            raise hostwire.CallerError("the process group was destroyed")

    def _do(self, operation, limit_s):
        """With `_going` held."""
        if self._broken is not None:
            raise hostwire.CallerError(
                f"this group can do nothing more after an operation that failed: {self._broken}"
            )
        try:
            operation(limit_s)
        except BaseException as error:
            # This rank has not done what the others wait for, so they are out of step.
            self._broken = error
            if isinstance(error, Exception):
                raised = failure(error)
                if raised is not error:
                    raise raised from error
            raise

    def _serve(self):
        self._thread_id = threading.get_ident()
        while (task := self._tasks.get()) is not None:
            self._do_next(task)
            # Tensors must not live until the next task comes.
            del task
            # Only here, so that callbacks do not run within callbacks, however many operations wait.
            while self._untold:
                self._untold.popleft().tell()

    def _do_next(self, task):
        operation, limit_s, work = task
        error = None
        try:
            with self._going:
                self._do(operation, limit_s)
        except BaseException as raised:
            error = raised
        with self._lock:
            self._waiting -= 1
        if work.end(error):
            self._untold.append(work)

    @property
    def is_broken(self):
        """Whether an operation has failed, so that ranks are out of step."""
        return self._broken is not None

    def close(self):
        """Ends the thread, after all that it has to do."""
        with self._lock:
            self._is_closed = True
            thread, self._thread = self._thread, None
            if thread is not None:
                self._tasks.put(None)
        if thread is not None and thread is not threading.current_thread():
            thread.join()
