"""MAQA on the database: load the questions of a version, execute a run, store its results.

The right answers of a question are its accepted answers. If the import knew several spellings of
an answer, `metadata["answers"]` has a list of spellings for each right answer. A question without
right answers is an open question.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from string import ascii_uppercase
from typing import Any

from annotations.exchange import AnswerStatus
from annotations.exchange.importing.several_answers import SPELLINGS
from annotations.exchange.reading.several_answers import (
    SeveralAnswersQuestion,
    SeveralAnswersReply,
    Spellings,
)
from annotations.models import Question, QuestionSetVersion
from annotations.models.access import AnyUser
from evaluation.core.backends.chat.contract import parse_token_logprobs
from evaluation.core.options import Problem, build_problem, build_signature_parts
from evaluation.core.options.parameters import SHORT
from evaluation.maqa.options import MaqaRunOptions
from evaluation.maqa.run.confidence import build_first_token_distribution, find_answer_starts
from evaluation.maqa.run.judging import RightAnswers, read_reply_content
from evaluation.maqa.run.replies import INSTRUCTION, OPEN_INSTRUCTION, build_conversation
from evaluation.maqa.run.result_tables import STUDY_TABLES
from evaluation.maqa.run.study import REFUSED, MaqaStudy, evaluate_replies
from evaluation.models import LanguageModel, Run
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.asking.summary import StudySummary, Usage, build_cut_off_warnings
from evaluation.runs.steps.asking.preview import RequestForecast, estimate_round
from evaluation.runs.steps.asking.registration import (
    find_model_problems,
    load_registered_models,
    select_registered_models,
)
from evaluation.runs.steps.asking.stored_replies import StoredReply
from evaluation.runs.steps.asking.study_asking import Round, StudyAsker
from evaluation.runs.steps.cache import find_embedding_lane, open_stored_embedder
from evaluation.runs.steps.checkpoints import RunEnd, RunInputError, Turn, store_result_table

VERSION = 1


@dataclass(frozen=True)
class MaqaSummary(StudySummary):
    """Stored summary of a MAQA run: counts of inputs, requests, tokens, cost and exclusions.

    Attributes
    ----------
    questions : number of questions; `with_answers` of them have right answers.
    samples : replies to each question.
    systems : names of the models, in the order in which they were asked.
    replies : received replies; `no_answer` of them are empty or refused.
    errors : failed requests.
    requests : requests sent in this run; `reused` replies come from earlier runs of the owner.
    tokens_read, tokens_written : as counted by the servers.
    cost : of this run; None if a model has no prices.
    exclusions : what was left out, by reason.
    counts : of the evaluation.
    embedding : model that made the vectors; empty without vectors.
    meaning_threshold : cosine of the same meaning, and how it was chosen; empty without vectors.
    """

    questions: int = 0
    with_answers: int = 0
    samples: int = 0
    systems: tuple[str, ...] = ()
    replies: int = 0
    no_answer: int = 0
    errors: int = 0
    requests: int = 0
    reused: int = 0
    tokens_read: int = 0
    tokens_written: int = 0
    cost: float | None = None
    exclusions: tuple[dict[str, Any], ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    embedding: dict[str, Any] = field(default_factory=dict)
    meaning_threshold: dict[str, Any] = field(default_factory=dict)

    def get_shown_counts(self) -> Mapping[str, int]:
        """Return the input counts that the run's page shows, by label."""
        return {
            "questions": self.questions,
            "with right answers": self.with_answers,
            "models": len(self.systems),
            "replies": self.replies,
        }


def load_graded_questions(version: QuestionSetVersion) -> list[SeveralAnswersQuestion]:
    """Return the graded questions of a question set version that have a text, in order."""
    rows = version.questions.graded().exclude(text="").select_related("passage")
    return [_convert_question(row) for row in rows.order_by("position", "pk")]


def _convert_question(row: Question) -> SeveralAnswersQuestion:
    """Return a database question as a MAQA question: text, right answers and groups."""
    groups = {"category": row.category, "language": row.language}
    # Imported metadata may be any JSON value.
    extra = row.metadata if isinstance(row.metadata, dict) else {}
    groups |= {key: str(extra[key]) for key in ("kind", "dataset", "source") if extra.get(key)}
    return SeveralAnswersQuestion(
        row.external_id,
        _format_question(row),
        _list_right_answers(row, extra.get(SPELLINGS)),
        tuple((key, value) for key, value in groups.items() if value),
        row.position,
    )


