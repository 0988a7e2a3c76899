"""Rate limit on new workers from one network address, for links without a signature.

An unsigned link accepts any id, so a script could take all places with invented ids. The limit is
a token bucket: LINK_RATE workers may begin at once, and the bucket refills evenly over the period
of the rate. All processes share one cache. It stores addresses as hashes, for one period.
"""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import math
import time

from django.conf import settings
from django.core.cache import BaseCache, caches
from redis.exceptions import RedisError

from annotations.answering.errors import TooManyError
from annotations.models import Collection

logger = logging.getLogger(__name__)

SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}


def count_arrival(collection: Collection, address: str, now: float | None = None) -> None:
    """Count a new worker from an IP address; raise `TooManyError` above the rate limit.

    Call it while the collection's row is locked. An empty address is not counted, and neither is a
    worker who is refused.
    """
    # Reading and writing the bucket is not atomic: the row lock orders the requests of all
    # processes.
    if not address:
        return
    now = time.time() if now is None else now
    digest = hashlib.sha256(f"{collection.public_id} {_mask_address(address)}".encode()).hexdigest()
    try:
        _take_token(caches["default"], digest, now)
    except (RedisError, OSError) as error:
        logger.warning("link rate: the shared cache failed, each process counts alone: %s", error)
        _take_token(caches["process"], digest, now)


def _mask_address(address: str) -> str:
    """Return the part of an IP address that counts as one client: IPv4 whole, IPv6 as its /64.

    A text that is not an address is returned unchanged.
    """
    # A provider gives each client a whole /64, so one client can use all its addresses.
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, ipaddress.IPv6Address):
        return address
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed.packed, 64), strict=False))


def _take_token(cache: BaseCache, digest: str, now: float) -> None:
    """Take a token from the token bucket of a hashed address; raise `TooManyError` if empty."""
    most, _, unit = settings.LINK_RATE.partition("/")
    period = float(SECONDS[unit])
    key = f"link-{digest}"
    # Only the time at which the bucket is full is stored: each token delays it by one share.
    full_at = max(cache.get(key, 0.0), now) + period / int(most)
    wait = full_at - now - period
    if wait > 1e-3:  # rounding: sums of seconds since 1970 lose the last digits
        raise TooManyError(math.ceil(wait))
    cache.set(key, full_at, timeout=math.ceil(period) + 1)
