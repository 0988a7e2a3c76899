"""Run the packaged chat model in its own process, which lives only while it is used."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from evaluation.core.backends.chat import smollm2
from evaluation.core.backends.chat.contract import ChatModel, ChatRequest, Reply
from evaluation.core.backends.chat.openai import OpenAIChat
from evaluation.core.backends.errors import ChatError
from evaluation.core.backends.server import RetryRules

ROOT = Path(__file__).resolve().parents[3]
# A key of the environment has no business with a process of our own.
NO_KEY = "CROWDGRADE_LOCAL_MODEL_HAS_NO_KEY"
# A reused prefix changes the order of the sums, and with it, rarely, a word.
SAME_TWICE = {"cache_prompt": False}


class LocalChat(ChatModel):
    """Chat model SmolLM2-135M-Instruct, run in a process of its own between `open` and `close`.

    Raises ChatError for a missing package or unknown file.
    """

    kind = "local"
    address = ""
    at_once = 1

    def __init__(self, patience: RetryRules | None = None) -> None:
        path = smollm2.find_model_file()
        smollm2.verify_model_file(path)
        smollm2.load_library()
        self.model = "smollm2"
        self.name = smollm2.MODEL
        self._patience = patience or RetryRules()
        self._process: asyncio.subprocess.Process | None = None
        self._chat: OpenAIChat | None = None

    async def open(self, at_once: int) -> None:
        """Start the model's process. Raises ChatError if it does not start."""
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", smollm2.__name__),
            cwd=ROOT,
            # The process ends with its standard input: it does not outlive a parent that was
            # killed.
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            # Ctrl-C is for the command, which then ends the process.
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            async with asyncio.timeout(smollm2.SECONDS_TO_START):
                started = json.loads(await process.stdout.readline())
        except (TimeoutError, ValueError):
            started = {"error": "the process of the packaged model did not start"}
        if "error" in started:
            await self.close()
            raise ChatError(str(started["error"]))
        self._chat = OpenAIChat(
            smollm2.MODEL, f"{started['address']}/v1", api_key_env=NO_KEY, patience=self._patience
        )
        await self._chat.open(at_once)

    async def close(self) -> None:
        """Kill the model's process."""
        if self._chat is not None:
            await self._chat.close()
            self._chat = None
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        self._process = None

    async def reply(self, request: ChatRequest) -> Reply:
        """Send one request to the model's process, between `open` and `close`."""
        assert self._chat is not None
        parameters = {**SAME_TWICE, **request.parameters}
        return await self._chat.reply(
            ChatRequest(request.id, request.messages, parameters, request.sample)
        )
