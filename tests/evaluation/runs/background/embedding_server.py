"""An embedding server on loopback that counts what it is asked, so that work done twice shows."""

import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

DIMENSION = 16


def vector_of(text: str) -> list[float]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(DIMENSION).round(4).tolist()


class EmbeddingServer:
    """Serves /v1/embeddings; `asked` holds every text, as often as it was asked."""

    def __init__(self, seconds_per_text: float = 0.0) -> None:
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                texts = body["input"]
                outer.asked.extend(texts)
                time.sleep(seconds_per_text * len(texts))
                data = [{"index": i, "embedding": vector_of(text)} for i, text in enumerate(texts)]
                answer = json.dumps({"data": data, "model": body["model"]}).encode()
                try:
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the worker was killed

            def log_message(self, *args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.spec = f"openai:counting@http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
