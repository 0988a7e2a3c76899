"""Vectors kept in the database: computed once, and never taken for those of another embedder."""

import hashlib
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends import EmbedderInfo
from evaluation.models import EmbedderVersion, Embedding
from evaluation.runs.steps import cache
from evaluation.runs.steps.checkpoints import OutOfTimeError, Turn

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
    monkeypatch.setattr(cache, "load_embedder", lambda spec, precision: embedder)
    info = embedder.describe()
    of = of or Turn(0, nullcontext, lambda: None, float("inf"))
    return cache.load_or_embed_vectors(info.spec, info.precision, texts, of)[0].tolist()


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


class Told:
    """A turn that goes on for ever, and remembers what it was told."""

    run_id = 0

    def __init__(self):
        self.reports, self.parts, self.fences = [], 0, 0

    def report_progress(self, *what):
        self.reports.append(what)

    def check_interruption(self):
        self.parts += 1

    def require_lane(self, lane):
        """It goes on at once in any lane."""

    def open_fenced_transaction(self):
        self.fences += 1
        return nullcontext()


def test_progress_counts_distinct_texts_from_those_that_are_there_already(monkeypatch):
    monkeypatch.setattr(cache, "PART", 2)
    vectors(monkeypatch, Counting(1), ["a", "ab"])
    turn = Told()
    vectors(monkeypatch, Counting(1), ["a", "ab", "abc", "abc", "abcd", "abcde"], turn)
    # Two of five are there; the other three come as two and one, each in a transaction of its own.
    assert turn.reports == [("embedding", 2, 5), ("embedding", 4, 5), ("embedding", 5, 5)]
    assert (turn.parts, turn.fences) == (2, 2)
    turn = Told()
    vectors(monkeypatch, Counting(1), ["ab", "a"], turn)
    assert turn.reports == [("embedding", 2, 2)]
    assert (turn.parts, turn.fences) == (0, 0)


def test_how_vectors_are_made_is_stored_with_them(monkeypatch):
    vectors(monkeypatch, Counting(7, replace(INFO, max_length=None)), ["ab"])
    version = EmbedderVersion.objects.get()
    assert (version.model, version.revision, version.precision) == ("small", "r1", "float32")
    assert (version.max_length, version.prefix, version.dimension) == (0, "", 2)
    kept = Embedding.objects.get()
    assert (kept.embedder, kept.dimension) == (version, 2)
    assert bytes(kept.text_hash) == hashlib.sha256(b"ab").digest()
    assert bytes(kept.vector) == np.array([2, 7], dtype="<f4").tobytes()


def test_a_text_that_another_run_embedded_in_the_meantime_is_taken_as_it_is(monkeypatch):
    vectors(monkeypatch, Counting(1), ["a"])
    version = EmbedderVersion.objects.get()

    class Racing(Counting):
        def embed(self, texts):
            made = super().embed(texts)
            Embedding.objects.create(
                embedder=version,
                text_hash=hashlib.sha256(b"ab").digest(),
                dimension=2,
                vector=np.array([2, 9], dtype="<f4").tobytes(),
            )
            return made

    assert vectors(monkeypatch, Racing(1), ["ab", "abc"]) == [[2, 9], [3, 1]]


def test_vectors_of_double_precision_are_kept_in_single(monkeypatch):
    class Double(Counting):
        def embed(self, texts):
            return super().embed(texts).astype(np.float64) / 3

    found = vectors(monkeypatch, Double(1), ["ab"])
    assert found == [[np.float32(2 / 3), np.float32(1 / 3)]]


def test_an_embedder_that_gives_too_few_vectors_is_an_error(monkeypatch):
    class Short(Counting):
        def embed(self, texts):
            return super().embed(texts)[:-1]

    with pytest.raises(ValueError, match="zip"):
        vectors(monkeypatch, Short(1), ["ab", "abc"])


