"""ELOQUENT on the database: load prompts, ask models and judges, store and load findings."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from typing import Any

from annotations.exchange import InputError
from annotations.exchange.reading.changed_prompts import ChangedPrompt, read_changed_prompts
from annotations.exchange.reading.judge_instructions import read_judge_instructions
from annotations.exchange.reading.prompt_replies import NO_ANSWER
from annotations.exchange.reading.prompt_replies import ConversationTurn as Spoken
from annotations.exchange.reading.prompts import PromptItem, PromptVariant
from annotations.exchange.reading.source import make_bytes_source
from annotations.exchange.records import AnswerStatus
from annotations.models import Question, QuestionSetVersion, Variant
from annotations.models.access import AnyUser
from evaluation.core.options import Problem, build_problem, build_signature_parts
from evaluation.core.options.parameters import SHORT
from evaluation.core.stats.inference.comparison import Comparison
from evaluation.core.text.items import parse_score
from evaluation.eloquent.methods import JudgeAgreement
from evaluation.eloquent.options import EloquentRunOptions
from evaluation.eloquent.run.evaluation import evaluate_replies, select_judged_sets
from evaluation.eloquent.run.findings import Findings, ItemRow, SetRow
from evaluation.eloquent.run.judging import (
    Judgement,
    build_judge_question,
    build_judgement,
    build_second_judge_question,
)
from evaluation.eloquent.run.replies import Conversations, Reply
from evaluation.models import LanguageModel, Run, RunData
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.asking.summary import StudySummary, Usage, build_cut_off_warnings
from evaluation.runs.flow.metrics import Exclusions, MetricRow
from evaluation.runs.steps.asking.preview import RequestCounter, RequestForecast
from evaluation.runs.steps.asking.registration import (
    find_model_problems,
    load_registered_models,
    select_registered_models,
)
from evaluation.runs.steps.asking.study_asking import Round, StepAsker, StudyAsker
from evaluation.runs.steps.cache import find_embedding_lane, open_stored_embedder
from evaluation.runs.steps.checkpoints import RunEnd, RunInputError, Turn

VERSION = 1


@dataclass(frozen=True)
class EloquentSummary(StudySummary):
    """Stored summary of an ELOQUENT run: counts, models, judges, tokens and cost.

    Attributes
    ----------
    systems, judges : names in the order of the options.
    no_answer, errors : number of empty or refused replies, and of replies that failed.
    without_score : number of judgements without a score.
    requests, reused : number of requests of this run, and of replies of earlier runs.
    tokens_read, tokens_written : as counted by the servers.
    cost : of this run; None if a model has no prices.
    changed_prompts : number of replies to prompts with changed wording.
    follow_up_turns : number of follow-up turns of all replies.
    exclusions : what was left out, by reason.
    embedding : how vectors were computed; {} without.
    """

    items: int = 0
    prompts: int = 0
    languages: int = 0
    systems: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    replies: int = 0
    no_answer: int = 0
    errors: int = 0
    judgements: int = 0
    without_score: int = 0
    requests: int = 0
    reused: int = 0
    tokens_read: int = 0
    tokens_written: int = 0
    cost: float | None = None
    changed_prompts: int = 0
    follow_up_turns: int = 0
    exclusions: tuple[dict[str, Any], ...] = ()
    embedding: dict[str, Any] = field(default_factory=dict)

    def get_shown_counts(self) -> Mapping[str, int]:
        """Return the input counts that the run's page shows, by label."""
        return {
            "items": self.items,
            "prompts": self.prompts,
            "models": len(self.systems),
            "judges": len(self.judges),
        }


# BCP 47 code of a wording without a language.
UNDETERMINED = "und"


def load_prompt_items(version: QuestionSetVersion) -> tuple[PromptItem, ...]:
    """Return a version's questions that have several wordings as items, in order.

    The question itself is the first wording. The kind of variation is the question's category, or
    the kinds of its variants, such as "dialect and translation".
    """
    variants: dict[int, list[Variant]] = defaultdict(list)
    rows = Variant.objects.filter(question__version=version).order_by("position", "pk")
    for row in rows:
        variants[row.question_id].append(row)
    questions = version.questions.graded().exclude(text="")
    return tuple(
        _build_prompt_item(question, variants[question.pk])
        for question in questions.order_by("position", "pk")
        if variants[question.pk]
    )


def _build_prompt_item(question: Question, others: list[Variant]) -> PromptItem:
    """Return a question and its variants as one item with several wordings."""
    # A variant without a language is in that of its question.
    own = question.language.lower() or UNDETERMINED
    wordings = [(own, question.text)]
    wordings += [(row.language.lower() or own, row.text) for row in others]
    kinds = sorted({str(row.get_kind_display()) for row in others})
    return PromptItem(
        question.external_id,
        question.category or " and ".join(kinds),
        tuple(
            PromptVariant(place, language, text, place)
            for place, (language, text) in enumerate(wordings)
        ),
        question.position,
    )


