"""Compute a grading run, and read again what a finished run graded.

`grade_run` calls the steps; `evaluation.grading.run` computes. Each step may run twice: embedding
stores vectors by the content of the text, and saving replaces what an earlier attempt wrote.

Read again the answers and vectors that a finished run graded, without a model.

Compute grades and ranks of a run without one more worker, from stored vectors.

The computation is that of a run, with the same answers, vectors and settings, without bootstrap
draws, which change no grade and no rank. Where it would be slow, or differ from what a run
computes, a code states why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models import Count

from annotations.models import Response, Worker
from annotations.query_plans import refresh_table_statistics
from evaluation.consensus.inputs import EmbeddedAnswers, GradingInput, Progress, embed
from evaluation.consensus.methods.scale import RemedyError
from evaluation.core.backends import BackendError
from evaluation.core.stats.grams import Vectors
from evaluation.grading.crowd import RemedyInputs
from evaluation.grading.run.fitting import grade_vectors
from evaluation.grading.run.grading import Grading, grade_answers
from evaluation.grading.run.maps import compute_answer_maps
from evaluation.grading.run.results import Results
from evaluation.grading.storage.draws import DrawParts
from evaluation.grading.storage.inputs import load_inputs
from evaluation.grading.storage.save import save_results
from evaluation.grading.summary import read_summary
from evaluation.models import EmbedderVersion, LLMAnswerScore, Run
from evaluation.runs.steps.answers import convert_to_run_input_error, read_grading_parameters
from evaluation.runs.steps.cache import embed_answers, is_cached_embedder, load_vectors_of_texts
from evaluation.runs.steps.checkpoints import RunInputError, Turn

FACTS = "facts"


def grade_run(turn: Turn) -> None:
    """Grade a run of the database and save its results, within the time of this turn."""
    inputs = load_inputs(turn.run_id)
    draws = DrawParts.from_input(inputs, turn)

    def embed_in_turn(answers: Sequence[str], of_models: Sequence[str] | None) -> EmbeddedAnswers:
        """Return the vectors of the texts, and keep the embedder's description for the draws."""
        embedded = embed_answers(inputs.parameters, turn, answers, of_models)
        # Tasks of the draws read the vectors of this version of the embedder.
        draws.info = embedded.info
        return embedded

    try:
        grading = grade_answers(inputs, embed_in_turn, turn.report_progress, draws)
    except RemedyError as error:
        raise convert_to_run_input_error(error) from error
    maps = compute_answer_maps(grading, turn.report_progress)
    compute_facts(grading, turn.report_progress)
    save_results(turn, grading, maps)
    refresh_table_statistics()


def compute_facts(grading: Grading, progress: Progress) -> None:
    """Compute the facts of a grading before results are saved, so that no row is locked long."""
    if grading.inputs.parameters.facts:
        progress(FACTS, 0, 1)
        assert grading.facts is not None
        progress(FACTS, 1, 1)


# These make vectors of words and letters at once; others need a model, or a file.
OF_WORDS = ("tfidf-word", "tfidf-char", "bow")


class NotAtOnceError(Exception):
    """Error for a result that takes too long for a web request; `code` is the reason.

    The code is a key of `NOT_AT_ONCE`.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def read_graded_input(run: Run) -> GradingInput:
    """Return the input of a finished run: the workers' answers, without models' answers.

    Models' answers change no grade of a worker. Raises `NotAtOnceError` if answers changed since.
    """
    try:
        inputs = load_inputs(run.pk)
    except RunInputError:
        raise NotAtOnceError("changed") from None
    # Models may have answered since: runs that know it are compared by the hash without models.
    if known := read_summary(run).people_hash:
        same = inputs.compute_workers_hash() == known
    else:
        # An older run has the whole hash only: it is compared with its own models' answers.
        same = _select_scored_models(run, inputs).compute_hash() == run.input_hash
    if not same:
        raise NotAtOnceError("changed")
    return replace(inputs, models=None)


def _select_scored_models(run: Run, grading_input: GradingInput) -> GradingInput:
    """Return the input with only the models' answers that the run scored."""
    if grading_input.models is None:
        return grading_input
    scored = set(LLMAnswerScore.objects.filter(run=run).values_list("llm_response_id", flat=True))
    models = grading_input.models.select_rows(key in scored for key in grading_input.models.keys)
    return replace(grading_input, models=models if len(models) else None)


