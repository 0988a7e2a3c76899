"""A UMWP run on the database: options, start check, execution, stored rows and summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from annotations.exchange.reading.systems import System, parse_parameters
from annotations.exchange.reading.word_problems import WordProblem, WordProblemReply
from annotations.exchange.records import AnswerStatus
from annotations.models import QuestionSetVersion
from annotations.models.access import AnyUser
from evaluation.core.messages.message import Message
from evaluation.core.options import Problem, build_problem, build_signature_parts
from evaluation.core.options.parameters import SHORT
from evaluation.models import LanguageModel, Run
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.asking.summary import StudySummary, Usage, build_cut_off_warnings
from evaluation.runs.flow.metrics import Exclusions, MetricRow
from evaluation.runs.steps.answers import find_worker_id_problems
from evaluation.runs.steps.asking.preview import RequestForecast, estimate_round
from evaluation.runs.steps.asking.registration import (
    find_model_problems,
    load_registered_models,
    select_registered_models,
)
from evaluation.runs.steps.asking.study_asking import Round, StudyAsker
from evaluation.runs.steps.cache import find_embedding_lane
from evaluation.runs.steps.checkpoints import (
    RunEnd,
    RunInputError,
    Turn,
    read_result_table,
    store_result_table,
)
from evaluation.umwp.options import UmwpRunOptions
from evaluation.umwp.problems import find_contradictions
from evaluation.umwp.prompts import build_conversation, load_own_templates
from evaluation.umwp.run.classification import Tuned
from evaluation.umwp.run.people import PEOPLE, build_people_replies
from evaluation.umwp.run.result_tables import (
    ITEMS,
    METRICS,
    NOISE,
    PERSONS,
    PROBLEMS,
    REPLIES,
    SIZES,
    STUDY_TABLES,
    TRENDS,
    ProblemRow,
    ReplyRow,
)
from evaluation.umwp.run.study import ERROR, NO_REPLY, ItemRow, UmwpStudy, evaluate_replies
from evaluation.umwp.run.tables import SizeRow, TrendRow, build_size_rows, build_trend_rows
from evaluation.umwp.storage.questions import (
    compute_input_hash,
    has_labels,
    list_people_answers,
    list_problems,
)

VERSION = 1


@dataclass(frozen=True)
class UmwpSummary(StudySummary):
    """Stored summary of a UMWP run: models, prompt forms, counts, tokens, cost, threshold.

    Attributes
    ----------
    systems, forms : in the order in which they were asked.
    counts : of problems and replies, as in summary.json of ``evaluate umwp``.
    unknown : questions without a label (answerable or not); they enter no metric.
    errors : failed requests. requests : sent in this run; `reused` : replies of earlier runs of
        the owner. cost : of this run; None where a model has no
        prices.
    tuned : how well the threshold does on labelled replies; None where it was given.
    exclusions : what was left out, by reason. encoder : how vectors were made.
    """

    systems: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    questions: int = 0
    answerable: int = 0
    unanswerable: int = 0
    unknown: int = 0
    replies: int = 0
    errors: int = 0
    requests: int = 0
    reused: int = 0
    tokens_read: int = 0
    tokens_written: int = 0
    cost: float | None = None
    threshold: float = 0.0
    tuned: Tuned | None = None
    counts: dict[str, Any] = field(default_factory=dict)
    exclusions: tuple[dict[str, Any], ...] = ()
    encoder: dict[str, Any] = field(default_factory=dict)

    def get_shown_counts(self) -> Mapping[str, int]:
        """Return the input counts that the run's page shows, by label."""
        return {
            "questions": self.questions,
            "models": len(self.systems),
            "ways of asking": len(self.forms),
        }


# Jaccard index from which two problems are similar; the default of `manage.py umwp_noise`.
LEAST_SIMILARITY = 0.9


def store_findings(
    turn: Turn,
    study: UmwpStudy,
    replies: Sequence[ReplyRow],
    sizes: tuple[Sequence[SizeRow], Sequence[TrendRow]],
) -> None:
    """Store the rows of all result tables; call it within `turn.open_fenced_transaction()`."""
    for table in (*STUDY_TABLES, PERSONS, PROBLEMS):
        store_result_table(turn, table, table.rows(study))
    size_table, trends = sizes
    store_result_table(turn, SIZES, size_table)
    store_result_table(turn, TRENDS, trends)
    store_result_table(turn, REPLIES, replies)
    # Partners are similar on purpose: of these only equal texts are a contradiction.
    rows = (
        row
        for row in find_contradictions(study.problems, LEAST_SIMILARITY).rows
        if not row.partners or row.kind != "alike"
    )
    store_result_table(turn, NOISE, rows)