def has_comparable_item(items: tuple[PromptItem, ...]) -> bool:
    """Return whether any item has at least two wordings in the same language."""
    return any(len(item.list_variants_in(code)) > 1 for item in items for code in item.languages)


def hash_items(items: tuple[PromptItem, ...]) -> str:
    """Return the SHA-256 of all wordings of all items, for a run's signature."""
    values = [
        [item.id, item.variation, [[row.language, row.prompt] for row in item.variants]]
        for item in items
    ]
    return hashlib.sha256(json.dumps(values, ensure_ascii=False).encode()).hexdigest()


NAME = "findings"


def store_findings(turn: Turn, findings: Findings) -> None:
    """Store the findings of a run; call it within `turn.open_fenced_transaction()`."""
    turn.store_json(
        NAME,
        {
            "systems": findings.systems,
            "judges": findings.judges,
            "sets": findings.sets,
            "items": findings.items,
            "metrics": findings.metrics,
            "judgements": [asdict(row) for row in findings.judgements],
            "agreements": [asdict(row) for row in findings.agreements],
            "comparisons": [asdict(row) for row in findings.comparisons],
            "replies": [{**asdict(row), "status": row.status.value} for row in findings.replies],
        },
    )


def load_findings(run: Run) -> Findings:
    """Return the stored findings of a finished run."""
    stored: dict[str, Any] = RunData.objects.get(run=run, name=NAME).data
    return Findings(
        systems=tuple(stored["systems"]),
        sets=tuple(SetRow(*row) for row in stored["sets"]),
        items=tuple(ItemRow(*row) for row in stored["items"]),
        metrics=tuple(MetricRow(*row) for row in stored["metrics"]),
        judgements=tuple(Judgement(**row) for row in stored["judgements"]),
        judges=tuple(stored["judges"]),
        agreements=tuple(JudgeAgreement(**row) for row in stored["agreements"]),
        comparisons=tuple(Comparison(**row) for row in stored["comparisons"]),
        replies=tuple(map(_restore_reply, stored["replies"])),
    )


def _restore_reply(stored: dict[str, Any]) -> Reply:
    """Return a reply rebuilt from its stored fields."""
    turns = tuple(Spoken(**turn) for turn in stored["turns"])
    return Reply(**{**stored, "status": AnswerStatus(stored["status"]), "turns": turns})


ASKING, JUDGING = "asking models", "judging"


def execute_run(turn: Turn) -> None:
    """Execute a claimed run: ask models and judges, evaluate, store the findings, end the run.

    If the time of the turn is over, the replies are stored and the next turn continues.

    Raises
    ------
    RunInputError
        No question has two wordings in one language, or no model exists or replied.
    """
    run = Run.objects.select_related("version", "owner").get(pk=turn.run_id)
    parameters = load_parameters(run)
    items = load_prompt_items(run.version)
    if not has_comparable_item(items):
        raise RunInputError("run.no_two_wordings")
    models = load_registered_models(run, parameters.models)
    if not models:
        raise RunInputError("run.no_model_to_compare")
    judges = load_registered_models(run, parameters.judges, "judge")
    changed, instructions = _read_pasted_texts(parameters, items)
    study_asker = StudyAsker(turn, run, models + judges, parameters.budget)
    replies = _request_replies(study_asker, models, items, parameters, changed)
    if all(reply.status.is_missing for reply in replies):
        raise RunInputError("run.no_model_replied", reason=study_asker.find_first_fault())
    judgements = _request_judgements(study_asker, judges, items, replies, instructions, parameters)
    # The replies are stored; a turn of another lane ends here, before the embedder is loaded.
    turn.require_lane(find_embedding_lane(parameters.embedder))
    turn.check_interruption()
    exclusions = Exclusions()
    embedder = open_stored_embedder(turn, parameters.embedder, parameters.precision)
    findings = evaluate_replies(
        items, replies, judgements, parameters, exclusions, turn.report_progress, embedder
    )
    input_hash, usage = hash_items(items), study_asker.compute_usage()
    cut_off = build_cut_off_warnings(usage, {JUDGING: "judge_max_tokens"})
    with turn.open_fenced_transaction():
        store_findings(turn, findings)
        turn.finish_run(
            RunEnd(
                _build_signature(parameters, findings, models, judges, input_hash),
                input_hash,
                _build_summary(usage, items, findings, exclusions),
                [message.as_dict() for message in [*cut_off, *findings.warnings]],
            )
        )


