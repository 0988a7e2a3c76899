"""Chat with a model behind an OpenAI-compatible server: POST URL/chat/completions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx

from annotations.outgoing.connections import Vet
from evaluation.core.backends.chat.adaptation import AdaptedParameters
from evaluation.core.backends.chat.completion import (
    build_failed_reply,
    parse_allowance,
    parse_reply,
)
from evaluation.core.backends.chat.contract import ChatModel, ChatRequest, Reply
from evaluation.core.backends.errors import ChatError
from evaluation.core.backends.server import FaultError, OpenAIServer, Patience

PATH = "chat/completions"


class OpenAIChat(ChatModel):
    """Chat model behind an OpenAI-compatible server; see `OpenAIServer` for the API key.

    Of `patience` only `timeout` and `longest_wait` matter here: `reply` asks once. ChatError: the
    address is none.
    """

    kind = "openai"

    def __init__(
        self,
        model: str,
        url: str,
        *,
        what: str = "model",
        api_key_env: str = "OPENAI_API_KEY",
        patience: Patience | None = None,
        vet: Vet | None = None,
    ) -> None:
        self.server = OpenAIServer(
            what,
            f"openai:{model}@{url}",
            url,
            PATH,
            api_key_env=api_key_env,
            patience=patience or Patience(),
            error=ChatError,
            vet=vet,
        )
        self.model = self.name = model
        self.address = self.server.url
        self._client: httpx.AsyncClient | None = None
        self._adapted = AdaptedParameters()

    @property
    def adaptations(self) -> tuple[str, ...]:  # type: ignore[override]
        """Request parameters that this client changed because the server refused them."""
        return self._adapted.notes

    async def open(self, at_once: int) -> None:
        """Create the pool of connections to the server."""
        self._client = self.server.async_client(at_once)

    async def close(self) -> None:
        """Close all connections to the server."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def reply(self, request: ChatRequest) -> Reply:
        """Send one request to the server, between `open` and `close`.

        Where the server refuses one of our parameters, the request is sent once more without it,
        or with it under its other name, and further requests are sent so (`adaptations`).
        """
        assert self._client is not None
        while True:
            body = self.body(request)
            try:
                received = await self.server.attempt(self._client, body)
            except FaultError as fault:
                if self._adapted.learn(fault, body):
                    continue
                allowance = None if fault.headers is None else parse_allowance(fault.headers)
                return replace(build_failed_reply(fault), allowance=allowance)
            reply = parse_reply(received.payload, body)
            return replace(reply, allowance=parse_allowance(received.headers))

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """Return the request body as sent and stored: without the key, adapted to the server."""
        return self._adapted.adapt(super().body(request))
