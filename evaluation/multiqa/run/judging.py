"""Judge replies by their items' matchers: which are right, and which give the same answer.

The replies of each system become a `Panel`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from evaluation.consensus.inputs import Progress
from evaluation.core.backends import Embedder, EmbedderInfo, get_embedder
from evaluation.core.messages.message import Message
from evaluation.core.stats.cells import Floats
from evaluation.core.stats.statistics.descriptive import (
    ThresholdErrors,
    measure_threshold,
    tune_threshold,
)
from evaluation.core.text.items import (
    CHOICE,
    COSINE,
    EXACT,
    Choices,
    Fault,
    MultiqaItem,
    find_accepted_choices,
)
from evaluation.core.text.matching import is_similar, normalise
from evaluation.multiqa.items import NO_REPLY, TEXT, Replies, SystemReplies, group_by_system
from evaluation.multiqa.methods.panel import NO_VOTE, Panel
from evaluation.multiqa.options import MultiqaParameters
from evaluation.multiqa.run.meaning import CosineJudgement, Reranking, judge_by_cosine
from evaluation.runs.flow.metrics import OVERALL, Exclusions, MetricRow, compute_cosines_among

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

# A single choice has its index as its code; codes of all other answers begin here.
FIRST_OTHER_CODE = 1 << 20


@dataclass(frozen=True)
class JudgedSystem:
    """Replies of one system, and the panel (arrays) of their judged answers."""

    replies: SystemReplies
    panel: Panel


@dataclass
class Judgement:
    """Judged replies of all systems, with exclusions and the embedding used.

    Attributes
    ----------
    info : the embedder; None if no item needs one.
    warnings : of embedding and re-ranking.
    reranking : of free texts; None without a re-ranker.
    left_out : items and replies that do not count, by reason.
    listed : replies that are wrong for their form: letters out of range, and replies that name no
        choice.
    """

    items: Sequence[MultiqaItem]
    replies: Replies
    systems: tuple[JudgedSystem, ...]
    left_out: Exclusions
    listed: Exclusions
    info: EmbedderInfo | None = None
    warnings: list[Message] = field(default_factory=list)
    reranking: Reranking | None = None

    def find_text(self, number: int) -> str | None:
        """Return a reply's text by its index in `Replies.texts`; None for `NO_REPLY`."""
        return None if number == NO_REPLY else self.replies.texts[number]


def judge(
    items: Sequence[MultiqaItem],
    replies: Replies,
    parameters: MultiqaParameters,
    left_out: Exclusions,
    progress: Progress | None = None,
    embedder: Embedder | None = None,
) -> Judgement:
    """Judge every reply by the matcher of its item; raises `BackendError`.

    `replies` must hold each system, item and variant once. `embedder` is used in place of that of
    the parameters.
    """
    systems = group_by_system(items, replies, left_out)
    codes = AnswerCodes()
    matcher = _TextMatcher(items, replies, systems, parameters, codes)
    by_cosine = judge_by_cosine(
        items, replies, systems, parameters, codes.assign, progress, embedder
    )
    listed = Exclusions()
    n_choices = np.array(
        [len(item.choices) if item.kind == CHOICE else 0 for item in items], dtype=np.int64
    )
    n_guesses = np.array([_count_guesses(item) for item in items], dtype=np.int64)
    judged = []
    for number, system in enumerate(systems):
        answers, right, representatives = matcher.judge_system(system)
        if by_cosine is not None:
            _insert_cosine_rows(by_cosine.systems[number], answers, right, representatives)
        panel = Panel.build(
            answers,
            right,
            n_choices[system.items],
            system.statuses != NO_REPLY,
            representatives,
            n_guesses[system.items],
        )
        judged.append(JudgedSystem(system, panel))
        matcher.note_faults(system, listed)
    judgement = Judgement(items, replies, tuple(judged), left_out, listed)
    if by_cosine is not None:
        judgement.info, judgement.warnings = by_cosine.info, by_cosine.warnings
        judgement.reranking = by_cosine.reranking
    elif parameters.reranker:
        judgement.warnings = [Message("reranked_nothing")]
    return judgement


