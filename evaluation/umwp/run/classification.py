"""Classify replies as unanswerable, answerable or refused; tune the threshold (Sun et al. 2024).

A reply is unanswerable if a window of its words has a greater cosine to a template than the
threshold, or if its last sentences hold an expression with a variable. Every distinct window is
embedded once. The threshold of an encoder is tuned on replies that were labelled by hand: one half
tunes, the other half measures. `labelled.jsonl` has a line for each reply: "reply", "first" and
"second" label, and its "half".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from annotations.exchange.reading.word_problems import WordProblem, WordProblemReply
from annotations.exchange.records import AnswerStatus
from evaluation.consensus.inputs import Progress
from evaluation.core.backends import Embedder, EmbedderInfo, Vectors, get_embedder
from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.statistics.agreement import cohen_kappa
from evaluation.umwp.methods.detection import (
    Detections,
    choose_similarity_threshold,
    compute_detection_rates,
)
from evaluation.umwp.methods.texts import (
    FIXED,
    find_variable_expression,
    is_right_number,
    list_windows,
    normalize_sentence,
    read_answer_number,
)

# Windows embedded at once: vectors of all windows of a large file would not fit into memory.
BLOCK = 4096
ENGLISH = "en"
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


@dataclass(frozen=True)
class TemplateSimilarity:
    """The most similar template of each distinct window (six words of a reply).

    Attributes
    ----------
    place : index of each window in the arrays.
    similarity : (n,) cosine to the nearest template, -1 to 1.
    template : (n,) index of the nearest template in `templates`.
    info : the encoder.
    """

    place: dict[str, int]
    similarity: Floats
    template: Integers
    templates: Sequence[str]
    info: EmbedderInfo

    def find_nearest_template(self, windows: Sequence[str]) -> tuple[float, str, str] | None:
        """Return the similarity, window and template of a reply's most similar window, or None.

        The first window counts among equal ones. None without windows.
        """
        if not windows:
            return None
        indices = [self.place[window] for window in windows]
        best = indices[int(np.argmax(self.similarity[indices]))]
        window = windows[indices.index(best)]
        return float(self.similarity[best]), window, self.templates[int(self.template[best])]


def compare_with_templates(
    windows: Iterable[str],
    templates: Sequence[str],
    encoder: str,
    progress: Progress | None = None,
) -> TemplateSimilarity:
    """Return the most similar template of each distinct window (six words of a reply).

    The windows must be in lower case, without a punctuation mark at the end. The function
    normalises the templates in the same way. Raises `BackendError` if the encoder is unavailable.
    """
    distinct = list(dict.fromkeys(windows))
    embedder = get_embedder(encoder)
    similarity = np.zeros(len(distinct))
    nearest = np.zeros(len(distinct), dtype=np.int64)
    for start, cosines in _compute_cosine_blocks(embedder, distinct, templates, progress):
        end = start + len(cosines)
        nearest[start:end] = cosines.argmax(axis=1)
        similarity[start:end] = cosines.max(axis=1)
    index = {window: number for number, window in enumerate(distinct)}
    return TemplateSimilarity(index, similarity, nearest, templates, embedder.describe())


def compute_template_similarities(
    windows: Sequence[str],
    templates: Sequence[str],
    encoder: str,
    progress: Progress | None = None,
) -> Floats:
    """Return cosines from -1 to 1, one row per window, one column per template.

    Pass distinct windows: repeated ones are embedded again. Raises `BackendError` if the encoder
    is unavailable.
    """
    similarity = np.zeros((len(windows), len(templates)))
    for start, cosines in _compute_cosine_blocks(
        get_embedder(encoder), windows, templates, progress
    ):
        similarity[start : start + len(cosines)] = cosines
    return similarity


def _compute_cosine_blocks(
    embedder: Embedder,
    windows: Sequence[str],
    templates: Sequence[str],
    progress: Progress | None,
) -> Iterator[tuple[int, Floats]]:
    """Yield the index of the first window and the cosines of each block of windows."""
    normalized = [normalize_sentence(template) for template in templates]
    # Embedders such as tf-idf learn their vocabulary from all texts that are compared.
    embedder.fit([*normalized, *windows])
    template_vectors = _normalize_rows(embedder.embed(normalized))
    unspaced = _list_unspaced_templates(normalized)
    if progress:
        progress("windows", 0, len(windows))
    for start in range(0, len(windows), BLOCK):
        block = windows[start : start + BLOCK]
        # Rounding may bring the cosine of equal texts above 1.
        cosines = np.minimum(_normalize_rows(embedder.embed(block)) @ template_vectors.T, 1.0)
        if embedder.describe().languages == ENGLISH:
            _overwrite_unspaced_cosines(block, unspaced, cosines)
        yield start, cosines
        if progress:
            progress("windows", start + len(block), len(windows))


def _list_unspaced_templates(templates: Sequence[str]) -> list[tuple[int, set[str]]]:
    """Return index and letter pairs of each Chinese, Japanese or Korean template."""
    return [
        (number, pairs)
        for number, template in enumerate(templates)
        if _UNSPACED.search(template) and (pairs := _list_letter_pairs(template))
    ]


def _overwrite_unspaced_cosines(
    windows: Sequence[str], templates: Sequence[tuple[int, set[str]]], cosines: Floats
) -> None:
    """Replace the cosines of Chinese, Japanese and Korean windows by letter overlap.

    An English encoder has no useful vectors for these scripts. The similarity is the share of a
    template's letter pairs that the window contains, 0 to 1.
    """
    for row, window in enumerate(windows):
        if not _UNSPACED.search(window):
            continue
        pairs = _list_letter_pairs(window)
        cosines[row] = 0.0
        for column, template_pairs in templates:
            cosines[row, column] = len(template_pairs & pairs) / len(template_pairs)


def _list_letter_pairs(text: str) -> set[str]:
    """Return each two neighbouring letters of a text, without white space."""
    letters = "".join(text.split())
    return {letters[start : start + 2] for start in range(len(letters) - 1)}


def _normalize_rows(vectors: Vectors) -> Floats:
    """Return the vectors scaled to length 1; a row of zeros stays zero."""
    dense = np.asarray(
        vectors if isinstance(vectors, np.ndarray) else vectors.toarray(), dtype=np.float64
    )
    # An empty tf-idf row has norm 0; dividing by it would give NaN.
    norms = np.linalg.norm(dense, axis=1, keepdims=True)
    return np.divide(dense, norms, out=np.zeros_like(dense), where=norms > 0)


ANSWERABLE, UNANSWERABLE, REFUSED = "answerable", "unanswerable", "refused"
TEMPLATE, EXPRESSION, NOTHING = "template", "expression", "nothing"
REFUSALS = (AnswerStatus.REFUSED, AnswerStatus.REFUSED_PROMPT, AnswerStatus.REFUSED_GENERATION)


@dataclass(frozen=True)
class Classification:
    """Class of a reply (unanswerable, answerable, refused), with the evidence that decided.

    Attributes
    ----------
    taken_as : "unanswerable", "answerable" or "refused".
    by : evidence that decided: "template", "expression" or "nothing" (neither was found);
        "refused" or "empty" for a reply without text.
    similarity, window, template : the window most similar to a template; None without words.
    expression : the expression that decided; None if none did.
    answer : the number that an answerable reply states; None without one.
    """

    taken_as: str
    by: str
    similarity: float | None = None
    window: str | None = None
    template: str | None = None
    expression: str | None = None
    answer: float | None = None


def classify_reply(
    reply: str,
    status: AnswerStatus,
    similarity: TemplateSimilarity,
    threshold: float,
    rules: str = FIXED,
    is_math: bool = True,
) -> Classification:
    """Return the class of a reply: unanswerable, answerable or refused.

    Parameters
    ----------
    similarity : has all windows of the reply.
    threshold : a window with a greater similarity makes the reply unanswerable.
    is_math : whether the answer is a number. In a text answer, such as CO2, letters are no
        variables, so no expression decides.
    """
    if status in REFUSALS:
        return Classification(REFUSED, REFUSED)
    if status is AnswerStatus.EMPTY:
        return Classification(ANSWERABLE, AnswerStatus.EMPTY.value)
    nearest = similarity.find_nearest_template(list_windows(reply, rules))
    evidence: tuple[float | None, str | None, str | None] = nearest or (None, None, None)
    # Templates decide before expressions, as in the paper.
    if nearest is not None and nearest[0] > threshold:
        return Classification(UNANSWERABLE, TEMPLATE, *evidence)
    expression = find_variable_expression(reply, rules) if is_math else None
    if expression is not None:
        return Classification(UNANSWERABLE, EXPRESSION, *evidence, expression)
    return Classification(ANSWERABLE, NOTHING, *evidence, None, read_answer_number(reply))


@dataclass(frozen=True)
class JudgedReply:
    """A classified reply; `right` is true if its number is an accepted answer."""

    reply: WordProblemReply
    problem: WordProblem
    classified: Classification
    right: bool

    @property
    def positive(self) -> bool:
        """Whether the reply was classified as unanswerable."""
        return self.classified.taken_as == UNANSWERABLE


def judge_reply(
    reply: WordProblemReply,
    problem: WordProblem,
    similarity: TemplateSimilarity,
    threshold: float,
    rules: str,
) -> JudgedReply:
    """Return a reply with its class, and whether its number is an accepted answer.

    No number is read if the problem is not mathematical and has no number to compare with.
    """
    classified = classify_reply(
        reply.text, reply.status, similarity, threshold, rules, problem.is_math
    )
    if not problem.is_math and not problem.answers:
        classified = replace(classified, answer=None)
    right = classified.taken_as == ANSWERABLE and is_right_number(
        reply.text, problem.answers, rules
    )
    return JudgedReply(reply, problem, classified, right)


def build_detections(replies: Sequence[JudgedReply]) -> Detections:
    """Return problem labels and reply classes as columns, one entry per reply."""
    return Detections(
        np.array([not reply.problem.answerable for reply in replies], dtype=np.bool_),
        np.array([reply.positive for reply in replies], dtype=np.bool_),
        np.array([reply.classified.taken_as == REFUSED for reply in replies], dtype=np.bool_),
        np.array([reply.right for reply in replies], dtype=np.bool_),
        gradable=np.array([bool(reply.problem.answers) for reply in replies], dtype=np.bool_),
    )


TUNE, REPORT = "tune", "report"


@dataclass(frozen=True)
class LabelledReply:
    """A reply labelled by two annotators; `half` is "tune" or "report"."""

    reply: str
    first: str
    second: str
    half: str


@dataclass(frozen=True)
class TunedThreshold:
    """A tuned similarity threshold, with its rates on the replies that did not tune it.

    `precision`, `recall` and `f1` are None where they are undefined; `n` replies are in that half.
    """

    threshold: float
    precision: float | None
    recall: float | None
    f1: float | None
    n: int


RECORDED_THRESHOLDS = {
    "minilm": TunedThreshold(0.5818, 0.875, 0.8045977011494253, 0.8383233532934131, 170),
}
"""Tuned thresholds for the project's templates, by encoder: tuning takes minutes."""


