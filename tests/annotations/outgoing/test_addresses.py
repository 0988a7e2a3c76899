"""Which addresses are public: none that leads into the network of the server."""

from ipaddress import ip_address

import pytest

from annotations.outgoing.addresses import build_network_check


@pytest.mark.parametrize(
    "address",
    [
        "192.0.0.192",
        "192.0.0.8",
        "::127.0.0.1",
        "::7f00:1",
        "::8.8.8.8",
        "64:ff9b:1::7f00:1",
        "64:ff9b:1:ffff::1",
        "64:ff9b::7f00:1",
        "::ffff:192.0.0.192",
        "64:ff9b::c000:c0",
        "169.254.169.254",
        "10.0.0.1",
        "::1",
        "::",
    ],
)
def test_an_address_of_the_own_network_is_refused_however_it_is_written(address):
    assert not build_network_check([])(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2001:4860:4860::8888", "64:ff9b::808:808"])
def test_a_public_address_passes(address):
    assert build_network_check([])(ip_address(address))


def test_a_network_that_the_operator_names_passes():
    assert build_network_check(["192.0.0.0/24"])(ip_address("192.0.0.192"))
    assert build_network_check(["64:ff9b:1::/48"])(ip_address("64:ff9b:1::1"))