def load_metrics(run: Run) -> list[MetricRow]:
    """Return the metric rows stored with a run."""
    return list(read_result_table(run, METRICS))


def read_items(run: Run) -> Iterator[ItemRow]:
    """Yield the result row stored for each question, model and prompt form of a run."""
    return read_result_table(run, ITEMS)


def read_replies(run: Run) -> Iterator[ReplyRow]:
    """Yield the models' replies stored with a run."""
    return read_result_table(run, REPLIES)


def read_problems(run: Run) -> Iterator[ProblemRow]:
    """Yield the questions stored with a run, as they were when it started."""
    return read_result_table(run, PROBLEMS)


ASKING, ANSWERING = "asking models", "Answering"


def ask_and_classify(turn: Turn) -> None:
    """Execute a claimed run: ask the models, classify the replies, store the results.

    If the time of a turn ends, the next turn continues and repeats no finished request. Raises
    `RunInputError` if the run cannot be computed.
    """
    run = Run.objects.select_related("version", "owner").get(pk=turn.run_id)
    parameters = load_options(run)
    exclusions = Exclusions()
    problems = list_problems(run.version, exclusions)
    if not problems:
        raise RunInputError("run.no_problem_with_text")
    models = load_registered_models(run, parameters.models)
    if not models:
        raise RunInputError("run.no_models_to_ask")
    # The tables could not distinguish this model from the row of people.
    if any(model.name == PEOPLE for model in models):
        raise RunInputError("run.model_named_as_people", name=PEOPLE)
    asking = StudyAsker(turn, run, models, parameters.budget)
    replies = _ask_models(asking, models, problems, parameters)
    if all(reply.status.is_missing for reply in replies):
        raise RunInputError("run.no_model_replied", reason=asking.find_first_fault())
    # All replies are stored by now: the next turn, in that lane, reads them and asks nothing.
    turn.require_lane(find_embedding_lane(parameters.encoder))
    turn.check_interruption()
    answers = list(list_people_answers(run.version, parameters.exclude_workers))
    people = list(build_people_replies(answers, exclusions))
    study = evaluate_replies(
        parameters.evaluation(),
        problems,
        replies,
        load_own_templates(),
        True,
        turn.report_progress,
        people,
    )
    study.exclusions.merge(exclusions)
    sizes = build_size_rows(study.metrics, {model.name: _build_system(model) for model in models})
    input_hash = compute_input_hash(problems, people)
    rows = [
        ReplyRow(reply.system, reply.item, reply.form, reply.text, reply.status.value)
        for reply in replies
    ]
    usage = asking.compute_usage()
    # The fence checks the claim: if another process has taken over the run, nothing is written.
    with turn.open_fenced_transaction():
        store_findings(turn, study, rows, (sizes, build_trend_rows(sizes)))
        turn.finish_run(
            RunEnd(
                _build_signature(parameters, study, models, input_hash),
                input_hash,
                _build_summary(usage, study, models, parameters, replies),
                [
                    warning.as_dict()
                    for warning in [*build_cut_off_warnings(usage), *_list_warnings(study)]
                ],
            )
        )


def find_start_problems(
    version: QuestionSetVersion, user: AnyUser, options: UmwpRunOptions
) -> list[Problem]:
    """Return why a run with these options cannot start; [] if it can."""
    problems = [
        *find_model_problems(user, options, needed=("models",)),
        *find_worker_id_problems(version, user, options, needed=False),
    ]
    if problems:
        return problems
    if not version.questions.graded().exclude(text="").exists():
        return [build_problem("no_questions")]
    return []


def load_options(run: Run) -> UmwpRunOptions:
    """Return the options of a run, with defaults for those that an older run did not store.

    Raises `RunInputError` if the run has an unknown option.
    """
    stored: dict[str, Any] = run.parameters
    try:
        return UmwpRunOptions.from_dict(stored)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


