"""Input of a grading: answers as columns, and the vectors of their texts.

Embedding of workers' and models' answers in one vector space.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from itertools import compress, permutations
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from annotations.exchange import AnswerStatus
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends import EmbedderInfo, get_embedder
from evaluation.core.backends.cross_encoder import EntailmentModel
from evaluation.core.messages.message import Message
from evaluation.core.stats.cells import divide_where_positive
from evaluation.core.stats.grams import Vectors
from evaluation.core.text.quality import correct_spelling, find_language_warning


@dataclass(frozen=True)
class _AnswerTable:
    """Base class of tables of answers: each field is a column, all columns have equal length."""

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[Any]]) -> Self:
        """Build the table from `rows`, where each row has one value for every column."""
        rows = list(rows)
        width = len(rows[0]) if rows else len(fields(cls))
        return cls(*([row[index] for row in rows] for index in range(width)))

    def select_rows(self, wanted: Iterable[bool]) -> Self:
        """Return the table with only the rows flagged in `wanted`; the same object if all are."""
        wanted = list(wanted)
        if all(wanted):
            return self
        return type(self)(*(list(compress(column, wanted)) for column in vars(self).values()))


@dataclass(frozen=True)
class Answers(_AnswerTable):
    """N answers of workers in the order of submission, at most one for each worker and question.

    Attributes
    ----------
    keys : the caller's ids of the answers. workers, questions : ids of their workers and questions.
    texts : texts as written, "" for an empty answer. rejected : whether the collection rejected
        them.
    times : when each answer was sent, None if unknown; () if no answer has a time.
    """

    keys: Sequence[Any]
    workers: Sequence[Any]
    questions: Sequence[Any]
    texts: Sequence[str]
    rejected: Sequence[bool]
    times: Sequence[datetime | None] = ()

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True)
class ModelAnswers(_AnswerTable):
    """Answers of language models in the order of asking, with status and sample number.

    `samples` number the answers of one asking from 0.
    """

    keys: Sequence[Any]
    models: Sequence[Any]
    questions: Sequence[Any]
    texts: Sequence[str]
    statuses: Sequence[AnswerStatus]
    samples: Sequence[int]

    def __len__(self) -> int:
        return len(self.keys)

    def select_first_samples(self) -> Self:
        """Return one answer for each model and question: sample 0 of the latest request for it.

        An earlier answer does not replace an ERROR of the latest request, because its prompt or
        parameters may differ: the model has to be asked again.
        """
        # Rows are in the order of asking: a later one replaces an earlier one.
        latest = {
            (self.models[row], self.questions[row]): row
            for row in range(len(self))
            if not self.samples[row]
        }
        rows = set(latest.values())
        return self.select_rows(row in rows for row in range(len(self)))

    def find_models_with_status(self, status: AnswerStatus) -> set[Any]:
        """Return the ids of the models that have at least one answer with this status."""
        pairs = zip(self.models, self.statuses, strict=True)
        return {model for model, of_row in pairs if of_row is status}

    def find_models_only_cut_off(self) -> set[Any]:
        """Return the ids of the models that have cut-off replies but no reply with status ERROR."""
        return self.find_models_with_status(AnswerStatus.CUT_OFF) - self.find_models_with_status(
            AnswerStatus.ERROR
        )

    def select_with_text(self) -> Self:
        """Return a copy with only the answers of status TEXT: none empty, refused or failed."""
        return self.select_rows(status is AnswerStatus.TEXT for status in self.statuses)


@dataclass(frozen=True)
class GradingInput:
    """Input of one grading run: parameters, answers, and counts of the answers left out.

    Attributes
    ----------
    all_answers : all answers that are not left out, also those without a text.
    answered : the answers of `all_answers` that have a text; these are graded.
    models : one answer for each model and question; None without models.
    n_rejected : number of answers left out because they were rejected at collection.
    n_repeated : number of rows left out because they repeat an earlier row.
    excluded : ids of workers who do not vote, each among the workers.
    collapsed : ids of workers whose groups of copiers vote as one; () for all groups.
    anchors : pairs of a row of `answered` and an expert's grade of it.
    model_names : name of each model in messages, by id; the id is used where there is none.
    wordings : known texts of the questions, by id.
    question_groups : passage or category by question, see `choose_question_groups`.
    """

    parameters: AqerParameters
    all_answers: Answers
    answered: Answers
    models: ModelAnswers | None = None
    n_rejected: int = 0
    n_repeated: int = 0
    excluded: Sequence[Any] = ()
    collapsed: Sequence[Any] = ()
    anchors: Sequence[tuple[int, float]] = ()
    model_names: Mapping[Any, str] = field(default_factory=dict)
    wordings: Mapping[Any, str] = field(default_factory=dict)
    question_groups: Mapping[Any, str] = field(default_factory=dict)

    @property
    def workers(self) -> list[Any]:
        """Ids of all workers, also of those without a text, in the order of their first answer."""
        return list(dict.fromkeys(self.all_answers.workers))

    @property
    def questions(self) -> list[Any]:
        """Ids of all questions with a submitted answer, in the order of their first answer."""
        return list(dict.fromkeys(self.all_answers.questions))

    @property
    def n_empty(self) -> int:
        """Number of submitted answers without a text."""
        return len(self.all_answers) - len(self.answered)

    def compute_workers_hash(self) -> str:
        """Return the hash of the input without models' answers, on which grades do not depend."""
        return replace(self, models=None).compute_hash()

    def compute_hash(self) -> str:
        """Return the SHA-256 of the input in hex: ids, texts, and the times for copy alarms."""
        digest = hashlib.sha256()
        answers, models = self.answered, self.models or ModelAnswers.from_rows([])
        for columns in (
            zip(answers.workers, answers.questions, answers.texts, strict=True),
            zip(models.models, models.questions, models.texts, models.statuses, strict=True),
        ):
            for row in columns:
                # Separators keep fields apart: ("ab", "c") and ("a", "bc") must not have equal
                # hashes.
                digest.update("\x1f".join(map(str, row)).encode() + b"\x1e")
            digest.update(b"\x1d")
        for index, grade in self.anchors:
            digest.update(f"{answers.keys[index]}\x1f{grade!r}\x1e".encode())
        groups = self.question_groups if self.parameters.question_contrast else {}
        for question in filter(groups.get, dict.fromkeys(answers.questions)):
            digest.update(f"{question}\x1f{groups[question]}\x1e".encode())
        # Times decide whose answers vote for a group of copies.
        for time in answers.times if self.parameters.collapse_copies and any(answers.times) else ():
            digest.update(f"{time and time.astimezone(UTC).isoformat()}\x1e".encode())
        return digest.hexdigest()


