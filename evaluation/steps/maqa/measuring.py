"""A run that measures how sure models are and whether they are right, from options to summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import metadata
from typing import Any, NamedTuple

from annotations.exchange import AnswerStatus
from annotations.exchange.reading.several_answers import (
    SeveralAnswersQuestion,
    SeveralAnswersReply,
)
from annotations.models import QuestionSetVersion
from annotations.models.access import Anybody
from evaluation.backends.chat.distributions import tokens_of
from evaluation.flow.asking.plan import Item
from evaluation.flow.asking.summary import Usage, cut_off_warnings
from evaluation.flow.maqa.asking import TOLD, TOLD_OPEN, conversation
from evaluation.flow.maqa.first_tokens import distribution_of, starts
from evaluation.flow.maqa.judging import RightAnswers, read_reply
from evaluation.flow.maqa.rows import AnswerRow, GoldCountRow, ItemRow, PositionRow
from evaluation.flow.maqa.run_options import MaqaRunOptions
from evaluation.flow.maqa.study import REFUSED, MaqaStudy, study_replies
from evaluation.flow.maqa.summary import VERSION, MaqaSummary
from evaluation.flow.maqa.sure_and_right import BinRow, CurveRow, PairRow
from evaluation.flow.metrics import MetricRow
from evaluation.models import LanguageModel, Run
from evaluation.options import Problem, problem, signed
from evaluation.options.parameters import SHORT
from evaluation.steps.asking.foreseen import Foreseen, takes_of
from evaluation.steps.asking.in_turns import AskedInTurns, Round
from evaluation.steps.asking.kept import StoredReply
from evaluation.steps.asking.registered import chosen, problems_with_models, registered
from evaluation.steps.checkpoints import Ending, Lane, RunInputError, Turn
from evaluation.steps.findings import keep_rows
from evaluation.steps.maqa.questions import hash_of, questions_of

ASKING, ANSWERING = "asking models", "Answering"
Faults = list[tuple[str, dict[str, object]]]


class ReplyRow(NamedTuple):
    """A reply as it is kept: its text, the confidence it gives itself, and which meaning it has.

    `meaning` counts the clusters of a model's replies to a question from 0.
    """

    item: str
    system: str
    sample: int
    question: str
    reply: str
    status: str
    confidence: float | None
    meaning: int | None
    precision: float | None


def measure(turn: Turn) -> None:
    """Ask the models of a claimed run, evaluate, and end it; or as far as time goes."""
    run = Run.objects.select_related("version", "owner").get(pk=turn.run_id)
    options = options_of(run)
    questions = questions_of(run.version)
    if not questions:
        raise RunInputError("run.no_question_with_text")
    models = registered(run, options.models)
    if not models:
        raise RunInputError("run.no_model_to_ask")
    asked = AskedInTurns(turn, run, models, options.budget)
    faults: Faults = []
    replies = _replies(asked, models, questions, options, faults)
    if all(one.status.is_missing for one in replies):
        raise RunInputError("run.no_model_replied", reason=asked.first_fault())
    turn.go_on_in(Lane.COMPUTING)
    turn.between_parts()
    study = study_replies(options.evaluation(), questions, replies, turn.report, open_too=True)
    for code, named in faults:
        study.exclusions.add(code, named)
    # What takes long is computed before the transaction that writes it.
    _ = (study.metrics, study.curves, study.bins, study.comparisons)
    input_hash, usage = hash_of(questions), asked.usage()
    with turn.fenced():
        keep_study(turn, study)
        turn.end(
            Ending(
                _signature(options, study, models, input_hash),
                input_hash,
                _summary(usage, study, replies, options),
                [one.as_dict() for one in [*cut_off_warnings(usage), *study.warnings()]],
            )
        )


def problems_at_start(
    version: QuestionSetVersion, user: Anybody, options: MaqaRunOptions
) -> list[Problem]:
    """Return why such a run is not started: no model, none of the user's, no question."""
    problems = problems_with_models(user, options, needed=("models",))
    if problems:
        return problems
    return [] if questions_of(version) else [problem("no_text")]


def options_of(run: Run) -> MaqaRunOptions:
    """Return the options of a run; what an older run did not store has its default."""
    stored: dict[str, Any] = run.parameters
    try:
        return MaqaRunOptions.of_dict(stored)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


def keep_study(turn: Turn, study: MaqaStudy) -> None:
    """Put everything aside as the tables of files; call it in `fenced`."""
    keep_rows(turn, "metrics", MetricRow, study.metrics)
    keep_rows(turn, "items", ItemRow, study.items())
    keep_rows(turn, "answers", AnswerRow, study.answers())
    keep_rows(turn, "positions", PositionRow, study.positions())
    keep_rows(turn, "gold-counts", GoldCountRow, study.gold_counts())
    keep_rows(turn, "curves", CurveRow, study.curves)
    keep_rows(turn, "calibration", BinRow, study.bins)
    keep_rows(turn, "comparisons", PairRow, study.comparisons)
    keep_rows(turn, "replies", ReplyRow, _reply_rows(study))