def estimate_requests(
    version: QuestionSetVersion, user: AnyUser, options: UmwpRunOptions
) -> RequestForecast:
    """Return the forecast of a run's requests and cost, with examples; nothing is sent."""
    problems = list_problems(version)
    rounds = _build_rounds(select_registered_models(user, options.models), problems, options)
    examples = {
        f"The first question, asked “{form}”": build_conversation(problem.text, form)
        for problem in problems[:1]
        for form in options.forms
    }
    return RequestForecast(
        tuple(estimate_round(user, ANSWERING, one_round) for one_round in rounds), examples
    )


def _build_rounds(
    models: Sequence[LanguageModel],
    problems: Sequence[WordProblem],
    parameters: UmwpRunOptions,
) -> list[Round]:
    """Return the requests to each model: every problem in every prompt form."""
    items = [
        Item(f"{form}/{problem.id}", build_conversation(problem.text, form))
        for form in parameters.forms
        for problem in problems
    ]
    sent = {"temperature": parameters.temperature, "max_tokens": parameters.max_tokens}
    return [Round(model, items, sent, parameters.seed) for model in models]


def _ask_models(
    asking: StudyAsker,
    models: Sequence[LanguageModel],
    problems: Sequence[WordProblem],
    parameters: UmwpRunOptions,
) -> list[WordProblemReply]:
    """Return each model's reply to each problem and prompt form, in separate conversations."""
    rounds = _build_rounds(models, problems, parameters)
    return [
        WordProblemReply(problem.line, model.name, problem.id, form, reply.text, reply.status)
        for model, replies in zip(models, asking.ask_step(ASKING, rounds), strict=True)
        for form in parameters.forms
        for problem in problems
        for reply in [replies[f"{form}/{problem.id}", 0]]
    ]


def _build_system(model: LanguageModel) -> System:
    """Return a model's name, size, tuning and family; its size is None if not a number."""
    return System(model.name, model.size, parse_parameters(model.size), model.tuning, model.family)


def _list_warnings(study: UmwpStudy) -> list[Message]:
    """Return warnings of a run: failed requests, no labels, nonmathematical questions."""
    warnings = []
    if study.exclusions.count(ERROR) or study.exclusions.count(NO_REPLY):
        warnings.append(Message("umwp.incomplete"))
    if not has_labels(study.problems):
        warnings.append(Message("umwp.no_labels"))
    if n_texts := sum(not problem.is_math for problem in study.problems):
        counts = {"count": n_texts, "questions": len(study.problems)}
        warnings.append(Message("umwp.not_math", counts))
    return warnings


def _build_signature(
    parameters: UmwpRunOptions,
    study: UmwpStudy,
    models: Sequence[LanguageModel],
    input_hash: str,
) -> str:
    """Return a run's signature: options, models, encoder, threshold, input hash, version."""
    info = study.similarity.info
    parts = {
        **build_signature_parts(parameters),
        "models": "+".join(model.spec for model in models),
        "encoder": info.model,
        "revision": info.revision,
        "precision": info.precision,
        "threshold": f"{study.threshold:.4g}",
        "inputs": input_hash[:SHORT],
        "version": metadata.version("crowdgrade"),
    }
    return "|".join(["umwp", *(f"{name}:{value}" for name, value in parts.items())])


def _build_summary(
    usage: Sequence[Usage],
    study: UmwpStudy,
    models: Sequence[LanguageModel],
    parameters: UmwpRunOptions,
    replies: Sequence[WordProblemReply],
) -> UmwpSummary:
    """Return the summary that a finished run stores."""
    costs = [model_usage.cost for model_usage in usage]
    labels = [problem.answerable for problem in study.problems]
    return UmwpSummary(
        version=VERSION,
        systems=tuple(model.name for model in models),
        forms=parameters.forms,
        questions=len(labels),
        answerable=labels.count(True),
        unanswerable=labels.count(False),
        unknown=labels.count(None),
        replies=len(replies),
        errors=sum(reply.status is AnswerStatus.ERROR for reply in replies),
        cut_off=sum(reply.status is AnswerStatus.CUT_OFF for reply in replies),
        usage=tuple(usage),
        requests=sum(model_usage.requests for model_usage in usage),
        reused=sum(model_usage.reused for model_usage in usage),
        tokens_read=sum(model_usage.prompt_tokens for model_usage in usage),
        tokens_written=sum(model_usage.completion_tokens for model_usage in usage),
        # Unknown if a model has no prices: a sum of the others would be too low.
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        threshold=study.threshold,
        tuned=study.tuned,
        counts=dict(study.counts()),
        exclusions=tuple(study.exclusions.as_list()),
        encoder=study.similarity.info.as_dict(),
    )
