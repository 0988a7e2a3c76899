"""LLM judge over a question set: load the answers, execute the run, store scores and a summary.

Authors and questions are primary keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from typing import Any
from uuid import UUID

import numpy as np

from annotations.exchange.records import AnswerStatus
from annotations.models import Question, QuestionSetVersion
from annotations.models.access import AnyUser
from evaluation.consensus.inputs import GradingInput, select_graded_answers
from evaluation.core.backends.errors import ChatError
from evaluation.core.messages.message import Message
from evaluation.core.options import Problem, build_problem, build_signature_parts
from evaluation.core.options.parameters import SHORT
from evaluation.grading.run.fitting import compute_aqer_scores
from evaluation.llm_judge.options import COMPARE, SCORE, JudgeParameters
from evaluation.llm_judge.run import CorrectedRow, Findings, Tables, collect_grades, judge_answers
from evaluation.models import AuditItem, HumanJudgement, JudgementRequest, LanguageModel, Run
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.asking.reading import AnswerColumns, PromptWithReminder, Replies
from evaluation.runs.flow.asking.summary import Usage, build_cut_off_warnings
from evaluation.runs.flow.metrics import MetricRow
from evaluation.runs.flow.stored import RunSummary
from evaluation.runs.steps.answers import (
    compute_expert_grades,
    find_worker_id_problems,
    load_model_answers,
    load_worker_answers,
    remove_worker_answers,
    select_answer_judgements,
)
from evaluation.runs.steps.asking.preview import RequestForecast, estimate_round
from evaluation.runs.steps.asking.registration import (
    list_option_ids,
    open_chat_model,
    select_registered_models,
)
from evaluation.runs.steps.asking.stored_replies import StoredReply
from evaluation.runs.steps.asking.study_asking import RepliesByItem, Round, StudyAsker
from evaluation.runs.steps.cache import embed_answers
from evaluation.runs.steps.checkpoints import RunEnd, RunInputError, Turn

VERSION = 1
# A share of verdicts for the answer shown first is unfair if it differs from .5 by more.
UNFAIR = 0.1
USED = ("requests", "prompt_tokens", "completion_tokens", "cost")


@dataclass(frozen=True)
class Metric:
    """An agreement metric in a run's summary; `group` is "" or names two experts."""

    metric: str
    group: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None

    @classmethod
    def build(cls, row: MetricRow) -> Metric:
        """Return the metric of a result row, without the judge's name."""
        return cls(row.metric, row.group, row.value, row.low, row.high, row.n, row.reason)


@dataclass(frozen=True)
class PromptRow:
    """A prompt of the judge: template, reminder for a second request, and hash of both."""

    name: str
    hash: str
    template: str
    again: str


PROMPTS = tuple(
    PromptRow(name, prompt.hash, prompt.template, prompt.again)
    for name, prompt in (("score", SCORE), ("compare", COMPARE))
)