@cache
def load_labelled_replies() -> tuple[LabelledReply, ...]:
    """Return the built-in labelled replies, which tune the threshold."""
    lines = Path(__file__).with_name("labelled.jsonl").read_text("utf-8").splitlines()
    return tuple(LabelledReply(**json.loads(line)) for line in lines)


def measure_label_agreement(replies: Sequence[LabelledReply]) -> tuple[float, float | None]:
    """Return the share of replies that two annotators label alike, and Cohen's kappa."""
    first, second = (
        [labelled.first for labelled in replies],
        [labelled.second for labelled in replies],
    )
    same = sum(a == b for a, b in zip(first, second, strict=True)) / len(replies)
    return same, cohen_kappa(first, second)


def list_reply_windows(replies: Sequence[LabelledReply]) -> list[str]:
    """Return the windows (six consecutive words) of all replies, with repetitions."""
    return [window for labelled in replies for window in list_windows(labelled.reply)]


def tune_threshold(
    replies: Sequence[LabelledReply],
    similarity: TemplateSimilarity,
    threshold: float | None = None,
) -> TunedThreshold:
    """Return the threshold chosen on one half of the replies, with its rates on the other half.

    Replies with two different labels are left out. Pass `threshold` to measure only.
    """
    agreed = [labelled for labelled in replies if labelled.first == labelled.second]
    nearest = [
        similarity.find_nearest_template(list_windows(labelled.reply)) for labelled in agreed
    ]
    # -1 is the least cosine: a reply without words is above no threshold.
    greatest = np.array([match[0] if match else -1.0 for match in nearest])
    # These are positive at any threshold: the tuned F1 is that of both rules together.
    has_expression = np.array(
        [find_variable_expression(labelled.reply) is not None for labelled in agreed]
    )
    is_unanswerable = np.array([labelled.first == UNANSWERABLE for labelled in agreed])
    tune = np.array([labelled.half == TUNE for labelled in agreed])
    if threshold is None:
        threshold = choose_similarity_threshold(
            greatest[tune], has_expression[tune], is_unanswerable[tune]
        )
    report = ~tune
    positive = (greatest > threshold) | has_expression
    none = np.zeros(int(report.sum()), dtype=np.bool_)
    detections = Detections(is_unanswerable[report], positive[report], none, none)
    measured = compute_detection_rates(detections, n_draws=0)
    precision, recall, f1 = (measured[name].value for name in ("precision", "recall", "f1"))
    return TunedThreshold(threshold, precision, recall, f1, int(report.sum()))