def _format_question(row: Question) -> str:
    """Return the text to ask: the passage, the question, and the choices with letters."""
    parts = [row.passage.text] if row.passage is not None and row.passage.text else []
    parts.append(row.text)
    parts += [
        f"{letter}) {choice}" for letter, choice in zip(ascii_uppercase, row.choices, strict=False)
    ]
    return "\n".join(map(str, parts))


def _list_right_answers(row: Question, spellings: object) -> tuple[Spellings, ...]:
    """Return each right answer's spellings; `spellings` is the imported value, if any."""
    if isinstance(spellings, list) and all(isinstance(each, list) and each for each in spellings):
        answers = [tuple(str(text) for text in each) for each in spellings]
    else:
        answers = [(str(text),) for text in row.accepted_answers if str(text).strip()]
    choices = [str(choice) for choice in row.choices]
    # A model may reply with a choice's letter, or with the letter and the text.
    letters = dict(zip(choices, ascii_uppercase, strict=False))
    return tuple(
        (*texts, letters[texts[0]], f"{letters[texts[0]]}) {texts[0]}")
        if texts[0] in letters
        else texts
        for texts in answers
    )


def hash_questions(questions: list[SeveralAnswersQuestion]) -> str:
    """Return the SHA-256 of questions and right answers, which identifies a run's input."""
    inputs = [[question.id, question.text, question.answers] for question in questions]
    return hashlib.sha256(json.dumps(inputs, ensure_ascii=False).encode()).hexdigest()


ASKING, ANSWERING = "asking models", "Answering"
Faults = list[tuple[str, dict[str, object]]]


def execute_run(turn: Turn) -> None:
    """Execute a claimed run: ask the models, evaluate their replies, store the results.

    If the turn's time ends first, a later call continues.
    """
    run = Run.objects.select_related("version", "owner").get(pk=turn.run_id)
    options = load_options(run)
    questions = load_graded_questions(run.version)
    if not questions:
        raise RunInputError("run.no_question_with_text")
    models = load_registered_models(run, options.models)
    if not models:
        raise RunInputError("run.no_model_to_ask")
    asking = StudyAsker(turn, run, models, options.budget)
    faults: Faults = []
    replies = _request_replies(asking, models, questions, options, faults)
    if all(reply.status.is_missing for reply in replies):
        raise RunInputError("run.no_model_replied", reason=asking.find_first_fault())
    # Embedding has a lane of its own: in another lane this ends the turn, and the next continues.
    turn.require_lane(find_embedding_lane(options.embedder))
    turn.check_interruption()
    parameters = options.build_evaluation_parameters()
    study = evaluate_replies(
        parameters,
        questions,
        replies,
        turn.report_progress,
        include_open=True,
        embedder=open_stored_embedder(turn, parameters.embedder, parameters.precision),
    )
    for code, entry in faults:
        study.exclusions.add(code, entry)
    # Compute these cached properties now: the transaction below should be short.
    _ = (study.metrics, study.curves, study.bins, study.comparisons, study.small_samples)
    input_hash, usage = hash_questions(questions), asking.compute_usage()
    warnings = [*build_cut_off_warnings(usage), *study.list_warnings()]
    with turn.open_fenced_transaction():
        store_study(turn, study)
        turn.finish_run(
            RunEnd(
                _build_signature(options, study, models, input_hash),
                input_hash,
                _build_summary(usage, study, replies, options),
                [warning.as_dict() for warning in warnings],
            )
        )


def find_start_problems(
    version: QuestionSetVersion, user: AnyUser, options: MaqaRunOptions
) -> list[Problem]:
    """Return the problems that prevent a run: of its models, or no question with a text."""
    problems = find_model_problems(user, options, needed=("models",))
    if problems:
        return problems
    return [] if load_graded_questions(version) else [build_problem("no_text")]


def load_options(run: Run) -> MaqaRunOptions:
    """Return the options of a run, with defaults for options that an older run did not store."""
    stored: dict[str, Any] = run.parameters
    try:
        return MaqaRunOptions.from_dict(stored)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


def store_study(turn: Turn, study: MaqaStudy) -> None:
    """Store all result tables of a study; call it inside `turn.open_fenced_transaction()`."""
    for table in STUDY_TABLES:
        store_result_table(turn, table, table.rows(study))


def estimate_requests(
    version: QuestionSetVersion, user: AnyUser, options: MaqaRunOptions
) -> RequestForecast:
    """Return the forecast of a run's requests with a sample prompt; nothing is sent."""
    questions = load_graded_questions(version)
    rounds = _build_rounds(select_registered_models(user, options.models), questions, options)
    examples = {}
    if rounds and questions:
        examples["The first question, as the models see it"] = rounds[0].items[0].messages
    return RequestForecast(
        tuple(estimate_round(user, ANSWERING, each) for each in rounds), examples
    )


