"""MultiQ&A run on the database: reword, ask models, evaluate, store and load the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import metadata
from typing import Any

from django.utils.text import capfirst

from annotations.exchange import AnswerStatus
from evaluation.core.options import SITE
from evaluation.core.options.parameters import NOTHING, SHORT, build_signature_parts
from evaluation.models import LanguageModel, Run
from evaluation.multiqa.items import Replies
from evaluation.multiqa.options import MultiqaRunOptions
from evaluation.multiqa.run import meaning, study
from evaluation.multiqa.run.evaluation import (
    CrowdResult,
    CrowdRow,
    MultiqaEvaluation,
    build_grading_parameters,
    evaluate,
    score_by_crowd,
)
from evaluation.multiqa.run.judging import use_recorded_cosine
from evaluation.multiqa.run.rows import (
    COMPARISONS,
    CROWD,
    ITEMS,
    METRICS,
    REPLIES,
    REWORDINGS,
    ItemRow,
    ReplyRow,
    RewordingRow,
    SystemPair,
    build_comparison_rows,
    build_item_rows,
    build_reply_rows,
    collect_reply_judgements,
)
from evaluation.multiqa.run.study import (
    ATTEMPTS,
    NO_REWRITER_REPLY,
    Checker,
    Rewording,
    Wording,
    build_attempt_id,
    build_conversations,
    find_items_without_rewording,
    list_wordings,
    note_missing_rewordings,
    request_rewordings,
    summarize_rejected,
)
from evaluation.multiqa.storage.questions import VersionItems, find_problem, load
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.asking.summary import StudySummary, Usage, build_cut_off_warnings
from evaluation.runs.flow.metrics import MetricRow
from evaluation.runs.steps.asking.registration import list_option_ids, load_registered_models
from evaluation.runs.steps.asking.study_asking import RepliesByItem, Round, StudyAsker
from evaluation.runs.steps.cache import (
    embed_answers,
    find_embedding_lane,
    open_stored_embedder,
)
from evaluation.runs.steps.checkpoints import (
    RunEnd,
    RunInputError,
    Turn,
    read_result_table,
    read_table_rows,
    store_result_table,
    store_table_rows,
)

VERSION = 1


@dataclass(frozen=True)
class MultiqaSummary(StudySummary):
    """Stored summary of a MultiQ&A run: counts, models, exclusions, embedding, and usage.

    Attributes
    ----------
    questions : number of the version's questions with a text.
    items, wordings : number of questions that were asked, and of all their wordings.
    systems : names of the models in the chosen order.
    rewriter : name of the rewriter; "" for typed or imported wordings.
    wanted : number of rewordings requested for each question; None without a rewriter.
    kept, dropped : number of accepted rewordings, and of rejected ones by reason.
    replies, no_answer, errors : number of all replies, of empty or refused ones, and of failures.
    crowd : number of workers' answers, workers and items; {} without a crowd score.
    exclusions : what was left out, by reason.
    wrong_by_form : replies that name no choice, by reason.
    left_out_of_metrics : number of items left out of metrics, by system, metric and reason.
    embedding, reranking : how they were done; {} without.
    cosine_errors : errors of the cosine of a right answer on labelled pairs; {} where unknown.
    """

    questions: int = 0
    items: int = 0
    wordings: int = 0
    systems: tuple[str, ...] = ()
    rewriter: str = ""
    wanted: int | None = None
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    replies: int = 0
    no_answer: int = 0
    errors: int = 0
    crowd: dict[str, int] = field(default_factory=dict)
    exclusions: tuple[dict[str, Any], ...] = ()
    wrong_by_form: tuple[dict[str, Any], ...] = ()
    left_out_of_metrics: tuple[dict[str, Any], ...] = ()
    embedding: dict[str, Any] = field(default_factory=dict)
    reranking: dict[str, Any] = field(default_factory=dict)
    cosine_errors: dict[str, Any] = field(default_factory=dict)

    @property
    def cost(self) -> float | None:
        """Cost of the run; None if a model has no known prices."""
        costs = [usage.cost for usage in self.usage]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    def get_shown_counts(self) -> Mapping[str, int]:
        """Return the input counts that the run's page shows, by label."""
        return {"questions": self.items, "wordings": self.wordings, "models": len(self.systems)}


def load_metrics(run: Run) -> list[MetricRow]:
    """Return the stored metric rows by system and group (not those of single items)."""
    return list(read_result_table(run, METRICS))


def load_items(run: Run) -> Iterator[ItemRow]:
    """Yield the stored result rows of single items, system by system."""
    return read_result_table(run, ITEMS)