@pytest.mark.parametrize(
    ("spec", "kept"),
    [
        ("minilm", True),
        ("sentence-transformers:some/model", True),
        ("openai:model@http://127.0.0.1:1/v1", True),
        ("tfidf-word", False),
        ("tfidf-char", False),
        ("bow", False),
    ],
)
def test_vectors_are_kept_where_they_depend_on_nothing_but_the_text(spec, kept):
    assert cache.is_cached_embedder(spec) is kept


def test_an_embedder_is_loaded_once_for_each_precision(monkeypatch):
    asked = []
    monkeypatch.setattr(cache, "get_embedder", lambda *of: asked.append(of) or object())
    cache.load_embedder.cache_clear()
    one = cache.load_embedder("minilm", "float32")
    assert cache.load_embedder("minilm", "float32") is one
    assert cache.load_embedder("minilm", "bfloat16") is not one
    assert asked == [("minilm", "float32"), ("minilm", "bfloat16")]
    cache.load_embedder.cache_clear()


class Cutting(Counting):
    """Cuts two texts, and knows English only."""

    n_truncated_ = 2


def test_answers_of_workers_and_of_models_are_embedded_together_with_their_warnings(monkeypatch):
    info = replace(INFO, languages="en")
    embedder = Cutting(1, info)
    monkeypatch.setattr(cache, "load_embedder", lambda spec, precision: embedder)
    turn = Told()
    asked = AqerParameters(embedder="minilm")
    foreign = ["это ответ на вопрос", "а это ответ модели"]
    found = cache.embed_answers(asked, turn, ["ab", foreign[0]], [foreign[1], "ab", "a"])
    assert found.answers.tolist() == [[2, 1], [len(foreign[0]), 1]]
    assert found.models.tolist() == [[len(foreign[1]), 1], [2, 1], [1, 1]]
    assert found.info is info
    assert [(warning.code, warning.values.get("answers")) for warning in found.warnings] == [
        ("truncated", 2), ("english_only", None),
    ]  # fmt: skip
    assert found.warnings[0].values == {"answers": 2, "tokens": 256, "model": "small"}
    # Grading comes next.
    assert turn.reports == [("embedding", 0, 4), ("embedding", 4, 4), ("grading", 0, 1)]


def test_without_models_there_are_no_vectors_of_models(monkeypatch):
    monkeypatch.setattr(cache, "load_embedder", lambda spec, precision: Counting(1))
    found = cache.embed_answers(AqerParameters(embedder="minilm"), Told(), ["ab"], None)
    assert (found.answers.tolist(), found.models, found.warnings) == ([[2, 1]], None, [])


def test_vectors_that_depend_on_the_other_texts_are_made_anew(monkeypatch):
    turn = Told()
    asked = AqerParameters(embedder="bow")
    found = cache.embed_answers(asked, turn, ["red green", "red"], ["green", "blue"])
    # The words of the workers' answers, by the alphabet: green, red.
    assert found.answers.toarray().tolist() == [[1, 1], [0, 1]]
    assert found.models.toarray().tolist() == [[1, 0], [0, 0]]
    assert turn.reports == [("embedding", 2, 4), ("embedding", 4, 4), ("grading", 0, 1)]
    assert not Embedding.objects.exists()


def test_an_embedder_of_a_turn_stores_what_it_embeds_and_counts_what_was_cut(monkeypatch):
    embedder = Cutting(1, replace(INFO, dimension=None))
    monkeypatch.setattr(cache, "load_embedder", lambda spec, precision: embedder)
    stored = cache.open_stored_embedder(Told(), "minilm", "float32")
    assert stored.describe().dimension is None
    assert stored.fit(["ab"]).embed(["ab", "abc", "ab"]).tolist() == [[2, 1], [3, 1], [2, 1]]
    assert (stored.n_truncated_, stored.describe().dimension) == (2, 2)
    assert Embedding.objects.count() == 2
    # Found stored, it is not known what was cut.
    again = cache.open_stored_embedder(Told(), "minilm", "float32")
    assert (again.embed(["abc"]).tolist(), again.n_truncated_) == ([[3, 1]], 0)
    assert embedder.parts == [["abc", "ab"]]