class AnswerCodes:
    """Assigns integer codes to answers; equal answers get the same code."""

    def __init__(self) -> None:
        self._codes: dict[Any, int] = {}

    def assign(self, answer: Any) -> int:
        """Return the code of an answer, a normalised text or a set of choices."""
        return self._codes.setdefault(answer, FIRST_OTHER_CODE + len(self._codes))


class _TextMatcher:
    """Judges replies by answer choice, exact match or Levenshtein ratio.

    Each pair of item and text is judged once, however many systems and wordings have it.
    """

    def __init__(
        self,
        items: Sequence[MultiqaItem],
        replies: Replies,
        systems: Sequence[SystemReplies],
        parameters: MultiqaParameters,
        codes: AnswerCodes,
    ) -> None:
        self._items, self._replies = items, replies
        self._uses_cosine = np.array([item.matcher == COSINE for item in items], dtype=np.bool_)
        keys = [self._find_keys(system)[0] for system in systems]
        # Sorted keys of all pairs of item and text; the arrays below have their order.
        self._keys = np.unique(np.concatenate(keys)) if keys else np.empty(0, dtype=np.int64)
        self._answers = np.empty(len(self._keys), dtype=np.int64)
        self._right = np.empty(len(self._keys), dtype=np.bool_)
        self._faults: dict[int, Fault] = {}
        self._judge_pairs(parameters, codes)

    def _find_keys(self, system: SystemReplies) -> tuple[Ints, Ints, Ints]:
        """Return keys that combine item and text of each judged reply, with row and column."""
        votes = (system.statuses == TEXT) & ~self._uses_cosine[system.items][:, None]
        rows, columns = np.nonzero(votes)
        # One 64-bit key for item and text makes `unique` and `searchsorted` one-dimensional.
        return system.items[rows] << 32 | system.texts[rows, columns], rows, columns

    def _judge_pairs(self, parameters: MultiqaParameters, codes: AnswerCodes) -> None:
        """Compute the answer code and correctness of each distinct pair of item and text."""
        texts = self._replies.texts
        normalised_texts: dict[int, str] = {}
        readers: dict[tuple[str, ...], Choices] = {}
        current, reader = -1, Choices(())
        accepted: frozenset[Any] = frozenset()
        item_numbers = (self._keys >> 32).tolist()
        text_numbers = (self._keys & 0xFFFFFFFF).tolist()
        for index, (number, text) in enumerate(zip(item_numbers, text_numbers, strict=True)):
            item = self._items[number]
            # Keys are sorted, so all texts of an item come together.
            if number != current:
                current = number
                if item.matcher == CHOICE:
                    cached = readers.get(item.choices)
                    reader = cached or Choices(item.choices)
                    if cached is None and len(readers) < MOST_READERS:
                        readers[item.choices] = reader
                    accepted = find_accepted_choices(item, reader)
                else:
                    accepted = frozenset(map(normalise, item.answers))
            if item.matcher == CHOICE:
                read = reader.read(texts[text])
                # A reply that names no choice still votes: equal ones are one answer.
                if read.fault is not None:
                    self._faults[index] = read.fault
                    self._answers[index] = codes.assign(normalise(texts[text]))
                elif len(read.choices) == 1:
                    self._answers[index] = min(read.choices)
                else:
                    self._answers[index] = codes.assign(read.choices)
                # The whole set must be equal: with several right choices a part of them is wrong.
                self._right[index] = read.fault is None and read.choices == accepted
                continue
            reply = normalised_texts.get(text)
            if reply is None:
                reply = normalised_texts[text] = normalise(texts[text])
            self._answers[index] = codes.assign(reply)
            self._right[index] = reply in accepted or (
                item.matcher != EXACT
                and any(is_similar(reply, answer, parameters.levenshtein) for answer in accepted)
            )

    def judge_system(self, system: SystemReplies) -> tuple[Ints, Bools, Ints]:
        """Return a system's answer codes, their correctness, and cluster representatives.

        Every reply represents itself. Rows of items with the matcher cosine are without votes.
        """
        n, width = system.statuses.shape
        answers = np.full((n, width), NO_VOTE, dtype=np.int64)
        right = np.zeros((n, width), dtype=np.bool_)
        keys, rows, columns = self._find_keys(system)
        positions = np.searchsorted(self._keys, keys)
        answers[rows, columns] = self._answers[positions]
        right[rows, columns] = self._right[positions]
        representatives = np.tile(np.arange(width), (n, 1))
        return answers, right, representatives

    def note_faults(self, system: SystemReplies, listed: Exclusions) -> None:
        """Add a system's replies that name no valid choice to `listed`."""
        if not self._faults:
            return
        keys, rows, columns = self._find_keys(system)
        positions = np.searchsorted(self._keys, keys)
        is_faulty = np.zeros(len(self._keys), dtype=np.bool_)
        is_faulty[list(self._faults)] = True
        for index in np.flatnonzero(is_faulty[positions]).tolist():
            row, column = rows[index], columns[index]
            listed.add(
                self._faults[int(positions[index])].value,
                {
                    "system": system.system,
                    "item": self._items[system.items[row]].item,
                    "variant": int(system.variants[row, column]),
                    "reply": self._replies.texts[system.texts[row, column]][:LONGEST_SHOWN],
                },
            )


