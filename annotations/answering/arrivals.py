"""Limits how many people begin through one plain link from one address.

A plain link takes any id, so a script could take all places with made-up ids. The limit is a token
bucket: LINK_RATE people may begin at once, and the bucket fills evenly over the period of the rate.
All processes count in one cache. It holds addresses as hashes only, for the length of the period.
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

from annotations.answering.refused import TooManyError
from annotations.models import Collection

logger = logging.getLogger(__name__)

SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}


def admit(collection: Collection, address: str, now: float | None = None) -> None:
    """Count a person who begins from an address; raise TooManyError beyond the limit.

    Call it while the collection's row is locked: that orders the requests of all processes. "" is
    no address and is not counted. A person who is refused does not count.
    """
    if not address:
        return
    now = time.time() if now is None else now
    digest = hashlib.sha256(f"{collection.public_id} {_network(address)}".encode()).hexdigest()
    try:
        _count(caches["default"], digest, now)
    except (RedisError, OSError) as error:
        logger.warning("link rate: the shared cache failed, each process counts alone: %s", error)
        _count(caches["process"], digest, now)


def _network(address: str) -> str:
    """Return the address, or of IPv6 its /64: a single client can use every address of one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, ipaddress.IPv6Address):
        return address
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed.packed, 64), strict=False))


def _count(cache: BaseCache, digest: str, now: float) -> None:
    most, _, unit = settings.LINK_RATE.partition("/")
    period = float(SECONDS[unit])
    key = f"link-{digest}"
    # When the bucket will be full: each person who begins delays it by one share of the period.
    full_at = max(cache.get(key, 0.0), now) + period / int(most)
    wait = full_at - now - period
    if wait > 1e-3:  # sums of times in seconds since 1970 are rounded
        raise TooManyError(math.ceil(wait))
    cache.set(key, full_at, timeout=math.ceil(period) + 1)
