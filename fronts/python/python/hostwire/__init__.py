"""One address space over many processes, for NumPy arrays.

    import hostwire

    with hostwire.Job() as job:
        inbox = job.zeros(1, "int64")
        right = (job.pe + 1) % job.pes
        inbox.put(right, [job.pe])
        job.barrier()
        print(f"PE {job.pe} heard from PE {inbox.local[0]}")

Start it with `hostwire run -n 4 python program.py`. What each call does is in its docstring;
docs/python.md of the repository has a tutorial.
"""

from ._hostwire import Array, Get, Team, __version__
from ._job import Job, Message, Received, Request
from .errors import (
    CallerError,
    CopiedError,
    EnvironmentFault,
    Error,
    PeerError,
    PeerLeft,
    PeerLost,
    PeerMisbehaved,
)

__all__ = [
    "Array",
    "CallerError",
    "CopiedError",
    "EnvironmentFault",
    "Error",
    "Get",
    "Job",
    "Message",
    "PeerError",
    "PeerLeft",
    "PeerLost",
    "PeerMisbehaved",
    "Received",
    "Request",
    "Team",
]
