"""Clusters of replies with the same meaning, for the semantic entropy.

Two replies have the same meaning if every answer of each has an equivalent in the other. Equal
answers are equivalent. Others are compared with an entailment model, if one is chosen: each has to
entail the other. Otherwise their vectors have to be nearly the same. This applies two-way
entailment (Farquhar et al. 2024, Methods) to lists: a reply with one more answer has another
meaning. Answers with different numbers, and letters of choices, are never equivalent.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from evaluation.consensus.inputs import Progress, build_truncation_warning
from evaluation.core.backends import Embedder, EmbedderInfo, get_embedder
from evaluation.core.backends.cross_encoder import EntailmentModel
from evaluation.core.messages.message import Message
from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.statistics.descriptive import ThresholdErrors, tune_threshold
from evaluation.core.text.matching import extract_numbers
from evaluation.core.text.quality import find_language_warning
from evaluation.maqa.methods.set_scores import build_comparison_key
from evaluation.maqa.methods.uncertainty import assign_clusters
from evaluation.maqa.options import MaqaParameters
from evaluation.maqa.run.judging import JudgedReply, RightAnswers
from evaluation.runs.flow.metrics import (
    ALL_BUT_1,
    Bools,
    compute_pairwise_cosines,
    embed_block,
    find_number_conflicts,
    split_into_blocks,
)

Judged = Mapping[str, Mapping[str, Sequence[JudgedReply]]]

# Texts that are sampled to detect the language.
SAMPLE = 5_000
# Text pairs of one batch for the entailment model, both directions counted.
PAIRS = 50_000
# Pairs of spellings, and of different right answers, that calibrate the cosine.
FEWEST_PAIRS, MOST_PAIRS = 20, 1000
SPELLINGS = "spellings"
NOT_ASKED, FEW_SPELLINGS = "not_asked", "few_spellings"


@dataclass(frozen=True)
class MeaningThreshold:
    """The cosine above which two answers are equivalent, and how it was chosen.

    Attributes
    ----------
    errors : on spellings of one right answer and on different right answers, of the questions that
        did not tune it; None if it was not calibrated.
    reason : why it was not calibrated: not_asked, few_spellings; None if it was.
    """

    cosine: float
    errors: ThresholdErrors | None = None
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the threshold as an entry of a summary."""
        errors = self.errors and self.errors.as_dict()
        return {"same_cosine": self.cosine, "reason": self.reason, "errors": errors}

    def build_message(self) -> Message:
        """Return the message that says whether the threshold was calibrated, with its errors."""
        if self.errors is None:
            return Message("meaning_not_calibrated", {"cosine": self.cosine})
        values = {key: value for key, value in self.errors.as_dict().items() if key != "source"}
        return Message("meaning_calibrated", values)


@dataclass(frozen=True)
class MeaningClusters:
    """Meaning clusters of the replies, by system and question, and the model that made them.

    Attributes
    ----------
    labels : the cluster of each reply, by (system, question id); only with two or more replies.
    info : the embedding that was used; None without one.
    entailment : name of the entailment model that was used; None without one.
    kernels : similarity of each two replies (m, m), positive semidefinite, by the same keys;
        missing where an entailment model compared the answers.
    threshold : of the cosines; None without an embedding.
    """

    labels: Mapping[tuple[str, str], Integers]
    info: EmbedderInfo | None = None
    entailment: str | None = None
    warnings: list[Message] = field(default_factory=list)
    kernels: Mapping[tuple[str, str], Floats] = field(default_factory=dict)
    threshold: MeaningThreshold | None = None


@dataclass(frozen=True)
class _UndecidedQuestion:
    """A question with differing replies, which only a model can cluster by meaning.

    Attributes
    ----------
    key : (system, question id).
    texts : the distinct answers of all replies.
    sets : for each reply the indices of its answers in `texts`.
    """

    key: tuple[str, str]
    question: str
    texts: list[str]
    sets: list[frozenset[int]]


