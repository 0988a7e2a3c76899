"""A run that asks questions in other words, from options to summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata

from django.utils.text import capfirst

from annotations.exchange import AnswerStatus
from evaluation.flow.asking.plan import Item
from evaluation.flow.asking.summary import Usage, cut_off_warnings
from evaluation.flow.metrics import MetricRow
from evaluation.flow.multiqa import reranking, rewording
from evaluation.flow.multiqa.crowd import CrowdFound, CrowdRow, grading_of, measured_by_crowd
from evaluation.flow.multiqa.evaluation import MultiqaEvaluation, evaluate
from evaluation.flow.multiqa.replies import Replies
from evaluation.flow.multiqa.rewording import Checker, Rewording
from evaluation.flow.multiqa.rows import (
    ItemRow,
    ReplyRow,
    RewordingRow,
    SystemPair,
    comparison_rows,
    item_rows,
    judged_replies,
    reply_rows,
)
from evaluation.flow.multiqa.run_options import MultiqaRunOptions
from evaluation.flow.multiqa.study import (
    ATTEMPTS,
    NO_REWRITER_REPLY,
    Wording,
    attempt_name,
    conversations_of,
    fruitless,
    note_fewer,
    rejected,
    reworded,
    wordings_of,
)
from evaluation.flow.multiqa.summary import VERSION, MultiqaSummary
from evaluation.models import LanguageModel, Run
from evaluation.options import SITE
from evaluation.options.parameters import NOTHING, SHORT, signed
from evaluation.steps.asking.in_turns import Answered, AskedInTurns, Round
from evaluation.steps.asking.registered import ids_of, registered
from evaluation.steps.cache import embed_texts
from evaluation.steps.checkpoints import Ending, Lane, RunInputError, Turn
from evaluation.steps.findings import keep_rows, kept_rows
from evaluation.steps.multiqa.found import (
    COMPARISONS,
    CROWD,
    ITEMS,
    METRICS,
    REPLIES,
    REWORDINGS,
)
from evaluation.steps.multiqa.loading import Loaded, load, problems_with

REWORDING, ASKING = "rewording", "asking models"
CHECKED = "checked"
"""Under which a turn puts aside what became of the rewordings, and who said nothing."""


@dataclass(frozen=True)
class _Asked:
    """What was asked, and what came.

    Attributes
    ----------
    rewordings : within `loaded.asked`; `kinds` of typed ones, beside them.
    said : the replies of each model by conversation, in the order of the models.
    """

    loaded: Loaded
    rewordings: list[Rewording]
    kinds: list[str]
    wordings: list[Wording]
    said: dict[str, Answered]

    def replies(self) -> Replies:
        """Return the replies as the flow has them."""
        found = Replies()
        for system, said in self.said.items():
            found.add_system(system)
            for one in self.wordings:
                reply = said[one.name(self.loaded.items), 0]
                found.add(system, one.item, one.variant, reply.text, reply.status)
        return found

    def statuses(self) -> Counter[AnswerStatus]:
        """Return how many replies have which status."""
        return Counter(one.status for said in self.said.values() for one in said.values())


def ask_in_other_words(turn: Turn) -> None:
    """Reword, ask the models of a claimed run, evaluate, and end it; or as far as time goes."""
    run = Run.objects.select_related("version", "owner").get(pk=turn.run_id)
    options = options_of(run)
    models = registered(run, options.models)
    if not models:
        raise RunInputError("run.no_model_that_answers")
    rewriters = registered(run, ids_of(options.rewriter), "rewriter")
    loaded = load(run.version, options)
    for wrong in problems_with(loaded, options):
        said = SITE.sentence(MultiqaRunOptions, wrong)
        raise RunInputError.of_sentence(f"{capfirst(said)}.")
    reranking.loaded(options.reranker)  # refused before anybody is asked
    in_turns = AskedInTurns(turn, run, [*models, *rewriters], options.budget)
    asked = _ask(turn, in_turns, loaded, options, models, rewriters)
    if all(status.is_missing for status in asked.statuses()):
        raise RunInputError("run.no_model_replied", reason=in_turns.first_fault())
    turn.go_on_in(Lane.COMPUTING)
    turn.between_parts()
    replies, parameters = asked.replies(), options.evaluation()
    measured = None
    if loaded.crowd is not None:
        embed = partial(embed_texts, grading_of(parameters), turn)
        measured = measured_by_crowd(
            loaded.items, replies, loaded.crowd, parameters, turn.report, embed
        )
    found = evaluate(loaded.items, replies, parameters, loaded.left_out, turn.report)
    input_hash = loaded.hash()
    signature = _signature(options, found, measured, models, rewriters, input_hash)
    summary = _summary(in_turns, asked, found, measured, options, rewriters)
    with turn.fenced():
        _keep(turn, asked, found, measured)
        warnings = _warnings(found, measured, in_turns.usage())
        turn.end(Ending(signature, input_hash, summary, warnings))


def options_of(run: Run) -> MultiqaRunOptions:
    """Return the options of a run; what an older run did not store has its default."""
    try:
        return MultiqaRunOptions.of_dict(run.parameters)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


def _ask(
    turn: Turn,
    in_turns: AskedInTurns,
    loaded: Loaded,
    options: MultiqaRunOptions,
    models: Sequence[LanguageModel],
    rewriters: Sequence[LanguageModel],
) -> _Asked:
    """Get the rewordings, then put every wording to every model, in a conversation of its own."""
    if rewriters:
        rewordings = _reworded(turn, in_turns, rewriters[0], loaded, options)
        kinds = [""] * len(rewordings)
        ids = [loaded.items[number].item for number in loaded.asked]
        note_fewer(rewordings, ids, options.rewordings, loaded.left_out)
    else:
        rewordings, kinds = loaded.typed_wordings()
    wordings = wordings_of(loaded.items, loaded.asked, rewordings)
    conversations = conversations_of(loaded.items, wordings)
    sent = {"temperature": options.temperature, "max_tokens": options.max_tokens}
    rounds = [Round(model, conversations, sent, options.seed) for model in models]
    found = in_turns.ask(ASKING, rounds)
    said = {model.name: one for model, one in zip(models, found, strict=True)}
    return _Asked(loaded, rewordings, kinds, wordings, said)


def _reworded(
    turn: Turn,
    in_turns: AskedInTurns,
    rewriter: LanguageModel,
    loaded: Loaded,
    options: MultiqaRunOptions,
) -> list[Rewording]:
    """Ask the rewriter and check what it says; a later turn has it from the first."""
    silent = turn.kept(CHECKED)
    if silent is not None:
        loaded.left_out.found |= {reason: (n, names) for reason, (n, names) in silent.items()}
        return list(kept_rows(in_turns.run, CHECKED, Rewording))
    sent = {"temperature": rewording.TEMPERATURE, "max_tokens": options.rewriter_tokens}
    checker = Checker(
        [loaded.items[number].question for number in loaded.asked],
        options.rewordings,
        options.evaluation(),
        options.meaning,
        options.nli,
        options.entailment,
        turn.report,
    )
    ids = [loaded.items[number].item for number in loaded.asked]
    asked: list[Item] = []

    def ask(items: Sequence[Item]) -> Answered:
        asked.extend(items)
        (said,) = in_turns.ask(REWORDING, [Round(rewriter, items, sent, options.seed)])
        turn.go_on_in(Lane.COMPUTING)  # what it said is checked by its meaning
        return said

    found = reworded(checker, ids, ask, loaded.left_out)
    if why := in_turns.reason_given_up(rewriter):
        raise RunInputError("run.rewriter_not_asked", reason=why)
    # At its temperature the rewriter may do better: a later run asks anew where nothing is kept.
    names = {attempt_name(one, at) for one in fruitless(found, ids) for at in ATTEMPTS}
    again = [one for one in asked if one.id in names]
    if again:
        with turn.fenced():
            in_turns.reject(Round(rewriter, again, sent, options.seed))
    if not any(one.variant for one in found):
        raise RunInputError("run.no_usable_rewording", **rejected(found, ids, loaded.left_out))
    left_out = loaded.left_out.found
    with turn.fenced():
        keep_rows(turn, CHECKED, Rewording, found)
        told = (
            {NO_REWRITER_REPLY: left_out[NO_REWRITER_REPLY]}
            if NO_REWRITER_REPLY in left_out
            else {}
        )
        turn.keep(CHECKED, told)
    return found


def _keep(turn: Turn, asked: _Asked, found: MultiqaEvaluation, measured: CrowdFound | None) -> None:
    items, judged = asked.loaded.items, judged_replies(found)
    scores = {} if measured is None else measured.scores
    keep_rows(turn, METRICS, MetricRow, [*found.rows, *(measured.rows if measured else ())])
    keep_rows(turn, ITEMS, ItemRow, item_rows(found))
    replies = (
        row
        for system, said in asked.said.items()
        for row in reply_rows(system, items, asked.wordings, said, judged, scores)
    )
    keep_rows(turn, REPLIES, ReplyRow, replies)
    wordings = (
        RewordingRow(
            items[asked.loaded.asked[one.item]].item,
            one.variant,
            one.text,
            kind,
            one.attempt,
            one.reason,
            one.cosine,
            one.entailment,
        )
        for one, kind in zip(asked.rewordings, asked.kinds, strict=True)
    )
    keep_rows(turn, REWORDINGS, RewordingRow, wordings)
    compared = comparison_rows(found, measured, found.parameters)
    keep_rows(turn, COMPARISONS, SystemPair, compared)
    keep_rows(turn, CROWD, CrowdRow, measured.items if measured else ())


def _signature(
    options: MultiqaRunOptions,
    found: MultiqaEvaluation,
    measured: CrowdFound | None,
    models: Sequence[LanguageModel],
    rewriters: Sequence[LanguageModel],
    input_hash: str,
) -> str:
    """Return the signature: options, who replied and reworded, embedding, inputs, version."""
    info = found.judgement.info or (measured.info if measured else None)
    reranked = found.judgement.reranking
    parts = {
        **signed(options),
        "models": "+".join(model.spec for model in models),
        "rewriter": rewriters[0].spec if rewriters else NOTHING,
        "embedder": NOTHING if info is None else info.model,
        **({} if info is None else {"revision": info.revision}),
        **(reranked.signed() if reranked else {}),
        "inputs": input_hash[:SHORT],
        "version": metadata.version("crowdgrade"),
    }
    return "|".join(["multiqa", *(f"{name}:{value}" for name, value in parts.items())])


def _summary(
    in_turns: AskedInTurns,
    asked: _Asked,
    found: MultiqaEvaluation,
    measured: CrowdFound | None,
    options: MultiqaRunOptions,
    rewriters: Sequence[LanguageModel],
) -> MultiqaSummary:
    statuses = asked.statuses()
    errors, cut_off = statuses[AnswerStatus.ERROR], statuses[AnswerStatus.CUT_OFF]
    info = found.judgement.info or (measured.info if measured else None)
    return MultiqaSummary(
        version=VERSION,
        questions=len(asked.loaded.items),
        items=len(asked.loaded.asked),
        wordings=len(asked.wordings),
        systems=tuple(asked.said),
        rewriter=rewriters[0].name if rewriters else "",
        wanted=options.rewordings if rewriters else None,
        kept=sum(one.variant is not None for one in asked.rewordings),
        dropped=dict(Counter(one.reason for one in asked.rewordings if one.reason)),
        replies=statuses.total(),
        no_answer=statuses.total() - errors - cut_off - statuses[AnswerStatus.TEXT],
        errors=errors,
        cut_off=cut_off,
        crowd={} if measured is None else measured.counts,
        usage=in_turns.usage(),
        exclusions=tuple(found.judgement.left_out.as_list()),
        wrong_by_form=tuple(found.judgement.listed.as_list()),
        left_out_of_metrics=tuple(found.left_out()),
        embedding={} if info is None else info.as_dict(),
        reranking=found.judgement.reranking.as_dict() if found.judgement.reranking else {},
    )


def _warnings(
    found: MultiqaEvaluation, measured: CrowdFound | None, usage: Sequence[Usage]
) -> list[dict[str, object]]:
    warnings = cut_off_warnings(usage, {REWORDING: "rewriter_tokens"})
    for one in [*found.judgement.warnings, *(measured.warnings if measured else ())]:
        if one not in warnings:
            warnings.append(one)
    return [one.as_dict() for one in warnings]
