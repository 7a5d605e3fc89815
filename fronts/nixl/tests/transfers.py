"""Two agents of the NIXL of PyPI, with the plugin: reads, writes, notifications, and what happens when one of them dies.

    NIXL_PLUGIN_DIR=FOLDER transfers.py

The other agent is a process that TRANSFERS_AGENT starts, if it is set: a command for another host, for example.
"""

import hashlib
import json
import mmap
import os
import random
import select
import shlex
import subprocess
import sys
import time

import numpy

LIMIT_S = 60
MEMORY = 96 << 20
# A length, and how many pieces have it.
SHAPES = [(1, 1), (1, 3), (7, 200), (64, 3), (4096, 1), (4096, 200), (65536, 3), (1 << 20, 5), (16 << 20, 1), (16 << 20, 2)]


def end(why):
    """Ends this process as failed."""
    sys.exit(f"transfers.py: {why}")


def check(what, got, expected):
    """Ends this process if they differ."""
    if got != expected:
        end(f"{what}: expected {expected}, got {got}")


def until(what, look):
    """What `look` gives, as soon as it gives anything."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
    end(f"{what}: nothing for {LIMIT_S} seconds")


class Agent:
    """An agent with memory that others may use."""

    def __init__(self, name, has_thread):
        from nixl_cu12._api import nixl_agent, nixl_agent_config

        config = nixl_agent_config(enable_prog_thread=has_thread, backends=["HOSTWIRE"])
        self.nixl = nixl_agent(name, config)
        check("backends", list(self.nixl.backends), ["HOSTWIRE"])
        self.memory = numpy.frombuffer(mmap.mmap(-1, MEMORY), dtype=numpy.uint8)
        self.first = self.memory.ctypes.data
        self.registered = self.nixl.register_memory([(self.first, MEMORY, 0, "")], "DRAM")
        self.messages = {}

    def fill(self, seed):
        """Writes what this seed says."""
        self.memory[:] = numpy.random.default_rng(seed).integers(0, 256, MEMORY, dtype=numpy.uint8)

    def sum(self, ranges):
        """What is there, as a number."""
        total = hashlib.blake2b()
        for at, length in ranges:
            total.update(self.memory[at : at + length])
        return total.hexdigest()

    def look(self):
        """Takes what has come, and makes progress."""
        for agent, messages in self.nixl.get_new_notifs().items():
            self.messages.setdefault(agent, []).extend(messages)

    def take(self, who, count):
        """So many messages of that agent, as soon as they are here."""

        def has_come():
            self.look()
            return len(self.messages.get(who, [])) >= count

        until(f"notifications of {who}", has_come)
        messages = self.messages[who]
        self.messages[who] = messages[count:]
        return [bytes(message).decode() for message in messages[:count]]

    def descriptors(self, first, ranges):
        """These ranges behind an address, for a transfer."""
        return self.nixl.get_xfer_descs([(first + at, length, 0) for at, length in ranges], "DRAM")


def serve(name):
    """The other agent: does what lines of the standard input say."""
    # NIXL writes to the standard output, too.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    agent = Agent(name, True)

    def tell(what):
        print(json.dumps(what), file=out, flush=True)

    tell([agent.nixl.get_agent_metadata().hex(), agent.first])
    for line in sys.stdin:
        do, *with_these = json.loads(line)
        if do == "load":
            tell(agent.nixl.add_remote_agent(bytes.fromhex(with_these[0])).decode())
        elif do == "fill":
            tell(agent.fill(*with_these))
        elif do == "sum":
            tell(agent.sum(*with_these))
        elif do == "take":
            who, count, ranges = with_these
            tell([agent.take(who, count), agent.sum(ranges)])
        elif do == "notify":
            tell(agent.nixl.send_notif(with_these[0], with_these[1].encode()))
        elif do == "deregister":
            tell(agent.nixl.deregister_memory(agent.registered))
        elif do == "end":
            return


class Peer:
    """The other agent, from outside."""

    def __init__(self, name, agent):
        self.name, self.agent = name, agent
        command = [*shlex.split(os.environ.get("TRANSFERS_AGENT", "")), sys.executable, __file__, name]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        metadata, self.first = self.told()
        self.metadata = bytes.fromhex(metadata)

    def start(self, *what):
        """Has it do something."""
        print(json.dumps(what), file=self.process.stdin, flush=True)

    def told(self):
        """What it says. Meanwhile the agent here makes progress, for which it may have no thread."""
        while not select.select([self.process.stdout], [], [], 0.0005)[0]:
            self.agent.look()
        return json.loads(self.process.stdout.readline() or end("the other agent has ended"))

    def do(self, *what):
        """Has it do something, and waits for what comes of it."""
        self.start(*what)
        return self.told()

    def end(self):
        """Ends it, and waits for that."""
        self.start("end")
        check("the exit status of the other agent", self.process.wait(LIMIT_S), 0)


def ranges(shape, seed):
    """Pieces of memory of this length, not in their order."""
    length, count = shape
    stride = length + 64
    places = [(64 + at * stride, length) for at in range(count)]
    random.Random(seed).shuffle(places)
    return places


def state(agent, handle):
    """How a transfer is: as `check_xfer_state`, and an exception is an error, too."""
    try:
        return agent.nixl.check_xfer_state(handle)
    except Exception as error:
        return type(error).__name__


def ended(agent, handle, first):
    """How a transfer has ended that was started with that result."""
    if first != "PROC":
        return first
    got = until("the end of a transfer", lambda: (now := state(agent, handle)) != "PROC" and now)
    return got


def prepare(agent, operation, here, there, who, message=b""):
    """A transfer between these ranges of the memory here and there."""
    name, first = who
    here, there = agent.descriptors(agent.first, here), agent.descriptors(first, there)
    return agent.nixl.initialize_xfer(operation, here, there, name, message)


def post(agent, handle, *message):
    """Starts a transfer, and gives how it has ended."""
    try:
        first = agent.nixl.transfer(handle, *message)
    except Exception as error:
        return type(error).__name__
    return ended(agent, handle, first)


def transfers(agent, peer):
    """Writes and reads of all shapes, each twice with one handle, with and without notifications."""
    for number, shape in enumerate(SHAPES):
        here, there = ranges(shape, number), ranges(shape, number + 100)
        agent.fill(number)
        peer.do("fill", number + 50)
        handle = prepare(agent, "WRITE", here, there, (peer.name, peer.first), b"first")
        for message in ["first", "second"]:
            agent.memory[here[0][0]] ^= 0xFF
            # The bytes are there when it is told, whatever is known of it here.
            peer.start("take", agent.nixl.name, 1, there)
            check(f"a write of {shape}", post(agent, handle, message.encode()), "DONE")
            check(f"what came of a write of {shape}", peer.told(), [[message], agent.sum(here)])
        agent.nixl.release_xfer_handle(handle)
        handle = prepare(agent, "READ", here, there, (peer.name, peer.first), b"read")
        peer.do("fill", number + 150)
        check(f"a read of {shape}", post(agent, handle, b"read"), "DONE")
        check(f"what a read of {shape} got", agent.sum(here), peer.do("sum", there))
        check("a notification of a read", peer.do("take", agent.nixl.name, 1, [])[0], ["read"])
        agent.nixl.release_xfer_handle(handle)


def to_itself(agent):
    """An agent reads and writes its own memory, and notifies itself."""
    for number, shape in enumerate([(1, 1), (4096, 200), (16 << 20, 1)]):
        here = ranges(shape, number)
        there = [(at + MEMORY // 2, length) for at, length in ranges(shape, number + 100)]
        for operation in ["WRITE", "READ"]:
            agent.fill(number)
            handle = prepare(agent, operation, here, there, (agent.nixl.name, agent.first), b"own")
            check(f"{operation} of its own memory", post(agent, handle), "DONE")
            check("what came of that", agent.sum(there), agent.sum(here))
            check("its own notification", agent.take(agent.nixl.name, 1), ["own"])
            agent.nixl.release_xfer_handle(handle)


def notifications(agent, peer):
    """Notifications without transfers: many in their order, long ones, too long ones, and some that come here."""
    count = 3000
    peer.start("take", agent.nixl.name, count, [])
    for number in range(count):
        agent.nixl.send_notif(peer.name, str(number).encode())
    check("notifications", peer.told()[0], [str(number) for number in range(count)])
    long = "long" * 200_000
    agent.nixl.send_notif(peer.name, long.encode())
    check("a long notification", peer.do("take", agent.nixl.name, 1, [])[0], [long])
    try:
        agent.nixl.send_notif(peer.name, b"x" * (1 << 20))
        end("a notification that is too long was sent")
    except Exception as error:
        check("a notification that is too long", type(error).__name__, "nixlInvalidParamError")
    peer.do("notify", agent.nixl.name, "back")
    check("a notification from there", agent.take(peer.name, 1), ["back"])


def release(agent, peer):
    """A transfer is released while it is under way: that waits for its end."""
    here, there = [(0, 32 << 20)], [(48 << 20, 32 << 20)]
    agent.fill(1)
    handle = prepare(agent, "WRITE", here, there, (peer.name, peer.first))
    check("a transfer that has begun", agent.nixl.transfer(handle), "PROC")
    agent.nixl.release_xfer_handle(handle)
    check("what came of it", peer.do("sum", there), agent.sum(here))


def what_is_wrong(agent, peer):
    """Metadata that was damaged on its way, and memory that is not registered any more."""
    at = peer.metadata.find(b"hwst")
    for place, value in [(at, 0), (at + 4, 9), (at - 8, 63), (at + 20, None)]:
        damaged = bytearray(peer.metadata.replace(peer.name.encode(), b"nobody"))
        damaged[place : place + 1] = [] if value is None else [value]
        try:
            agent.nixl.add_remote_agent(bytes(damaged))
            end(f"metadata with byte {place} damaged was taken")
        except Exception:
            pass
    there = [(0, 4096)]
    handle = prepare(agent, "WRITE", there, there, (peer.name, peer.first))
    peer.do("deregister")
    check("a write to memory that is not registered", post(agent, handle, b"no"), "nixlNotFoundError")
    agent.nixl.send_notif(peer.name, b"yes")
    check("what is notified of that", peer.do("take", agent.nixl.name, 1, [])[0], ["yes"])


def death(agent):
    """The other agent is killed during a transfer: that ends with an error. Another one of its name takes its place."""
    there = [(0, 32 << 20)] * 64
    for operation in ["WRITE", "READ"]:
        peer = Peer("victim", agent)
        check("its name", agent.nixl.add_remote_agent(peer.metadata).decode(), "victim")
        handle = prepare(agent, operation, there, there, (peer.name, peer.first), b"never")
        check("a transfer that has begun", agent.nixl.transfer(handle), "PROC")
        peer.process.kill()
        begin = time.monotonic()
        check("a transfer to who was killed", ended(agent, handle, "PROC"), "nixlRemoteDisconnectError")
        print(f"transfers.py: {operation}: the error came {time.monotonic() - begin:.3f} s after the kill")
        # NIXL 1.4 itself has forgotten the agent by then, NIXL 1.5 has not.
        if (again := post(agent, handle)) == "nixlRemoteDisconnectError":
            agent.nixl.remove_remote_agent(peer.name)
        else:
            check("the next one", again, "nixlNotFoundError")
        agent.nixl.release_xfer_handle(handle)
        peer.process.wait(LIMIT_S)


def all_of_it(has_thread):
    """Every test, with agents that make progress by themselves, or by calls alone."""
    agent = Agent("agent", has_thread)
    peer = Peer("peer", agent)
    check("its name", agent.nixl.add_remote_agent(peer.metadata).decode(), "peer")
    check("the name there", peer.do("load", agent.nixl.get_agent_metadata().hex()), "agent")
    transfers(agent, peer)
    to_itself(agent)
    notifications(agent, peer)
    release(agent, peer)
    what_is_wrong(agent, peer)
    death(agent)
    peer.end()


def files():
    """Those of hostwire in /dev/shm: other programs make and remove theirs meanwhile."""
    return {name for name in os.listdir("/dev/shm") if "hostwire" in name}


def main():
    """Of the agent that has the other one do things."""
    before = files()
    for has_thread in [True, False]:
        all_of_it(has_thread)
    check("files that are left in /dev/shm", files() - before, set())
    print("transfers.py: done")


if __name__ == "__main__":
    os.environ.setdefault("NIXL_LOG_LEVEL", "FATAL")
    if len(sys.argv) == 2:
        serve(sys.argv[1])
    else:
        main()
