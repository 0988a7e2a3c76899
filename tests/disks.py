"""Disks that are full or read-only: real ones, in memory, where the system lets us mount them."""

import contextlib
import errno
import os
import subprocess

import pytest


class Disk:
    """A file system of its own, in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self):
        """Leave no room, not for one byte."""
        with self._filler.open("ab", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1):
                with contextlib.suppress(OSError):
                    while True:
                        file.write(b"x" * size)
        assert is_full(self.folder)

    def clear(self):
        """Give the room back."""
        self._filler.unlink()

    def seal(self):
        """Let nobody write any more."""
        _run("mount", "-o", "remount,ro", str(self.folder))

    def unseal(self):
        """Let everybody write again."""
        _run("mount", "-o", "remount,rw", str(self.folder))


def is_full(folder):
    """Whether a new file takes no byte."""
    probe = folder / "probe"
    try:
        with probe.open("wb", buffering=0) as file:
            file.write(b"x")
    except OSError as error:
        return error.errno == errno.ENOSPC
    finally:
        probe.unlink(missing_ok=True)
    return False


@contextlib.contextmanager
def small_disk(folder, megabytes=1):
    """Mount a disk of a few megabytes at the folder while the block runs, or skip the test."""
    folder.mkdir(exist_ok=True)
    options = f"size={megabytes}m,mode=700"
    try:
        _run("mount", "-t", "tmpfs", "-o", options, "crowdgrade-test", str(folder))
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "") or str(error)
        pytest.skip(f"no disk can be mounted here (as uid {os.getuid()}): {said.strip()}")
    try:
        yield Disk(folder)
    finally:
        _run("umount", "--lazy", str(folder))


def _run(*command):
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=20)
