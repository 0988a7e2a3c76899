"""Clusters of replies with the same meaning, for the semantic entropy.

Two replies have the same meaning if every answer of each has an equivalent in the other. Equal
answers are equivalent. Others are compared with an entailment model, if one is chosen: each has to
entail the other. Otherwise their vectors have to be nearly the same. This applies two-way
entailment (Farquhar et al. 2024, Methods) to lists: a reply with one more answer has another
meaning. Answers with different numbers, and letters of choices, are never equivalent.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

import numpy as np

from evaluation.consensus.vectors import build_truncation_warning
from evaluation.core.backends import EmbedderInfo, get_embedder
from evaluation.core.backends.nli import EntailmentModel
from evaluation.core.messages.message import Message
from evaluation.core.stats.cells import Integers
from evaluation.core.text.languages import check_language
from evaluation.maqa.methods.uncertainty import find_clusters
from evaluation.maqa.options import MaqaParameters
from evaluation.maqa.run.judging import JudgedReply, RightAnswers
from evaluation.runs.flow.text_similarity import (
    ALL_BUT_1,
    Bools,
    compute_cosines_among,
    embed_block,
    find_different_numbers,
    split_into_blocks,
)

Progress = Callable[[str, int, int], None]
Judged = Mapping[str, Mapping[str, Sequence[JudgedReply]]]

# Texts that are sampled to detect the language.
SAMPLE = 5_000
# Text pairs of one batch for the entailment model, both directions counted.
PAIRS = 50_000


@dataclass(frozen=True)
class Clusters:
    """Meaning clusters of the replies, by system and question, and the model that made them.

    Attributes
    ----------
    labels : the cluster of each reply, by (system, question id); only with two or more replies.
    info : the embedding that was used; None without one.
    entailment : name of the entailment model that was used; None without one.
    """

    labels: Mapping[tuple[str, str], Integers]
    info: EmbedderInfo | None = None
    entailment: str | None = None
    warnings: list[Message] = field(default_factory=list)


@dataclass(frozen=True)
class _Undecided:
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
) -> Clusters:
    """Group each system's replies to a question into clusters with the same meaning.

    A model is loaded only if some replies differ. Raises `BackendError` if it is not available or
    fails.
    """
    labels: dict[tuple[str, str], Integers] = {}
    undecided: list[_Undecided] = []
    for system, system_replies in judged.items():
        for item, replies in system_replies.items():
            if len(replies) < 2:
                continue
            sets = [reply.keys for reply in replies]
            # Clusters of equal sets; replaced below where a model compares the answers.
            labels[system, item] = find_clusters(_compare_sets(sets))
            # Letters and empty replies need no model: only equal ones have the same meaning.
            differ = len(set(sets)) > 1
            if differ and not right[item].are_letters and sum(map(bool, set(sets))) > 1:
                each = _index_answers((system, item), right[item].question.text, replies)
                # If all answers are different numbers, no two can be equivalent.
                if not (
                    find_different_numbers(each.texts) | np.eye(len(each.texts), dtype=bool)
                ).all():
                    undecided.append(each)
    if not undecided:
        return Clusters(labels)
    if parameters.nli:
        _cluster_by_entailment(labels, undecided, parameters, progress)
        return Clusters(labels, None, parameters.nli)
    return _cluster_by_vectors(labels, undecided, parameters, progress)


def _compare_sets(sets: Sequence[frozenset[Hashable]]) -> Bools:
    """Return a square matrix of whether each two answer sets are equal."""
    numbers: dict[frozenset[Hashable], int] = {}
    identity = np.array([numbers.setdefault(each, len(numbers)) for each in sets])
    return np.asarray(identity[:, None] == identity[None, :])


def _index_answers(
    key: tuple[str, str], question: str, replies: Sequence[JudgedReply]
) -> _Undecided:
    """Return a question's distinct answer texts, and each reply as a set of their indices."""
    numbers: dict[Hashable, int] = {}
    texts: list[str] = []
    for reply in replies:
        for answer in reply.answers:
            if answer.key not in numbers:
                numbers[answer.key] = len(texts)
                texts.append(answer.text)
    sets = [frozenset(numbers[answer.key] for answer in reply.answers) for reply in replies]
    return _Undecided(key, question, texts, sets)


