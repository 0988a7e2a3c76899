"""The kind of device that somebody answers from, as coarse as can be: phone, tablet or computer.

Of what a browser says of itself nothing else is kept. It may say what it likes: an iPad that asks
for pages as computers get them says that it is a Macintosh, a phone that does says Linux.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from annotations.models import Submission

Device = Submission.Device
LONGEST: Final = 1_000
"""Characters of a header that are looked at."""
TABLET: Final = re.compile("iPad|Tablet(?! PC)")
PHONE: Final = re.compile("Mobi|iPhone|iPod")
ANDROID: Final = "Android"
COMPUTER: Final = re.compile("Windows|Macintosh|X11|Linux|CrOS")


def kind_of(headers: Mapping[str, str]) -> str:
    """Return the kind of device that the headers of a request tell; "" for one not known.

    A browser that says so in `Sec-CH-UA-Mobile` has a phone. Of the others the `User-Agent` tells:
    "Mobi" is what phones say (MDN, "Browser detection using the user agent"), but an iPad says it
    as well; Android without it is a tablet.
    """
    if headers.get("Sec-CH-UA-Mobile", "")[:LONGEST].strip() == "?1":
        return Device.PHONE
    said = headers.get("User-Agent", "")[:LONGEST]
    if TABLET.search(said):
        return Device.TABLET
    if PHONE.search(said):
        return Device.PHONE
    if ANDROID in said:
        return Device.TABLET
    return Device.COMPUTER if COMPUTER.search(said) else ""


def joined(before: str, now: str) -> str:
    """Return the kind to keep of who began with one and now comes with another.

    One that is not known changes nothing, and where none was kept none is from now on: they were
    not told that it is.
    """
    if not before or not now or before == now:
        return before
    return Device.SEVERAL