def read_graded_vectors(run: Run, grading_input: GradingInput) -> Vectors:
    """Return the vectors of the answers that a run graded, one row per answer with a text.

    Raises `NotAtOnceError` where they are not stored and a model would have to make them.
    """
    parameters = read_grading_parameters(run.parameters)
    if parameters.spelling is not None:
        raise NotAtOnceError("slow_settings")
    texts = grading_input.answered.texts
    if parameters.embedder in OF_WORDS:
        try:
            return embed(parameters, texts, None).answers
        except BackendError:
            raise NotAtOnceError("no_vectors") from None
    if not is_cached_embedder(parameters.embedder):
        raise NotAtOnceError("no_vectors")
    embedding_info = read_summary(run).embedding
    version = EmbedderVersion.objects.filter(
        model=embedding_info.model,
        revision=embedding_info.revision,
        precision=embedding_info.precision,
        max_length=embedding_info.max_length or 0,
        prefix="",
    ).first()
    vectors = None if version is None else load_vectors_of_texts(version, texts)
    if vectors is None:
        raise NotAtOnceError("no_vectors")
    return vectors


# Answers that are graded while somebody waits for a page. With stored vectors 20,000 took a tenth
# of the time of the run (alarms.md); more would take as much longer as there are more.
MOST_ANSWERS = 20_000
# Words and letters become vectors anew, and many numbers each: pairs of answers to the same
# question cost most there. At these, a second or two of processor time.
MOST_BY_WORDS = 10_000
MOST_PAIRS_BY_WORDS = 250_000


@dataclass(frozen=True)
class ExclusionOutcome:
    """A worker's grade and rank if another worker were excluded; None if undefined."""

    grade: float | None
    rank: int | None


def compute_outcomes_without(run: Run, worker: Worker) -> dict[UUID, ExclusionOutcome]:
    """Return, by public id, each other worker's grade and rank if `worker` were excluded.

    Raises `NotAtOnceError`.
    """
    if {str(worker.public_id), worker.external_id} & set(run.parameters.get("exclude_workers", ())):
        raise NotAtOnceError("out_already")
    if _is_too_large(run):
        raise NotAtOnceError("large")
    inputs = read_graded_input(run)
    if read_grading_parameters(run.parameters).init == "entailment":
        raise NotAtOnceError("slow_settings")
    return _key_by_public_id(_grade_without(inputs, read_graded_vectors(run, inputs), worker))


def _is_too_large(run: Run) -> bool:
    """Return whether a run has too many answers or pairs to be graded in a web request."""
    rows = Response.objects.filter(
        question__version=run.version_id, state=Response.State.SUBMITTED
    ).values("question")
    counts = list(rows.annotate(n=Count("pk")).values_list("n", flat=True))
    # Counted in the database: to refuse a large run must not cost reading its answers.
    n_answers, n_pairs = sum(counts), sum(n * n for n in counts)
    if run.parameters.get("embedder") in OF_WORDS:
        return n_answers > MOST_BY_WORDS or n_pairs > MOST_PAIRS_BY_WORDS
    return n_answers > MOST_ANSWERS


def _grade_without(
    inputs: GradingInput, vectors: Vectors, worker: Worker
) -> dict[int, ExclusionOutcome]:
    """Return, by primary key, each other worker's grade and rank without `worker`."""
    parameters = replace(
        inputs.parameters,
        bootstrap=0,
        exclude_workers=(*inputs.parameters.exclude_workers, str(worker.public_id)),
    )
    answers, anchors = inputs.answered, inputs.anchors
    outside = RemedyInputs(
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
    rows = Results(replace(inputs, models=None), graded).iterate_workers()
    excluded = set(outside.excluded)
    return {
        row.worker: ExclusionOutcome(row.grade, row.rank)
        for row in rows
        if row.worker not in excluded
    }


def _key_by_public_id(outcomes: dict[int, ExclusionOutcome]) -> dict[UUID, ExclusionOutcome]:
    """Return the grades and ranks by public id in place of the primary key."""
    names = dict(Worker.objects.filter(pk__in=outcomes).values_list("pk", "public_id"))
    return {names[key]: outcome for key, outcome in outcomes.items()}
