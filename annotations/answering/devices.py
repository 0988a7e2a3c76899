"""Detection of the kind of device that a worker uses: phone, tablet or computer.

Nothing else of the request headers is stored. The headers may be wrong: a browser that requests
desktop pages reports a Macintosh on an iPad and Linux on a phone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from annotations.models import Submission

Device = Submission.Device
MAX_HEADER_LENGTH: Final = 1_000
"""Only this many characters of a header are searched."""
# "Tablet PC" is how older Windows browsers name a computer with a pen.
TABLET: Final = re.compile("iPad|Tablet(?! PC)")
PHONE: Final = re.compile("Mobi|iPhone|iPod")
ANDROID: Final = "Android"
COMPUTER: Final = re.compile("Windows|Macintosh|X11|Linux|CrOS")


def detect_device(headers: Mapping[str, str]) -> str:
    """Return the kind of device that the request headers report; "" if unknown.

    `Sec-CH-UA-Mobile: ?1` means a phone. Otherwise the `User-Agent` decides (MDN, "Browser
    detection using the user agent"): "Mobi" means a phone, Android without "Mobi" a tablet.
    """
    if headers.get("Sec-CH-UA-Mobile", "")[:MAX_HEADER_LENGTH].strip() == "?1":
        return Device.PHONE
    agent = headers.get("User-Agent", "")[:MAX_HEADER_LENGTH]
    # Tablets first: an iPad reports "Mobi" too.
    if TABLET.search(agent):
        return Device.TABLET
    if PHONE.search(agent):
        return Device.PHONE
    if ANDROID in agent:
        return Device.TABLET
    return Device.COMPUTER if COMPUTER.search(agent) else ""


def merge_devices(before: str, now: str) -> str:
    """Return the device kind to store for a worker who began on `before` and uses `now`.

    Two different kinds give `SEVERAL`. An unknown `now` changes nothing.
    """
    # If no kind was stored at consent, the worker was not informed about it: store none later.
    if not before or not now or before == now:
        return before
    return Device.SEVERAL