def load_replies(run: Run) -> Iterator[ReplyRow]:
    """Yield the stored replies, system by system, original wordings first."""
    return read_result_table(run, REPLIES)


def load_rewordings(run: Run) -> Iterator[RewordingRow]:
    """Yield the stored rewordings, accepted and rejected."""
    return read_result_table(run, REWORDINGS)


def load_comparisons(run: Run) -> list[SystemPair]:
    """Return the stored comparisons of each two systems."""
    return list(read_result_table(run, COMPARISONS))


def load_crowd(run: Run) -> Iterator[CrowdRow]:
    """Yield the stored crowd scores of each system and item."""
    return read_result_table(run, CROWD)


# Names of the steps, stored with the usage.
REWORDING, ASKING = "rewording", "asking models"
# Name of the checkpoint with the checked rewordings and the rewriter's calls without a text.
CHECKED = "checked"


@dataclass(frozen=True)
class _StudyReplies:
    """Wordings of a run, and all models' replies to them.

    Attributes
    ----------
    rewordings : accepted and rejected ones; `item` is a position in `loaded.scorable`.
    kinds : kind of each rewording if typed, else "".
    wordings : all wordings that were asked.
    by_system : replies of each model by conversation, in the order of the models.
    """

    loaded: VersionItems
    rewordings: list[Rewording]
    kinds: list[str]
    wordings: list[Wording]
    by_system: dict[str, RepliesByItem]

    def build_replies(self) -> Replies:
        """Return the replies in the column format that `evaluate` takes."""
        replies = Replies()
        for system, answered in self.by_system.items():
            replies.add_system(system)
            for wording in self.wordings:
                reply = answered[wording.build_id(self.loaded.items), 0]
                replies.add(system, wording.item, wording.variant, reply.text, reply.status)
        return replies

    def count_statuses(self) -> Counter[AnswerStatus]:
        """Return the number of replies by status, over all models."""
        return Counter(
            reply.status for answered in self.by_system.values() for reply in answered.values()
        )


def execute_run(turn: Turn) -> None:
    """Execute a claimed run, or continue it: reword, ask models, evaluate, store results.

    Ends early with a checkpoint when the turn's time is over. Raises `RunInputError`.
    """
    run = Run.objects.select_related("version", "owner").get(pk=turn.run_id)
    options = load_options(run)
    models = load_registered_models(run, options.models)
    if not models:
        raise RunInputError("run.no_model_that_answers")
    rewriters = load_registered_models(run, list_option_ids(options.rewriter), "rewriter")
    loaded = load(run.version, options)
    problem = find_problem(loaded, options)
    if problem is not None:
        sentence = SITE.sentence(MultiqaRunOptions, problem)
        raise RunInputError.from_sentence(f"{capfirst(sentence)}.")
    # A missing re-ranker must fail before requests cost money.
    meaning.load_reranker(options.reranker)
    in_turns = StudyAsker(turn, run, [*models, *rewriters], options.budget)
    collected = _collect_replies(turn, in_turns, loaded, options, models, rewriters)
    if all(status.is_missing for status in collected.count_statuses()):
        raise RunInputError("run.no_model_replied", reason=in_turns.find_first_fault())
    # With a crowd `embed_answers` chooses the lane itself.
    if loaded.crowd is None:
        turn.require_lane(find_embedding_lane(options.embedder))
    turn.check_interruption()
    replies, parameters = collected.build_replies(), use_recorded_cosine(options.evaluation())
    options = replace(options, cosine=parameters.cosine)
    crowd = None
    if loaded.crowd is not None:
        embed = partial(embed_answers, build_grading_parameters(parameters), turn)
        crowd = score_by_crowd(
            loaded.items, replies, loaded.crowd, parameters, turn.report_progress, embed
        )
    embedder = open_stored_embedder(turn, parameters.embedder, parameters.precision)
    result = evaluate(
        loaded.items, replies, parameters, loaded.left_out, turn.report_progress, embedder=embedder
    )
    input_hash = loaded.compute_hash()
    signature = _build_signature(options, result, crowd, models, rewriters, input_hash)
    summary = _build_summary(in_turns, collected, result, crowd, options, rewriters)
    # Another process may have claimed the run meanwhile: the fence stores all of it or nothing.
    with turn.open_fenced_transaction():
        _store_rows(turn, collected, result, crowd)
        warnings = _collect_warnings(result, crowd, in_turns.compute_usage())
        turn.finish_run(RunEnd(signature, input_hash, summary, warnings))


def load_options(run: Run) -> MultiqaRunOptions:
    """Return the options of a run, with defaults for those that an older run did not store."""
    try:
        return MultiqaRunOptions.from_dict(run.parameters)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


