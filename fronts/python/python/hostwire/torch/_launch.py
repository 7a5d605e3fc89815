"""From a process that PyTorch counts to a PE.

`torchrun`, and programs that start their processes themselves, bring these together by a *store* of
PyTorch: keys and values over TCP or in a file. The store has all that a PE asks its launcher for, so
a thread of this process answers in a launcher's place (PMI-1 over a socket pair), out of the store.
Processes that a launcher has started, `hostwire run` or another, have PMI or PMIx already, and no
store: then the job carries its address.
"""

import atexit
import os
import socket
import sys
import threading
import uuid
import weakref
from datetime import timedelta

import numpy as np
import torch.distributed as dist

import hostwire
from hostwire import _job

# Variables of launchers that answer a PE's requests.
_LAUNCHED = ("PMI_FD", "PMI_PORT", "PMIX_RANK")
# Variables that `init_process_group` reads.
_READ = ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE")
# A line of PMI-1 is shorter.
_LINE_BYTES_MAX = 4096

# The job of this process, its name, and the store that PE 0 keeps.
_lock = threading.Lock()
_job_of_process = None
_job_name = None
_own_store = None

# The groups of this process.
groups = weakref.WeakSet()


def is_launched():
    """Whether a launcher of PEs has started this process, and not torchrun within its job."""
    return "TORCHELASTIC_RUN_ID" not in os.environ and any(map(os.environ.get, _LAUNCHED))


def job(store=None, rank=0, size=1, timeout=timedelta(minutes=5)):
    """The job of this process, and its name, which all PEs know. Joins it if that was not done.

    `store` is one that `size` processes have, of which this one is number `rank`; None if a launcher
    has started them.
    """
    global _job_of_process, _job_name
    with _lock:
        if _job_of_process is None or not _job_of_process.is_open:
            _job_of_process = _job.of_process()
            if _job_of_process is not None or is_launched():
                _job_of_process = _job_of_process or hostwire.Job()
                _job_name = "launched"
            else:
                _job_of_process, _job_name = _join(store, rank, size, timeout)
            _end_with_process()
        return _job_of_process, _job_name


def _join(store, rank, size, timeout):
    """Joins a job of the processes that share `store`."""
    if store is None:
        raise hostwire.EnvironmentFault("no launcher of hostwire has started this process")
    store = dist.PrefixStore("hostwire-job", store)
    if rank == 0:
        store.set("name", uuid.uuid4().hex)
    store.wait(["name"], timeout)
    name = store.get("name").decode()
    ours, theirs = socket.socketpair()
    server = _Launcher(ours, dist.PrefixStore(name, store), name, size, timeout)
    threading.Thread(target=server.serve, name="hostwire-launcher", daemon=True).start()
    variables = {"PMI_FD": str(theirs.fileno()), "PMI_RANK": str(rank), "PMI_SIZE": str(size)}
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        return hostwire.Job(), name
    except hostwire.Error as error:
        if server.error is not None:
            raise error from server.error
        raise
    finally:
        for variable, value in before.items():
            if value is None:
                del os.environ[variable]
            else:
                os.environ[variable] = value
        # The job has its own descriptor of it.
        theirs.close()


class _Launcher:
    """Answers one PE, this process, as a launcher with PMI-1 would."""

    def __init__(self, connection, store, name, size, timeout):
        self._connection, self._store = connection, store
        self._name, self._size, self._timeout = name, size, timeout
        self._barriers = 0
        # The error that has ended it, if any.
        self.error = None

    def serve(self):
        try:
            with self._connection as connection:
                lines = connection.makefile("rb")
                while line := lines.readline(_LINE_BYTES_MAX):
                    reply = self._answer(line.decode())
                    if reply is None:
                        break
                    connection.sendall(f"cmd={reply}\n".encode())
        except (RuntimeError, OSError, ValueError) as error:
            self.error = error

    def _answer(self, line):
        words = dict(word.split("=", 1) for word in line.split())
        match words.get("cmd"):
            case "init":
                return "response_to_init rc=0 pmi_version=1 pmi_subversion=1"
            case "get_maxes":
                return "maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024"
            case "get_my_kvsname":
                return f"my_kvsname rc=0 kvsname={self._name}"
            case "put":
                self._store.set(words["key"], words["value"])
                return "put_result rc=0"
            case "get":
                # This follows a barrier, so a missing key will not come any more.
                if not self._store.check([words["key"]]):
                    return "get_result rc=-1 msg=key_not_found"
                value = self._store.get(words["key"]).decode()
                return f"get_result rc=0 value={value}"
            case "barrier_in":
                self._wait_for_all()
                return "barrier_out rc=0"
            case "finalize":
                return "finalize_ack rc=0"
            case "abort":
                # The process ends by itself, and its launcher ends the others.
                return None
            case other:
                raise ValueError(f"a PE asked its launcher for {other}")

    def _wait_for_all(self):
        self._barriers += 1
        here = f"barrier-{self._barriers}"
        if self._store.add(here, 1) == self._size:
            self._store.set(f"{here}-done", "1")
        self._store.wait([f"{here}-done"], self._timeout)


def prepare_environment():
    """Lets `init_process_group` find the processes of a launcher's job, if nobody else says how.

    PE 0 keeps a store for all, and the job carries its address.
    """
    global _own_store
    if not is_launched() or any(name in os.environ for name in _READ):
        return
    joined, _ = job()
    address = None
    if joined.pe == 0:
        is_one_host = len({joined.node(pe) for pe in range(joined.pes)}) == 1
        host = "127.0.0.1" if is_one_host else socket.gethostname()
        # Any port that is free.
        _own_store = dist.TCPStore(host, 0, is_master=True, wait_for_workers=False)
        address = f"{host} {_own_store.port}"
    address = _told(joined, address)
    values = (*address.split(" "), str(joined.pe), str(joined.pes))
    os.environ.update(zip(_READ, values, strict=True))
    # The server runs already, so rank 0 of PyTorch is a client, too.
    os.environ["TORCHELASTIC_USE_AGENT_STORE"] = "True"


def _told(joined, text):
    """The text of PE 0, on all PEs."""
    room = np.zeros(256, np.uint8)
    if text is not None:
        encoded = np.frombuffer(text.encode()[:256], np.uint8)
        room[: encoded.size] = encoded
    return joined.world.broadcast(room).tobytes().rstrip(b"\0").decode()


def _end_with_process():
    """Leaves the job when the interpreter ends: in peace, if nothing has gone wrong."""

    def leave():
        if not _job_of_process.is_open:
            return
        # Other ranks may wait for this one, which sys.exit may have ended early.
        for group in list(groups):
            group.leave()
        # The interpreter sets `last_type` if it ends by an exception.
        if getattr(sys, "last_type", None) is None:
            try:
                _job_of_process.close()
                return
            except hostwire.Error:
                # A thread is still in an operation, or a peer is lost.
                pass
        _job_of_process.abandon()

    atexit.register(leave)
