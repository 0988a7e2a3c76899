"""Which addresses are public: none that leads into the network of the server."""

from ipaddress import ip_address

import pytest

from annotations.outgoing.addresses import build_network_check, parse_url_address


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
        "::ffff:0:7f00:1",
        "fec0::1",
        "3fff::1",
        "4000::1",
        "5f00::1",
        "fd00::1",
        "fe80::1",
        "2001:0:7f00:1::1",
        "2002:7f00:1::1",
        "2002:a9fe:a9fe::1",
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


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("[::ffff:7f00:1]", "::ffff:127.0.0.1"),
        ("[fe80::1%25eth0]", "fe80::1%25eth0"),
        # 2130706433 = 127 * 256 ** 3 + 1; 0x7f = 0o177 = 127.
        ("2130706433", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("0x7f.0.0.1", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        # 2852039166 = 169 * 256 ** 3 + 254 * 256 ** 2 + 169 * 256 + 254.
        ("2852039166", "169.254.169.254"),
        ("0", "0.0.0.0"),
        ("134744072", "8.8.8.8"),
    ],
)
def test_an_address_is_found_however_it_is_spelled(host, address):
    assert parse_url_address(f"http://{host}:8080/x") == ip_address(address)


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1.example.org", "256.1.1.1", "", "ab.cd"])
def test_a_host_name_is_no_address(host):
    assert parse_url_address(f"http://{host}/") is None