def foreseen(version: QuestionSetVersion, user: Anybody, options: MaqaRunOptions) -> Foreseen:
    """Return what the models will be asked; nothing is sent."""
    questions = questions_of(version)
    rounds = _rounds(chosen(user, options.models), questions, options)
    shown = {}
    if rounds and questions:
        shown["The first question, as the models see it"] = rounds[0].items[0].messages
    return Foreseen(tuple(takes_of(user, ANSWERING, one) for one in rounds), shown)


def _rounds(
    models: Sequence[LanguageModel],
    questions: Sequence[SeveralAnswersQuestion],
    options: MaqaRunOptions,
) -> list[Round]:
    """Return what each model is asked."""
    sent: dict[str, Any] = {
        "temperature": options.temperature,
        "max_tokens": options.max_tokens,
    }
    if options.top_tokens:
        sent |= {"logprobs": True, "top_logprobs": options.top_tokens}
    items = [
        Item(one.id, conversation(TOLD if one.answers else TOLD_OPEN, one.text), options.samples)
        for one in questions
    ]
    return [Round(model, items, sent, options.seed) for model in models]


def _replies(
    asked: AskedInTurns,
    models: Sequence[LanguageModel],
    questions: Sequence[SeveralAnswersQuestion],
    options: MaqaRunOptions,
    faults: Faults,
) -> list[SeveralAnswersReply]:
    """Put every question to the models, so many times, each in a conversation of its own."""
    rounds = _rounds(models, questions, options)
    right = {one.id: RightAnswers(one, options.rules) for one in questions}
    return [
        _reply(right[item], model.name, sample, stored, options, faults)
        for model, found in zip(models, asked.ask(ASKING, rounds), strict=True)
        for (item, sample), stored in found.items()
    ]


def _reply(
    right: RightAnswers,
    system: str,
    sample: int,
    stored: StoredReply,
    options: MaqaRunOptions,
    faults: Faults,
) -> SeveralAnswersReply:
    """Return a reply, with the distributions at its answers where the server told them."""
    item = right.question.id
    reply = SeveralAnswersReply(0, system, item, sample, stored.status, stored.text, None, None, ())
    tokens = tokens_of(stored.logprobs)
    if stored.status is not AnswerStatus.TEXT or tokens is None:
        return reply
    answers = [str(one) for one in read_reply(right, reply).answers]
    found, codes = starts(stored.text, answers, tokens)
    faults += [(code, {"system": system, "item": item, "sample": sample}) for code in codes]
    told = (distribution_of(one.answer, one.token, options.vocabulary) for one in found)
    logs = tuple(token.logprob for token in tokens)
    return replace(reply, first_token=tuple(one for one in told if one), logprobs=logs)


def _reply_rows(study: MaqaStudy) -> Iterator[ReplyRow]:
    for system, replies in study.judged.items():
        for item, judged in replies.items():
            meanings = study.clusters.of.get((system, item))
            for place, one in enumerate(judged):
                yield ReplyRow(
                    *(item, system, one.reply.sample, study.right[item].question.text),
                    *(one.reply.text, one.reply.status.value, one.confidence),
                    None if meanings is None else int(meanings[place]),
                    None if one.score is None else one.score.precision,
                )


def _signature(
    options: MaqaRunOptions, study: MaqaStudy, models: Sequence[LanguageModel], input_hash: str
) -> str:
    """Return the signature: options, who replied, what told meanings apart, inputs, version."""
    parts = {
        **signed(options),
        "models": "+".join(model.spec for model in models),
        **study.made(),
        "inputs": input_hash[:SHORT],
        "version": metadata.version("crowdgrade"),
    }
    return "|".join(["maqa", *(f"{name}:{value}" for name, value in parts.items())])


def _summary(
    usage: Sequence[Usage],
    study: MaqaStudy,
    replies: Sequence[SeveralAnswersReply],
    options: MaqaRunOptions,
) -> MaqaSummary:
    costs = [one.cost for one in usage]
    statuses = [one.status for one in replies]
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
        no_answer=sum(one is AnswerStatus.EMPTY or one in REFUSED for one in statuses),
        errors=errors,
        cut_off=cut_off,
        usage=tuple(usage),
        requests=sum(one.requests for one in usage),
        reused=sum(one.reused for one in usage),
        tokens_read=sum(one.prompt_tokens for one in usage),
        tokens_written=sum(one.completion_tokens for one in usage),
        cost=None if None in costs else sum(one for one in costs if one is not None),
        exclusions=tuple(study.exclusions.as_list()),
        counts=study.counts,
        embedding={} if info is None else info.as_dict(),
    )
