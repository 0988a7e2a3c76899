"""A TCP proxy that passes, delays, cuts or swallows what two programs send to each other."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from enum import Enum


class Mode(Enum):
    """What the proxy does with its connections."""

    PASS = "pass"
    DELAY = "delay"
    CUT = "cut"
    SWALLOW = "swallow"


DELAY = 0.2
"""Seconds that each piece waits in mode `DELAY`."""
PIECE = 65_536


class Proxy:
    """Proxy in a thread of its own, from a free port of loopback to another port.

    `set_mode` changes what happens to the open connections too. In mode `CUT` they are closed and
    new ones refused; in mode `SWALLOW` they stay open and nothing arrives, as behind a broken
    router.
    """

    def __init__(self, target: int) -> None:
        self.target, self.mode, self.port = target, Mode.PASS, 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._passing = asyncio.Event()
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), daemon=True)
        self._thread.start()
        started.wait()

    def set_mode(self, mode: Mode) -> None:
        """Change the mode, from any thread."""
        asyncio.run_coroutine_threadsafe(self._change(mode), self._loop).result(10)

    def close(self) -> None:
        """Close all connections and end the thread."""
        self.set_mode(Mode.CUT)
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        serve = asyncio.start_server(self._connect, "127.0.0.1", 0)
        self._server = self._loop.run_until_complete(serve)
        self.port = self._server.sockets[0].getsockname()[1]
        self._passing.set()
        started.set()
        self._loop.run_forever()

    async def _end(self) -> None:
        """Stop listening, and let the tasks of open connections end."""
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _change(self, mode: Mode) -> None:
        self.mode = mode
        if mode is Mode.SWALLOW:
            self._passing.clear()
        else:
            self._passing.set()
        if mode is Mode.CUT:
            for writer in list(self._writers):
                writer.transport.abort()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.mode is Mode.CUT:
            writer.transport.abort()
            return
        await self._passing.wait()
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, back}
        try:
            await asyncio.gather(self._copy(reader, back), self._copy(there, writer))
        finally:
            for one in (writer, back):
                self._writers.discard(one)
                one.transport.abort()

    async def _copy(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while piece := await source.read(PIECE):
                await self._passing.wait()
                if self.mode is Mode.DELAY:
                    await asyncio.sleep(DELAY)
                target.write(piece)
                await target.drain()
        target.close()
