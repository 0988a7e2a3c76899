"""What is written at one end and taken away in pieces at the other."""

from __future__ import annotations


class Pipe:
    """A file that cannot be sought; what was written to it is taken away."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._at = 0

    def write(self, data: bytes) -> int:
        """Take the bytes."""
        self._pieces.append(bytes(data))
        self._at += len(data)
        return len(data)

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing is open."""

    def taken(self) -> bytes:
        """What came since the last time."""
        data = b"".join(self._pieces)
        self._pieces.clear()
        return data
