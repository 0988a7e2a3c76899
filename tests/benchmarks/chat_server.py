"""A chat server on loopback for measurements: `python -m ... LATENCY FAULTS`, seconds and a share.

It answers after the latency, and turns a share of the requests away by 429 or 500 in turn, the
same ones each time. It is written on bare asyncio, so that what asks it is what is measured.
"""

from __future__ import annotations

import asyncio
import json
import sys

REPLY = json.dumps(
    {
        "choices": [
            {
                "message": {"role": "assistant", "content": "The pull of the Moon causes them."},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 40, "completion_tokens": 8},
    }
).encode()
FAULT = b'{"error": {"message": "busy"}}'


def _response(status: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return f"{head}\r\n\r\n".encode() + body


RESPONSES = (
    _response("200 OK", REPLY),
    _response("429 Too Many Requests", FAULT),
    _response("500 Internal Server Error", FAULT),
)


class ChatServer:
    """Answers every POST; `n` counts requests."""

    def __init__(self, latency: float, faults: float) -> None:
        self.latency = latency
        self.every = round(1 / faults) if faults else 0
        self.n = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                _, _, rest = head.lower().partition(b"content-length:")
                await reader.readexactly(int(rest.split(b"\r\n", 1)[0]))
                self.n += 1
                fault = self.every and self.n % self.every == 0
                which = 1 + self.n // self.every % 2 if fault else 0
                await asyncio.sleep(self.latency)
                writer.write(RESPONSES[which])
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has left
        finally:
            writer.close()


async def _main(latency: float, faults: float) -> None:
    server = await asyncio.start_server(
        ChatServer(latency, faults).serve, "127.0.0.1", 0, backlog=512
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    # Ends with whoever started it.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_main(float(sys.argv[1]), float(sys.argv[2])))
