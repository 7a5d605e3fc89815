"""Folders for files that need names for a while."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path


@contextlib.contextmanager
def folder(prefix, scratch):
    """A folder below `scratch` (None: that for temporary files), and the lock that says that it is used: the system lets go
    of it with the last process that has it. A folder without one was left behind by `kill -9`; the next one who makes a
    folder removes it."""
    scratch = scratch or tempfile.gettempdir()
    for old in Path(scratch).glob(f"{prefix}*"):
        # Another process may do the same.
        with contextlib.suppress(OSError), _locked(old):
            shutil.rmtree(old, ignore_errors=True)
    with contextlib.ExitStack() as stack:
        while True:
            made = Path(tempfile.mkdtemp(prefix=prefix, dir=scratch))
            # Another process may have taken the new folder for one that was left behind.
            with contextlib.suppress(OSError):
                lock = stack.enter_context(_locked(made))
                if made.exists():
                    break
        stack.callback(shutil.rmtree, made, ignore_errors=True)
        yield made, lock


@contextlib.contextmanager
def _locked(path):
    """Raises OSError if another process has the lock of a folder, or removes it."""
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield lock
    finally:
        os.close(lock)
