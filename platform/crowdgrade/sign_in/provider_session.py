"""HTTP requests to the OpenID provider, over connections to vetted addresses only."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import httpx
import requests
from requests.structures import CaseInsensitiveDict

from annotations.outgoing.addresses import build_network_check, parse_url_address
from annotations.outgoing.connections import AddressRefusedError, VettedTransport
from crowdgrade.sign_in.options import LOOPBACK_NETWORKS, OpenID

SECONDS: Final = 10.0
"""Of one request, from the look-up of the host's name to the last byte."""
MOST_BYTES: Final = 1024 * 1024


class ProviderSession:
    """Replacement of `requests.Session` for django-allauth, with the methods that it uses.

    Each address connected to must be public or in a network of `OPENID_NETWORKS`. HTTP is allowed
    for a provider on this machine only. Redirects are not followed, proxies of the environment are
    not used, and errors are those of requests.
    """

    def __init__(self, openid: OpenID) -> None:
        self._is_local = openid.is_local
        networks = [*openid.networks, *(LOOPBACK_NETWORKS if openid.is_local else ())]
        self._vet = build_network_check(networks)

    def __enter__(self) -> ProviderSession:
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing, because each request closes its own connection."""

    def get(self, url: str, headers: Mapping[str, str] | None = None) -> requests.Response:
        """Send a GET request and return the response; errors as of `request`."""
        return self.request("GET", url, headers=headers)

    def request(
        self,
        method: str,
        url: str,
        params: Mapping[str, str] | None = None,
        data: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        auth: requests.auth.HTTPBasicAuth | None = None,
    ) -> requests.Response:
        """Send a request and return the response; RequestException for a refused or failed one."""
        if not url.startswith("https://") and not (self._is_local and url.startswith("http://")):
            raise requests.exceptions.InvalidURL(f"{url} is no https:// address")
        sent = {"params": params, "data": data, "headers": headers}
        if auth is not None:
            sent["auth"] = (str(auth.username), str(auth.password))  # type: ignore[assignment]
        try:
            written = parse_url_address(url)
            if written is not None and not self._vet(written):
                raise AddressRefusedError(f"the address {written} is not allowed here")
            return asyncio.run(self._send_request(method, url, sent))
        except (AddressRefusedError, TimeoutError, httpx.HTTPError, httpx.InvalidURL) as error:
            raise requests.exceptions.ConnectionError(str(error)) from error

    async def _send_request(
        self, method: str, url: str, sent: Mapping[str, Any]
    ) -> requests.Response:
        """Send a request and return its response with its whole body."""
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=0)
        content = b""
        async with (
            asyncio.timeout(SECONDS),
            httpx.AsyncClient(
                transport=VettedTransport(self._vet, limits), timeout=SECONDS, trust_env=False
            ) as client,
            client.stream(method, url, **sent) as answer,
        ):
            async for part in answer.aiter_bytes():
                content += part
                if len(content) > MOST_BYTES:
                    raise requests.exceptions.ConnectionError(f"{url} sends too much")
        response = requests.Response()
        response.status_code, response.url = answer.status_code, url
        response.headers = CaseInsensitiveDict({"content-type": "", **answer.headers})
        response.encoding, response._content = "utf-8", content
        return response
