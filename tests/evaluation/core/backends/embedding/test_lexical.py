import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from evaluation.core.backends import EmbedderError, get_embedder

WORKERS = ["The stack grows", "the stack the stack", "A queue, a QUEUE", "the stack grows"]
MODELS = ["stack of queues", "nothing known"]
SAME = {
    "tfidf-word": TfidfVectorizer(sublinear_tf=True),
    "tfidf-char": TfidfVectorizer(
        analyzer="char_wb", ngram_range=(2, 4), max_features=20000, sublinear_tf=True
    ),
    "bow": CountVectorizer(binary=True),
}


@pytest.mark.parametrize("spec", SAME)
def test_rows_are_those_of_scikit_learn_fitted_on_workers_only(spec):
    embedder = get_embedder(spec).fit(WORKERS)
    expected = SAME[spec].fit(WORKERS)
    np.testing.assert_array_equal(
        embedder.embed(MODELS).toarray(), expected.transform(MODELS).toarray()
    )


def test_a_bag_of_words_by_hand():
    # Vocabulary in order: grows, queue, stack, the.
    rows = get_embedder("bow").fit(WORKERS).embed(["the stack the", "Queue!", "none"]).toarray()
    np.testing.assert_array_equal(rows, [[0, 0, 1, 1], [0, 1, 0, 0], [0, 0, 0, 0]])


def test_repeats_count_as_documents():
    once = get_embedder("tfidf-word").fit(WORKERS[:3]).embed(WORKERS[:1]).toarray()
    twice = get_embedder("tfidf-word").fit(WORKERS).embed(WORKERS[:1]).toarray()
    assert not np.allclose(once, twice)


def test_the_revision_follows_the_fitted_texts():
    revisions = {get_embedder("bow").fit(t).describe().revision for t in (WORKERS, WORKERS[::-1])}
    assert len(revisions) == 2
    again = get_embedder("bow").fit(list(WORKERS)).describe().revision
    assert again in revisions


def test_texts_without_a_term_are_refused_with_advice():
    for name, texts in (("bow", ["a", "?!"]), ("tfidf-char", [])):
        with pytest.raises(EmbedderError) as raised:
            get_embedder(name).fit(texts)
        assert (raised.value.code, raised.value.values) == ("no_terms", {"texts": len(texts)})


def test_embedding_before_fitting_is_refused():
    with pytest.raises(EmbedderError) as raised:
        get_embedder("tfidf-word").embed(["text"])
    assert raised.value.code == "not_fitted"
