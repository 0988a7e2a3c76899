"""Pictures that somebody sends: looked at, and written anew, before they are kept.

What is stored is never the bytes that came: a picture is decoded and encoded again, so that what
was hidden in the file (scripts, places where a photograph was taken, a second file at its end)
does not reach anybody.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from annotations.exchange.problems import InputError

LARGEST_IMAGE = 8 * 1024**2
"""Bytes of a file that is looked at."""
MOST_PIXELS = 40_000_000
"""Pixels (width times height) that are decoded: what a file of a few bytes may claim to hold."""
LONGEST_SIDE = 1600
"""Pixels; a larger picture is made smaller."""

SECONDS_TO_WAIT = 15.0
"""How long a picture waits for its turn to be decoded."""
MOST_AT_ONCE = 5
"""Pictures of one process, those that wait included: the other threads stay free for pages."""
MOST_OF_ONE = 2
"""Pictures of one sender that wait in one process. With the one that is decoded they take three of
its five places; two stay free for other senders."""
SECONDS_TO_RETRY = 5
"""After which a picture that was refused may be sent again."""
LOOK_EVERY = 0.02

_places = threading.BoundedSemaphore(MOST_AT_ONCE)
_turn = threading.Lock()
_waiting: Counter[object] = Counter()
_counting = threading.Lock()
_file: Path | None = None

WRITTEN: dict[str, dict[str, Any]] = {
    "JPEG": {"quality": 85, "optimize": True, "progressive": True},
    "WEBP": {"quality": 85},
    "PNG": {"optimize": True},
}
MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
KINDS = "PNG, JPEG or WebP"


@dataclass(frozen=True, slots=True)
class CheckedImage:
    """A picture that may be kept: its bytes as written anew, and what they are."""

    content: bytes
    media_type: str
    width: int
    height: int

    @property
    def sha256(self) -> str:
        """The hash of the bytes."""
        return hashlib.sha256(self.content).hexdigest()


class PicturesBusyError(InputError):
    """Too many pictures are read at the moment; the same one can be sent again later."""


def share_turns(file: Path) -> None:
    """Take turns with all processes that name this file: one picture of a site at a time."""
    global _file  # noqa: PLW0603, a bound of this process, as the lock is
    _file = file


@contextmanager
def _own_turn(name: str, sender: object) -> Iterator[None]:
    """Wait until no other picture is decoded.

    Raises `PicturesBusyError` where that takes too long, and at once where too many wait, or too
    many of the same sender. A decoded picture takes some 160 MB, so as many as come at once would
    take all memory.
    """
    until = time.monotonic() + SECONDS_TO_WAIT
    with ExitStack() as stack:
        with _waiting_as(sender, name):
            if not _places.acquire(blocking=False):
                raise PicturesBusyError.from_code(name, "pictures_busy")
            stack.callback(_places.release)
            if not _turn.acquire(timeout=SECONDS_TO_WAIT):
                raise PicturesBusyError.from_code(name, "pictures_busy")
            stack.callback(_turn.release)
            if _file is not None:
                # Who has the first file is the next one to get the second. Otherwise the process
                # that has just decoded would always be faster than the one that waits.
                with _next_file(_file).open("ab") as following:
                    _lock(following, name, until)
                    shared = stack.enter_context(_file.open("ab"))
                    _lock(shared, name, until)
        yield


@contextmanager
def _waiting_as(sender: object, name: str) -> Iterator[None]:
    """Count a picture of a sender while it waits; raises `PicturesBusyError` for too many."""
    if sender is None:
        yield
        return
    with _counting:
        if _waiting[sender] >= MOST_OF_ONE:
            raise PicturesBusyError.from_code(name, "own_pictures_wait", most=MOST_OF_ONE)
        _waiting[sender] += 1
    try:
        yield
    finally:
        with _counting:
            _waiting[sender] -= 1
            if not _waiting[sender]:
                del _waiting[sender]


def _next_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.next")


def _lock(file: IO[bytes], name: str, until: float) -> None:
    """Wait for the lock of a file; raises `PicturesBusyError` at that time."""
    while not _is_locked(file):
        if time.monotonic() > until:
            raise PicturesBusyError.from_code(name, "pictures_busy")
        time.sleep(LOOK_EVERY)


def _is_locked(file: Any) -> bool:
    """Lock a file of which the kernel lets go with the process; False while another one has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def read_image(content: bytes, name: str, sender: object = None) -> CheckedImage:
    """Return the picture, upright, without what is no picture, its longest side at most 1600.

    Raises `InputError` for a file that is too large, is no PNG, JPEG or WebP (whatever its name
    says), claims too many pixels, moves or cannot be decoded to its end; `PicturesBusyError` for
    one that cannot be decoded in time: one is decoded at a time, and at most two of a `sender`
    (any hashable value) wait. Pictures without a sender are not limited this way.
    """
    # Imported when a picture comes: nothing else needs it.
    from PIL import Image, ImageOps, UnidentifiedImageError

    if len(content) > LARGEST_IMAGE:
        raise InputError.from_code(name, "picture_too_heavy", most=LARGEST_IMAGE // 1024**2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            opened = Image.open(io.BytesIO(content), formats=list(MEDIA_TYPES))
    except UnidentifiedImageError:
        raise InputError.from_code(name, "no_picture", kinds=KINDS) from None
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise _too_many_pixels(name) from None
    except Exception as error:  # a damaged header, in any of the ways of three formats
        raise _damaged(name) from error
    with opened, _own_turn(name, sender):
        kind = "JPEG" if opened.format == "MPO" else str(opened.format)  # a telephone's JPEG
        if opened.width * opened.height > MOST_PIXELS:
            raise _too_many_pixels(name)
        if kind != "JPEG" and getattr(opened, "n_frames", 1) > 1:
            raise InputError.from_code(name, "moving_picture")
        try:
            # A large JPEG is decoded at a half, a quarter or an eighth, no smaller than it is kept.
            part = min(1.0, LONGEST_SIDE / max(opened.size))
            opened.draft(None, (round(opened.width * part), round(opened.height * part)))
            opened.load()
            see_through = opened.has_transparency_data and kind != "JPEG"
            # Made smaller before it is turned: a copy of the whole takes as much memory again.
            mode = "RGBA" if see_through else "RGB"
            picture = opened if opened.mode == mode else opened.convert(mode)
            picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
            picture = ImageOps.exif_transpose(picture)
            # A new picture of the same pixels: what else the file said does not come along.
            bare = Image.new(picture.mode, picture.size)
            bare.paste(picture)
            written = io.BytesIO()
            bare.save(written, kind, **WRITTEN[kind])
        except Exception as error:  # as many kinds as there are ways to break a picture
            raise _damaged(name) from error
    return CheckedImage(written.getvalue(), MEDIA_TYPES[kind], *bare.size)


def _too_many_pixels(name: str) -> InputError:
    return InputError.from_code(name, "picture_too_large", most=MOST_PIXELS // 1_000_000)


def _damaged(name: str) -> InputError:
    return InputError.from_code(name, "picture_damaged")
