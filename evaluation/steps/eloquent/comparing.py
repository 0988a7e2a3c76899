"""A run that compares models' replies to prompts of the same meaning, from options to summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

from annotations.exchange import AnswerStatus, InputError
from annotations.exchange.reading.changed_prompts import ChangedPrompt, read_changed_prompts
from annotations.exchange.reading.prompt_replies import NO_ANSWER
from annotations.exchange.reading.prompts import PromptItem
from annotations.exchange.reading.source import bytes_source
from annotations.models import QuestionSetVersion
from annotations.models.access import Anybody
from evaluation.flow.asking.plan import Item
from evaluation.flow.asking.summary import Usage, cut_off_warnings
from evaluation.flow.eloquent.conversations import Conversations
from evaluation.flow.eloquent.evaluating import evaluate, sets_to_judge
from evaluation.flow.eloquent.found import Findings
from evaluation.flow.eloquent.judging import Judgement, judged, question_again, question_of
from evaluation.flow.eloquent.matching import Reply
from evaluation.flow.eloquent.run_options import EloquentRunOptions
from evaluation.flow.eloquent.summary import VERSION, EloquentSummary
from evaluation.flow.metrics import Exclusions
from evaluation.models import LanguageModel, Run
from evaluation.options import Problem, problem, signed
from evaluation.options.parameters import SHORT
from evaluation.steps.asking.in_turns import AskedInTurns, Round
from evaluation.steps.asking.registered import problems_with_models, registered
from evaluation.steps.checkpoints import Ending, Lane, RunInputError, Turn
from evaluation.steps.eloquent.tables import keep_findings
from evaluation.steps.eloquent.wordings import can_be_compared, hash_of, items_of
from evaluation.texts.similarity_scores import read_score

ASKING, JUDGING = "asking models", "judging"


def compare_replies(turn: Turn) -> None:
    """Ask the models and judges of a claimed run, evaluate, and end it; or as far as time goes."""
    run = Run.objects.select_related("version", "owner").get(pk=turn.run_id)
    parameters = parameters_of(run)
    items = items_of(run.version)
    if not can_be_compared(items):
        raise RunInputError("run.no_two_wordings")
    models = registered(run, parameters.models)
    if not models:
        raise RunInputError("run.no_model_to_compare")
    judges = registered(run, parameters.judges, "judge")
    changed = _changed(parameters, items)
    asked = AskedInTurns(turn, run, models + judges, parameters.budget)
    replies = _replies(asked, models, items, parameters, changed)
    if all(one.status.is_missing for one in replies):
        raise RunInputError("run.no_model_replied", reason=asked.first_fault())
    judgements = _judgements(asked, judges, items, replies, parameters)
    turn.go_on_in(Lane.COMPUTING)
    turn.between_parts()
    exclusions = Exclusions()
    findings = evaluate(items, replies, judgements, parameters, exclusions, turn.report)
    input_hash, usage = hash_of(items), asked.usage()
    cut_off = cut_off_warnings(usage, {JUDGING: "judge_max_tokens"})
    with turn.fenced():
        keep_findings(turn, findings)
        turn.end(
            Ending(
                _signature(parameters, findings, models, judges, input_hash),
                input_hash,
                _summary(usage, items, findings, exclusions),
                [one.as_dict() for one in [*cut_off, *findings.warnings]],
            )
        )


def problems_at_start(
    version: QuestionSetVersion, user: Anybody, options: EloquentRunOptions
) -> list[Problem]:
    """Return why such a run is not started: no model, none of the user's, nothing to compare."""
    problems = problems_with_models(user, options, ("models", "judges"), needed=("models",))
    if problems:
        return problems
    items = items_of(version)
    if not can_be_compared(items):
        return [problem("no_wordings")]
    try:
        changed_prompts(options, items)
    except InputError as error:
        return [problem("bad_changed_wordings", "changed_wordings", reason=_first_of(error))]
    return []


def changed_prompts(
    options: EloquentRunOptions, items: Sequence[PromptItem]
) -> Mapping[tuple[str, int], ChangedPrompt]:
    """Return the prompts that are put otherwise. Raises `InputError`."""
    if not options.changed_wordings:
        return {}
    source = bytes_source("changed_prompts.csv", options.changed_wordings.encode())
    return read_changed_prompts(source, tuple(items)).prompts


def _changed(
    options: EloquentRunOptions, items: Sequence[PromptItem]
) -> Mapping[tuple[str, int], ChangedPrompt]:
    try:
        return changed_prompts(options, items)
    except InputError as error:  # the wordings are others than when the run was started
        raise RunInputError("run.changed_prompts_do_not_fit", reason=_first_of(error)) from error


def _first_of(error: InputError) -> str:
    """Return the first problem of a table that was written into a form."""
    first = error.problems[0]
    at = f"line {first.line}: " if first.line else ""
    more = f", and {error.total - 1} more problems" if error.total > 1 else ""
    return f"{at}{first.reason}{more}"