def choose_question_groups(
    questions: Iterable[Any], passages: Mapping[Any, str], categories: Mapping[Any, str]
) -> dict[Any, str]:
    """Return each question's passage or category, within which question contrast compares it.

    The passage where 5 of the questions or more have it, else the category; questions without
    either are left out.
    """
    from evaluation.consensus.methods.question_contrast import FEWEST_QUESTIONS

    distinct = list(dict.fromkeys(questions))
    n_of_passage = Counter(passages.get(question, "") for question in distinct)
    question_groups = {}
    for question in distinct:
        passage, category = passages.get(question, ""), categories.get(question, "")
        if passage and n_of_passage[passage] >= FEWEST_QUESTIONS:
            # The prefix keeps a passage and a category of the same name apart.
            question_groups[question] = f"passage:{passage}"
        elif category:
            question_groups[question] = f"category:{category}"
    return question_groups


def select_graded_answers(
    parameters: AqerParameters, answers: Answers, models: ModelAnswers | None = None
) -> GradingInput:
    """Return the input of a grading: rejected answers left out, one answer per model and question.

    `answered` is empty where no answer has a text, or all of them were rejected.
    """
    graded, n_rejected = answers, 0
    if not parameters.include_rejected:
        n_rejected = sum(answers.rejected)
        graded = answers.select_rows(not rejected for rejected in answers.rejected)
    return GradingInput(
        parameters,
        all_answers=graded,
        answered=graded.select_rows(map(bool, graded.texts)),
        models=(models and models.select_first_samples()) or None,
        n_rejected=n_rejected,
    )


# (what, done, total)
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class EmbeddedAnswers:
    """Vectors of the workers' and models' answers, with the embedder's description and warnings.

    Attributes
    ----------
    answers, models : (N, d) and (R, d), dense or sparse.
    info : description of the embedder. warnings : messages to the user.
    plain : (N, d) vectors of the texts as written; None unless the spelling was corrected.
    spelling : counts of the corrections; None without.
    """

    answers: Vectors
    models: Vectors | None
    info: EmbedderInfo
    warnings: list[Message] = field(default_factory=list)
    plain: Vectors | None = None
    spelling: dict[str, Any] | None = None


# Gives the vectors of workers' answers and of models' answers, none of which is empty; None where
# there are no models. Raises `BackendError`.
EmbedTexts = Callable[[Sequence[str], Sequence[str] | None], EmbeddedAnswers]


