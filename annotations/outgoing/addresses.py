"""Rules on the IP addresses to which this server may connect on behalf of a user."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from annotations.outgoing.connections import Vet

# An IPv4 address stands in the last 32 bits of these (RFC 6052).
TRANSLATED = ip_network("64:ff9b::/96")
NOT_PUBLIC = (
    ip_network("192.0.0.0/24"),  # a cloud's metadata answer at 192.0.0.192
    ip_network("3fff::/20"),  # documentation
)
"""Networks that Python takes for public, and that lead nowhere or into the own one."""
INTERNET = ip_network("2000::/3")
"""The only IPv6 addresses in the internet.

Python also takes for public: IPv4-compatible (::/96) and IPv4-translated addresses
(::ffff:0:0:0/96), NAT64 of the local network (64:ff9b:1::/48), site-local addresses (fec0::/10),
and networks that are not assigned.
"""


def build_network_check(networks: Sequence[str]) -> Vet:
    """Return a function that tells whether a connection to an IP address is permitted.

    Permitted are public addresses and those in `networks`, such as 10.1.2.0/24.

    An IPv4 address in an IPv6 address (IPv4-mapped, 6to4, NAT64) is checked in its place.
    """
    allowed = [ip_network(network) for network in networks]

    def is_permitted(address: IPv4Address | IPv6Address) -> bool:
        """Return whether a connection to the address is permitted."""
        meant = extract_ipv4(address)
        if any(meant in network for network in allowed if network.version == meant.version):
            return True
        if any(meant in network for network in NOT_PUBLIC if network.version == meant.version):
            return False
        if isinstance(meant, IPv6Address) and meant not in INTERNET:
            return False
        return meant.is_global and not meant.is_multicast

    return is_permitted


def extract_ipv4(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address embedded in an IPv6 address; any other address unchanged."""
    if isinstance(address, IPv4Address):
        return address
    if address in TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def parse_url_address(url: str) -> IPv4Address | IPv6Address | None:
    """Return the IP address that a URL has as its host; None if the host is a name.

    Also of spellings that a look-up reads as an IPv4 address: 127.1, 2130706433, 0x7f.0.0.1.
    """
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host)
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None
