"""Which answers of the crowd moved between two waves: rows to arrays, and a test back.

It is computed while somebody waits for a page, out of the vectors that both runs had, and kept in
the cache: neither run changes any more. Runs by the spelling of answers learned what they count
from their own answers alone; for these both waves' answers are counted together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata

import numpy as np
from django.core.cache import cache
from threadpoolctl import threadpool_limits

from annotations.models import Question
from evaluation.backends import BackendError
from evaluation.flow.inputs import GradingInput
from evaluation.flow.vectors import embed
from evaluation.methods.cells import codes_of
from evaluation.methods.grams import Vectors
from evaluation.methods.inference.mean_shift import mean_shifts
from evaluation.models import Run
from evaluation.steps.as_graded import OF_WORDS, NotAtOnceError, as_graded, vectors_as_graded
from evaluation.steps.grading import parameters_of

# Answers of both waves that are tested while somebody waits (data-formats.md has the times).
MOST_ANSWERS = 100_000
MOST_BY_WORDS = 10_000
# Answers to one question, whose inner products are all held at once.
MOST_OF_ONE_BY_WORDS = 3_000
ALPHA = 0.05
"""Share of the questions that are said to have moved that may be so by chance, on average."""
SEED = 0
KEPT_SECONDS = 30 * 24 * 3600


@dataclass(frozen=True)
class Shift:
    """How surely the answers to a question moved between two waves, every answer counting alike.

    Attributes
    ----------
    distance : 1 - cosine of the mean answers. p_value : how often chance alone brings as much.
        adjusted : the same after allowing for the number of questions (Benjamini-Hochberg).
    n_both : people with an answer in both waves. n_draws : deals that p_value rests on.
    """

    distance: float
    p_value: float
    adjusted: float
    n_both: int
    n_draws: int

    @property
    def moved(self) -> bool:
        """Whether it moved beyond what chance brings."""
        return self.adjusted <= ALPHA

    @property
    def in_words(self) -> str:
        """How often chance alone brings as much, as "in 3 of 1,000 cases"."""
        if self.p_value * (self.n_draws + 1) < 1.5:
            return f"in none of {self.n_draws:,} cases"
        of = next(of for of in (100, 1_000, 10_000, 10**9) if self.p_value * of >= 1 or of == 10**9)
        return f"in {round(self.p_value * of):,} of {of:,} cases"


def shifts(before: Run, after: Run) -> Mapping[str, Shift]:
    """Return the shift of each question of both runs that was answered in both, by its id.

    Raises `NotAtOnceError`; `evaluation.words.waves` has the reasons.
    """
    key = _key(before, after)
    found: dict[str, Shift] | None = cache.get(key)
    if found is None:
        found = _tested(before, after)
        cache.set(key, found, KEPT_SECONDS)
    return found


def _key(before: Run, after: Run) -> str:
    """Return by what a test is kept: whoever takes an answer back changes it."""
    parts = [metadata.version("crowdgrade")]
    for run in (before, after):
        parts += [str(run.public_id), run.input_hash[:16], str(run.n_withdrawn)]
    return "waves-" + "-".join(parts)


def _tested(before: Run, after: Run) -> dict[str, Shift]:
    runs = (before, after)
    given = [as_graded(run) for run in runs]
    by_words = {parameters_of(run.parameters).embedder in OF_WORDS for run in runs}
    if len(by_words) > 1:
        raise NotAtOnceError("otherwise")
    total = sum(len(one.answered) for one in given)
    if total > (MOST_BY_WORDS if by_words == {True} else MOST_ANSWERS):
        raise NotAtOnceError("large")
    columns = [_columns(run, one) for run, one in zip(runs, given, strict=True)]
    common = {row[0] for row in columns[0]} & {row[0] for row in columns[1]} - {""}
    kept = [np.array([row[0] in common for row in part], dtype=bool) for part in columns]
    rows = [row for part in columns for row in part if row[0] in common]
    if not rows:
        return {}
    codes, names = codes_of([name for name, _ in rows])
    if by_words == {True} and np.bincount(codes).max() > MOST_OF_ONE_BY_WORDS:
        raise NotAtOnceError("large")
    vectors = _vectors(before, after, given, kept, together=by_words == {True})
    later = np.repeat([False, True], [int(part.sum()) for part in kept])
    # Many small products: threads that wait for each other make them ten times as slow.
    with threadpool_limits(1):
        found = mean_shifts(
            vectors, codes, later, [worker for _, worker in rows], alpha=ALPHA, seed=SEED
        )
    return {
        str(name): Shift(
            float(found.distance[at]),
            float(found.p_values[at]),
            float(found.adjusted[at]),
            int(found.n_both[at]),
            int(found.n_draws[at]),
        )
        for at, name in enumerate(names)
        if not np.isnan(found.p_values[at])
    }


def _columns(run: Run, given: GradingInput) -> list[tuple[str, int]]:
    """Return the id of the question and the key of the worker of each answer with a text.

    No id where the worker does not vote.
    """
    ids = dict(Question.objects.filter(version=run.version_id).values_list("pk", "external_id"))
    out = set(given.excluded)
    answers = given.answered
    return [
        ("" if worker in out else ids[question], worker)
        for question, worker in zip(answers.questions, answers.workers, strict=True)
    ]


def _vectors(
    before: Run, after: Run, given: list[GradingInput], kept: list[np.ndarray], *, together: bool
) -> Vectors:
    if not together:
        pairs = zip((before, after), given, kept, strict=True)
        return np.vstack(
            [np.asarray(vectors_as_graded(run, one))[rows] for run, one, rows in pairs]
        )
    if parameters_of(before.parameters).embedder != parameters_of(after.parameters).embedder:
        raise NotAtOnceError("otherwise")
    texts = [text for one, rows in zip(given, kept, strict=True) for text in _some(one, rows)]
    try:
        return embed(parameters_of(after.parameters), texts, None).answers
    except BackendError:
        raise NotAtOnceError("no_vectors") from None


def _some(given: GradingInput, rows: np.ndarray) -> Iterator[str]:
    return (text for text, wanted in zip(given.answered.texts, rows, strict=True) if wanted)
