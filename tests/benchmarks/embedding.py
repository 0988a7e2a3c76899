"""Case: our MiniLM against a bare SentenceTransformer, on the answers of Mohler et al."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import InputError
from evaluation.consensus import AQER
from evaluation.core.backends import BackendError, Embedder, get_embedder
from evaluation.core.backends.embedding.sentences import find_minilm_folder, has_processor_bfloat16
from evaluation.evidence.data_sets import GradedAnswers, load_mohler
from evaluation.evidence.studies.worker_grading import SETTINGS, correlate_with_truth
from evaluation.evidence.tables import FIRST_SEED
from tests.benchmarks.results import (
    Claim,
    Figure,
    Findings,
    SkippedError,
    figure,
    not_applicable,
    timed,
)
from tests.benchmarks.timing import Contestant, take_turns

FASTER = {
    "float32": Claim("at least", 1.1, "times"),
    "bfloat16": Claim("at least", 2, "times"),
}
MEAN = Claim("at least", 0.9999)
LEAST = Claim("at least", 0.999)
SAME_R = Claim("at most", 0.002)
SEEDS = range(FIRST_SEED, FIRST_SEED + 5)
SETTING = "10x2"
# Texts that warm a model up: all of them would take a minute on a busy machine.
WARM_UP = 128

BARE = "SentenceTransformer.encode"
OWN = "minilm"
NO_BFLOAT16 = "no bfloat16 in this processor"

Floats = NDArray[np.float32]


def against_bare_encode(data: Path) -> Findings:
    """Compare speed, vectors and the grades that follow from them; skipped without the data."""
    try:
        corpus = load_mohler(data)
        bare, embedders = _bare(), {p: get_embedder(OWN, p) for p in ("float32", "bfloat16")}
    except (InputError, BackendError) as error:
        raise SkippedError(str(error)) from error
    native = has_processor_bfloat16()
    timed_here = [p for p in embedders if p == "float32" or native]
    vectors: dict[str, Floats] = {}

    def contestant(name: str, run: Callable[[list[str]], Floats]) -> Contestant:
        def keep() -> None:
            vectors[name] = run(corpus.texts)

        return Contestant(name, keep, warm_up=False)

    for embed in (bare, *(_run(embedder) for embedder in embedders.values())):
        embed(corpus.texts[:WARM_UP])
    timings = take_turns(
        [
            contestant(BARE, bare),
            *(contestant(_name(p), _run(embedders[p])) for p in timed_here),
        ]
    )
    rows: list[Figure] = []
    for precision, embedder in embedders.items():
        name = _name(precision)
        if precision in timed_here:
            rows.append(timed(precision, name, timings[name]))
            rows.append(
                timed(precision, BARE, timings[BARE], own=timings[name], claim=FASTER[precision])
            )
        else:
            vectors[name] = _run(embedder)(corpus.texts)
            rows.append(not_applicable(precision, BARE, FASTER[precision], NO_BFLOAT16))
        rows += _likeness(precision, vectors[BARE], vectors[name], corpus)
    distinct = len(set(corpus.texts))
    return Findings(
        rows,
        [
            f"{len(corpus.texts):,} answers, {distinct:,} of them distinct: minilm embeds equal "
            "texts once, encode every one. encode has its defaults: float32, batches of 32",
            f"r: mean Pearson correlation of raw scores with expert grades over {len(SEEDS)} "
            f"simulated crowds ({SETTING})",
        ],
    )


def _likeness(precision: str, bare: Floats, own: Floats, corpus: GradedAnswers) -> list[Figure]:
    cosines = np.einsum("nd,nd->n", bare, own, dtype=np.float64) / (
        np.linalg.norm(bare.astype(np.float64), axis=1)
        * np.linalg.norm(own.astype(np.float64), axis=1)
    )
    r_bare, r_own = _r(bare, corpus), _r(own, corpus)
    return [
        figure(precision, "mean cosine to encode's vectors", cosines.mean(), "cosine", MEAN),
        figure(precision, "least cosine to encode's vectors", cosines.min(), "cosine", LEAST),
        figure(precision, "AQER r from encode's vectors", r_bare, "r"),
        figure(precision, "AQER r from minilm's vectors", r_own, "r"),
        figure(precision, "difference of r", abs(r_own - r_bare), "r", SAME_R),
    ]


def _r(vectors: Floats, corpus: GradedAnswers) -> float:
    found = correlate_with_truth(AQER(n_draws=0), vectors, corpus, SETTINGS[SETTING], SEEDS)
    return math.fsum(found.pearson) / len(found.pearson)


def _bare() -> Callable[[list[str]], Floats]:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(find_minilm_folder()))

    def encode(texts: list[str]) -> Floats:
        return np.asarray(model.encode(texts))

    return encode


def _run(embedder: Embedder) -> Callable[[list[str]], Floats]:
    def embed(texts: list[str]) -> Floats:
        return np.asarray(embedder.embed(texts))

    return embed


def _name(precision: str) -> str:
    return f"{OWN}, {precision}"
