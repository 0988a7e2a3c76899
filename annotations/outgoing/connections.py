"""HTTP transports: one checks each IP address before connecting, one uses several pools."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

import httpcore
import httpx

Vet = Callable[[IPv4Address | IPv6Address], bool]
"""Says of an address whether it may be connected to."""


@cache
def load_tls_context(*, trust_env: bool = True) -> ssl.SSLContext:
    """Return the TLS context with the trusted certificate authorities (cached; takes 40 ms).

    With `trust_env` those that SSL_CERT_FILE or SSL_CERT_DIR name, where one is set.
    """
    return httpx.create_ssl_context(trust_env=trust_env)


class AddressRefusedError(Exception):
    """Error: a host name resolves to an IP address that is not permitted."""


MOST_A_POOL = 20
"""Connections. A pool of httpcore looks at each of its connections for each request."""


class SpreadTransport(httpx.AsyncBaseTransport):
    """HTTP transport with several connection pools; the least busy pool sends a request.

    One pool of 200 connections spends its time on looking through them.
    """

    def __init__(self, pools: Sequence[httpx.AsyncBaseTransport]) -> None:
        self._pools = list(pools)
        self._under_way = [0] * len(self._pools)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request through the least busy pool and return the response.

        The pool counts as busy until the response is closed.
        """
        place = min(range(len(self._pools)), key=self._under_way.__getitem__)
        self._under_way[place] += 1
        try:
            response = await self._pools[place].handle_async_request(request)
        except BaseException:
            self._under_way[place] -= 1
            raise
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _NotifyingStream(response.stream, partial(self._release_pool, place))
        return response

    async def aclose(self) -> None:
        """Close the connections of all pools."""
        for pool in self._pools:
            await pool.aclose()

    def _release_pool(self, place: int) -> None:
        """Count one request less for the pool at index `place`."""
        self._under_way[place] -= 1


class _NotifyingStream(httpx.AsyncByteStream):
    """Response stream that calls the function `closed` once, when it is closed."""

    def __init__(self, stream: httpx.AsyncByteStream, closed: Callable[[], None]) -> None:
        self._stream, self._closed = stream, closed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield part

    async def aclose(self) -> None:
        """Close the stream; the first time, call `closed`."""
        try:
            await self._stream.aclose()
        finally:
            closed, self._closed = self._closed, lambda: None
            closed()


class VettedTransport(httpx.AsyncHTTPTransport):
    """HTTP transport that connects only to IP addresses for which `vet` returns True.

    The address that was vetted is the one connected to: a name that resolves to something else a
    moment later changes nothing. Certificates are still checked against the name.
    """

    def __init__(self, vet: Vet, limits: httpx.Limits) -> None:
        super().__init__(verify=load_tls_context(trust_env=False), limits=limits, trust_env=False)
        # httpx offers no door of its own to the library below it.
        self._pool._network_backend = _VettingBackend(vet)


MOST_LOOKUPS = 32
"""Names that a process looks up at once."""


@cache
def _get_lookup_threads() -> ThreadPoolExecutor:
    """Return the process's pool of threads that look up host names (made once).

    Not those of the event loop: `asyncio.run` waits for them, however long a name server takes.
    """
    return ThreadPoolExecutor(MOST_LOOKUPS, "look-up")


if hasattr(os, "register_at_fork"):
    # A forked process has the pool, but none of its threads.
    os.register_at_fork(after_in_child=_get_lookup_threads.cache_clear)


async def _look_up_addresses(host: str, port: int, timeout: float | None) -> list[str]:
    """Return a host's IP addresses; httpcore's ConnectError or ConnectTimeout if there are none."""
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        async with asyncio.timeout(timeout):
            found = await asyncio.get_running_loop().run_in_executor(_get_lookup_threads(), look_up)
    except TimeoutError as error:
        raise httpcore.ConnectTimeout(f"no name server answered about {host}") from error
    except OSError as error:
        raise httpcore.ConnectError(f"{host} is no known host ({error.strerror})") from error
    return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))


class _VettingBackend(httpcore.AnyIOBackend):
    """Network backend that checks a host's IP addresses before it connects."""

    def __init__(self, vet: Vet) -> None:
        self._vet = vet

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Return a connection to the host's first reachable address, if all are permitted."""
        addresses = await _look_up_addresses(host, port, timeout)
        for address in addresses:
            if not self._vet(ip_address(address)):
                raise AddressRefusedError(f"the address {address} of {host} is not allowed here")
        failure: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                return await super().connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure
