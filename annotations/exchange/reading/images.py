"""Pictures that somebody sends: looked at, and written anew, before they are kept.

What is stored is never the bytes that came: a picture is decoded and encoded again, so that what
was hidden in the file (scripts, places where a photograph was taken, a second file at its end)
does not reach anybody.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from dataclasses import dataclass
from typing import Any

from annotations.exchange.problems import InputError

LARGEST_IMAGE = 8 * 1024**2
"""Bytes of a file that is looked at."""
MOST_PIXELS = 40_000_000
"""Pixels (width times height) that are decoded: what a file of a few bytes may claim to hold."""
LONGEST_SIDE = 1600
"""Pixels; a larger picture is made smaller."""

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


def read_image(content: bytes, name: str) -> CheckedImage:
    """Return the picture, upright, without what is no picture, its longest side at most 1600.

    Raises `InputError` for a file that is too large, is no PNG, JPEG or WebP (whatever its name
    says), claims too many pixels, moves, or cannot be decoded to its end.
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
    with opened:
        kind = "JPEG" if opened.format == "MPO" else str(opened.format)  # a telephone's JPEG
        if opened.width * opened.height > MOST_PIXELS:
            raise _too_many_pixels(name)
        if kind != "JPEG" and getattr(opened, "n_frames", 1) > 1:
            raise InputError.from_code(name, "moving_picture")
        try:
            opened.load()
            see_through = opened.has_transparency_data and kind != "JPEG"
            picture = ImageOps.exif_transpose(opened).convert("RGBA" if see_through else "RGB")
            picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
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
