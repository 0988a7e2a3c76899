"""The vetting of addresses, at each connection."""

import asyncio
import os
import socket
import threading
import time

import httpcore
import httpx
import pytest

from annotations.outgoing import connections
from annotations.outgoing.connections import SpreadTransport
from evaluation.core.backends.chat.contract import ChatRequest
from evaluation.core.backends.chat.registry import get_chat_model
from tests.evaluation.core.backends.chat.fake import fake_chat, said

REQUEST = ChatRequest("q", ({"role": "user", "content": "Why?"},))


def ask(url, vet, times=1):
    model = get_chat_model(f"openai:m@{url}", vet=vet)

    async def asking():
        await model.open(1)
        try:
            return [await model.reply(REQUEST) for _ in range(times)]
        finally:
            await model.close()

    return asyncio.run(asking())


def test_an_address_that_is_refused_gets_no_request():
    with fake_chat() as server:
        (reply,) = ask(server.url, lambda address: not address.is_loopback)
        assert (reply.fault.code, reply.fault.again) == ("address_refused", False)
        assert "127.0.0.1" in reply.fault.message
        assert server.bodies == []


def test_a_name_is_vetted_by_what_it_resolves_to_and_connections_are_kept(monkeypatch):
    seen = []

    def vet(address):
        seen.append(str(address))
        return True

    with fake_chat() as server:
        url = server.url.replace("127.0.0.1", "localhost")
        replies = ask(url, vet, times=3)
        assert [reply.status for reply in replies] == ["text"] * 3
    assert "127.0.0.1" in seen
    assert len(seen) <= 2  # one connection, 127.0.0.1 and perhaps ::1


def test_no_proxy_stands_between_when_addresses_are_vetted(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with fake_chat() as server:
        assert ask(server.url, lambda address: True)[0].status == "text"


def together(url, count, at_once, **more):
    model = get_chat_model(f"openai:m@{url}", **more)

    async def asking():
        await model.open(at_once)
        try:
            return await asyncio.gather(*[model.reply(REQUEST) for _ in range(count)])
        finally:
            await model.close()

    return asyncio.run(asking())


@pytest.mark.medium
@pytest.mark.parametrize("more", [{}, {"vet": lambda _: True}])
def test_as_many_connections_are_open_as_were_asked_for_over_several_pools(more):
    with fake_chat(lambda _: said("yes", delay=0.5)) as server:
        # 45 at once are pools of 20, 20 and 5; the other 15 wait for one that is free.
        replies = together(server.url, 60, 45, **more)
        assert [reply.text for reply in replies] == ["yes"] * 60
        assert server.most_at_once == 45


def test_a_pool_whose_requests_are_answered_is_asked_again():
    seen = []

    class Pool(httpx.AsyncBaseTransport):
        def __init__(self, name):
            self.name = name

        async def handle_async_request(self, request):
            seen.append(self.name)
            if request.url.path == "/broken":
                raise httpx.ConnectError("no")
            return httpx.Response(200, stream=httpx.ByteStream(b"yes"))

    async def asking():
        spread = SpreadTransport([Pool("a"), Pool("b")])
        async with httpx.AsyncClient(transport=spread, base_url="http://x") as client:
            await client.get("/")  # a, and read
            async with client.stream("GET", "/"):  # a is open
                with pytest.raises(httpx.ConnectError):
                    await client.get("/broken")  # b, and failed
                await client.get("/")  # b
            await client.get("/")  # a again

    asyncio.run(asking())
    assert seen == ["a", "a", "b", "b", "a"]


def test_a_forked_process_looks_up_names_by_threads_of_its_own():
    first = connections._get_lookup_threads()
    assert connections._get_lookup_threads() is first
    assert first.submit(lambda: 1).result(5) == 1
    pid = os.fork()
    if pid == 0:
        try:
            # Of the copied pool no thread lives here: it would never answer.
            assert connections._get_lookup_threads() is not first
            assert connections._get_lookup_threads().submit(lambda: 2).result(5) == 2
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_a_look_up_counts_among_the_seconds_to_connect(monkeypatch):
    released = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: released.wait(20))
    began = time.monotonic()
    try:
        with pytest.raises(httpcore.ConnectTimeout):
            asyncio.run(connections._look_up_addresses("slow.example", 80, 0.1))
        # Also `asyncio.run` itself does not wait for the thread.
        assert time.monotonic() - began < 5
    finally:
        released.set()
