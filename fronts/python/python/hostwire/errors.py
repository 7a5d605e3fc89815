"""Exceptions, by who is at fault."""


class Error(Exception):
    """Any error of hostwire."""


class CallerError(Error, ValueError):
    """The program asked for something that cannot be done.

    It was not begun, but for collective operations that the PEs call differently: these have to be
    begun to be compared.
    """


class CopiedError(CallerError):
    """This process is a copy of the PE, as `os.fork` and `multiprocessing` make them: the job is
    not its own."""


class PeerError(Error):
    """Another PE is at fault: `pe` is its number."""

    pe: int = -1


class PeerLost(PeerError):
    """PE `pe` is lost: it ended, or is not heard of any more."""


class PeerLeft(PeerError):
    """PE `pe` is leaving the job, or has left the group, while this PE still waits for it."""


class PeerMisbehaved(PeerError):
    """PE `pe` did what no correct peer does."""


class EnvironmentFault(Error):
    """The machine, the network, the launcher or a setting does not give what is needed."""