def parameters_of(run: Run) -> EloquentRunOptions:
    """Return the parameters of a run; what an older run did not store has its default."""
    stored: dict[str, Any] = run.parameters
    try:
        return EloquentRunOptions.of_dict(stored)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


def _replies(
    asked: AskedInTurns,
    models: Sequence[LanguageModel],
    items: Sequence[PromptItem],
    parameters: EloquentRunOptions,
    changed: Mapping[tuple[str, int], ChangedPrompt],
) -> list[Reply]:
    """Put every wording to the models, in a conversation of its own, then the follow-ups."""
    conversations = [Conversations(items, changed, parameters.told or "") for _ in models]
    sent = {"temperature": parameters.temperature, "max_tokens": parameters.max_tokens}

    def put(step: str, questions: Sequence[Sequence[Item]], question: str = "") -> None:
        rounds = [
            Round(model, of_model, sent, parameters.seed)
            for model, of_model in zip(models, questions, strict=True)
        ]
        for one, came in zip(conversations, asked.ask(step, rounds), strict=True):
            said = {name: (reply.text, reply.status) for (name, _), reply in came.items()}
            one.take(said, question)

    put(ASKING, [one.begin() for one in conversations])
    for number, question in enumerate(parameters.questions_after, 1):
        going_on = [one.follow_up(question) for one in conversations]
        put(f"follow-up {number}", going_on, question)
    return [
        reply
        for model, one in zip(models, conversations, strict=True)
        for reply in one.replies(model.name)
    ]


def _judgements(
    asked: AskedInTurns,
    judges: Sequence[LanguageModel],
    items: Sequence[PromptItem],
    replies: Sequence[Reply],
    parameters: EloquentRunOptions,
) -> list[Judgement]:
    """Ask the judges about every set of replies, and once more where a reply has no score."""
    sets = sets_to_judge(items, replies)
    keys = {"\x1f".join(key): key for key in sets}
    sent = {
        "temperature": parameters.judge_temperature,
        "max_tokens": parameters.judge_max_tokens,
    }
    questions = [
        Item(name, question_of(sets[key]), parameters.repeats) for name, key in keys.items()
    ]
    first = asked.ask(JUDGING, [Round(one, questions, sent, parameters.seed) for one in judges])
    rounds, places = [], []
    for judge, said in zip(judges, first, strict=True):
        unread = {
            f"{name}/{sample}": (name, sample)
            for (name, sample), reply in said.items()
            if not reply.status.is_missing and read_score(reply.text).score is None
        }
        once_more = [
            Item(own, question_again(sets[keys[name]], said[name, sample].text or NO_ANSWER))
            for own, (name, sample) in unread.items()
        ]
        rounds.append(Round(judge, once_more, sent, parameters.seed))
        places.append(unread)
    found = []
    for judge, said, unread, more in zip(
        judges, first, places, asked.ask(JUDGING, rounds), strict=True
    ):
        again = {unread[own]: reply for (own, _), reply in more.items()}
        found += [
            judged(
                keys[name],
                judge.name,
                sample,
                [(one.text, one.status) for one in (reply, again.get((name, sample))) if one],
            )
            for (name, sample), reply in said.items()
        ]
    return found


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
    usage: Sequence[Usage],
    items: Sequence[PromptItem],
    findings: Findings,
    exclusions: Exclusions,
) -> EloquentSummary:
    costs = [one.cost for one in usage]
    statuses = [one.status for one in findings.replies]
    cut_off = statuses.count(AnswerStatus.CUT_OFF)
    errors = statuses.count(AnswerStatus.ERROR)
    return EloquentSummary(
        version=VERSION,
        items=len(items),
        prompts=sum(len(item.variants) for item in items),
        languages=len({one.language for item in items for one in item.variants}),
        systems=findings.systems,
        judges=findings.judges,
        replies=len(statuses),
        no_answer=len(statuses) - errors - cut_off - statuses.count(AnswerStatus.TEXT),
        errors=errors,
        cut_off=cut_off,
        usage=tuple(usage),
        changed_prompts=sum(one.changed for one in findings.replies),
        follow_up_turns=sum(len(one.turns) - 1 for one in findings.replies),
        judgements=len(findings.judgements),
        without_score=sum(one.score is None for one in findings.judgements),
        requests=sum(one.requests for one in usage),
        reused=sum(one.reused for one in usage),
        tokens_read=sum(one.prompt_tokens for one in usage),
        tokens_written=sum(one.completion_tokens for one in usage),
        cost=None if None in costs else sum(one for one in costs if one is not None),
        exclusions=tuple(exclusions.as_list()),
        embedding={} if findings.embedding is None else findings.embedding.as_dict(),
    )