def _build_rounds(
    models: Sequence[LanguageModel],
    questions: Sequence[SeveralAnswersQuestion],
    options: MaqaRunOptions,
) -> list[Round]:
    """Return one round of prompts per model: all questions, each repeated."""
    sent: dict[str, Any] = {
        "temperature": options.temperature,
        "max_tokens": options.max_tokens,
    }
    if options.top_tokens:
        sent |= {"logprobs": True, "top_logprobs": options.top_tokens}
    items = [
        Item(
            question.id,
            build_conversation(
                INSTRUCTION if question.answers else OPEN_INSTRUCTION, question.text
            ),
            options.samples,
        )
        for question in questions
    ]
    return [Round(model, items, sent, options.seed) for model in models]


def _request_replies(
    asking: StudyAsker,
    models: Sequence[LanguageModel],
    questions: Sequence[SeveralAnswersQuestion],
    options: MaqaRunOptions,
    faults: Faults,
) -> list[SeveralAnswersReply]:
    """Ask all models all questions, each in a conversation of its own; return the replies."""
    rounds = _build_rounds(models, questions, options)
    right = {question.id: RightAnswers(question, options.rules) for question in questions}
    return [
        _convert_reply(right[item], model.name, sample, stored, options, faults)
        for model, stored_replies in zip(models, asking.ask_step(ASKING, rounds), strict=True)
        for (item, sample), stored in stored_replies.items()
    ]


def _convert_reply(
    right: RightAnswers,
    system: str,
    sample: int,
    stored: StoredReply,
    options: MaqaRunOptions,
    faults: Faults,
) -> SeveralAnswersReply:
    """Return a stored reply for MAQA, with first-token distributions if the server sent them."""
    item = right.question.id
    reply = SeveralAnswersReply(0, system, item, sample, stored.status, stored.text, None, None, ())
    tokens = parse_token_logprobs(stored.logprobs)
    if stored.status is not AnswerStatus.TEXT or tokens is None:
        return reply
    answers = [str(answer) for answer in read_reply_content(right, reply).answers]
    answer_starts, codes = find_answer_starts(stored.text, answers, tokens)
    faults += [(code, {"system": system, "item": item, "sample": sample}) for code in codes]
    distributions = (
        build_first_token_distribution(start.answer, start.token, options.vocabulary)
        for start in answer_starts
    )
    known = tuple(distribution for distribution in distributions if distribution)
    return replace(reply, first_token=known, logprobs=tuple(token.logprob for token in tokens))


def _build_signature(
    options: MaqaRunOptions, study: MaqaStudy, models: Sequence[LanguageModel], input_hash: str
) -> str:
    """Return the signature of a run: options, models, clustering, input hash, version."""
    parts = {
        **build_signature_parts(options),
        "models": "+".join(model.spec for model in models),
        **study.list_signature_parts(),
        "inputs": input_hash[:SHORT],
        "version": metadata.version("crowdgrade"),
    }
    return "|".join(["maqa", *(f"{name}:{value}" for name, value in parts.items())])


def _build_summary(
    usage: Sequence[Usage],
    study: MaqaStudy,
    replies: Sequence[SeveralAnswersReply],
    options: MaqaRunOptions,
) -> MaqaSummary:
    """Return the summary of a run; its total cost is None if one model's cost is unknown."""
    costs = [each.cost for each in usage]
    statuses = [reply.status for reply in replies]
    info = study.clusters.info
    cut_off = statuses.count(AnswerStatus.CUT_OFF)
    errors = statuses.count(AnswerStatus.ERROR)
    return MaqaSummary(
        version=VERSION,
        questions=len(study.questions),
        with_answers=study.counts["questions_with_an_answer"],
        samples=options.samples,
        systems=tuple(study.systems),
        replies=len(statuses) - errors - cut_off,
        no_answer=sum(status is AnswerStatus.EMPTY or status in REFUSED for status in statuses),
        errors=errors,
        cut_off=cut_off,
        usage=tuple(usage),
        requests=sum(each.requests for each in usage),
        reused=sum(each.reused for each in usage),
        tokens_read=sum(each.prompt_tokens for each in usage),
        tokens_written=sum(each.completion_tokens for each in usage),
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        exclusions=tuple(study.exclusions.as_list()),
        counts=study.counts,
        embedding={} if info is None else info.as_dict(),
        meaning_threshold=study.clusters.threshold.as_dict() if study.clusters.threshold else {},
    )
