"""Embedders of every kind for one contract test; the remote ones talk to a server on loopback."""

import hashlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from evaluation.core.backends import Embedder, get_embedder
from evaluation.core.backends.embedding.sentences import find_minilm_folder

WORKER_TEXTS = [
    "A prototype simulates a part of the program.",
    "To simulate the behaviour of the final product",
    "a pointer holds the address of a variable",
    "I don't know",
    "a pointer holds the address of a variable",
    "The stack is last in, first out; a queue is first in, first out, and that is the difference.",
    "42",
]

Reply = Callable[["FakeServer", dict], tuple[int, dict[str, str], bytes]]


def vector_of(text: str, size: int = 8) -> list[float]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=size).tolist()


def embeddings(server: "FakeServer", request: dict) -> tuple[int, dict[str, str], bytes]:
    data = [{"index": i, "embedding": vector_of(t)} for i, t in enumerate(request["input"])]
    return 200, {}, json.dumps({"data": data}).encode()


class FakeServer:
    """Answers POST /v1/embeddings by the functions in `replies`, in turn, then by `embeddings`."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.always: Reply = embeddings
        self.requests: list[tuple[str, dict[str, str], dict]] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                fake.requests.append((self.path, dict(self.headers), body))
                reply = fake.replies.pop(0) if fake.replies else fake.always
                status, headers, content = reply(fake, body)
                self.send_response(status)
                for key, value in headers.items():
                    self.send_header(key, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def fake_server() -> Iterator[FakeServer]:
    server = FakeServer()
    yield server
    server.close()


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture(scope="session")
def tiny_words() -> list[str]:
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    return [*special, *letters, *("##" + letter for letter in letters), "the", "a", "pointer"]


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory, tiny_words: list[str]) -> Path:
    """A sentence-transformers folder: one BERT layer at random, mean pooling, 16 tokens."""
    folder = tmp_path_factory.mktemp("tiny")
    bert = folder / "bert"
    save_bert(bert, tiny_words, "BertModel")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    transformer = Transformer(str(bert))
    transformer.max_seq_length = 16
    pooling = Pooling(32, pooling_mode="mean")
    model = SentenceTransformer(modules=[transformer, pooling], device="cpu")
    model.save(str(folder / "model"), create_model_card=False)
    return folder / "model"


def save_bert(folder: Path, words: list[str], kind: str, **options: object) -> None:
    import torch
    import transformers

    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        **options,
    )
    getattr(transformers, kind)(config).save_pretrained(folder)
    vocabulary = {word: place for place, word in enumerate(words)}
    transformers.BertTokenizerFast(vocab=vocabulary, model_max_length=64).save_pretrained(folder)


LOCAL = ("tfidf-word", "tfidf-char", "bow")
KINDS = [
    *LOCAL,
    "openai",
    "tiny",
    "tiny-bfloat16",
    pytest.param("minilm", marks=pytest.mark.model),
]


@pytest.fixture(scope="session")
def minilm() -> Embedder:
    try:
        find_minilm_folder()
    except Exception as error:
        pytest.skip(str(error))
    return get_embedder("minilm")


@pytest.fixture(params=KINDS)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    """Every kind of embedder, fitted on WORKER_TEXTS where it learns."""
    kind = request.param
    if kind == "minilm":
        found = request.getfixturevalue("minilm")
    elif kind == "openai":
        found = get_embedder(f"openai:fake@{request.getfixturevalue('fake_server').url}")
    elif kind.startswith("tiny"):
        folder = request.getfixturevalue("tiny_model")
        precision = "bfloat16" if kind.endswith("bfloat16") else "float32"
        found = get_embedder(f"sentence-transformers:{folder}", precision)
    else:
        found = get_embedder(kind)
    return found.fit(WORKER_TEXTS)
