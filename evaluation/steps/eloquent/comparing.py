"""A run that compares models' replies to prompts of the same meaning, from options to summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import metadata
from typing import Any
from uuid import UUID

from annotations.exchange import AnswerStatus, InputError
from annotations.exchange.reading.prompt_replies import NO_ANSWER
from annotations.exchange.reading.prompt_replies import Turn as Spoken
from annotations.exchange.reading.prompts import PromptItem
from annotations.models import QuestionSetVersion
from annotations.models.access import Anybody
from evaluation.backends.errors import BackendError
from evaluation.flow.asking.plan import Item
from evaluation.flow.eloquent.evaluating import evaluate, sets_to_judge
from evaluation.flow.eloquent.found import Findings
from evaluation.flow.eloquent.judging import Judgement, judged, question_again, question_of
from evaluation.flow.eloquent.matching import Reply
from evaluation.flow.eloquent.run_options import EloquentRunOptions
from evaluation.flow.eloquent.summary import VERSION, EloquentSummary
from evaluation.flow.metrics import Exclusions
from evaluation.models import LanguageModel, Run, RunData
from evaluation.options import Problem, problem, signed
from evaluation.options.signing import SHORT
from evaluation.steps.checkpoints import Ending, RunInputError, Turn
from evaluation.steps.eloquent.conversations import PREFIX, Conversations, StoredReply
from evaluation.steps.eloquent.tables import keep_findings
from evaluation.steps.eloquent.wordings import can_be_compared, hash_of, items_of
from evaluation.texts.similarity_scores import read_score


def compare_replies(turn: Turn) -> None:
    """Ask the models and judges of a claimed run, evaluate, and end it; or as far as time goes."""
    run = Run.objects.select_related("version", "owner").get(pk=turn.run_id)
    parameters = parameters_of(run)
    items = items_of(run.version)
    if not can_be_compared(items):
        raise RunInputError(
            "No question has two wordings in one language: upload prompts that ask for the same "
            "in other words, or add variants to the questions."
        )
    models = _registered(run, parameters.models, "model")
    if not models:
        raise RunInputError("Choose a model whose replies are compared.")
    judges = _registered(run, parameters.judges, "judge")
    replies = [reply for model in models for reply in _replies(turn, run, model, items, parameters)]
    if all(one.status is AnswerStatus.ERROR for one in replies):
        raise RunInputError(f"No model replied at all. {_first_fault(run)}")
    judgements = [
        judgement
        for judge in judges
        for judgement in _judgements(turn, run, judge, items, replies, parameters)
    ]
    turn.between_parts()
    exclusions = Exclusions()
    findings = evaluate(items, replies, judgements, parameters, exclusions, turn.report)
    input_hash = hash_of(items)
    with turn.fenced():
        keep_findings(turn, findings)
        turn.end(
            Ending(
                _signature(parameters, findings, models, judges, input_hash),
                input_hash,
                _summary(run, items, findings, exclusions, models + judges),
                [warning.as_dict() for warning in findings.warnings],
            )
        )


def problems_at_start(
    version: QuestionSetVersion, user: Anybody, options: EloquentRunOptions
) -> list[Problem]:
    """Return why such a run is not started: no model, none of the user's, nothing to compare."""
    if not options.models:
        return [problem("no_models", "models")]
    rows = LanguageModel.objects.editable_by(user)
    for name in ("models", "judges"):
        wanted = {UUID(one) for one in getattr(options, name)}
        found = list(rows.filter(public_id__in=wanted))
        if len(found) < len(wanted):
            return [problem("unknown_models", name, missing=len(wanted) - len(found))]
        for model in found:
            if not model.spec:
                return [problem("no_spec", name, name=model.name)]
    return [] if can_be_compared(items_of(version)) else [problem("no_wordings")]


def parameters_of(run: Run) -> EloquentRunOptions:
    """Return the parameters of a run; what an older run did not store has its default."""
    stored: dict[str, Any] = run.parameters
    try:
        return EloquentRunOptions.of_dict(stored)
    except KeyError as error:
        raise RunInputError(f"unknown parameters: {', '.join(error.args)}") from None


def _registered(run: Run, ids: Iterable[str], what: str) -> list[LanguageModel]:
    """Return the models of these ids that the run's owner may have asked."""
    rows = LanguageModel.objects.editable_by(run.owner).select_related("owner")
    wanted = [UUID(one) for one in ids]
    found = {row.public_id: row for row in rows.filter(public_id__in=wanted)}
    if len(found) < len(wanted):
        missing = len(wanted) - len(found)
        raise RunInputError(f"{missing} of the {what}s are not there, or not yours to ask.")
    return [found[one] for one in wanted]


def _conversations(turn: Turn, run: Run, model: LanguageModel, stage: str) -> Conversations:
    try:
        return Conversations(turn, run, model, stage)
    except (BackendError, InputError) as error:
        raise RunInputError(str(error)) from error


