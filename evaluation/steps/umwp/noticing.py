"""A run that asks whether models notice that a question has no answer, from options to summary."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from typing import Any

from annotations.exchange.reading.systems import System, parameters_of
from annotations.exchange.reading.word_problems import WordProblem, WordProblemReply
from annotations.exchange.records import AnswerStatus
from annotations.models import QuestionSetVersion
from annotations.models.access import Anybody
from evaluation.flow.asking.plan import Item
from evaluation.flow.asking.summary import Usage, cut_off_warnings
from evaluation.flow.metrics import Exclusions
from evaluation.flow.umwp.asking import conversation
from evaluation.flow.umwp.people import PEOPLE, replies_of
from evaluation.flow.umwp.run_options import UmwpRunOptions
from evaluation.flow.umwp.sizes import size_rows, trend_rows
from evaluation.flow.umwp.study import ERROR, NO_REPLY, UmwpStudy, study_replies
from evaluation.flow.umwp.summary import VERSION, UmwpSummary
from evaluation.flow.umwp.templates import own_templates
from evaluation.models import LanguageModel, Run
from evaluation.options import Problem, problem, signed
from evaluation.options.parameters import SHORT
from evaluation.steps.asking.foreseen import Foreseen, takes_of
from evaluation.steps.asking.in_turns import AskedInTurns, Round
from evaluation.steps.asking.registered import chosen, problems_with_models, registered
from evaluation.steps.checkpoints import Ending, Lane, RunInputError, Turn
from evaluation.steps.outside import problems_of_workers
from evaluation.steps.umwp.people import peoples_answers
from evaluation.steps.umwp.problems import has_labels, hash_of, problems_of
from evaluation.steps.umwp.tables import ReplyRow, keep_findings
from evaluation.words.message import Message

ASKING, ANSWERING = "asking models", "Answering"


def ask_and_classify(turn: Turn) -> None:
    """Ask the models of a claimed run, classify, and end it; or as far as time goes."""
    run = Run.objects.select_related("version", "owner").get(pk=turn.run_id)
    parameters = options_of(run)
    exclusions = Exclusions()
    problems = problems_of(run.version, exclusions)
    if not problems:
        raise RunInputError("run.no_problem_with_text")
    models = registered(run, parameters.models)
    if not models:
        raise RunInputError("run.no_models_to_ask")
    if any(model.name == PEOPLE for model in models):
        raise RunInputError("run.model_named_as_people", name=PEOPLE)
    asked = AskedInTurns(turn, run, models, parameters.budget)
    replies = _replies(asked, models, problems, parameters)
    if all(one.status.is_missing for one in replies):
        raise RunInputError("run.no_model_replied", reason=asked.first_fault())
    turn.go_on_in(Lane.COMPUTING)
    turn.between_parts()
    answers = list(peoples_answers(run.version, parameters.exclude_workers))
    people = list(replies_of(answers, exclusions))
    study = study_replies(
        parameters.evaluation(), problems, replies, own_templates(), True, turn.report, people
    )
    study.exclusions.merge(exclusions)
    sizes = size_rows(study.metrics, {model.name: _system(model) for model in models})
    input_hash = hash_of(problems, people)
    rows = [ReplyRow(one.system, one.item, one.form, one.text, one.status.value) for one in replies]
    usage = asked.usage()
    with turn.fenced():
        keep_findings(turn, study, rows, (sizes, trend_rows(sizes)))
        turn.end(
            Ending(
                _signature(parameters, study, models, input_hash),
                input_hash,
                _summary(usage, study, models, parameters, replies),
                [one.as_dict() for one in [*cut_off_warnings(usage), *_warnings(study)]],
            )
        )


def problems_at_start(
    version: QuestionSetVersion, user: Anybody, options: UmwpRunOptions
) -> list[Problem]:
    """Return why such a run is not started: no model, none of the user's, no question."""
    found = [
        *problems_with_models(user, options, needed=("models",)),
        *problems_of_workers(version, user, options, needed=False),
    ]
    if found:
        return found
    if not version.questions.graded().exclude(text="").exists():
        return [problem("no_questions")]
    return []


def options_of(run: Run) -> UmwpRunOptions:
    """Return the parameters of a run; what an older run did not store has its default."""
    stored: dict[str, Any] = run.parameters
    try:
        return UmwpRunOptions.of_dict(stored)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


