"""A chat model behind any server that speaks the OpenAI form: POST URL/chat/completions."""

from __future__ import annotations

from dataclasses import replace

import httpx

from annotations.outgoing.connections import Vet
from evaluation.backends.chat.completion import allowance_of, reply_of, reply_without
from evaluation.backends.chat.contract import ChatModel, ChatRequest, Reply
from evaluation.backends.errors import ChatError
from evaluation.backends.server import FaultError, OpenAIServer, Patience

PATH = "chat/completions"


class OpenAIChat(ChatModel):
    """A model at an OpenAI-compatible address; for the key see `OpenAIServer`.

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

    async def open(self, at_once: int) -> None:
        """Make the pool of connections."""
        self._client = self.server.async_client(at_once)

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def reply(self, request: ChatRequest) -> Reply:
        """Ask once, inside `open` and `close`."""
        assert self._client is not None
        try:
            received = await self.server.attempt(self._client, self.body(request))
        except FaultError as fault:
            told = None if fault.headers is None else allowance_of(fault.headers)
            return replace(reply_without(fault), allowance=told)
        return replace(reply_of(received.payload), allowance=allowance_of(received.headers))