@dataclass(frozen=True)
class JudgeSummary(RunSummary):
    """Stored summary of an LLM judge run: counts, agreement, corrected mean, and usage.

    Attributes
    ----------
    judge, model : name and public id of the judge.
    answers, model_answers : number of workers' and of models' answers.
    judged : number of answers that experts graded.
    pairs : number of compared pairs.
    asked_again, without_score : number of second requests, and of missing scores.
    metrics : agreement.
    workers : corrected mean grade of all workers.
    usage : totals of requests, tokens and cost.
    asked : usage by step.
    """

    judge: str = ""
    model: str = ""
    prompts: tuple[PromptRow, ...] = ()
    answers: int = 0
    model_answers: int = 0
    judged: int = 0
    pairs: int = 0
    asked_again: int = 0
    without_score: int = 0
    metrics: tuple[Metric, ...] = ()
    workers: CorrectedRow | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    asked: tuple[Usage, ...] = ()

    def get_model_usage(self) -> Sequence[Usage]:
        """Return the judge's token usage and cost, one entry per step."""
        return self.asked

    @classmethod
    def build(
        cls, findings: Findings, model: str, n_judged: int, usage: Sequence[Usage]
    ) -> JudgeSummary:
        """Return the summary to store; `n_judged` is the number of answers that experts judged."""
        people = sum(findings.answers.people)
        return cls(
            VERSION,
            findings.system,
            model,
            PROMPTS,
            people,
            len(findings.answers) - people,
            n_judged,
            len(findings.replies.pairs.left),
            findings.replies.n_again,
            findings.n_unread,
            tuple(map(Metric.build, findings.metrics)),
            findings.corrected[0],
            {name: sum(getattr(step, name) or 0 for step in usage) for name in USED},
            tuple(usage),
        )

    def get_shown_counts(self) -> dict[str, int]:
        """Return the input counts that the run's page shows, by label."""
        return {
            "answers": self.answers,
            "answers of models": self.model_answers,
            "judged by experts": self.judged,
            "pairs": self.pairs,
        }

    def find_metric(self, name: str) -> Metric | None:
        """Return a metric over all answers; None if it is missing or undefined."""
        overall = (m for m in self.metrics if m.metric == name and not m.group)
        return next((m for m in overall if m.value is not None), None)

    @property
    def messages(self) -> list[Message]:
        """Findings about the judge, as messages for readers."""
        return list(self._list_findings())

    def _list_findings(self) -> Iterator[Message]:
        """Yield messages: repetitions, order, experts, gain over AQER, corrected mean."""
        itself, order = self.find_metric("repetition_same"), self.find_metric("order_same")
        if itself is not None:
            yield Message("judge.itself", {"same": itself.value})
        first = self.find_metric("order_first")
        if order is not None and first is not None:
            share = first.value or 0.0
            place = "first" if share > 0.5 + UNFAIR else "second" if share < 0.5 - UNFAIR else ""
            values = {"same": order.value, "place": place, "share": max(share, 1 - share)}
            yield Message("judge.order", values)
        agrees, gain = self.find_metric("experts_pearson"), self.find_metric("against_aqer_gain")
        if agrees is not None:
            values = {"r": agrees.value, "low": agrees.low, "high": agrees.high, "n": agrees.n}
            yield Message("judge.experts", values)
        if gain is not None:
            values = {"gain": gain.value, "low": gain.low, "high": gain.high}
            if gain.low is not None and gain.low > 0:
                yield Message("judge.gain_judge", values)
            elif gain.high is not None and gain.high < 0:
                yield Message("judge.gain_aqer", values)
            else:
                yield Message("judge.gain_unknown", values)
        error, mean = self.find_metric("experts_error"), self.workers
        if error is not None and mean is not None and mean.tuned.mean is not None:
            yield Message(
                "judge.corrected",
                {
                    "kind": "too kind" if (error.value or 0.0) > 0 else "too strict",
                    "error": abs(error.value or 0.0),
                    "judge": mean.judge,
                    "mean": mean.tuned.mean,
                    "low": mean.tuned.low,
                    "high": mean.tuned.high,
                    "graded": mean.graded.mean,
                },
            )


@dataclass(frozen=True)
class JudgeInputs:
    """Answers to judge and experts' grades of a question set version.

    Attributes
    ----------
    grading : answers as AQER scores them.
    to_judge : workers' answers, then models'; authors and questions are primary keys.
    grades : (row, expert, grade) of each judgement.
    has_suggested : whether a run suggested some answers to the experts.
    settled : grades by row that an adjudicator settled; they replace the mean.
    """

    grading: GradingInput
    to_judge: AnswerColumns
    grades: list[tuple[int, str, float]]
    has_suggested: bool
    settled: dict[int, float] = field(default_factory=dict)


def load(version: QuestionSetVersion, parameters: JudgeParameters) -> JudgeInputs:
    """Return the answers and expert grades of a version; `RunInputError` without an answer."""
    answers = remove_worker_answers(
        version, parameters.exclude_workers, load_worker_answers(version.pk)
    )
    grading = select_graded_answers(parameters.grading(), answers, load_model_answers(version.pk))
    answered = grading.answered
    if not len(answered):
        raise RunInputError("run.no_answer")
    models = grading.models.with_text() if grading.models is not None else None
    questions = Question.objects.filter(version=version).select_related("passage")
    wordings, passages = {}, {}
    for question in questions:
        wordings[question.pk] = question.text or question.external_id
        if question.passage is not None:
            passages[question.pk] = question.passage.text
    to_judge = AnswerColumns(
        [*answered.workers, *(models.models if models else ())],
        [True] * len(answered) + [False] * len(models or ()),
        [*answered.questions, *(models.questions if models else ())],
        [*answered.texts, *(models.texts if models else ())],
        wordings,
        passages,
    )
    rows = {key: row for row, key in enumerate(answered.keys)}
    judgements = select_answer_judgements(version).values_list("response_id", "expert_id", "grade")
    grades = [
        (rows[response], f"expert {expert}", grade)
        for response, expert, grade in judgements
        if response in rows and grade is not None
    ]
    # Suggested answers are no random sample, which the corrected means assume.
    has_suggested = JudgementRequest.objects.filter(
        run__isnull=False, response__in=_select_judged_responses(version)
    ).exists()
    adjudicated = AuditItem.objects.filter(
        response__submission__version=version, adjudicator__isnull=False
    )
    responses = set(adjudicated.values_list("response_id", flat=True))
    settled = {
        rows[response]: grade
        for response, grade in (compute_expert_grades(version) if responses else {}).items()
        if response in rows and response in responses
    }
    return JudgeInputs(grading, to_judge, grades, has_suggested, settled)


