"""Rules on the IP addresses to which this server may connect on behalf of a user."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from annotations.outgoing.connections import Vet

# An IPv4 address stands in the last 32 bits of these (RFC 6052).
TRANSLATED = ip_network("64:ff9b::/96")
NOT_PUBLIC = (
    ip_network("192.0.0.0/24"),  # a cloud's metadata answer at 192.0.0.192
    ip_network("::/96"),  # IPv4-compatible addresses, which some systems connect as IPv4
    ip_network("64:ff9b:1::/48"),  # NAT64 of the local network
)
"""Networks that Python takes for public, and that lead into the own one."""


def build_network_check(networks: Sequence[str]) -> Vet:
    """Return a function that tells whether a connection to an IP address is permitted.

    Permitted are public addresses and those in `networks`, such as 10.1.2.0/24.

    What an IPv6 address wraps (IPv4-mapped, 6to4, NAT64) is looked at in its place.
    """
    allowed = [ip_network(network) for network in networks]

    def vet(address: IPv4Address | IPv6Address) -> bool:
        """Return whether connecting to the address is permitted."""
        meant = extract_ipv4(address)
        if any(meant in network for network in allowed if network.version == meant.version):
            return True
        if any(meant in network for network in NOT_PUBLIC if network.version == meant.version):
            return False
        return meant.is_global and not meant.is_multicast

    return vet


def extract_ipv4(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address embedded in an IPv6 address; any other address unchanged."""
    if isinstance(address, IPv4Address):
        return address
    if address in TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def parse_url_address(url: str) -> IPv4Address | IPv6Address | None:
    """Return the IP address that a URL contains; None if it has a host name."""
    try:
        return ip_address(urlsplit(url).hostname or "")
    except ValueError:
        return None