def cluster_replies(
    judged: Judged,
    right: Mapping[str, RightAnswers],
    parameters: MaqaParameters,
    progress: Progress | None = None,
    embedder: Embedder | None = None,
) -> MeaningClusters:
    """Return the clusters of replies with the same meaning, for each system and question.

    `embedder` is used in place of that of the parameters, such as one with stored vectors. A model
    is loaded only if some replies differ. Raises `BackendError` if it is not available or
    fails.
    """
    labels: dict[tuple[str, str], Integers] = {}
    kernels: dict[tuple[str, str], Floats] = {}
    undecided: list[_UndecidedQuestion] = []
    for system, system_replies in judged.items():
        for item, replies in system_replies.items():
            if len(replies) < 2:
                continue
            sets = [reply.keys for reply in replies]
            # Clusters of equal sets; replaced below where a model compares the answers.
            same = _compare_answer_sets(sets)
            labels[system, item] = assign_clusters(same)
            kernels[system, item] = same.astype(np.float64)
            # Letters and empty replies need no model: only equal ones have the same meaning.
            differ = len(set(sets)) > 1
            if differ and not right[item].are_letters and sum(map(bool, set(sets))) > 1:
                each = _index_distinct_answers((system, item), right[item].question.text, replies)
                # If all answers are different numbers, no two can be equivalent.
                if not (
                    find_number_conflicts(each.texts) | np.eye(len(each.texts), dtype=bool)
                ).all():
                    undecided.append(each)
    if not undecided:
        return MeaningClusters(labels, kernels=kernels)
    if parameters.nli:
        _cluster_by_entailment(labels, undecided, parameters, progress)
        for each in undecided:
            # It was built from equal sets, and would contradict the model's clusters.
            del kernels[each.key]
        return MeaningClusters(labels, None, parameters.nli, kernels=kernels)
    embedder = embedder or get_embedder(
        parameters.embedder,
        cast(Literal["float32", "bfloat16", "auto"], parameters.precision),
    )
    all_texts = list(dict.fromkeys(text for each in undecided for text in each.texts))
    threshold = choose_meaning_threshold(embedder, all_texts, right, parameters)
    info, warnings = _cluster_by_vectors(
        embedder, all_texts, labels, kernels, undecided, threshold.cosine, progress
    )
    warnings.append(threshold.build_message())
    return MeaningClusters(labels, info, None, warnings, kernels, threshold)


def choose_meaning_threshold(
    embedder: Embedder,
    all_texts: Sequence[str],
    right: Mapping[str, RightAnswers],
    parameters: MaqaParameters,
) -> MeaningThreshold:
    """Return the cosine of equivalent answers, calibrated on the questions' spellings if wanted.

    Spellings of one right answer are equivalent; right answers of one question are not. Fits the
    embedder to the answers `all_texts`, with the spellings if they are used. Raises `BackendError`.
    """
    wanted = parameters.calibrate_meaning
    pairs = _collect_spelling_pairs(right, parameters.seed) if wanted else []
    is_same = np.array([pair.is_same for pair in pairs], dtype=np.bool_)
    default = MeaningThreshold(parameters.same_cosine, None, FEW_SPELLINGS if wanted else NOT_ASKED)
    if min(is_same.sum(), (~is_same).sum()) < FEWEST_PAIRS:
        embedder.fit(all_texts)
        return default
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.first, pair.second)))
    embedder.fit(list(dict.fromkeys([*all_texts, *texts])))
    vectors, rows = embedder.embed(texts), {text: row for row, text in enumerate(texts)}
    cosines = np.array(
        [
            compute_pairwise_cosines(vectors, [rows[pair.first], rows[pair.second]])[0, 1]
            for pair in pairs
        ]
    )
    try:
        errors = tune_threshold(
            cosines, is_same, [pair.question for pair in pairs], SPELLINGS, parameters.seed
        )
    except ValueError:  # the spellings of one half are of few questions
        return default
    return MeaningThreshold(errors.threshold, errors)


class _SpellingPair(NamedTuple):
    """Two texts of right answers to a question, and whether they spell one right answer."""

    question: str
    first: str
    second: str
    is_same: bool


