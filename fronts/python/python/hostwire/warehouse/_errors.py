"""Errors of the warehouse."""

from ..errors import PeerError


class Damaged(PeerError):
    """Bytes of PE `pe` are not what they were when they were loaded: a checksum or a catalogue does
    not fit."""

    def __init__(self, pe, text):
        super().__init__(text)
        self.pe = pe