def embed(
    parameters: AqerParameters,
    answers: Sequence[str],
    model_answers: Sequence[str] | None,
    progress: Progress | None = None,
) -> EmbeddedAnswers:
    """Return the vectors of non-empty answers, made by the embedder that `parameters` name.

    Raises `BackendError`.
    """
    precision = cast(Literal["float32", "bfloat16", "auto"], parameters.precision)
    embedder = get_embedder(parameters.embedder, precision)
    total = len(answers) + len(model_answers or ())

    def report_after(after: int) -> Callable[[int, int], None] | None:
        """Return a progress callback that counts on from `after` texts; None without `progress`."""
        return progress and (lambda done, _: progress("embedding", after + done, total))

    # Fitted on the workers' answers only, so that another model changes no worker's vector.
    embedder.fit(answers)
    vectors = embedder.embed(answers, report_after(0))
    # `n_truncated_` is of the last call only.
    cut = embedder.n_truncated_
    of_models = None
    if model_answers is not None:
        of_models = embedder.embed(model_answers, report_after(len(answers)))
        cut += embedder.n_truncated_
    info = embedder.describe()
    messages = [
        build_truncation_warning(cut, info),
        find_language_warning([*answers, *(model_answers or ())], info),
    ]
    return EmbeddedAnswers(vectors, of_models, info, [warning for warning in messages if warning])


def build_truncation_warning(cut: int, info: EmbedderInfo) -> Message | None:
    """Return the warning that the embedder cut `cut` overlong texts; None if it cut none."""
    if not cut:
        return None
    values = {"answers": int(cut), "tokens": info.max_length, "model": info.model}
    return Message("truncated", values)


def compute_entailment_scores(
    name: str,
    texts: Sequence[str],
    questions: Sequence[Hashable],
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """Return, per answer, the mean probability that other answers to its question entail it.

    NaN for a question's only answer. (Yahav et al. 2025, appendix B.1.) Raises `BackendError`.
    """
    model = EntailmentModel.load(name)
    of_question: dict[Hashable, list[int]] = {}
    for row, question in enumerate(questions):
        of_question.setdefault(question, []).append(row)
    # Ordered pairs, since entailment is not symmetric.
    pairs = [pair for rows in of_question.values() for pair in permutations(rows, 2)]
    probabilities = model.compute_entailment_probabilities(
        [(texts[premise], texts[hypothesis]) for premise, hypothesis in pairs],
        progress and (lambda done, total: progress("entailment", done, total)),
    )
    hypotheses = np.array([hypothesis for _, hypothesis in pairs], dtype=np.int64)
    count = np.bincount(hypotheses, minlength=len(texts))
    total = np.bincount(hypotheses, weights=probabilities, minlength=len(texts))
    return divide_where_positive(total, count)


def embed_graded_answers(grading_input: GradingInput, embed: EmbedTexts) -> EmbeddedAnswers:
    """Return vectors of all graded answers, and one row for each answer of a model.

    Rows of models' answers without a text are zeros and are never read. If the parameters name a
    spelling language, the vectors are of the corrected texts, and `plain` holds the vectors of the
    workers' answers as written.
    """
    language = grading_input.parameters.spelling
    texts: Sequence[str] = grading_input.answered.texts
    of_models: Sequence[str] | None = None
    spoken: list[int] = []
    if grading_input.models is not None:
        statuses = grading_input.models.statuses
        spoken = [row for row, status in enumerate(statuses) if status is AnswerStatus.TEXT]
        of_models = grading_input.models.select_with_text().texts
    if language is None:
        graded_answers = embed(texts, of_models)
    else:
        n = len(texts)
        both, done = correct_spelling([*texts, *(of_models or ())], language)
        plain = embed(texts, None).answers
        graded_answers = embed(both[:n], None if of_models is None else both[n:])
        graded_answers = replace(graded_answers, plain=plain, spelling=done)
    if grading_input.models is None:
        return graded_answers
    assert graded_answers.models is not None
    return replace(
        graded_answers,
        models=_insert_zero_rows(graded_answers.models, spoken, len(grading_input.models)),
    )


def _insert_zero_rows(vectors: Vectors, rows: list[int], count: int) -> Vectors:
    """Return a matrix of `count` rows: `vectors` at the row numbers `rows`, zeros elsewhere."""
    if len(rows) == count:
        return vectors
    if isinstance(vectors, np.ndarray):
        spread = np.zeros((count, vectors.shape[1]), dtype=vectors.dtype)
        spread[rows] = vectors
        return spread
    selector = sparse.csr_array(
        (np.ones(len(rows), dtype=vectors.dtype), (rows, np.arange(len(rows)))),
        shape=(count, len(rows)),
    )
    return selector @ vectors
