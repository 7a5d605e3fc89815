"""Writes with a notification between two agents of NIXL, each answered by one of the same length; see nixl.sh.

    nixl.py BACKEND LENGTH...

BACKEND is HOSTWIRE or UCX; or POSIX, which writes a file in /dev/shm that another agent reads, and notifies nobody. NIXL_ANSWER is what is
put before the command of the other agent, which starts it on another host, for example. With NIXL_THREAD=0 agents make progress by calls
alone. Prints for each length, in µs: bytes, the median until the write has ended for who has posted it, the median until the other one has
the notification (half of a round trip), and the least of these.
"""

import json
import mmap
import os
import shlex
import statistics
import subprocess
import sys
import time

LIMIT_S = 30
# Round trips for each length: by their bytes, within limits.
BYTES = 128 << 20
ROUNDS_MAX = int(os.environ.get("ROUNDS", "1000"))
ROUNDS_MIN = 12
WARM = 20
HAS_THREAD = os.environ.get("NIXL_THREAD") != "0"


class Agent:
    """An agent with as many bytes to write from as to be written to."""

    def __init__(self, name, backend, length):
        import numpy
        from nixl_cu12._api import nixl_agent, nixl_agent_config

        self.nixl = nixl_agent(name, nixl_agent_config(enable_prog_thread=HAS_THREAD, backends=[backend]))
        if backend not in self.nixl.backends:
            sys.exit(f"nixl.py: NIXL has no backend {backend} here")
        self.length = length
        self.memory = numpy.frombuffer(mmap.mmap(-1, 2 * length), dtype=numpy.uint8)
        self.memory[:] = 1
        self.numbers = self.memory.view(numpy.uint64)
        self.first = self.memory.ctypes.data
        self.nixl.register_memory([(self.first, 2 * length, 0, "")], "DRAM")

    def prepare(self, who, first):
        """The write to that agent."""
        here = self.nixl.get_xfer_descs([(self.first, self.length, 0)], "DRAM")
        there = self.nixl.get_xfer_descs([(first + self.length, self.length, 0)], "DRAM")
        return self.nixl.initialize_xfer("WRITE", here, there, who, b"written")

    def write(self, handle, number):
        """Writes, with this number in the first and the last bytes, and waits for the end of it."""
        half = self.length // 8
        self.numbers[0] = self.numbers[half - 1] = number
        state = self.nixl.transfer(handle, b"written")
        while state == "PROC":
            state = self.nixl.check_xfer_state(handle)
        if state != "DONE":
            sys.exit(f"nixl.py: a write has ended as {state}")

    def is_told(self, number):
        """Waits for a notification; then the bytes have to be there."""
        deadline = time.monotonic() + LIMIT_S
        while not self.nixl.get_new_notifs():
            if time.monotonic() > deadline:
                sys.exit("nixl.py: no notification")
        half = self.length // 8
        if self.numbers[half] != number or self.numbers[2 * half - 1] != number:
            sys.exit("nixl.py: a notification has come before the bytes")


def rounds_of(length):
    """How many."""
    return max(ROUNDS_MIN, min(ROUNDS_MAX, BYTES // length))


def answer(backend, length):
    """The other agent."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    agent = Agent("answers", backend, length)
    print(json.dumps([agent.nixl.get_agent_metadata().hex(), agent.first]), file=out, flush=True)
    metadata, first = json.loads(sys.stdin.readline())
    who = agent.nixl.add_remote_agent(bytes.fromhex(metadata)).decode()
    handle = agent.prepare(who, first)
    print("ready", file=out, flush=True)
    for number in range(WARM + rounds_of(length)):
        agent.is_told(number)
        agent.write(handle, number)
    sys.stdin.readline()
    agent.nixl.release_xfer_handle(handle)


def ask(backend, length):
    """One length: the times."""
    command = [*shlex.split(os.environ.get("NIXL_ANSWER", "")), sys.executable, __file__, "--answer", backend, str(length)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        metadata, first = json.loads(other.stdout.readline())
        agent = Agent("asks", backend, length)
        who = agent.nixl.add_remote_agent(bytes.fromhex(metadata)).decode()
        print(json.dumps([agent.nixl.get_agent_metadata().hex(), agent.first]), file=other.stdin, flush=True)
        other.stdout.readline()
        handle = agent.prepare(who, first)
        done, told = [], []
        for number in range(WARM + rounds_of(length)):
            begin = time.perf_counter()
            agent.write(handle, number)
            written = time.perf_counter()
            agent.is_told(number)
            end = time.perf_counter()
            done.append(1e6 * (written - begin))
            told.append(5e5 * (end - begin))
        agent.nixl.release_xfer_handle(handle)
        print(file=other.stdin, flush=True)
    return done[WARM:], told[WARM:]


def by_file(length):
    """One agent writes a file, and another one reads it, in one process: the times of the first, and of both."""
    agents = [Agent(name, "POSIX", length) for name in ["writes", "reads"]]
    done, told = [], []
    path = f"/dev/shm/nixl-{os.getpid()}"
    with open(path, "w+b") as file:
        os.unlink(path)
        file.truncate(length)
        handles = []
        for agent, operation in zip(agents, ["WRITE", "READ"], strict=True):
            agent.nixl.register_memory([(0, length, file.fileno(), "")], "FILE")
            here = agent.nixl.get_xfer_descs([(agent.first, length, 0)], "DRAM")
            there = agent.nixl.get_xfer_descs([(0, length, file.fileno())], "FILE")
            handles.append((agent, agent.nixl.initialize_xfer(operation, here, there, agent.nixl.name)))
        for _ in range(WARM + rounds_of(length)):
            times = [time.perf_counter()]
            for agent, handle in handles:
                state = agent.nixl.transfer(handle)
                while state == "PROC":
                    state = agent.nixl.check_xfer_state(handle)
                if state != "DONE":
                    sys.exit(f"nixl.py: a transfer with a file has ended as {state}")
                times.append(time.perf_counter())
            done.append(1e6 * (times[1] - times[0]))
            told.append(1e6 * (times[2] - times[0]))
        for agent, handle in handles:
            agent.nixl.release_xfer_handle(handle)
    return done[WARM:], told[WARM:]


def main():
    """All lengths."""
    os.environ.setdefault("NIXL_LOG_LEVEL", "FATAL")
    if sys.argv[1] == "--answer":
        return answer(sys.argv[2], int(sys.argv[3]))
    backend, *lengths = sys.argv[1:]
    for length in map(int, lengths):
        done, told = by_file(length) if backend == "POSIX" else ask(backend, length)
        numbers = [statistics.median(done), statistics.median(told), min(told)]
        print(length, *(f"{number:.1f}" for number in numbers), flush=True)


if __name__ == "__main__":
    main()
