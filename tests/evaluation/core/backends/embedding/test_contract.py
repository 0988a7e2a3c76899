"""One contract, all embedders."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse

from evaluation.core.backends import Embedder
from tests.evaluation.core.backends.conftest import WORKER_TEXTS


def dense(vectors: object) -> np.ndarray:
    return vectors.toarray() if issparse(vectors) else np.asarray(vectors)


def tolerance(embedder: Embedder) -> float:
    # bfloat16 has 8 bits: sums in another order may differ in the last of them.
    return 2e-2 if embedder.describe().precision == "bfloat16" else 1e-5


def test_a_row_for_each_text_in_the_promised_type_and_all_finite(embedder):
    vectors = embedder.embed(WORKER_TEXTS)
    assert vectors.shape == (len(WORKER_TEXTS), embedder.describe().dimension)
    if issparse(vectors):
        assert isinstance(vectors, csr_matrix)
        assert vectors.dtype == np.float64
    else:
        assert isinstance(vectors, np.ndarray)
        assert vectors.dtype == np.float32
    assert np.isfinite(dense(vectors)).all()


def test_equal_texts_have_equal_vectors_and_others_do_not(embedder):
    vectors = dense(embedder.embed(WORKER_TEXTS))
    np.testing.assert_array_equal(vectors[2], vectors[4])
    assert not np.allclose(vectors[0], vectors[1])


def test_the_order_of_the_texts_is_the_order_of_the_rows(embedder):
    forward = dense(embedder.embed(WORKER_TEXTS))
    backward = dense(embedder.embed(WORKER_TEXTS[::-1]))
    np.testing.assert_allclose(forward, backward[::-1], atol=tolerance(embedder))


def test_what_else_is_in_the_batch_changes_nothing(embedder):
    together = dense(embedder.embed(WORKER_TEXTS))
    alone = np.concatenate([dense(embedder.embed([text])) for text in WORKER_TEXTS])
    np.testing.assert_allclose(together, alone, atol=tolerance(embedder))


def test_the_same_texts_give_the_same_numbers_again(embedder):
    np.testing.assert_array_equal(
        dense(embedder.embed(WORKER_TEXTS)), dense(embedder.embed(WORKER_TEXTS))
    )


def test_no_texts_give_no_rows(embedder):
    embedder.embed(WORKER_TEXTS[:1])
    vectors = embedder.embed([])
    assert vectors.shape == (0, embedder.describe().dimension)
    assert embedder.n_truncated_ == 0


def test_the_description_is_complete_once_texts_were_embedded(embedder):
    embedder.embed(WORKER_TEXTS[:1])
    info = embedder.describe()
    assert info.spec == embedder.name
    assert info.model
    assert info.revision not in {"", "unfitted"}
    assert info.precision in {"float32", "float64", "bfloat16"}
    assert info.dimension > 0
    assert info.binary is (info.spec == "bow")
    assert info.versions
    assert all(info.versions.values())
    assert info.as_dict()["versions"] == dict(info.versions)


def test_progress_counts_texts_and_ends_at_all_of_them(embedder):
    seen: list[tuple[int, int]] = []
    embedder.embed(WORKER_TEXTS * 3, progress=lambda done, total: seen.append((done, total)))
    total = 3 * len(WORKER_TEXTS)
    assert seen == sorted(seen)
    assert seen[-1] == (total, total)
    assert {of for _, of in seen} == {total}


@pytest.mark.parametrize("text", ["", " ", "\n", "ü" * 50, "word " * 1000, "数据结构", "😀"])
def test_odd_texts_are_embedded_too(embedder, text):
    vectors = embedder.embed(["a pointer", text])
    assert vectors.shape[0] == 2
    assert np.isfinite(dense(vectors)).all()
