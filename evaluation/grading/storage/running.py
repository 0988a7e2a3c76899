"""Compute a grading run, and read again what a finished run graded.

`grade_run` calls the steps; `evaluation.grading.run` computes. Each step may run twice: embedding
stores vectors by the content of the text, and saving replaces what an earlier attempt wrote.

Read again the answers and vectors that a finished run graded, without a model.

Compute grades and ranks of a run without one more worker, from stored vectors.

The computation is that of a run, with the same answers, vectors and settings, without bootstrap
draws, which change no grade and no rank. Where it would be slow, or differ from what a run
computes, a code says why.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from uuid import UUID

import numpy as np
from django.db.models import Count
from numpy.typing import NDArray

from annotations.models import Response, Worker
from annotations.query_plans import refresh_statistics
from evaluation.consensus.inputs import GradingInput, Progress, embed, select_graded_answers
from evaluation.consensus.methods.scale import RemedyError
from evaluation.consensus.signatures import collect_versions, combine_hashes
from evaluation.core.backends import BackendError
from evaluation.core.stats.grams import Vectors
from evaluation.grading.crowd import OutsideInformation
from evaluation.grading.run.fitting import grade_vectors
from evaluation.grading.run.grading import Grading, grade_answers
from evaluation.grading.run.maps import map_answers
from evaluation.grading.run.results import Results
from evaluation.grading.storage.save import save_results
from evaluation.grading.summary import read_summary
from evaluation.models import (
    DrawPart,
    EmbedderVersion,
    LanguageModel,
    LLMAnswerScore,
    Run,
    text_hash,
)
from evaluation.runs.steps.answers import (
    compute_mean_judgements,
    convert_to_run_input_error,
    find_worker_keys,
    read_answers,
    read_model_answers,
    read_parameters,
    read_question_groups,
    read_wordings,
)
from evaluation.runs.steps.cache import embed_texts, has_stored_vectors, load_stored_vectors
from evaluation.runs.steps.checkpoints import RunInputError, Turn

# Draws are put aside this often: what a worker that dies may lose. A short run never is.
SECONDS_BETWEEN_PARTS = 30.0
# Bytes of one column of one row, well below what the databases take.
LARGEST = 32_000_000


@dataclass
class DrawParts:
    """Stored bootstrap draws of a run, from which an interrupted run continues."""

    turn: Turn
    run_id: int
    input_hash: str
    _saved: int = field(default=0, init=False)
    _saved_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._saved_at = self.turn.clock()

    @classmethod
    def from_input(cls, grading_input: GradingInput, turn: Turn) -> DrawParts:
        """Return a run's stored draws; draws of other answers or versions are ignored."""
        # Draws of another version of the code may follow other rules, and must not be joined to new
        # ones.
        key = combine_hashes([grading_input.hash(), collect_versions()["crowdgrade"]])
        return cls(turn, turn.run_id, key)

    def earlier(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return the raw scores and votes of stored draws, one column per draw; None without any.

        Both are (M, k) for the first k draws.
        """
        parts = []
        # In the order of `first`, which is the model's own.
        for part in DrawPart.objects.filter(run=self.run_id, input_hash=self.input_hash):
            if part.first != self._saved:
                break  # a part before it is missing
            parts.append([_read_matrix(part, part.raw), _read_matrix(part, part.votes)])
            self._saved += part.n_draws
        if not parts:
            return None
        raw, votes = (np.hstack(columns) for columns in zip(*parts, strict=True))
        return raw, votes

    def keep(self, raw: NDArray[np.float64], votes: NDArray[np.float64]) -> None:
        """Store new bootstrap draws every 30 seconds; stop the task when its time is over."""
        over = self.turn.is_over()
        if not over and self.turn.clock() - self._saved_at < SECONDS_BETWEEN_PARTS:
            return
        stop = raw.shape[1]
        step = max(1, LARGEST // (8 * len(raw)))
        bounds = [*range(self._saved, stop, step), stop]
        with self.turn.fenced():
            # Of other answers, or of a turn that lost its claim just now.
            DrawPart.objects.filter(run=self.run_id).exclude(
                input_hash=self.input_hash, first__lt=self._saved
            ).delete()
            for first, last in pairwise(bounds):
                DrawPart.objects.create(
                    run_id=self.run_id,
                    input_hash=self.input_hash,
                    first=first,
                    n_draws=last - first,
                    n_workers=len(raw),
                    raw=raw[:, first:last].astype("<f8").tobytes(),
                    votes=votes[:, first:last].astype("<f8").tobytes(),
                )
        # Only after the transaction: what was rolled back must be stored again.
        self._saved, self._saved_at = stop, self.turn.clock()
        self.turn.between_parts()


def _read_matrix(part: DrawPart, column: bytes | memoryview) -> NDArray[np.float64]:
    """Return a stored column as a matrix, one row per worker, one column per draw.

    Shape (M, n_draws).
    """
    return np.frombuffer(column, dtype="<f8").reshape(part.n_workers, part.n_draws)


FACTS = "facts"


def grade_run(turn: Turn) -> None:
    """Grade a run of the database and save its results, within the time of this task."""
    inputs = load_inputs(turn.run_id)
    embed_in_turn = partial(embed_texts, inputs.parameters, turn)
    try:
        grading = grade_answers(
            inputs, embed_in_turn, turn.report, DrawParts.from_input(inputs, turn)
        )
    except RemedyError as error:
        raise convert_to_run_input_error(error) from error
    maps = map_answers(grading, turn.report)
    compute_facts(grading, turn.report)
    save_results(turn, grading, maps)
    refresh_statistics()


def compute_facts(grading: Grading, progress: Progress) -> None:
    """Compute the facts of a grading before results are saved, so that no row is locked long."""
    if grading.inputs.parameters.facts:
        progress(FACTS, 0, 1)
        assert grading.facts is not None
        progress(FACTS, 1, 1)


def load_inputs(run_id: int) -> GradingInput:
    """Return the inputs of a run from the database; all ids are primary keys.

    Raises `RunInputError` if no answer can be graded.
    """
    run = Run.objects.select_related("version").get(pk=run_id)
    parameters = read_parameters(run.parameters)
    inputs = select_graded_answers(
        parameters, read_answers(run.version_id), read_model_answers(run.version_id)
    )
    if not len(inputs.answered):
        if inputs.n_rejected:
            raise RunInputError("run.all_answers_rejected", rejected=inputs.n_rejected)
        raise RunInputError("run.no_answer_to_grade")
    grades = compute_mean_judgements(run.version) if parameters.anchors else {}
    models = LanguageModel.objects.in_bulk(set(inputs.models.models) if inputs.models else ())
    return replace(
        inputs,
        excluded=find_worker_keys(run.version, parameters.exclude_workers, inputs.workers),
        collapsed=find_worker_keys(run.version, parameters.collapse_workers, inputs.workers),
        anchors=[
            (row, grades[key]) for row, key in enumerate(inputs.answered.keys) if key in grades
        ],
        model_names={key: str(model) for key, model in models.items()},
        wordings=read_wordings(run.version_id) if parameters.facts else {},
        question_groups=read_question_groups(run.version_id, inputs.answered.questions),
    )


# These make vectors of words and letters at once; others need a model, or a file.
OF_WORDS = ("tfidf-word", "tfidf-char", "bow")


class NotAtOnceError(Exception):
    """Error for a result that takes too long for a web request; `code` says why.

    The code is a key of `NOT_AT_ONCE`.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def read_graded_input(run: Run) -> GradingInput:
    """Return the workers' answers that a finished run graded, without models' answers.

    Models' answers change no grade of a worker. Raises `NotAtOnceError` if answers changed since.
    """
    try:
        inputs = load_inputs(run.pk)
    except RunInputError:
        raise NotAtOnceError("changed") from None
    # Models may have answered since: runs that know it are compared by the hash without models.
    if known := read_summary(run).people_hash:
        same = inputs.people_hash() == known
    else:
        # An older run has the whole hash only: it is compared with its own models' answers.
        same = _select_scored_models(run, inputs).hash() == run.input_hash
    if not same:
        raise NotAtOnceError("changed")
    return replace(inputs, models=None)


def _select_scored_models(run: Run, grading_input: GradingInput) -> GradingInput:
    """Return the inputs with only those models' answers that the run scored."""
    if grading_input.models is None:
        return grading_input
    scored = set(LLMAnswerScore.objects.filter(run=run).values_list("llm_response_id", flat=True))
    models = grading_input.models.select(key in scored for key in grading_input.models.keys)
    return replace(grading_input, models=models if len(models) else None)


def read_graded_vectors(run: Run, grading_input: GradingInput) -> Vectors:
    """Return the vectors of the answers that a run graded, one row per answer with a text.

    Raises `NotAtOnceError` where they are not stored and a model would have to make them.
    """
    parameters = read_parameters(run.parameters)
    if parameters.spelling is not None:
        raise NotAtOnceError("slow_settings")
    texts = grading_input.answered.texts
    if parameters.embedder in OF_WORDS:
        try:
            return embed(parameters, texts, None).answers
        except BackendError:
            raise NotAtOnceError("no_vectors") from None
    if not has_stored_vectors(parameters.embedder):
        raise NotAtOnceError("no_vectors")
    embedding_info = read_summary(run).embedding
    version = EmbedderVersion.objects.filter(
        model=embedding_info.model,
        revision=embedding_info.revision,
        precision=embedding_info.precision,
        max_length=embedding_info.max_length or 0,
        prefix="",
    ).first()
    distinct = list(dict.fromkeys(texts))
    by_hash = {text_hash(text): text for text in distinct}
    vectors_of_texts = None if version is None else load_stored_vectors(version, by_hash)
    if vectors_of_texts is None:
        raise NotAtOnceError("no_vectors")
    index_of_text = {text: index for index, text in enumerate(distinct)}
    return vectors_of_texts[np.array([index_of_text[text] for text in texts])]


# Answers that are graded while somebody waits for a page. With stored vectors 20,000 took a tenth
# of the time of the run (alarms.md); more would take as much longer as there are more.
MOST_ANSWERS = 20_000
# Words and letters become vectors anew, and many numbers each: pairs of answers to the same
# question cost most there. At these, a second or two of processor time.
MOST_BY_WORDS = 10_000
MOST_PAIRS_BY_WORDS = 250_000


@dataclass(frozen=True)
class Outcome:
    """Grade and rank of a worker if another worker were excluded; None if undefined."""

    grade: float | None
    rank: int | None


def compute_without(run: Run, worker: Worker) -> dict[UUID, Outcome]:
    """Return, by public id, every other worker's grade and rank if `worker` were excluded.

    Raises `NotAtOnceError`.
    """
    if {str(worker.public_id), worker.external_id} & set(run.parameters.get("exclude_workers", ())):
        raise NotAtOnceError("out_already")
    if _is_large(run):
        raise NotAtOnceError("large")
    inputs = read_graded_input(run)
    if read_parameters(run.parameters).init == "entailment":
        raise NotAtOnceError("slow_settings")
    return _replace_keys(_grade_without(inputs, read_graded_vectors(run, inputs), worker))


def _is_large(run: Run) -> bool:
    """Return whether a run has too many answers or answer pairs to be graded in a web request."""
    rows = Response.objects.filter(
        question__version=run.version_id, state=Response.State.SUBMITTED
    ).values("question")
    counts = list(rows.annotate(n=Count("pk")).values_list("n", flat=True))
    # Counted in the database: to refuse a large run must not cost reading its answers.
    n_answers, n_pairs = sum(counts), sum(n * n for n in counts)
    if run.parameters.get("embedder") in OF_WORDS:
        return n_answers > MOST_BY_WORDS or n_pairs > MOST_PAIRS_BY_WORDS
    return n_answers > MOST_ANSWERS


def _grade_without(inputs: GradingInput, vectors: Vectors, worker: Worker) -> dict[int, Outcome]:
    """Return every other worker's grade and rank without `worker`, by primary key."""
    parameters = replace(
        inputs.parameters,
        bootstrap=0,
        exclude_workers=(*inputs.parameters.exclude_workers, str(worker.public_id)),
    )
    answers, anchors = inputs.answered, inputs.anchors
    outside = OutsideInformation(
        texts=answers.texts,
        excluded=list(dict.fromkeys([*inputs.excluded, worker.pk])),
        anchor_rows=[row for row, _ in anchors],
        anchor_grades=[grade for _, grade in anchors],
    )
    try:
        graded = grade_vectors(
            parameters, vectors, answers.workers, answers.questions, outside=outside
        )
    except RemedyError:
        raise NotAtOnceError("nobody_left") from None
    rows = Results(replace(inputs, models=None), graded).workers()
    excluded = set(outside.excluded)
    return {row.worker: Outcome(row.grade, row.rank) for row in rows if row.worker not in excluded}


def _replace_keys(outcomes: dict[int, Outcome]) -> dict[UUID, Outcome]:
    """Return the grades and ranks keyed by public id instead of primary key."""
    names = dict(Worker.objects.filter(pk__in=outcomes).values_list("pk", "public_id"))
    return {names[key]: outcome for key, outcome in outcomes.items()}
