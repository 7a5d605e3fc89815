"""Programs of the iceoryx2 of PyPI on two hosts, with a tunnel on each: samples and notifications from the first come to the second.

    python.py PROGRAM

PROGRAM is hostwire-iceoryx2. A host is a folder with a configuration of its own, which programs find in their current folder.
"""

import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

COUNT = 100
LIMIT_S = 60


class Reading(ctypes.Structure):
    """A sample."""

    _fields_ = [("number", ctypes.c_uint64), ("value", ctypes.c_double)]

    @staticmethod
    def type_name() -> str:
        """By this name iceoryx2 knows it."""
        return "Reading"


def end(why):
    """Ends this process as failed."""
    sys.exit(f"python.py: {why}")


def program(is_writer):
    """What runs on each host."""
    import iceoryx2 as iox2

    iox2.set_log_level(iox2.LogLevel.Error)
    node = iox2.NodeBuilder.new().create(iox2.ServiceType.Ipc)

    def named(name):
        return node.service_builder(iox2.ServiceName.new(name))

    samples = named("readings").publish_subscribe(Reading).open_or_create()
    events = named("ring").event().open_or_create()
    deadline = time.monotonic() + LIMIT_S
    if is_writer:
        publisher, notifier = samples.publisher_builder().create(), events.notifier_builder().create()
        number = 0
        # Until it is ended.
        while time.monotonic() < deadline:
            publisher.loan_uninit().write_payload(Reading(number, number / 2)).send()
            notifier.notify_with_custom_event_id(iox2.EventId.new(number % 4))
            number += 1
            time.sleep(0.005)
        return
    subscriber, listener = samples.subscriber_builder().create(), events.listener_builder().create()
    numbers, ids = [], set()
    while len(numbers) < COUNT or len(ids) < 4:
        if time.monotonic() > deadline:
            end(f"{len(numbers)} samples and the ids {ids} have come")
        sample = subscriber.receive()
        if sample is not None:
            reading = sample.payload().contents
            if reading.value != reading.number / 2:
                end(f"wrong: {reading.number} {reading.value}")
            numbers.append(reading.number)
        ids.update(what.id.as_value for what in listener.try_wait() or [])
        time.sleep(0.001)
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        end(f"not one after the other: {numbers}")


def start(folder, *command):
    """A process on a host."""
    return subprocess.Popen(command, cwd=folder)


def main(tunnel):
    """Two hosts."""
    with tempfile.TemporaryDirectory() as world:
        hosts = [pathlib.Path(world, name) for name in ("a", "b")]
        prefix = pathlib.Path(world).name.replace("_", "")
        for host in hosts:
            (host / "config").mkdir(parents=True)
            text = f"[global]\nroot-path = '{host}/iceoryx2'\nprefix = '{prefix}{host.name}_'\n"
            (host / "config" / "iceoryx2.toml").write_text(text)
        names = [str(host / "name") for host in hosts]
        tunnels = [
            start(hosts[0], tunnel, "--name", names[0]),
            start(hosts[1], tunnel, "--name", names[1], "--peer", names[0]),
        ]
        writer, reader = (start(host, sys.executable, __file__, what) for host, what in zip(hosts, ("write", "read")))
        try:
            if reader.wait(2 * LIMIT_S):
                end("the reader has failed")
            for process in tunnels:
                process.send_signal(signal.SIGINT)
                if process.wait(LIMIT_S):
                    end("a tunnel has failed")
        finally:
            for process in (writer, reader, *tunnels):
                process.kill()
                process.wait()
            for left in pathlib.Path("/dev/shm").glob(f"{prefix}*"):
                left.unlink()
    print(f"python.py: {COUNT} samples and 4 notifications of iceoryx2 of PyPI came through the tunnel")


if __name__ == "__main__":
    what = os.path.abspath(sys.argv[1]) if sys.argv[1] not in ("write", "read") else sys.argv[1]
    if what in ("write", "read"):
        program(what == "write")
    else:
        main(what)
