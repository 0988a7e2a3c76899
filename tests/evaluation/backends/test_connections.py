"""The vetting of addresses, at each connection."""

import asyncio

from evaluation.backends.chat.contract import ChatRequest
from evaluation.backends.chat.registry import get_chat
from tests.evaluation.backends.chat.fake import fake_chat

REQUEST = ChatRequest("q", ({"role": "user", "content": "Why?"},))


def ask(url, vet, times=1):
    model = get_chat(f"openai:m@{url}", vet=vet)

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