def _collect_spelling_pairs(right: Mapping[str, RightAnswers], seed: int) -> list[_SpellingPair]:
    """Return pairs of spellings of one right answer, and of different right answers.

    Pairs that rules alone decide are left out: equal keys, and different numbers. At most
    `MOST_PAIRS` of each kind are drawn.
    """
    kinds: dict[bool, list[_SpellingPair]] = {True: [], False: []}
    for item, answers in right.items():
        if answers.are_letters:
            continue
        texts = [[str(text).strip() for text in each] for each in answers.question.answers]
        candidates = [
            _SpellingPair(item, first, second, True)
            for spellings in texts
            for first, second in combinations(spellings, 2)
        ]
        candidates += [
            _SpellingPair(item, first[0], second[0], False)
            for first, second in combinations([each for each in texts if each], 2)
        ]
        for pair in candidates:
            keys = [build_comparison_key(text, answers.rules) for text in (pair.first, pair.second)]
            if keys[0] != keys[1] and not find_number_conflicts([pair.first, pair.second])[0, 1]:
                kinds[pair.is_same].append(pair)
    rng = np.random.default_rng(seed)
    return [
        pairs[number]
        for pairs in kinds.values()
        for number in np.sort(rng.permutation(len(pairs))[:MOST_PAIRS]).tolist()
    ]


def _compare_answer_sets(sets: Sequence[frozenset[Hashable]]) -> Bools:
    """Return a square matrix of whether each two answer sets are equal."""
    numbers: dict[frozenset[Hashable], int] = {}
    identity = np.array([numbers.setdefault(each, len(numbers)) for each in sets])
    return np.asarray(identity[:, None] == identity[None, :])


def _index_distinct_answers(
    key: tuple[str, str], question: str, replies: Sequence[JudgedReply]
) -> _UndecidedQuestion:
    """Return a question's distinct answer texts, and each reply as a set of their indices."""
    numbers: dict[Hashable, int] = {}
    texts: list[str] = []
    for reply in replies:
        for answer in reply.all_answers:
            if answer.key not in numbers:
                numbers[answer.key] = len(texts)
                texts.append(answer.text)
    sets = [frozenset(numbers[answer.key] for answer in reply.all_answers) for reply in replies]
    return _UndecidedQuestion(key, question, texts, sets)


def _cluster_answer_sets(sets: Sequence[frozenset[int]], equivalent: Bools) -> Integers:
    """Return a cluster number per answer set; sets with equivalent answers share one.

    Parameters
    ----------
    sets : (m,) indices of the answers of each reply.
    equivalent : (answers, answers) whether two answers are equivalent.
    """
    distinct = list(dict.fromkeys(sets))
    contains = np.zeros((len(distinct), len(equivalent)), dtype=np.float32)
    for row, each in enumerate(distinct):
        contains[row, list(each)] = 1
    # n_missing[a, b]: how many answers of set a have no equivalent in set b.
    n_missing = contains @ (contains @ equivalent.astype(np.float32) == 0).astype(np.float32).T
    sizes = contains.sum(axis=1)
    same = (n_missing == 0) & (n_missing.T == 0) & ((sizes > 0)[:, None] == (sizes > 0)[None, :])
    labels = dict(zip(distinct, assign_clusters(same).tolist(), strict=True))
    return np.array([labels[each] for each in sets], dtype=np.int64)


def _build_similarity_kernel(
    sets: Sequence[frozenset[int]], texts: Sequence[str], cosines: Floats
) -> Floats:
    """Return the similarity of each two answer sets: positive semidefinite, 1 on the diagonal.

    A set is the sum of its answers' unit vectors. Answers with different numbers, and an answer
    with and one without a number, are orthogonal. Empty sets equal only each other.
    """
    numbers = [extract_numbers(text) for text in texts]
    alike = np.array([[first == second for second in numbers] for first in numbers])
    answers = np.where(alike, cosines, 0.0)
    # A zero vector is similar to itself alone.
    np.fill_diagonal(answers, 1.0)
    contains = np.zeros((len(sets), len(texts)))
    for row, each in enumerate(sets):
        contains[row, list(each)] = 1.0
    kernel = contains @ answers @ contains.T
    is_empty = np.array([not each for each in sets])
    kernel[np.ix_(is_empty, is_empty)] = 1.0
    length = np.sqrt(np.maximum(np.diag(kernel), 1e-12))
    return np.asarray(np.clip(kernel / length[:, None] / length, -1.0, 1.0))


