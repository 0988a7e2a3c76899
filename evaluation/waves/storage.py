"""Start and link waves of a question set, copy model replies, and test which answers moved.

Replies to the same questions are copied from the earlier wave. Grading them in the later wave
compares old replies with the new crowd without asking a model again.

The test runs while a page loads, on the vectors of both runs. Its result stays in the cache,
because finished runs change only when an answer is withdrawn. Embedders that count words learn
their vocabulary from one run; for these the answers of both waves are embedded together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata

import numpy as np
from django.core.cache import cache
from django.db import transaction
from threadpoolctl import threadpool_limits

from annotations.answering import waves
from annotations.answering.waves import QuestionMatch
from annotations.models import Question, QuestionSet, rights
from annotations.web.scope import UserRequest, select_visible
from evaluation.consensus.inputs import GradingInput, embed
from evaluation.core.backends import BackendError
from evaluation.core.stats.cells import encode_labels
from evaluation.core.stats.grams import Vectors
from evaluation.core.stats.inference.significance import compute_mean_shifts
from evaluation.grading.storage.running import (
    OF_WORDS,
    NotAtOnceError,
    read_graded_input,
    read_graded_vectors,
)
from evaluation.models import LLMResponse, Run
from evaluation.runs.steps.answers import read_grading_parameters

# Replies copied by one statement.
BATCH = 1000
COPIED_FIELDS = (
    *("model_id", "prompt", "parameters", "request", "asking", "key", "asked_at", "sample"),
    *("text", "status", "finish_reason", "extra"),
)


@dataclass(frozen=True, slots=True)
class NewWave:
    """A newly created wave, with the numbers of copied replies and their models."""

    question_set: QuestionSet
    n_replies: int = 0
    n_models: int = 0


@dataclass(frozen=True, slots=True)
class CopyCounts:
    """Numbers of replies to copy from the earlier wave, of their models, and of replies present.

    Attributes
    ----------
    n_replies : number of replies that the later wave lacks. n_models : number of their models.
    n_there : number of replies of which the later wave has the same or another one already.
    """

    n_replies: int = 0
    n_models: int = 0
    n_there: int = 0


@transaction.atomic
def create_wave(
    question_set: QuestionSet, name: str, people: str, *, with_models: bool = False
) -> NewWave:
    """Create the next wave of a question set and return it; copy model replies if asked to.

    Raises `annotations.answering.waves.WaveError`.
    """
    wave = waves.create_next_wave(question_set, name, people)
    if not with_models:
        return NewWave(wave)
    copied = copy_replies(wave)
    return NewWave(wave, copied.n_replies, copied.n_models)


@transaction.atomic
def link_and_copy_replies(
    later: QuestionSet, earlier: QuestionSet, *, with_models: bool = False
) -> tuple[QuestionMatch, CopyCounts]:
    """Link a question set as a later wave, and copy model replies if asked to.

    Returns the match of the questions and the counts of copied replies. Raises
    `annotations.answering.waves.WaveError`.
    """
    match = waves.link_waves(later, earlier)
    return match, copy_replies(later) if with_models else CopyCounts()


def load_earlier_wave(request: UserRequest, later: QuestionSet) -> QuestionSet | None:
    """Return the earlier wave of a question set; None if there is none that the user may see."""
    if later.earlier_wave_id is None:
        return None
    return select_visible(request, QuestionSet.objects.filter(pk=later.earlier_wave_id)).first()


def keep_if_readable(request: UserRequest, question_set: QuestionSet | None) -> QuestionSet | None:
    """Return the question set if the user may see its answers; None otherwise."""
    return question_set if question_set and rights(request.user, question_set).answers else None


def copy_visible_replies(request: UserRequest, later: QuestionSet) -> CopyCounts:
    """Copy model replies from the earlier wave if the user may see them; return the counts.

    A user who may edit the later wave need not see the earlier one. Then nothing is copied and
    `annotations.answering.waves.WaveError` is raised.
    """
    if (
        later.earlier_wave_id
        and keep_if_readable(request, load_earlier_wave(request, later)) is None
    ):
        raise waves.WaveError("results_not_visible")
    return copy_replies(later)


@transaction.atomic
def copy_replies(later: QuestionSet) -> CopyCounts:
    """Copy model replies from the earlier wave and return the counts; a second call copies none.

    Permissions are not checked; see `copy_visible_replies`. Raises
    `annotations.answering.waves.WaveError` for a question set without an earlier wave.
    """
    if later.earlier_wave is None:
        raise waves.WaveError("no_link")
    keys, numbers = select_replies_to_copy(later, later.earlier_wave)
    # In batches, because replies are long and only their keys are in memory so far.
    for start_index in range(0, len(keys), BATCH):
        batch = keys[start_index : start_index + BATCH]
        old_replies = LLMResponse.objects.filter(pk__in=[key for key, _ in batch]).in_bulk()
        new_replies = []
        for key, question in batch:
            copied = {field: getattr(old_replies[key], field) for field in COPIED_FIELDS}
            new_replies.append(LLMResponse(question_id=question, **copied))
        LLMResponse.objects.bulk_create(new_replies)
    return numbers


def select_replies_to_copy(
    later: QuestionSet, earlier: QuestionSet
) -> tuple[Sequence[tuple[int, int]], CopyCounts]:
    """Return (reply key, later question's key) pairs of the replies to copy, and counts.

    These are the replies of the earlier wave that the later one lacks. Nothing is changed. Two
    replies are the same if question id, model, request and sample number agree.
    """
    later_version, earlier_version = (
        waves.find_version_to_repeat(later),
        waves.find_version_to_repeat(earlier),
    )
    matching_ids = set(waves.match_questions(later, earlier).same)
    if later_version is None or earlier_version is None or not matching_ids:
        return [], CopyCounts()
    new_questions = dict(later_version.questions.values_list("external_id", "pk"))
    identity = ("question__external_id", "model_id", "request", "sample")
    existing = set(
        LLMResponse.objects.filter(question__version=later_version).values_list(*identity)
    )
    keys, models, n_there = [], set(), 0
    rows = LLMResponse.objects.filter(question__version=earlier_version).order_by("pk")
    # A reply that the later wave asked for anew stays: it is newer than the copy would be.
    for key, name, model, request, sample in rows.values_list("pk", *identity).iterator():
        if name not in matching_ids:
            continue
        if (name, model, request, sample) in existing:
            n_there += 1
            continue
        keys.append((key, new_questions[name]))
        models.add(model)
    return keys, CopyCounts(len(keys), len(models), n_there)


# Largest number of answers of both waves that a page tests (data-formats.md has the times).
MOST_ANSWERS = 100_000
MOST_BY_WORDS = 10_000
# Largest number of answers to one question: all their inner products are in memory at once.
MOST_OF_ONE_BY_WORDS = 3_000
ALPHA = 0.05
"""False discovery rate: expected share of false findings among the questions found to move."""
SEED = 0
CACHE_SECONDS = 30 * 24 * 3600


@dataclass(frozen=True)
class Shift:
    """Permutation test of whether a question's answers moved between waves, unweighted.

    Attributes
    ----------
    distance : 1 - cosine of the mean answers, from 0 to 2. p_value : of the permutation test.
    adjusted : p-value after the Benjamini-Hochberg correction for the number of questions.
    n_both : workers with an answer in both waves. n_draws : permutations behind `p_value`.
    """

    distance: float
    p_value: float
    adjusted: float
    n_both: int
    n_draws: int

    @property
    def moved(self) -> bool:
        """Whether the question's answers moved significantly: adjusted p-value of at most .05."""
        return self.adjusted <= ALPHA

    @property
    def in_words(self) -> str:
        """Unadjusted p-value as a frequency, such as "in 3 of 1,000 cases"."""
        # The real order counts as one of the cases: the least p-value is 1 / (n_draws + 1).
        if self.p_value * (self.n_draws + 1) < 1.5:
            return f"in none of {self.n_draws:,} cases"
        # The smallest round number of cases of which at least one is expected.
        n = next(n for n in (100, 1_000, 10_000, 10**9) if self.p_value * n >= 1 or n == 10**9)
        return f"in {round(self.p_value * n):,} of {n:,} cases"


def compute_shifts(before: Run, after: Run) -> Mapping[str, Shift]:
    """Return the permutation test of the shift of answers between two runs, by question id.

    Cached for 30 days. Raises `NotAtOnceError` where a page cannot test it; its codes have
    sentences in `evaluation.waves.report.comparison`.
    """
    key = _build_cache_key(before, after)
    result: dict[str, Shift] | None = cache.get(key)
    if result is None:
        result = _test_question_shifts(before, after)
        cache.set(key, result, CACHE_SECONDS)
    return result


def _build_cache_key(before: Run, after: Run) -> str:
    """Return the cache key of two runs' shift test.

    It depends on version and withdrawn answers.
    """
    parts = [metadata.version("crowdgrade")]
    for run in (before, after):
        # A withdrawal deletes answers of a finished run, so its number is part of the key.
        parts += [str(run.public_id), run.input_hash[:16], str(run.n_withdrawn)]
    return "waves-" + "-".join(parts)


def _test_question_shifts(before: Run, after: Run) -> dict[str, Shift]:
    """Return the permutation test of each common question, by question id.

    Questions without a p-value, as with too few answers, are left out.
    """
    runs = (before, after)
    inputs = [read_graded_input(run) for run in runs]
    word_counting = {read_grading_parameters(run.parameters).embedder in OF_WORDS for run in runs}
    # Vectors of a word counter and of a language model have no common space.
    if len(word_counting) > 1:
        raise NotAtOnceError("otherwise")
    n_answers = sum(len(grading_input.answered) for grading_input in inputs)
    if n_answers > (MOST_BY_WORDS if word_counting == {True} else MOST_ANSWERS):
        raise NotAtOnceError("large")
    columns = [
        _list_questions_and_workers(run, grading_input)
        for run, grading_input in zip(runs, inputs, strict=True)
    ]
    # "" marks workers who do not vote; their answers count in neither wave.
    common_ids = {row[0] for row in columns[0]} & {row[0] for row in columns[1]} - {""}
    selections = [np.array([row[0] in common_ids for row in part], dtype=bool) for part in columns]
    rows = [row for part in columns for row in part if row[0] in common_ids]
    if not rows:
        return {}
    codes, names = encode_labels([name for name, _ in rows])
    if word_counting == {True} and np.bincount(codes).max() > MOST_OF_ONE_BY_WORDS:
        raise NotAtOnceError("large")
    vectors = _load_vectors(before, after, inputs, selections, together=word_counting == {True})
    # Rows of the earlier run come first, as in `vectors`.
    is_later = np.repeat([False, True], [int(part.sum()) for part in selections])
    # Many small products: threads that wait for each other make them ten times as slow.
    with threadpool_limits(1):
        tests = compute_mean_shifts(
            vectors, codes, is_later, [worker for _, worker in rows], alpha=ALPHA, seed=SEED
        )
    return {
        str(name): Shift(
            float(tests.distance[index]),
            float(tests.p_values[index]),
            float(tests.adjusted[index]),
            int(tests.n_both[index]),
            int(tests.n_draws[index]),
        )
        for index, name in enumerate(names)
        # NaN: too few answers in a wave for a test.
        if not np.isnan(tests.p_values[index])
    }


def _list_questions_and_workers(run: Run, grading_input: GradingInput) -> list[tuple[str, int]]:
    """Return (question id, worker key) of each answer with a text, in the order of the run.

    The id is "" for a worker who does not vote.
    """
    ids = dict(Question.objects.filter(version=run.version_id).values_list("pk", "external_id"))
    excluded = set(grading_input.excluded)
    answers = grading_input.answered
    return [
        ("" if worker in excluded else ids[question], worker)
        for question, worker in zip(answers.questions, answers.workers, strict=True)
    ]


def _load_vectors(
    before: Run,
    after: Run,
    inputs: list[GradingInput],
    selections: list[np.ndarray],
    *,
    together: bool,
) -> Vectors:
    """Return the vectors of the selected answers of both runs, the earlier run first.

    `selections` are boolean arrays over the answers of each run. With `together` the texts of both
    are embedded anew in one vocabulary. Raises `NotAtOnceError`.
    """
    if not together:
        pairs = zip((before, after), inputs, selections, strict=True)
        return np.vstack(
            [
                np.asarray(read_graded_vectors(run, grading_input))[selection]
                for run, grading_input, selection in pairs
            ]
        )
    # Both count words or letters, but in different ways.
    if (
        read_grading_parameters(before.parameters).embedder
        != read_grading_parameters(after.parameters).embedder
    ):
        raise NotAtOnceError("otherwise")
    texts = [
        text
        for grading_input, selection in zip(inputs, selections, strict=True)
        for text in _select_texts(grading_input, selection)
    ]
    try:
        return embed(read_grading_parameters(after.parameters), texts, None).answers
    except BackendError:
        raise NotAtOnceError("no_vectors") from None


def _select_texts(grading_input: GradingInput, selection: np.ndarray) -> Iterator[str]:
    """Yield the texts of the selected answers."""
    return (
        text
        for text, is_selected in zip(grading_input.answered.texts, selection, strict=True)
        if is_selected
    )