def _replies(
    turn: Turn,
    run: Run,
    model: LanguageModel,
    items: Sequence[PromptItem],
    parameters: EloquentRunOptions,
) -> list[Reply]:
    """Put every wording to a model in a conversation of its own."""
    wordings = {
        f"{item.id}/{variant.place}": (item, variant) for item in items for variant in item.variants
    }
    asked = [
        Item(name, ({"role": "user", "content": variant.prompt},))
        for name, (_, variant) in wordings.items()
    ]
    sent = {"temperature": parameters.temperature, "max_tokens": parameters.max_tokens}
    conversations = _conversations(turn, run, model, f"asking {model.name}"[:50])
    found = conversations.ask(asked, sent, parameters.seed)
    return [
        Reply(
            model.name,
            item.id,
            variant.language,
            variant.place,
            variant.prompt,
            found[name, 0].text,
            found[name, 0].status,
            (Spoken(variant.prompt, found[name, 0].text),),
        )
        for name, (item, variant) in wordings.items()
    ]


def _judgements(
    turn: Turn,
    run: Run,
    judge: LanguageModel,
    items: Sequence[PromptItem],
    replies: Sequence[Reply],
    parameters: EloquentRunOptions,
) -> list[Judgement]:
    """Ask a judge about every set of replies, and once more where its reply has no score."""
    sets = sets_to_judge(items, replies)
    keys = {"\x1f".join(key): key for key in sets}
    sent = {
        "temperature": parameters.judge_temperature,
        "max_tokens": parameters.judge_max_tokens,
    }
    conversations = _conversations(turn, run, judge, f"judging by {judge.name}"[:50])
    asked = [Item(name, question_of(sets[key]), parameters.repeats) for name, key in keys.items()]
    first = conversations.ask(asked, sent, parameters.seed)
    unread = {
        f"{name}/{sample}": (name, sample)
        for (name, sample), reply in first.items()
        if reply.status is not AnswerStatus.ERROR and read_score(reply.text).score is None
    }
    asked = [
        Item(own, question_again(sets[keys[name]], first[name, sample].text or NO_ANSWER))
        for own, (name, sample) in unread.items()
    ]
    again = {
        unread[own]: reply
        for (own, _), reply in conversations.ask(asked, sent, parameters.seed).items()
    }
    return [
        judged(
            keys[name],
            judge.name,
            sample,
            [(one.text, one.status) for one in (reply, again.get((name, sample))) if one],
        )
        for (name, sample), reply in first.items()
    ]


def _first_fault(run: Run) -> str:
    rows = RunData.objects.filter(run=run, name__startswith=PREFIX).order_by("pk")
    faults = (StoredReply.of(data).message for data in rows.values_list("data", flat=True))
    return next((f"The first reason: {fault}" for fault in faults if fault), "")


def _signature(
    parameters: EloquentRunOptions,
    findings: Findings,
    models: Sequence[LanguageModel],
    judges: Sequence[LanguageModel],
    input_hash: str,
) -> str:
    """Return the signature: parameters, who replied and judged, embedding, inputs, version."""
    info = findings.embedding
    parts = {
        **signed(parameters),
        "models": "+".join(model.spec for model in models),
        "judges": "+".join(judge.spec for judge in judges) or "none",
        **({} if info is None else {"embedder": info.model, "revision": info.revision}),
        "inputs": input_hash[:SHORT],
        "version": metadata.version("crowdgrade"),
    }
    return "|".join(["eloquent", *(f"{name}:{value}" for name, value in parts.items())])


def _summary(
    run: Run,
    items: Sequence[PromptItem],
    findings: Findings,
    exclusions: Exclusions,
    asked: Sequence[LanguageModel],
) -> EloquentSummary:
    rows = RunData.objects.filter(run=run, name__startswith=PREFIX)
    stored = [StoredReply.of(data) for data in rows.values_list("data", flat=True)]
    own = [one for one in stored if not one.reused]
    priced = all(one.price_in is not None and one.price_out is not None for one in asked)
    statuses = [one.status for one in findings.replies]
    errors = statuses.count(AnswerStatus.ERROR)
    return EloquentSummary(
        version=VERSION,
        items=len(items),
        prompts=sum(len(item.variants) for item in items),
        languages=len({one.language for item in items for one in item.variants}),
        systems=findings.systems,
        judges=findings.judges,
        replies=len(statuses),
        no_answer=len(statuses) - errors - statuses.count(AnswerStatus.TEXT),
        errors=errors,
        judgements=len(findings.judgements),
        without_score=sum(one.score is None for one in findings.judgements),
        requests=len(own),
        reused=len(stored) - len(own),
        tokens_read=sum(one.prompt_tokens for one in own),
        tokens_written=sum(one.completion_tokens for one in own),
        cost=sum(one.cost for one in own) if priced else None,
        exclusions=tuple(exclusions.as_list()),
        embedding={} if findings.embedding is None else findings.embedding.as_dict(),
    )