# Cached readers: many items share choices such as yes and no; most others occur once.
MOST_READERS = 10_000

# Characters of a listed reply.
LONGEST_SHOWN = 200

# Cap of the number of guesses: beyond it the chance level is about 0 in any case.
MOST_GUESSES = 1000


def _count_guesses(item: MultiqaItem) -> int:
    """Return the number of equally likely guesses for an item; 0 without choices.

    With m right choices a guess is one of the sets of m choices.
    """
    if item.kind != CHOICE:
        return 0
    if item.matcher != CHOICE or len(item.answers) < 2:
        return len(item.choices)
    n_right = len(find_accepted_choices(item, Choices(item.choices)))
    # A guesser who knows the number of right choices picks one of the sets of this size.
    return min(comb(len(item.choices), n_right), MOST_GUESSES)


def find_fault(item: MultiqaItem) -> tuple[str, str] | None:
    """Return the (field, reason) why an item cannot be judged; None if it can.

    Faults: a choice item without choices, or choices of another kind of item; the matcher choice
    for another kind; two equal choices; an accepted answer that is not among the choices.
    """
    if bool(item.choices) != (item.kind == CHOICE):
        reason = "there are no choices" if item.kind == CHOICE else "only a choice has choices"
        return "choices", f"{reason}, and the kind is {item.kind}"
    if item.matcher == CHOICE and item.kind != CHOICE:
        return "matcher", f"the matcher choice is not for the kind {item.kind}"
    if item.kind != CHOICE:
        return None
    reader = Choices(item.choices)
    equal = reader.alike()
    if equal is not None:
        return "choices", f"choices {equal[0] + 1} and {equal[1] + 1} are the same"
    if item.matcher == CHOICE:
        try:
            find_accepted_choices(item, reader)
        except ValueError as error:
            return "answers", str(error)
    return None


def _insert_cosine_rows(
    judged: CosineJudgement, answers: Ints, right: Bools, representatives: Ints
) -> None:
    """Write the results of items judged by cosine into a system's arrays."""
    answers[judged.rows] = judged.answers
    right[judged.rows] = judged.right
    representatives[judged.rows] = judged.representatives


BEETLE = "Beetle"
ALL_SYSTEMS = ""
RIGHT_MISSED, WRONG_TAKEN, AREA = "right_missed", "wrong_taken_for_right", "threshold_auc"