def foreseen(version: QuestionSetVersion, user: Anybody, options: UmwpRunOptions) -> Foreseen:
    """Return what the models will be asked; nothing is sent."""
    problems = problems_of(version)
    rounds = _rounds(chosen(user, options.models), problems, options)
    shown = {
        f"The first question, asked “{form}”": conversation(one.text, form)
        for one in problems[:1]
        for form in options.forms
    }
    return Foreseen(tuple(takes_of(user, ANSWERING, one) for one in rounds), shown)


def _rounds(
    models: Sequence[LanguageModel],
    problems: Sequence[WordProblem],
    parameters: UmwpRunOptions,
) -> list[Round]:
    """Return what each model is asked."""
    items = [
        Item(f"{form}/{one.id}", conversation(one.text, form))
        for form in parameters.forms
        for one in problems
    ]
    sent = {"temperature": parameters.temperature, "max_tokens": parameters.max_tokens}
    return [Round(model, items, sent, parameters.seed) for model in models]


def _replies(
    asked: AskedInTurns,
    models: Sequence[LanguageModel],
    problems: Sequence[WordProblem],
    parameters: UmwpRunOptions,
) -> list[WordProblemReply]:
    """Put every question to the models in each form, in a conversation of its own."""
    rounds = _rounds(models, problems, parameters)
    return [
        WordProblemReply(one.line, model.name, one.id, form, came.text, came.status)
        for model, found in zip(models, asked.ask(ASKING, rounds), strict=True)
        for form in parameters.forms
        for one in problems
        for came in [found[f"{form}/{one.id}", 0]]
    ]


def _system(model: LanguageModel) -> System:
    """Return what is registered of a model; a size that says no number is unknown."""
    return System(model.name, model.size, parameters_of(model.size), model.tuning, model.family)


def _warnings(study: UmwpStudy) -> list[Message]:
    """Return what to know before relying on the numbers."""
    found = []
    if study.exclusions.count(ERROR) or study.exclusions.count(NO_REPLY):
        found.append(Message("umwp.incomplete"))
    if not has_labels(study.problems):
        found.append(Message("umwp.no_labels"))
    if texts := sum(not one.is_math for one in study.problems):
        found.append(Message("umwp.not_math", {"count": texts, "questions": len(study.problems)}))
    return found


def _signature(
    parameters: UmwpRunOptions,
    study: UmwpStudy,
    models: Sequence[LanguageModel],
    input_hash: str,
) -> str:
    """Return the signature: parameters, who was asked, encoder, threshold, inputs, version."""
    info = study.found.info
    parts = {
        **signed(parameters),
        "models": "+".join(model.spec for model in models),
        "encoder": info.model,
        "revision": info.revision,
        "precision": info.precision,
        "threshold": f"{study.threshold:.4g}",
        "inputs": input_hash[:SHORT],
        "version": metadata.version("crowdgrade"),
    }
    return "|".join(["umwp", *(f"{name}:{value}" for name, value in parts.items())])


def _summary(
    usage: Sequence[Usage],
    study: UmwpStudy,
    models: Sequence[LanguageModel],
    parameters: UmwpRunOptions,
    replies: Sequence[WordProblemReply],
) -> UmwpSummary:
    costs = [one.cost for one in usage]
    labels = [one.answerable for one in study.problems]
    return UmwpSummary(
        version=VERSION,
        systems=tuple(model.name for model in models),
        forms=parameters.forms,
        questions=len(labels),
        answerable=labels.count(True),
        unanswerable=labels.count(False),
        unknown=labels.count(None),
        replies=len(replies),
        errors=sum(one.status is AnswerStatus.ERROR for one in replies),
        cut_off=sum(one.status is AnswerStatus.CUT_OFF for one in replies),
        usage=tuple(usage),
        requests=sum(one.requests for one in usage),
        reused=sum(one.reused for one in usage),
        tokens_read=sum(one.prompt_tokens for one in usage),
        tokens_written=sum(one.completion_tokens for one in usage),
        cost=None if None in costs else sum(one for one in costs if one is not None),
        threshold=study.threshold,
        tuned=study.tuned,
        counts=dict(study.counts()),
        exclusions=tuple(study.exclusions.as_list()),
        encoder=study.found.info.as_dict(),
    )