def estimate_requests(
    version: QuestionSetVersion, user: AnyUser, options: EloquentRunOptions
) -> RequestForecast:
    """Return the forecast of a run's requests and tokens, at most; nothing is sent."""
    items = load_prompt_items(version)
    estimate = RequestCounter(user, unread=(JUDGING,))
    models = select_registered_models(user, options.models)
    judges = select_registered_models(user, options.judges)
    changed = read_changed_wordings(options, items)
    replies = _request_replies(estimate, models, items, options, changed)
    instructions = read_pasted_instructions(options, items)
    _request_judgements(estimate, judges, items, replies, instructions, options)
    examples, notes = {}, []
    if first := Conversations(items, changed, options.told or "").build_first_requests():
        examples["The first question, as the models see it"] = first[0].messages
    if judges or options.follow_up_questions:
        notes.append(
            "Follow-up questions and judgements show replies that are not known yet: their tokens "
            "are reckoned for long replies, and none is counted as stored."
        )
    if judges:
        notes.append("Not counted: a judgement without a score is asked for once more.")
    return RequestForecast(tuple(estimate.takes), examples, tuple(notes))


def find_start_problems(
    version: QuestionSetVersion, user: AnyUser, options: EloquentRunOptions
) -> list[Problem]:
    """Return the problems that prevent a run with these options; [] if it can start."""
    problems = find_model_problems(user, options, ("models", "judges"), needed=("models",))
    if problems:
        return problems
    items = load_prompt_items(version)
    if not has_comparable_item(items):
        return [build_problem("no_wordings")]
    for name, read in (
        ("changed_wordings", read_changed_wordings),
        ("judge_instructions", read_pasted_instructions),
    ):
        try:
            read(options, items)
        except InputError as error:
            return [build_problem(f"bad_{name}", name, reason=_format_first_problem(error))]
    return []


def read_changed_wordings(
    options: EloquentRunOptions, items: Sequence[PromptItem]
) -> Mapping[tuple[str, int], ChangedPrompt]:
    """Return the pasted changed prompts by item and wording number; raises `InputError`."""
    if not options.changed_wordings:
        return {}
    source = make_bytes_source("changed_prompts.csv", options.changed_wordings.encode())
    return read_changed_prompts(source, tuple(items)).prompts


def read_pasted_instructions(
    options: EloquentRunOptions, items: Sequence[PromptItem]
) -> Mapping[str, str]:
    """Return the pasted judges' instructions by item; raises `InputError`."""
    if not options.judge_instructions:
        return {}
    source = make_bytes_source("judge_instructions.csv", options.judge_instructions.encode())
    return read_judge_instructions(source, tuple(items)).instructions


def _read_pasted_texts(
    options: EloquentRunOptions, items: Sequence[PromptItem]
) -> tuple[Mapping[tuple[str, int], ChangedPrompt], Mapping[str, str]]:
    """Return a run's changed prompts and judges' instructions; raises `RunInputError`."""
    # The draft's wordings can change between the start of the run and its execution.
    try:
        changed = read_changed_wordings(options, items)
    except InputError as error:
        raise RunInputError(
            "run.changed_prompts_do_not_fit", reason=_format_first_problem(error)
        ) from error
    try:
        return changed, read_pasted_instructions(options, items)
    except InputError as error:
        raise RunInputError(
            "run.judge_instructions_do_not_fit", reason=_format_first_problem(error)
        ) from error


def _format_first_problem(error: InputError) -> str:
    """Return the first problem of a pasted table, and how many more there are."""
    first = error.problems[0]
    line = f"line {first.line}: " if first.line else ""
    more = f", and {error.total - 1} more problems" if error.total > 1 else ""
    return f"{line}{first.reason}{more}"


def load_parameters(run: Run) -> EloquentRunOptions:
    """Return the options of a run, with defaults for those that an older run did not store."""
    stored: dict[str, Any] = run.parameters
    try:
        return EloquentRunOptions.from_dict(stored)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


def _request_replies(
    step_asker: StepAsker,
    models: Sequence[LanguageModel],
    items: Sequence[PromptItem],
    parameters: EloquentRunOptions,
    changed: Mapping[tuple[str, int], ChangedPrompt],
) -> list[Reply]:
    """Ask each model every wording in its own conversation, then the follow-up questions."""
    conversations = [Conversations(items, changed, parameters.told or "") for _ in models]
    sent = {"temperature": parameters.temperature, "max_tokens": parameters.max_tokens}

    def ask_all(step: str, questions: Sequence[Sequence[Item]], question: str = "") -> None:
        rounds = [
            Round(model, model_questions, sent, parameters.seed)
            for model, model_questions in zip(models, questions, strict=True)
        ]
        replies_by_model = step_asker.ask_step(step, rounds)
        for conversation, replies in zip(conversations, replies_by_model, strict=True):
            texts = {name: (reply.text, reply.status) for (name, _), reply in replies.items()}
            conversation.add_replies(texts, question)

    ask_all(ASKING, [conversation.build_first_requests() for conversation in conversations])
    for number, question in enumerate(parameters.follow_up_questions, 1):
        follow_ups = [each.build_follow_up_requests(question) for each in conversations]
        ask_all(f"follow-up {number}", follow_ups, question)
    return [
        reply
        for model, conversation in zip(models, conversations, strict=True)
        for reply in conversation.build_replies(model.name)
    ]


