"""A buffer that is written at one end and emptied in pieces at the other."""

from __future__ import annotations


class Pipe:
    """A writable file without seeking, from which the written bytes are taken."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._at = 0

    def write(self, data: bytes) -> int:
        """Append the bytes and return how many there are."""
        self._pieces.append(bytes(data))
        self._at += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: no byte is held back."""

    def close(self) -> None:
        """Do nothing: no resource is open."""

    def take(self) -> bytes:
        """Return the bytes that were written since the last call, and remove them."""
        data = b"".join(self._pieces)
        self._pieces.clear()
        return data
