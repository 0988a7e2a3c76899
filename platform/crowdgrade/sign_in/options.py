"""Options of sign-in by OpenID Connect, read from the environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from crowdgrade.environment import (
    check_networks,
    read_choice,
    read_flag,
    read_list,
    read_secret,
    read_text,
)

LOOPBACK_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1"})
LOOPBACK_NETWORKS: Final = ("127.0.0.0/8", "::1/128")
PROVIDER_ID: Final = "openid"


@dataclass(frozen=True, kw_only=True)
class OpenID:
    """The OpenID provider of a site, and who may enter by it.

    Attributes
    ----------
    issuer : address of the provider; its ID tokens must name exactly this one.
    name : of the provider, shown on the button.
    domains : of e-mail addresses that may enter, in lower case. groups : that may enter. With
        neither, only linked accounts and invited people enter.
    makes_requesters : whether a new account is a requester's; else it has no role.
    trusts_email : whether every address counts as verified, for providers without that claim.
    networks : non-public networks in which the provider may be asked.
    """

    issuer: str
    client_id: str
    secret: str
    name: str = "OpenID"
    domains: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    makes_requesters: bool = False
    trusts_email: bool = False
    networks: tuple[str, ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether the provider is on this machine, as in tests; then HTTP is allowed."""
        return urlsplit(self.issuer).hostname in LOOPBACK_HOSTS


def read_openid() -> OpenID | None:
    """Return the OpenID provider of the environment; None without OPENID_ISSUER."""
    issuer = read_text("OPENID_ISSUER")
    client_id, secret = read_text("OPENID_CLIENT_ID"), read_secret("OPENID_CLIENT_SECRET", 1)
    role = read_choice("OPENID_ROLE", ("none", "requester"))
    domains, groups = read_list("OPENID_DOMAINS", []), read_list("OPENID_GROUPS", [])
    networks = check_networks("OPENID_NETWORKS", read_list("OPENID_NETWORKS", []))
    if issuer is None:
        return None
    _check_issuer(issuer)
    if client_id is None or not secret:
        raise ImproperlyConfigured(
            "OPENID_ISSUER needs OPENID_CLIENT_ID and OPENID_CLIENT_SECRET: "
            "set what the provider shows for this site"
        )
    for domain in domains:
        if "@" in domain or "." not in domain:
            raise ImproperlyConfigured(f"OPENID_DOMAINS holds {domain!r}: write such as lab.org")
    return OpenID(
        issuer=issuer,
        client_id=client_id,
        secret=secret,
        name=read_text("OPENID_NAME") or "OpenID",
        domains=frozenset(domain.lower() for domain in domains),
        groups=frozenset(groups),
        makes_requesters=role == "requester",
        trusts_email=read_flag("OPENID_TRUST_EMAIL"),
        networks=tuple(networks),
    )


def get_openid() -> OpenID:
    """Return the OpenID provider of the settings; ImproperlyConfigured without one."""
    openid = settings.OPENID
    if openid is None:
        raise ImproperlyConfigured("OPENID_ISSUER is not set: set it to sign in by OpenID")
    return openid


def read_password_sign_in(openid: OpenID | None) -> bool:
    """Return whether local passwords open the site."""
    is_allowed = read_choice("PASSWORD_SIGN_IN", ("yes", "no")) == "yes"
    if not is_allowed and openid is None:
        raise ImproperlyConfigured(
            "PASSWORD_SIGN_IN is 'no' without OPENID_ISSUER, so no account could sign in: set an "
            "OpenID provider, or write yes"
        )
    return is_allowed


def _check_issuer(issuer: str) -> None:
    """Raise ImproperlyConfigured unless an issuer is an HTTPS URL, or HTTP on this machine."""
    remedy = "write the issuer of the provider, such as https://login.example.org/realms/lab"
    try:
        parts = urlsplit(issuer)
        is_sound = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_sound = False
    if not is_sound or not issuer.isascii() or not issuer.isprintable() or " " in issuer:
        raise ImproperlyConfigured(f"OPENID_ISSUER is {issuer!r}: {remedy}")
    if parts.username is not None or parts.query or parts.fragment:
        raise ImproperlyConfigured(f"OPENID_ISSUER holds more than an address: {remedy}")
    if parts.scheme != "https" and not (
        parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS
    ):
        raise ImproperlyConfigured(f"OPENID_ISSUER is {issuer!r}, without https://: {remedy}")