def _request_judgements(
    step_asker: StepAsker,
    judges: Sequence[LanguageModel],
    items: Sequence[PromptItem],
    replies: Sequence[Reply],
    instructions: Mapping[str, str],
    parameters: EloquentRunOptions,
) -> list[Judgement]:
    """Ask each judge to score every reply set, twice if its reply has no score."""
    sets = select_judged_sets(items, replies)
    # The unit separator, because names and ids may contain any printable character.
    keys = {"\x1f".join(key): key for key in sets}
    sent = {
        "temperature": parameters.judge_temperature,
        "max_tokens": parameters.judge_max_tokens,
    }
    questions = [
        Item(
            name, build_judge_question(sets[key], instructions.get(key[1], "")), parameters.repeats
        )
        for name, key in keys.items()
    ]
    rounds = [Round(judge, questions, sent, parameters.seed) for judge in judges]
    first = step_asker.ask_step(JUDGING, rounds)
    rounds, unscored = [], []
    for judge, replies_of_judge in zip(judges, first, strict=True):
        keys_again = {
            f"{name}/{sample}": (name, sample)
            for (name, sample), reply in replies_of_judge.items()
            if not reply.status.is_missing and parse_score(reply.text).score is None
        }
        questions_again = [
            Item(
                key,
                build_second_judge_question(
                    sets[keys[name]],
                    replies_of_judge[name, sample].text or NO_ANSWER,
                    instructions.get(keys[name][1], ""),
                ),
            )
            for key, (name, sample) in keys_again.items()
        ]
        rounds.append(Round(judge, questions_again, sent, parameters.seed))
        unscored.append(keys_again)
    second = step_asker.ask_step(JUDGING, rounds)
    judgements = []
    for judge, replies_of_judge, keys_again, more in zip(
        judges, first, unscored, second, strict=True
    ):
        again = {keys_again[key]: reply for (key, _), reply in more.items()}
        judgements += [
            build_judgement(
                keys[name],
                judge.name,
                sample,
                [(each.text, each.status) for each in (reply, again.get((name, sample))) if each],
            )
            for (name, sample), reply in replies_of_judge.items()
        ]
    return judgements


def _build_signature(
    parameters: EloquentRunOptions,
    findings: Findings,
    models: Sequence[LanguageModel],
    judges: Sequence[LanguageModel],
    input_hash: str,
) -> str:
    """Return a run's signature: options, models, judges, embedding, input hash, version."""
    info = findings.embedding
    parts = {
        **build_signature_parts(parameters),
        "models": "+".join(model.spec for model in models),
        "judges": "+".join(judge.spec for judge in judges) or "none",
        **({} if info is None else {"embedder": info.model, "revision": info.revision}),
        "inputs": input_hash[:SHORT],
        "version": metadata.version("crowdgrade"),
    }
    return "|".join(["eloquent", *(f"{name}:{value}" for name, value in parts.items())])


def _build_summary(
    usage: Sequence[Usage],
    items: Sequence[PromptItem],
    findings: Findings,
    exclusions: Exclusions,
) -> EloquentSummary:
    """Return the summary that a run stores."""
    costs = [row.cost for row in usage]
    statuses = [row.status for row in findings.replies]
    cut_off = statuses.count(AnswerStatus.CUT_OFF)
    errors = statuses.count(AnswerStatus.ERROR)
    return EloquentSummary(
        version=VERSION,
        items=len(items),
        prompts=sum(len(item.variants) for item in items),
        languages=len({row.language for item in items for row in item.variants}),
        systems=findings.systems,
        judges=findings.judges,
        replies=len(statuses),
        no_answer=len(statuses) - errors - cut_off - statuses.count(AnswerStatus.TEXT),
        errors=errors,
        cut_off=cut_off,
        usage=tuple(usage),
        changed_prompts=sum(row.changed for row in findings.replies),
        follow_up_turns=sum(len(row.turns) - 1 for row in findings.replies),
        judgements=len(findings.judgements),
        without_score=sum(row.score is None for row in findings.judgements),
        requests=sum(row.requests for row in usage),
        reused=sum(row.reused for row in usage),
        tokens_read=sum(row.prompt_tokens for row in usage),
        tokens_written=sum(row.completion_tokens for row in usage),
        cost=None if None in costs else sum(row for row in costs if row is not None),
        exclusions=tuple(exclusions.as_list()),
        embedding={} if findings.embedding is None else findings.embedding.as_dict(),
    )
