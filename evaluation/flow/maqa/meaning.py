"""Which replies to a question say the same: the clusters of the semantic entropy.

Two replies say the same if each answer of either has its like in the other: the same one, one that
entails it and is entailed by it (with a model for that), or one with nearly the same vector. That
is two-way entailment of lists (Farquhar et al. 2024, Methods): a reply that adds an answer says
something else. Answers with different numbers, and letters of choices, are never alike.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

import numpy as np

from evaluation.backends import EmbedderInfo, get_embedder
from evaluation.backends.nli import EntailmentModel
from evaluation.flow.alike import (
    ALL_BUT_1,
    Bools,
    blocks,
    cosines_among,
    different_numbers,
    embedded,
)
from evaluation.flow.maqa.judging import JudgedReply, RightAnswers
from evaluation.flow.maqa.parameters import MaqaParameters
from evaluation.flow.vectors import truncation_warning
from evaluation.methods.cells import Integers
from evaluation.methods.maqa.semantic_entropy import clusters_of
from evaluation.texts.languages import language_warning
from evaluation.words.message import Message

Progress = Callable[[str, int, int], None]
Judged = Mapping[str, Mapping[str, Sequence[JudgedReply]]]

# A sample of texts is enough to tell their language.
SAMPLE = 5_000
# Pairs of texts that a model of entailment takes at once, both ways each.
PAIRS = 50_000


@dataclass(frozen=True)
class Clusters:
    """The cluster of each reply, by system and question, where there are two replies or more.

    `info` says how texts became vectors, None where none had to.
    """

    of: Mapping[tuple[str, str], Integers]
    info: EmbedderInfo | None = None
    entailment: str | None = None
    warnings: list[Message] = field(default_factory=list)


@dataclass(frozen=True)
class _Open:
    """A question whose replies differ: `sets` of the places of their answers in `texts`."""

    place: tuple[str, str]
    question: str
    texts: list[str]
    sets: list[frozenset[int]]


def cluster_replies(
    judged: Judged,
    right: Mapping[str, RightAnswers],
    parameters: MaqaParameters,
    progress: Progress | None = None,
) -> Clusters:
    """Cluster the replies of each system to each question; models are loaded only if needed.

    Raises `BackendError`: a model cannot be had, or fails.
    """
    labels: dict[tuple[str, str], Integers] = {}
    waiting: list[_Open] = []
    for system, of_system in judged.items():
        for item, replies in of_system.items():
            if len(replies) < 2:
                continue
            sets = [reply.keys for reply in replies]
            labels[system, item] = clusters_of(_equal(sets))
            differ = len(set(sets)) > 1
            if differ and not right[item].are_letters and sum(map(bool, set(sets))) > 1:
                one = _open((system, item), right[item].question.text, replies)
                # Where all answers are numbers, and different ones, nothing is left to compare.
                if not (different_numbers(one.texts) | np.eye(len(one.texts), dtype=bool)).all():
                    waiting.append(one)
    if not waiting:
        return Clusters(labels)
    if parameters.nli:
        _by_entailment(labels, waiting, parameters, progress)
        return Clusters(labels, None, parameters.nli)
    return _by_vectors(labels, waiting, parameters, progress)


def _equal(sets: Sequence[frozenset[Hashable]]) -> Bools:
    number: dict[frozenset[Hashable], int] = {}
    of = np.array([number.setdefault(one, len(number)) for one in sets])
    return np.asarray(of[:, None] == of[None, :])


def _open(place: tuple[str, str], question: str, replies: Sequence[JudgedReply]) -> _Open:
    known: dict[Hashable, int] = {}
    texts: list[str] = []
    for reply in replies:
        for answer in reply.answers:
            if answer.key not in known:
                known[answer.key] = len(texts)
                texts.append(answer.text)
    sets = [frozenset(known[answer.key] for answer in reply.answers) for reply in replies]
    return _Open(place, question, texts, sets)


def _labels(sets: Sequence[frozenset[int]], alike: Bools) -> Integers:
    """Return the clusters of sets of answers of which it is known which are alike."""
    distinct = list(dict.fromkeys(sets))
    holds = np.zeros((len(distinct), len(alike)), dtype=np.float32)
    for row, one in enumerate(distinct):
        holds[row, list(one)] = 1
    # lacks[a, b]: how many answers of a have no like in b.
    lacks = holds @ (holds @ alike.astype(np.float32) == 0).astype(np.float32).T
    sizes = holds.sum(axis=1)
    same = (lacks == 0) & (lacks.T == 0) & ((sizes > 0)[:, None] == (sizes > 0)[None, :])
    of_distinct = dict(zip(distinct, clusters_of(same).tolist(), strict=True))
    return np.array([of_distinct[one] for one in sets], dtype=np.int64)


def _by_vectors(
    labels: dict[tuple[str, str], Integers],
    waiting: Sequence[_Open],
    parameters: MaqaParameters,
    progress: Progress | None,
) -> Clusters:
    precision = cast(Literal["float32", "bfloat16", "auto"], parameters.precision)
    embedder = get_embedder(parameters.embedder, precision)
    everything = list(dict.fromkeys(text for one in waiting for text in one.texts))
    embedder.fit(everything)
    cut = done = 0
    bound = min(parameters.same_cosine, ALL_BUT_1)
    for first, last in blocks([one.texts for one in waiting]):
        texts = list(dict.fromkeys(text for one in waiting[first:last] for text in one.texts))
        vectors, n_cut = embedded(embedder, texts, done, len(everything), progress)
        cut, done = cut + n_cut, min(done + len(texts), len(everything))
        rows = {text: row for row, text in enumerate(texts)}
        for one in waiting[first:last]:
            alike = cosines_among(vectors, [rows[text] for text in one.texts]) > bound
            alike &= ~different_numbers(one.texts)
            np.fill_diagonal(alike, True)
            labels[one.place] = _labels(one.sets, alike)
    info = embedder.describe()
    sample = everything[:: max(1, len(everything) // SAMPLE)]
    found = [truncation_warning(cut, info), language_warning(sample, info)]
    return Clusters(labels, info, None, [one for one in found if one])


def _by_entailment(
    labels: dict[tuple[str, str], Integers],
    waiting: Sequence[_Open],
    parameters: MaqaParameters,
    progress: Progress | None,
) -> None:
    """Ask a model of entailment of every two answers behind their question, both ways."""
    model = EntailmentModel.load(parameters.nli)
    batch: list[tuple[_Open, Bools]] = []
    pairs: list[tuple[str, str]] = []

    def decide() -> None:
        found = model.probabilities(pairs) >= parameters.entailment
        at = 0
        for one, asked in batch:
            alike = np.eye(len(one.texts), dtype=np.bool_)
            n = 2 * int(asked.sum())
            there, back = found[at : at + n].reshape(-1, 2).T
            alike[asked] = there & back
            labels[one.place] = _labels(one.sets, alike | alike.T)
            at += n
        batch.clear()
        pairs.clear()

    for done, one in enumerate(waiting, 1):
        asked = np.triu(~different_numbers(one.texts), 1)
        of_two = [(f"{one.question} {one.texts[a]}", f"{one.question} {one.texts[b]}")
                  for a, b in zip(*np.nonzero(asked), strict=True)]  # fmt: skip
        pairs += [pair for a, b in of_two for pair in ((a, b), (b, a))]
        batch.append((one, asked))
        if len(pairs) >= PAIRS:
            decide()
            if progress:
                progress("entailment", done, len(waiting))
    decide()