def find_start_problems(
    version: QuestionSetVersion, user: AnyUser, parameters: JudgeParameters
) -> list[Problem]:
    """Return why a run cannot start: judge, its prices, or the excluded workers."""
    if not parameters.judge:
        return [build_problem("no_judge", "judge")]
    model = _find_model(parameters.judge, user)
    if model is None:
        return [build_problem("unknown_judge", "judge")]
    if model.archived_at is not None:
        reason = "it is archived: restore it on its page first"
        return [build_problem("judge_refused", "judge", reason=reason)]
    if parameters.budget is not None and not model.has_prices:
        return [build_problem("no_prices", "budget", name=str(model))]
    try:
        open_chat_model(model)
    except ChatError as error:
        return [build_problem("judge_refused", "judge", reason=str(error))]
    return find_worker_id_problems(version, user, parameters)


def load_judge(run: Run, parameters: JudgeParameters) -> LanguageModel:
    """Return the run's judge model; `RunInputError` if its owner may no longer use it."""
    model = _find_model(parameters.judge or "", run.owner)
    if model is None:
        raise RunInputError("run.judge_not_registered")
    if parameters.budget is not None and not model.has_prices:
        raise RunInputError("run.no_prices", model=model.name)
    return model


def _find_model(public_id: str, user: AnyUser) -> LanguageModel | None:
    """Return a language model that the user may edit; None for an unknown or malformed id."""
    try:
        parsed = UUID(public_id)
    except ValueError:
        return None
    return LanguageModel.objects.editable_by(user).filter(public_id=parsed).first()


def _select_judged_responses(version: QuestionSetVersion) -> Any:
    """Return a query of the ids of the version's responses that experts judged."""
    return HumanJudgement.objects.filter(response__submission__version=version).values(
        "response_id"
    )


# Names of the stored tables.
SCORES, PAIRS, CORRECTED = "result-scores", "result-pairs", "result-corrected"
# Parameters of the requests; those of the model replace them.
SENT = {"temperature": 0, "max_tokens": 256}
# Labels of the steps in the estimate.
STEPS = {"score": "Scoring", "compare": "Comparing pairs"}


def judge_set(turn: Turn) -> None:
    """Execute a claimed run, or continue it: ask the judge and store its scores.

    Ends early with a checkpoint when the turn's time is over. Raises `RunInputError`.
    """
    run = Run.objects.select_related("version", "owner").get(pk=turn.run_id)
    parameters = load_parameters(run)
    model = load_judge(run, parameters)
    loaded = load(run.version, parameters)
    client = _JudgeClient(turn, run, model, parameters)
    replies = judge_answers(loaded.to_judge, parameters, client)
    embed = partial(embed_answers, loaded.grading.parameters, turn)
    worker_scores, model_scores, embedding = compute_aqer_scores(
        loaded.grading, embed, turn.report_progress
    )
    findings = Findings(
        str(model),
        loaded.to_judge,
        replies,
        collect_grades(len(loaded.to_judge), loaded.grades, loaded.settled),
        np.concatenate([worker_scores, model_scores[_find_rows_with_text(loaded)]]),
        parameters,
    )
    input_hash = _hash_inputs(loaded)
    warnings = [*embedding.warnings, *findings.warnings]
    if loaded.has_suggested:
        warnings.append(Message("judge.chosen"))
    tables = Tables(findings)
    n_judged = int((~np.isnan(findings.grades.mean)).sum())
    usage = client.list_usage()
    warnings += build_cut_off_warnings(usage, dict.fromkeys((each.step for each in usage), ""))
    summary = JudgeSummary.build(findings, str(model.public_id), n_judged, usage)
    # Another process may have claimed the run meanwhile: the fence stores all of it or nothing.
    with turn.open_fenced_transaction():
        for name, rows in (
            (SCORES, tables.list_scores()),
            (PAIRS, tables.list_pairs()),
            (CORRECTED, tables.list_corrected()),
        ):
            turn.store_json(name, [list(row) for row in rows])
        turn.finish_run(
            RunEnd(
                _build_signature(parameters, model, embedding.info.model, input_hash),
                input_hash,
                summary,
                [warning.as_dict() for warning in warnings],
            )
        )