def _cluster_sets(sets: Sequence[frozenset[int]], equivalent: Bools) -> Integers:
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
    labels = dict(zip(distinct, find_clusters(same).tolist(), strict=True))
    return np.array([labels[each] for each in sets], dtype=np.int64)


def _cluster_by_vectors(
    labels: dict[tuple[str, str], Integers],
    undecided: Sequence[_Undecided],
    parameters: MaqaParameters,
    progress: Progress | None,
) -> Clusters:
    """Cluster the undecided questions by cosine of answers; write clusters into `labels`."""
    precision = cast(Literal["float32", "bfloat16", "auto"], parameters.precision)
    embedder = get_embedder(parameters.embedder, precision)
    all_texts = list(dict.fromkeys(text for each in undecided for text in each.texts))
    embedder.fit(all_texts)
    n_truncated = done = 0
    # Below 1, because equal vectors may have a cosine slightly below it.
    threshold = min(parameters.same_cosine, ALL_BUT_1)
    # In blocks, so that the vectors of all texts need not fit into memory at once.
    for first, last in split_into_blocks([each.texts for each in undecided]):
        texts = list(dict.fromkeys(text for each in undecided[first:last] for text in each.texts))
        vectors, n_cut = embed_block(embedder, texts, done, len(all_texts), progress)
        n_truncated, done = n_truncated + n_cut, min(done + len(texts), len(all_texts))
        rows = {text: row for row, text in enumerate(texts)}
        for each in undecided[first:last]:
            equivalent = (
                compute_cosines_among(vectors, [rows[text] for text in each.texts]) > threshold
            )
            equivalent &= ~find_different_numbers(each.texts)
            np.fill_diagonal(equivalent, True)
            labels[each.key] = _cluster_sets(each.sets, equivalent)
    info = embedder.describe()
    sample = all_texts[:: max(1, len(all_texts) // SAMPLE)]
    warnings = [build_truncation_warning(n_truncated, info), check_language(sample, info)]
    return Clusters(labels, info, None, [warning for warning in warnings if warning])


def _cluster_by_entailment(
    labels: dict[tuple[str, str], Integers],
    undecided: Sequence[_Undecided],
    parameters: MaqaParameters,
    progress: Progress | None,
) -> None:
    """Cluster the undecided questions by entailment; write clusters into `labels`.

    The model gets every two answers in both directions, each after its question.
    """
    model = EntailmentModel.load(parameters.nli)
    batch: list[tuple[_Undecided, Bools]] = []
    pairs: list[tuple[str, str]] = []

    def evaluate_batch() -> None:
        """Cluster the questions of the current batch, then empty the batch."""
        entails = model.probabilities(pairs) >= parameters.entailment
        offset = 0
        for each, comparable in batch:
            equivalent = np.eye(len(each.texts), dtype=np.bool_)
            n = 2 * int(comparable.sum())
            forward, backward = entails[offset : offset + n].reshape(-1, 2).T
            equivalent[comparable] = forward & backward
            labels[each.key] = _cluster_sets(each.sets, equivalent | equivalent.T)
            offset += n
        batch.clear()
        pairs.clear()

    for done, each in enumerate(undecided, 1):
        comparable = np.triu(~find_different_numbers(each.texts), 1)
        statements = [f"{each.question} {text}" for text in each.texts]
        for a, b in zip(*np.nonzero(comparable), strict=True):
            pairs += [(statements[a], statements[b]), (statements[b], statements[a])]
        # Questions are batched, because a model is faster on many pairs at once.
        batch.append((each, comparable))
        if len(pairs) >= PAIRS:
            evaluate_batch()
            if progress:
                progress("entailment", done, len(undecided))
    evaluate_batch()
