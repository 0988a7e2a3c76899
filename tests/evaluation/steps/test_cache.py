"""Vectors kept in the database: computed once, and never taken for those of another embedder."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from evaluation.backends import EmbedderInfo
from evaluation.models import EmbedderVersion, Embedding
from evaluation.steps import cache
from evaluation.steps.checkpoints import OutOfTimeError, Turn

pytestmark = pytest.mark.django_db

INFO = EmbedderInfo("minilm", "small", "r1", "float32", 2, max_length=256)


class Counting:
    """Embeds a text as its length and a number of its own, and remembers what it was given."""

    n_truncated_ = 0

    def __init__(self, own, info=INFO):
        self.own, self.info, self.parts = own, info, []

    def describe(self):
        return self.info

    def embed(self, texts):
        self.parts.append(list(texts))
        return np.array([[len(text), self.own] for text in texts], dtype=np.float32)


def vectors(monkeypatch, embedder, texts, of=None):
    monkeypatch.setattr(cache, "loaded", lambda spec, precision: embedder)
    info = embedder.describe()
    of = of or Turn(0, nullcontext, lambda: None, float("inf"))
    return cache.cached_vectors(info.spec, info.precision, texts, of)[0].tolist()


@pytest.mark.parametrize(
    ("part", "other"),
    [("model", "large"), ("revision", "r2"), ("precision", "bfloat16"), ("max_length", 512)],
)
def test_vectors_of_another_model_revision_precision_or_length_are_others(monkeypatch, part, other):
    one, two = Counting(1), Counting(2, replace(INFO, **{part: other}))
    assert vectors(monkeypatch, one, ["ab"]) == [[2, 1]]
    assert vectors(monkeypatch, two, ["ab"]) == [[2, 2]]
    assert (one.parts, two.parts) == ([["ab"]], [["ab"]])
    # Each finds its own again.
    assert vectors(monkeypatch, one, ["ab"]) == [[2, 1]]
    assert vectors(monkeypatch, two, ["ab"]) == [[2, 2]]
    assert (len(one.parts), len(two.parts), Embedding.objects.count()) == (1, 1, 2)


def test_how_it_was_asked_for_and_what_it_reads_make_no_other_vectors(monkeypatch):
    one, same = Counting(1), Counting(2, replace(INFO, spec="sentence-transformers:small"))
    assert vectors(monkeypatch, one, ["ab"]) == vectors(monkeypatch, same, ["ab"])
    assert same.parts == []
    assert EmbedderVersion.objects.count() == 1


def test_equal_texts_are_embedded_once_and_stand_where_they_were(monkeypatch):
    embedder = Counting(1)
    found = vectors(monkeypatch, embedder, ["a", "abc", "a", "ab"])
    assert found == [[1, 1], [3, 1], [1, 1], [2, 1]]
    # The longest first, so that the time left is not underestimated.
    assert embedder.parts == [["abc", "ab", "a"]]
    assert vectors(monkeypatch, embedder, ["ab", "abcd", "a"]) == [[2, 1], [4, 1], [1, 1]]
    assert embedder.parts[1:] == [["abcd"]]


def test_what_a_turn_has_embedded_the_next_one_does_not_embed_again(monkeypatch):
    monkeypatch.setattr(cache, "PART", 2)
    monkeypatch.setattr(cache, "QUERIED", 2)
    embedder = Counting(1)
    # A clock that ticks with every part: the time is up after the first.
    short = Turn(0, nullcontext, lambda: None, 1, clock=lambda: len(embedder.parts))
    with pytest.raises(OutOfTimeError):
        vectors(monkeypatch, embedder, ["a", "ab", "abc", "abcd", "abcde"], short)
    done = [text for part in embedder.parts for text in part]
    assert done == ["abcde", "abcd"]
    found = vectors(monkeypatch, embedder, ["a", "ab", "abc", "abcd", "abcde"])
    assert found == [[n, 1] for n in (1, 2, 3, 4, 5)]
    assert [text for part in embedder.parts for text in part] == [*done, "abc", "ab", "a"]