def _cluster_by_vectors(
    embedder: Embedder,
    all_texts: Sequence[str],
    labels: dict[tuple[str, str], Integers],
    kernels: dict[tuple[str, str], Floats],
    undecided: Sequence[_UndecidedQuestion],
    cosine: float,
    progress: Progress | None,
) -> tuple[EmbedderInfo, list[Message]]:
    """Cluster the undecided questions by the cosines of their answers `all_texts`.

    Writes into `labels` and `kernels`; returns the embedder's description and warnings.
    """
    n_truncated = done = 0
    # Below 1, because equal vectors may have a cosine slightly below it.
    threshold = min(cosine, ALL_BUT_1)
    # In blocks, so that the vectors of all texts need not fit into memory at once.
    for first, last in split_into_blocks([each.texts for each in undecided]):
        texts = list(dict.fromkeys(text for each in undecided[first:last] for text in each.texts))
        vectors, n_cut = embed_block(embedder, texts, done, len(all_texts), progress)
        n_truncated, done = n_truncated + n_cut, min(done + len(texts), len(all_texts))
        rows = {text: row for row, text in enumerate(texts)}
        for each in undecided[first:last]:
            cosines = compute_pairwise_cosines(vectors, [rows[text] for text in each.texts])
            kernels[each.key] = _build_similarity_kernel(each.sets, each.texts, cosines)
            equivalent = (cosines > threshold) & ~find_number_conflicts(each.texts)
            np.fill_diagonal(equivalent, True)
            labels[each.key] = _cluster_answer_sets(each.sets, equivalent)
    info = embedder.describe()
    sample = all_texts[:: max(1, len(all_texts) // SAMPLE)]
    warnings = [build_truncation_warning(n_truncated, info), find_language_warning(sample, info)]
    return info, [warning for warning in warnings if warning]


def _cluster_by_entailment(
    labels: dict[tuple[str, str], Integers],
    undecided: Sequence[_UndecidedQuestion],
    parameters: MaqaParameters,
    progress: Progress | None,
) -> None:
    """Cluster the undecided questions by entailment; write clusters into `labels`.

    The model gets every two answers in both directions, each after its question.
    """
    model = EntailmentModel.load(parameters.nli)
    batch: list[tuple[_UndecidedQuestion, Bools]] = []
    pairs: list[tuple[str, str]] = []

    def cluster_batch() -> None:
        """Cluster the questions of the current batch, then empty the batch."""
        entails = model.compute_entailment_probabilities(pairs) >= parameters.entailment
        offset = 0
        for each, comparable in batch:
            equivalent = np.eye(len(each.texts), dtype=np.bool_)
            n = 2 * int(comparable.sum())
            # The pairs alternate: a after b, then b after a.
            forward, backward = entails[offset : offset + n].reshape(-1, 2).T
            equivalent[comparable] = forward & backward
            labels[each.key] = _cluster_answer_sets(each.sets, equivalent | equivalent.T)
            offset += n
        batch.clear()
        pairs.clear()

    for done, each in enumerate(undecided, 1):
        comparable = np.triu(~find_number_conflicts(each.texts), 1)
        statements = [f"{each.question} {text}" for text in each.texts]
        for a, b in zip(*np.nonzero(comparable), strict=True):
            pairs += [(statements[a], statements[b]), (statements[b], statements[a])]
        # Questions are batched, because a model is faster on many pairs at once.
        batch.append((each, comparable))
        if len(pairs) >= PAIRS:
            cluster_batch()
            if progress:
                progress("entailment", done, len(undecided))
    cluster_batch()
