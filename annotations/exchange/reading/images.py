"""Check uploaded images and re-encode them before they are stored.

The bytes of the upload are never stored: an image is decoded and encoded again, so that hidden
content (scripts, the place where a photograph was taken, a second file at its end) reaches no other
user.
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
    """A re-encoded image that is safe to store: bytes, media type, width and height in pixels."""

    content: bytes
    media_type: str
    width: int
    height: int

    @property
    def sha256(self) -> str:
        """SHA-256 of the image's bytes, in hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()


class PicturesBusyError(InputError):
    """Error: too many images are being decoded; the same image can be sent again later."""


def set_lock_file(file: Path) -> None:
    """Set the lock file that lets all processes of a site decode one image at a time."""
    global _file  # noqa: PLW0603, a bound of this process, as the lock is
    _file = file


@contextmanager
def _hold_decoding_turn(name: str, sender: object) -> Iterator[None]:
    """Hold the site's single turn to decode an image while the `with` block runs.

    Raises `PicturesBusyError` if the wait takes longer than 15 s, and at once if too many images
    wait, or too many of the same sender. A decoded image takes some 160 MB, so decoding as many as
    arrive would exhaust the memory.
    """
    deadline = time.monotonic() + SECONDS_TO_WAIT
    with ExitStack() as stack:
        with _count_waiting_image(sender, name):
            if not _places.acquire(blocking=False):
                raise PicturesBusyError.from_code(name, "pictures_busy")
            stack.callback(_places.release)
            if not _turn.acquire(timeout=SECONDS_TO_WAIT):
                raise PicturesBusyError.from_code(name, "pictures_busy")
            stack.callback(_turn.release)
            if _file is not None:
                # Who has the first file is the next one to get the second. Otherwise the process
                # that has just decoded would always be faster than the one that waits.
                with _get_next_lock_file(_file).open("ab") as next_lock:
                    _acquire_lock(next_lock, name, deadline)
                    lock = stack.enter_context(_file.open("ab"))
                    _acquire_lock(lock, name, deadline)
        yield


@contextmanager
def _count_waiting_image(sender: object, name: str) -> Iterator[None]:
    """Count an image of a sender while it waits; `PicturesBusyError` above two per sender."""
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


def _get_next_lock_file(file: Path) -> Path:
    """Return the path of the second lock file, held by the next process in the queue."""
    return file.with_name(f"{file.name}.next")


def _acquire_lock(file: IO[bytes], name: str, deadline: float) -> None:
    """Wait for the lock on a file; raise `PicturesBusyError` at the deadline."""
    while not _try_lock(file):
        if time.monotonic() > deadline:
            raise PicturesBusyError.from_code(name, "pictures_busy")
        time.sleep(LOOK_EVERY)


def _try_lock(file: Any) -> bool:
    """Lock a file and return True; return False if another process holds the lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def reencode_image(content: bytes, name: str, sender: object = None) -> CheckedImage:
    """Return an image re-encoded: upright, without metadata, at most 1600 pixels a side.

    Raises `InputError` for a file that is too large, is no PNG, JPEG or WebP (by content, not
    name), claims too many pixels, moves or cannot be decoded to its end; `PicturesBusyError` for
    one that cannot be decoded in time: one is decoded at a time, and at most two of a `sender`
    (any hashable value) wait. Pictures without a sender are not limited this way.
    """
    # Imported when a picture comes: nothing else needs it.
    from PIL import Image, ImageOps, UnidentifiedImageError

    if len(content) > LARGEST_IMAGE:
        raise InputError.from_code(name, "picture_too_heavy", most=LARGEST_IMAGE // 1024**2)
    try:
        with warnings.catch_warnings():
            # By default Pillow only warns of a bomb, and decodes it.
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            opened = Image.open(io.BytesIO(content), formats=list(MEDIA_TYPES))
    except UnidentifiedImageError:
        raise InputError.from_code(name, "no_picture", kinds=KINDS) from None
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise _build_size_error(name) from None
    except Exception as error:  # a damaged header, in any of the ways of three formats
        raise _build_damage_error(name) from error
    with opened, _hold_decoding_turn(name, sender):
        kind = "JPEG" if opened.format == "MPO" else str(opened.format)  # a telephone's JPEG
        if opened.width * opened.height > MOST_PIXELS:
            raise _build_size_error(name)
        # A telephone's JPEG may hold further frames, such as a preview, and does not move.
        if kind != "JPEG" and getattr(opened, "n_frames", 1) > 1:
            raise InputError.from_code(name, "moving_picture")
        try:
            # A large JPEG is decoded at a half, a quarter or an eighth, no smaller than it is kept.
            scale = min(1.0, LONGEST_SIDE / max(opened.size))
            opened.draft(None, (round(opened.width * scale), round(opened.height * scale)))
            opened.load()
            has_transparency = opened.has_transparency_data and kind != "JPEG"
            # Made smaller before it is turned: a copy of the whole takes as much memory again.
            mode = "RGBA" if has_transparency else "RGB"
            image = opened if opened.mode == mode else opened.convert(mode)
            image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
            image = ImageOps.exif_transpose(image)
            # A new image of the same pixels: metadata and further content are not copied.
            bare = Image.new(image.mode, image.size)
            bare.paste(image)
            written = io.BytesIO()
            bare.save(written, kind, **WRITTEN[kind])
        except Exception as error:  # as many kinds as there are ways to break a picture
            raise _build_damage_error(name) from error
    return CheckedImage(written.getvalue(), MEDIA_TYPES[kind], *bare.size)


def _build_size_error(name: str) -> InputError:
    """Return the error for an image of more than 40 million pixels."""
    return InputError.from_code(name, "picture_too_large", most=MOST_PIXELS // 1_000_000)


def _build_damage_error(name: str) -> InputError:
    """Return the error for an image that cannot be decoded to its end."""
    return InputError.from_code(name, "picture_damaged")