def estimate_requests(
    version: QuestionSetVersion, user: AnyUser, options: JudgeParameters
) -> RequestForecast:
    """Return the forecast of a run's requests and cost; nothing is sent."""
    try:
        to_judge = load(version, options).to_judge
    except RunInputError:
        return RequestForecast(())
    steps: dict[str, Sequence[Item]] = {}

    # An ERROR is final, so the recorded items are not requested a second time.
    def record(step: str, _prompt: PromptWithReminder, items: Sequence[Item]) -> Replies:
        steps[STEPS[step]] = items
        failed = StoredReply("", AnswerStatus.ERROR)
        return {(item.id, sample): failed for item in items for sample in range(item.samples)}

    judge_answers(to_judge, options, record)
    takes = [
        estimate_round(user, step, Round(model, items, SENT, options.seed))
        for model in select_registered_models(user, list_option_ids(options.judge))
        for step, items in steps.items()
    ]
    prompts = {f"{step}: the first request": items[0].messages for step, items in steps.items()}
    return RequestForecast(
        tuple(takes),
        prompts,
        ("Not counted: a reply without a score or a verdict is asked for once more.",),
    )


def load_parameters(run: Run) -> JudgeParameters:
    """Return the options of a run, with defaults for those that an older run did not store."""
    try:
        return JudgeParameters.from_dict(run.parameters)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


class _JudgeClient:
    """Callable that sends the requests of a run to its judge, step by step."""

    def __init__(
        self, turn: Turn, run: Run, model: LanguageModel, parameters: JudgeParameters
    ) -> None:
        self.model, self.seed = model, parameters.seed
        self._in_turns = StudyAsker(turn, run, [model], parameters.budget)

    def __call__(
        self, step: str, prompt: PromptWithReminder, items: Sequence[Item]
    ) -> RepliesByItem:
        """Send the requests that have no stored reply; `RunInputError` if the judge fails."""
        (replies,) = self._in_turns.ask_step(step, [Round(self.model, items, SENT, self.seed)])
        if why := self._in_turns.get_give_up_reason(self.model):
            raise RunInputError("run.judge_not_asked", reason=why)
        return replies

    def list_usage(self) -> tuple[Usage, ...]:
        """Return the judge's token usage and cost by step, over all executions of the run."""
        return self._in_turns.compute_usage()


def _find_rows_with_text(loaded: JudgeInputs) -> list[int]:
    """Return the row indices of the models' answers that have a text."""
    models = loaded.grading.models
    if models is None:
        return []
    keys = set(models.with_text().keys)
    return [row for row, key in enumerate(models.keys) if key in keys]


def _hash_inputs(loaded: JudgeInputs) -> str:
    """Return the SHA-256 of a run's answers, question texts and grades."""
    digest = hashlib.sha256(loaded.grading.hash().encode())
    # Sorted: the hash must not depend on the order in which the query returns the questions.
    for question, text in sorted(loaded.to_judge.wordings.items()):
        digest.update(f"{question}\x1f{text}\x1e".encode())
    for row, expert, grade in loaded.grades:
        digest.update(f"{row}\x1f{expert}\x1f{grade!r}\x1e".encode())
    for row, grade in sorted(loaded.settled.items()):
        digest.update(f"{row}\x1fsettled\x1f{grade!r}\x1e".encode())
    return digest.hexdigest()


def _build_signature(
    parameters: JudgeParameters, model: LanguageModel, embedder: str, input_hash: str
) -> str:
    """Return the signature of a run: options, judge, prompts, embedder, input hash, version."""
    parts = {
        **build_signature_parts(parameters),
        "judge": str(model),
        "prompts": f"{SCORE.hash[:SHORT]}+{COMPARE.hash[:SHORT]}",
        "embedder": embedder,
        "inputs": input_hash[:SHORT],
        "version": metadata.version("crowdgrade"),
    }
    return "|".join(["judge", *(f"{name}:{value}" for name, value in parts.items())])
