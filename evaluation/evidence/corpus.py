"""The corpus of a study with what its methods need: vectors, a judge, an entailment model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from evaluation.backends.nli import EntailmentModel
from evaluation.evidence.baselines import Corpus
from evaluation.evidence.baselines.judge import PROMPT, Judge
from evaluation.evidence.evidence import EvidenceVectors
from evaluation.evidence.request import Request
from evaluation.flow.embed import Progress
from evaluation.methods.cells import Floats, Integers


def corpus_of(
    texts: Sequence[str],
    questions: ArrayLike,
    vectors: EvidenceVectors,
    request: Request,
    progress: Progress | None = None,
    *,
    asked: Mapping[str, str] | None = None,
    references: bool = False,
) -> tuple[Corpus, dict[str, object] | None]:
    """Return the corpus, and how the judge was asked (None without one).

    Parameters
    ----------
    asked : what each question asks, by label; a judge needs it.
    references : whether the other texts of `vectors` are the references, a question each.

    Raises `BackendError`.
    """
    judged, described = None, None
    if request.judge is not None and asked and not request.core:
        judge = Judge(request.judge)
        judged = judge.scores(
            [asked[label] for label in np.asarray(questions).tolist()],
            texts,
            progress and (lambda done, total: progress("judge", done, total)),
        )
        silent = int(np.isnan(judged).sum())
        described = {"judge": judge.name, "prompt": PROMPT, "without_score": silent}
    corpus = Corpus(
        texts,
        questions,
        vectors.of,
        request.embedder,
        references=vectors.of_others if references else None,
        judged=judged,
        entails=None if request.nli is None else _entails(request.nli, texts, progress),
    )
    return corpus, described


def _entails(
    name: str, texts: Sequence[str], progress: Progress | None
) -> Callable[[Integers], Floats]:
    model = EntailmentModel.load(name)

    def entails(pairs: Integers) -> Floats:
        both = [(texts[premise], texts[hypothesis]) for premise, hypothesis in pairs.tolist()]
        return model.probabilities(
            both, progress and (lambda done, total: progress("entailment", done, total))
        )

    return entails
