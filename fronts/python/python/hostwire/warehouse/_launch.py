"""Starting the job of a warehouse, where nobody else has."""

import os
import sys
from pathlib import Path

from ..errors import CallerError

# Variables that launchers set for the processes that they start: docs/environment.md.
_CLUES = ("PMI_FD", "PMI_PORT", "PMI_RANK", "PMIX_RANK", "SLURM_STEP_ID")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
# The share of the machine's memory for all heaps together; the rest is for engines and the system.
# Heaps take memory when they are first used.
_PART_OF_MEMORY = 0.85


def is_in_job():
    """Whether a launcher has started this process."""
    return any(clue in os.environ for clue in _CLUES)


def nbytes(text):
    """`64M` as a number of bytes."""
    text = text.strip().upper()
    unit = text[-1:] if text[-1:] in _UNITS else ""
    try:
        number = float(text[: len(text) - len(unit)]) * _UNITS[unit]
    except ValueError:
        number = 0
    if not 1 <= number < 1 << 60:
        raise ValueError(f"expected a number of bytes such as 64M or 2G, got {text!r}")
    return int(number)


def launcher():
    """The path of `hostwire`, which the wheel has installed beside Python."""
    path = Path(sys.executable).with_name("hostwire")
    return str(path) if path.exists() else "hostwire"


def heap_bytes(owners, memory, buffer_bytes):
    """Bytes of the symmetric heap of each PE."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    most = int(machine * _PART_OF_MEMORY) // (owners + 1)
    if memory is None:
        return most >> 20 << 20
    # 4 MiB for control words, and for the heap's own data.
    wanted = memory + buffer_bytes + (4 << 20)
    if wanted > most:
        raise CallerError(
            f"--memory: {memory} bytes for each of {owners} owners, and as much address space for the "
            f"consumer, are more than {_PART_OF_MEMORY:.0%} of the {machine} bytes of this machine"
        )
    return wanted


def command(options, arguments):
    """The command that starts the job of a warehouse, with `arguments` for each PE."""
    heap = heap_bytes(options.owners, options.memory, options.buffers)
    words = [launcher(), "run", "-n", str(options.owners + 1), "--heap", str(heap)]
    if options.wire is not None:
        words += ["--wire", options.wire]
    if options.hosts is not None:
        words += ["--hosts", str(options.hosts)]
        if options.wire is None:
            words += ["--wire", "auto"]
    if options.insecure_wire:
        words += ["--insecure-wire"]
    # If an owner is lost, the consumer reports what is lost with it, and goes on if nothing is.
    words += ["--keep-going", "--", sys.executable, "-m", "hostwire.warehouse"]
    words += arguments
    if sys.stderr.isatty():
        # The launcher reads the output of its PEs; a bar goes to the terminal itself.
        words += ["--terminal", os.ttyname(sys.stderr.fileno())]
    return words


def start(options, arguments):
    """Becomes the launcher of a job whose PEs run this command."""
    words = command(options, arguments)
    sys.stdout.flush()
    os.execvp(words[0], words)