@dataclass(frozen=True)
class LabelledPair:
    """A reply with the accepted answers of its question, labelled as right or wrong.

    `group` is the question: all pairs of a group are in one half.
    """

    group: str
    accepted: tuple[str, ...]
    reply: str
    right: bool


# By embedder (float32): the default threshold on all pairs, and the tuned one on the pairs of the
# questions that did not tune it.
RECORDED: Mapping[str, tuple[ThresholdErrors, ThresholdErrors]] = {
    "minilm": (
        ThresholdErrors(0.60, 0.2738, 0.3647, 0.7612, 1636, 894, BEETLE),
        ThresholdErrors(0.6437, 0.2974, 0.3115, 0.7822, 733, 520, BEETLE),
    )
}


def find_recorded_errors(parameters: MultiqaParameters) -> ThresholdErrors | None:
    """Return the recorded errors of the embedder at the threshold in use; None without any."""
    # The recorded errors are those of float32; another precision moves cosines near the threshold.
    if parameters.precision != "float32":
        return None
    recorded = RECORDED.get(parameters.embedder, ())
    return next((each for each in recorded if each.threshold == parameters.cosine), None)


def find_tuned_cosine(parameters: MultiqaParameters) -> float | None:
    """Return the recorded tuned threshold of the embedder; None without one."""
    recorded = RECORDED.get(parameters.embedder)
    return None if recorded is None else recorded[1].threshold


def use_recorded_cosine(parameters: MultiqaParameters) -> MultiqaParameters:
    """Return the parameters with the tuned threshold where it is wanted and recorded."""
    tuned = find_tuned_cosine(parameters) if parameters.tune_cosine else None
    return parameters if tuned is None else replace(parameters, cosine=tuned)


def measure_pairs(
    pairs: Sequence[LabelledPair], parameters: MultiqaParameters, source: str
) -> ThresholdErrors:
    """Return the errors of the threshold on labelled pairs, tuned first if the options say so.

    Without tuning all pairs measure the threshold `cosine`. Raises `BackendError`; `ValueError` if
    right or wrong pairs are missing, in either half when tuned.
    """
    similarity = _compute_similarities(pairs, parameters)
    is_right = np.array([pair.right for pair in pairs], dtype=np.bool_)
    if not parameters.tune_cosine:
        return measure_threshold(similarity, is_right, parameters.cosine, source)
    groups = [pair.group for pair in pairs]
    return tune_threshold(similarity, is_right, groups, source, parameters.seed)


def _compute_similarities(pairs: Sequence[LabelledPair], parameters: MultiqaParameters) -> Floats:
    """Return each reply's greatest cosine to an accepted answer."""
    precision = cast(Literal["float32", "bfloat16", "auto"], parameters.precision)
    embedder = get_embedder(parameters.embedder, precision)
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.reply, *pair.accepted)))
    embedder.fit(texts)
    vectors = embedder.embed(texts)
    rows = {text: row for row, text in enumerate(texts)}
    return np.array(
        [
            compute_cosines_among(vectors, [rows[text] for text in (pair.reply, *pair.accepted)])[
                0, 1:
            ].max()
            for pair in pairs
        ]
    )


def build_error_rows(errors: ThresholdErrors) -> list[MetricRow]:
    """Return rows of metrics.csv: both error rates of the cosine threshold, and the AUC."""
    return [
        MetricRow(ALL_SYSTEMS, OVERALL, metric, value, None, None, n, "of_the_file")
        for metric, value, n in (
            (RIGHT_MISSED, errors.missed, errors.n_right),
            (WRONG_TAKEN, errors.taken, errors.n_wrong),
            (AREA, errors.auc, errors.n_right + errors.n_wrong),
        )
    ]


def build_error_message(errors: ThresholdErrors) -> Message:
    """Return the message that states both errors of the threshold."""
    values = {key: value for key, value in errors.as_dict().items() if key != "auc"}
    return Message("multiqa.cosine_errors", {**values, "area": errors.auc})
