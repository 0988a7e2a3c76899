import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import numpy as np
import pytest

from annotations.outgoing.waiting import retry_after
from evaluation.backends import BackendError, EmbedderError
from evaluation.backends.embedding.remote import BATCH, RemoteEmbedder
from tests.evaluation.backends.conftest import embeddings, vector_of

TEXTS = ["one", "two", "three"]
KEY = "sk-very-secret-0123"


def client(server, **options):
    options = {"first_wait": 0.001, "timeout": 5.0, **options}
    return RemoteEmbedder("fake", server.url, **options)


def answer(status, content=b"", **headers):
    headers = {key.replace("_", "-"): value for key, value in headers.items()}
    return lambda server, request: (status, headers, content)


def data(*items):
    return answer(200, json.dumps({"data": list(items)}).encode())


def test_batches_keep_the_order_and_repeats_are_sent_once(fake_server):
    texts = [f"text {i % 100}" for i in range(150)]
    vectors = client(fake_server).embed(texts)
    np.testing.assert_allclose(vectors, [vector_of(text) for text in texts], rtol=1e-6)
    assert [len(body["input"]) for _, _, body in fake_server.requests] == [BATCH, 100 - BATCH]
    path, _, body = fake_server.requests[0]
    assert path == "/v1/embeddings"
    assert body["model"] == "fake"


def test_embeddings_in_another_order_are_sorted_by_index(fake_server):
    def shuffled(server, request):
        status, headers, content = embeddings(server, request)
        return status, headers, json.dumps({"data": json.loads(content)["data"][::-1]}).encode()

    fake_server.always = shuffled
    vectors = client(fake_server).embed(TEXTS)
    np.testing.assert_allclose(vectors, [vector_of(text) for text in TEXTS], rtol=1e-6)


def test_429_and_500_are_tried_again(fake_server):
    fake_server.replies = [answer(429, Retry_After="0"), answer(503), answer(500)]
    assert client(fake_server).embed(TEXTS).shape == (3, 8)
    assert len(fake_server.requests) == 4


def test_retry_after_is_waited_for(fake_server):
    fake_server.replies = [answer(429, Retry_After="0.3")]
    start = datetime.now(UTC)
    client(fake_server).embed(TEXTS)
    assert datetime.now(UTC) - start >= timedelta(seconds=0.3)


def test_a_retry_after_that_is_too_long_ends_at_once(fake_server):
    fake_server.always = answer(429, Retry_After="3600")
    with pytest.raises(EmbedderError, match="asks to wait 3600 s"):
        client(fake_server).embed(TEXTS)
    assert len(fake_server.requests) == 1


def test_retry_after_is_a_number_or_a_date():
    assert retry_after(None) is None
    assert retry_after("soon") is None
    assert retry_after("nan") is None
    assert retry_after("7") == 7
    assert retry_after("-7") == 0
    date = datetime.now(UTC) + timedelta(seconds=100)
    assert 95 < retry_after(format_datetime(date, usegmt=True)) <= 100


def test_500_forever_ends_after_the_attempts(fake_server):
    fake_server.always = answer(500, b"out of memory")
    with pytest.raises(EmbedderError, match=r"500 \(out of memory\), 3 times in a row"):
        client(fake_server, attempts=3).embed(TEXTS)
    assert len(fake_server.requests) == 3


def test_nobody_there_and_no_answer_in_time_end_after_the_attempts(fake_server, closed_port):
    with pytest.raises(EmbedderError, match=r"connection failed.*, 2 times in a row"):
        RemoteEmbedder("m", f"http://127.0.0.1:{closed_port}", attempts=2, first_wait=0.001).embed(
            TEXTS
        )

    def slow(server, request):
        import time

        time.sleep(0.3)
        return embeddings(server, request)

    fake_server.always = slow
    with pytest.raises(EmbedderError, match=r"no answer within 0\.05 s, 2 times in a row"):
        client(fake_server, attempts=2, timeout=0.05).embed(TEXTS)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (answer(401, b"bad key"), "401.*environment variable MY_KEY"),
        (answer(404, b"no such model"), r"404 \(no such model\).*ends before /embeddings"),
        (answer(400, b"too long"), r"400 \(too long\)"),
        (answer(200, b"<html>"), "not JSON"),
        (answer(200, b"\xff\xfe\xfa"), "not JSON"),
        (answer(200, b"[]"), "holds no list of embeddings"),
        (answer(200, b'{"data": null}'), "holds no list of embeddings"),
        (answer(200, b'{"data": [1]}'), "holds no list of embeddings"),
        (data({"index": 0, "embedding": [1.0]}), "3 texts were sent and 1 embeddings came back"),
        (data(*[{"index": 0, "embedding": [1.0]}] * 3), "index is not 0, 1, 2"),
        (
            data(*[{"index": i, "embedding": [1.0] * (1 + i % 2)} for i in range(3)]),
            "of one length",
        ),
        (data(*[{"index": i, "embedding": []} for i in range(3)]), "of one length"),
        (data(*[{"index": i, "embedding": "AAAA"} for i in range(3)]), "of one length"),
        (data(*[{"index": i, "embedding": [float("nan")]} for i in range(3)]), "not finite"),
        (data(*[{"index": i, "embedding": [1e300]} for i in range(3)]), "not finite"),
    ],
)
def test_what_is_no_answer_is_refused_at_once(fake_server, monkeypatch, reply, words):
    monkeypatch.setenv("MY_KEY", KEY)
    fake_server.always = reply
    with pytest.raises(EmbedderError, match=words) as raised:
        client(fake_server, api_key_env="MY_KEY").embed(TEXTS)
    assert KEY not in str(raised.value)
    assert len(fake_server.requests) == 1


def test_batches_of_unlike_dimension_are_refused(fake_server):
    remote = client(fake_server)
    remote.embed(TEXTS)
    fake_server.always = data({"index": 0, "embedding": [1.0, 2.0]})
    with pytest.raises(EmbedderError, match="of one length"):
        remote.embed(["one"])


def test_a_redirect_is_not_followed(fake_server):
    fake_server.always = answer(307, Location="http://127.0.0.1:1/elsewhere")
    with pytest.raises(EmbedderError, match="redirect is not followed"):
        client(fake_server).embed(TEXTS)
    assert len(fake_server.requests) == 1


def test_the_key_comes_from_the_named_variable_and_is_never_shown(fake_server, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    remote = client(fake_server, api_key_env="MY_KEY")
    remote.embed(TEXTS)
    assert fake_server.requests[0][1]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(vars(remote)) + repr(remote.describe())
    fake_server.always = answer(401, f"the key {KEY} is wrong".encode())
    with pytest.raises(EmbedderError, match=r"the key \[key\] is wrong"):
        remote.embed(TEXTS)


def test_no_key_no_header(fake_server, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    client(fake_server).embed(TEXTS)
    assert "Authorization" not in fake_server.requests[0][1]


@pytest.mark.parametrize("key", ["sk-schlüssel", "sk-two\nlines"])
def test_a_key_that_no_header_can_hold_is_refused_unseen(fake_server, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(EmbedderError, match="environment variable OPENAI_API_KEY") as raised:
        client(fake_server).embed(TEXTS)
    assert "sk-" not in str(raised.value)


def test_a_text_that_no_request_can_hold_is_refused(fake_server):
    with pytest.raises(BackendError, match=r"text number 2 .*half a character at place 3"):
        client(fake_server).embed(["whole", "a \ud800"])
    assert fake_server.requests == []
