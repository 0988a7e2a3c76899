import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import numpy as np
import pytest

from annotations.outgoing.waiting import parse_retry_after
from evaluation.core.backends import BackendError, EmbedderError
from evaluation.core.backends.embedding.remote import BATCH, FAULTS, RemoteEmbedder
from tests.evaluation.core.backends.conftest import embeddings, vector_of

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
    with pytest.raises(EmbedderError) as raised:
        client(fake_server).embed(TEXTS)
    assert (raised.value.code, raised.value.values["status"]) == ("rate_limited", 429)
    assert "3600" in raised.value.values["problem"]
    assert len(fake_server.requests) == 1


def test_retry_after_is_a_number_or_a_date():
    assert parse_retry_after(None) is None
    assert parse_retry_after("soon") is None
    assert parse_retry_after("nan") is None
    assert parse_retry_after("7") == 7
    assert parse_retry_after("-7") == 0
    date = datetime.now(UTC) + timedelta(seconds=100)
    assert 95 < parse_retry_after(format_datetime(date, usegmt=True)) <= 100


def test_500_forever_ends_after_the_attempts(fake_server):
    fake_server.always = answer(500, b"out of memory")
    with pytest.raises(EmbedderError) as raised:
        client(fake_server, attempts=3).embed(TEXTS)
    values = raised.value.values
    assert (raised.value.code, values["status"], values["attempts"]) == ("server_error", 500, 3)
    assert "(out of memory)" in values["problem"]
    assert len(fake_server.requests) == 3


def test_nobody_there_and_no_answer_in_time_end_after_the_attempts(fake_server, closed_port):
    nobody = RemoteEmbedder("m", f"http://127.0.0.1:{closed_port}", attempts=2, first_wait=0.001)
    with pytest.raises(EmbedderError) as raised:
        nobody.embed(TEXTS)
    assert (raised.value.code, raised.value.values["attempts"]) == ("connection", 2)

    def slow(server, request):
        import time

        time.sleep(0.3)
        return embeddings(server, request)

    fake_server.always = slow
    with pytest.raises(EmbedderError) as raised:
        client(fake_server, attempts=2, timeout=0.05).embed(TEXTS)
    assert (raised.value.code, raised.value.values["attempts"]) == ("timeout", 2)


@pytest.mark.parametrize(
    ("reply", "code", "holds"),
    [
        (answer(401, b"bad key"), "unauthorized", "MY_KEY"),
        (answer(404, b"no such model"), "not_found", "(no such model)"),
        (answer(451, b"too long"), "bad_request", "(too long)"),
        (answer(200, b"<html>"), "not_json", ""),
        (answer(200, b"\xff\xfe\xfa"), "wrong_charset", ""),
        (answer(200, b"[]"), "no_embeddings", ""),
        (answer(200, b'{"data": null}'), "no_embeddings", ""),
        (answer(200, b'{"data": [1]}'), "no_embeddings", ""),
        (data({"index": 0, "embedding": [1.0]}), "other_count", ""),
        (data(*[{"index": 0, "embedding": [1.0]}] * 3), "other_count", ""),
        (
            data(*[{"index": i, "embedding": [1.0] * (1 + i % 2)} for i in range(3)]),
            "unlike_embeddings",
            "",
        ),
        (data(*[{"index": i, "embedding": []} for i in range(3)]), "unlike_embeddings", ""),
        (data(*[{"index": i, "embedding": "AAAA"} for i in range(3)]), "unlike_embeddings", ""),
        (data(*[{"index": i, "embedding": [float("nan")]} for i in range(3)]), "not_finite", ""),
        (data(*[{"index": i, "embedding": [1e300]} for i in range(3)]), "not_finite", ""),
    ],
)
def test_what_is_no_answer_is_refused_at_once(fake_server, monkeypatch, reply, code, holds):
    monkeypatch.setenv("MY_KEY", KEY)
    fake_server.always = reply
    with pytest.raises(EmbedderError) as raised:
        client(fake_server, api_key_env="MY_KEY").embed(TEXTS)
    assert raised.value.code == code
    assert holds in str(raised.value)
    assert KEY not in str(raised.value)
    assert len(fake_server.requests) == 1


@pytest.mark.parametrize("code", FAULTS)
def test_each_fault_is_a_problem_and_a_remedy(code):
    values = {"sent": 3, "came": 1, "shown": "a text", "said": "the server answered 400"}
    problem, remedy = (part.format_map(values) for part in FAULTS[code])
    assert problem
    assert remedy
    assert "{" not in problem + remedy


def test_batches_of_unlike_dimension_are_refused(fake_server):
    remote = client(fake_server)
    remote.embed(TEXTS)
    fake_server.always = data({"index": 0, "embedding": [1.0, 2.0]})
    with pytest.raises(EmbedderError) as raised:
        remote.embed(["one"])
    assert raised.value.code == "unlike_embeddings"


def test_a_redirect_is_not_followed(fake_server):
    fake_server.always = answer(307, Location="http://127.0.0.1:1/elsewhere")
    with pytest.raises(EmbedderError) as raised:
        client(fake_server).embed(TEXTS)
    assert (raised.value.code, raised.value.values["status"]) == ("redirect", 307)
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
    with pytest.raises(EmbedderError) as raised:
        client(fake_server).embed(TEXTS)
    assert raised.value.code == "key"
    assert "OPENAI_API_KEY" in str(raised.value)
    assert "sk-" not in str(raised.value)


def test_a_text_that_no_request_can_hold_is_refused(fake_server):
    with pytest.raises(BackendError) as raised:
        client(fake_server).embed(["whole", "a \ud800"])
    assert (raised.value.code, raised.value.values) == ("half_character", {"text": 2, "place": 3})
    assert fake_server.requests == []


def capped(most, status=400):
    """Answer as a server that takes so many texts in a request."""

    def reply(server, request):
        if len(request["input"]) > most:
            return status, {}, b'{"error": {"message": "too many"}}'
        return embeddings(server, request)

    return reply


@pytest.mark.parametrize(("most", "status"), [(32, 422), (25, 413), (10, 400), (1, 400)])
def test_a_server_that_takes_few_texts_gets_fewer(fake_server, most, status):
    fake_server.always = capped(most, status)
    texts = [f"text {i}" for i in range(100)]
    vectors = client(fake_server).embed(texts)
    np.testing.assert_allclose(vectors, [vector_of(text) for text in texts], rtol=1e-6)
    sizes = [len(body["input"]) for _, _, body in fake_server.requests]
    taken = [size for size in sizes if size <= most]
    # Halves until they are taken, and no more than these afterwards.
    assert sizes[: len(sizes) - len(taken)] == sorted(set(sizes) - set(taken), reverse=True)
    assert sum(taken) == 100


def test_a_text_that_is_refused_by_itself_is_named(fake_server):
    def picky(server, request):
        if "poison" in request["input"]:
            return 400, {}, b'{"error": {"message": "not this one"}}'
        return embeddings(server, request)

    fake_server.always = picky
    with pytest.raises(EmbedderError) as raised:
        client(fake_server).embed(["one", "two", "poison", "three"])
    assert raised.value.code == "text_refused"
    assert (raised.value.values["text"], raised.value.values["status"]) == ("poison", 400)