def _collect_replies(
    turn: Turn,
    in_turns: StudyAsker,
    loaded: VersionItems,
    options: MultiqaRunOptions,
    models: Sequence[LanguageModel],
    rewriters: Sequence[LanguageModel],
) -> _StudyReplies:
    """Request rewordings, then ask each model every wording in its own conversation."""
    if rewriters:
        rewordings = _request_rewordings(turn, in_turns, rewriters[0], loaded, options)
        kinds = [""] * len(rewordings)
        ids = [loaded.items[number].item for number in loaded.scorable]
        note_missing_rewordings(rewordings, ids, options.rewordings, loaded.left_out)
    else:
        rewordings, kinds = loaded.check_typed_wordings()
    wordings = list_wordings(loaded.items, loaded.scorable, rewordings)
    conversations = build_conversations(loaded.items, wordings)
    sent = {"temperature": options.temperature, "max_tokens": options.max_tokens}
    rounds = [Round(model, conversations, sent, options.seed) for model in models]
    answered = in_turns.ask_step(ASKING, rounds)
    by_system = {model.name: each for model, each in zip(models, answered, strict=True)}
    return _StudyReplies(loaded, rewordings, kinds, wordings, by_system)


def _request_rewordings(
    turn: Turn,
    in_turns: StudyAsker,
    rewriter: LanguageModel,
    loaded: VersionItems,
    options: MultiqaRunOptions,
) -> list[Rewording]:
    """Return checked rewordings from the rewriter model; a continued run reuses stored ones.

    Raises `RunInputError` if no rewording is accepted.
    """
    # Stored last of all, so its presence says that all attempts are done; {} is present, too.
    silent = turn.read_stored(CHECKED)
    if silent is not None:
        # JSON has no tuples: what was stored as one comes back as a list.
        loaded.left_out.by_reason |= {reason: (n, names) for reason, (n, names) in silent.items()}
        return list(read_table_rows(in_turns.run, CHECKED, Rewording))
    sent = {"temperature": study.TEMPERATURE, "max_tokens": options.rewriter_tokens}
    checker = Checker(
        [loaded.items[number].question for number in loaded.scorable],
        options.rewordings,
        options.evaluation(),
        options.meaning,
        options.nli,
        options.entailment,
        turn.report_progress,
    )
    ids = [loaded.items[number].item for number in loaded.scorable]
    conversations: list[Item] = []

    def ask(items: Sequence[Item]) -> RepliesByItem:
        conversations.extend(items)
        (replies,) = in_turns.ask_step(REWORDING, [Round(rewriter, items, sent, options.seed)])
        return replies

    checked: list[Rewording] = []

    def check(texts: Sequence[tuple[int, str]], attempt: int) -> list[Rewording]:
        # Each check is stored, so a turn that asks for the next attempt does not repeat it.
        stored = [
            rewording
            for rewording in read_table_rows(in_turns.run, CHECKED, Rewording)
            if rewording.attempt == attempt
        ]
        if stored:
            checker.restore(stored)
        elif texts:
            turn.require_lane(find_embedding_lane(options.embedder))
            stored = checker.check(texts, attempt)
            with turn.open_fenced_transaction():
                store_table_rows(turn, CHECKED, Rewording, [*checked, *stored])
        checked.extend(stored)
        return stored

    rewordings = request_rewordings(checker, ids, ask, loaded.left_out, check)
    if why := in_turns.get_give_up_reason(rewriter):
        raise RunInputError("run.rewriter_not_asked", reason=why)
    # At its temperature the rewriter may do better next time, so a later run must not reuse the
    # replies of items without an accepted rewording.
    names = {
        build_attempt_id(item, attempt)
        for item in find_items_without_rewording(rewordings, ids)
        for attempt in ATTEMPTS
    }
    unusable = [conversation for conversation in conversations if conversation.id in names]
    if unusable:
        with turn.open_fenced_transaction():
            in_turns.reject_round(Round(rewriter, unusable, sent, options.seed))
    if not any(rewording.variant for rewording in rewordings):
        values = summarize_rejected(rewordings, ids, loaded.left_out)
        raise RunInputError("run.no_usable_rewording", **values)
    left_out = loaded.left_out.by_reason
    with turn.open_fenced_transaction():
        store_table_rows(turn, CHECKED, Rewording, rewordings)
        silent = (
            {NO_REWRITER_REPLY: left_out[NO_REWRITER_REPLY]}
            if NO_REWRITER_REPLY in left_out
            else {}
        )
        turn.store_json(CHECKED, silent)
    return rewordings


def _store_rows(
    turn: Turn, collected: _StudyReplies, result: MultiqaEvaluation, crowd: CrowdResult | None
) -> None:
    """Store all result rows of a run; call it within `turn.open_fenced_transaction()`."""
    items, judgements = collected.loaded.items, collect_reply_judgements(result)
    scores = {} if crowd is None else crowd.scores
    store_result_table(turn, METRICS, [*result.rows, *(crowd.rows if crowd else ())])
    store_result_table(turn, ITEMS, build_item_rows(result))
    replies = (
        row
        for system, answered in collected.by_system.items()
        for row in build_reply_rows(system, items, collected.wordings, answered, judgements, scores)
    )
    store_result_table(turn, REPLIES, replies)
    rewordings = (
        RewordingRow(
            items[collected.loaded.scorable[rewording.item]].item,
            rewording.variant,
            rewording.text,
            kind,
            rewording.attempt,
            rewording.reason,
            rewording.cosine,
            rewording.entailment,
        )
        for rewording, kind in zip(collected.rewordings, collected.kinds, strict=True)
    )
    store_result_table(turn, REWORDINGS, rewordings)
    comparisons = build_comparison_rows(result, crowd, result.parameters)
    store_result_table(turn, COMPARISONS, comparisons)
    store_result_table(turn, CROWD, crowd.items if crowd else ())


def _build_signature(
    options: MultiqaRunOptions,
    result: MultiqaEvaluation,
    crowd: CrowdResult | None,
    models: Sequence[LanguageModel],
    rewriters: Sequence[LanguageModel],
    input_hash: str,
) -> str:
    """Return a run's signature: options, models, rewriter, embedding, input hash, version."""
    info = result.judgement.info or (crowd.info if crowd else None)
    reranking = result.judgement.reranking
    parts = {
        **build_signature_parts(options),
        "models": "+".join(model.spec for model in models),
        "rewriter": rewriters[0].spec if rewriters else NOTHING,
        "embedder": NOTHING if info is None else info.model,
        **({} if info is None else {"revision": info.revision}),
        **(reranking.list_signature_parts() if reranking else {}),
        "inputs": input_hash[:SHORT],
        "version": metadata.version("crowdgrade"),
    }
    return "|".join(["multiqa", *(f"{name}:{value}" for name, value in parts.items())])


def _build_summary(
    in_turns: StudyAsker,
    collected: _StudyReplies,
    result: MultiqaEvaluation,
    crowd: CrowdResult | None,
    options: MultiqaRunOptions,
    rewriters: Sequence[LanguageModel],
) -> MultiqaSummary:
    """Return the summary that a finished run stores."""
    statuses = collected.count_statuses()
    errors, cut_off = statuses[AnswerStatus.ERROR], statuses[AnswerStatus.CUT_OFF]
    info = result.judgement.info or (crowd.info if crowd else None)
    return MultiqaSummary(
        version=VERSION,
        questions=len(collected.loaded.items),
        items=len(collected.loaded.scorable),
        wordings=len(collected.wordings),
        systems=tuple(collected.by_system),
        rewriter=rewriters[0].name if rewriters else "",
        wanted=options.rewordings if rewriters else None,
        kept=sum(each.variant is not None for each in collected.rewordings),
        dropped=dict(Counter(each.reason for each in collected.rewordings if each.reason)),
        replies=statuses.total(),
        no_answer=statuses.total() - errors - cut_off - statuses[AnswerStatus.TEXT],
        errors=errors,
        cut_off=cut_off,
        crowd={} if crowd is None else crowd.counts,
        usage=in_turns.compute_usage(),
        exclusions=tuple(result.judgement.left_out.as_list()),
        wrong_by_form=tuple(result.judgement.listed.as_list()),
        left_out_of_metrics=tuple(result.list_left_out()),
        embedding={} if info is None else info.as_dict(),
        reranking=result.judgement.reranking.as_dict() if result.judgement.reranking else {},
        cosine_errors=result.cosine_errors.as_dict() if result.cosine_errors else {},
    )


def _collect_warnings(
    result: MultiqaEvaluation, crowd: CrowdResult | None, usage: Sequence[Usage]
) -> list[dict[str, object]]:
    """Return the distinct warnings of asking, judging and the crowd score, as dicts."""
    warnings = build_cut_off_warnings(usage, {REWORDING: "rewriter_tokens"})
    for warning in [*result.judgement.warnings, *(crowd.warnings if crowd else ())]:
        if warning not in warnings:
            warnings.append(warning)
    return [warning.as_dict() for warning in warnings]
