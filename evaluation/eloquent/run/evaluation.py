"""Evaluation of replies and judgements: rows of reply sets and items, metrics, comparisons."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from annotations.exchange.reading.prompts import PromptItem
from evaluation.consensus.inputs import Progress
from evaluation.core.backends import Embedder
from evaluation.core.stats.cells import convert_nan_to_none
from evaluation.eloquent.methods import SetScores, compare_judges, compute_set_scores
from evaluation.eloquent.options import EloquentParameters
from evaluation.eloquent.run.findings import (
    Findings,
    ItemRow,
    ReplySimilarity,
    SetKey,
    SetRow,
    compute_reply_similarity,
)
from evaluation.eloquent.run.judging import Judgement
from evaluation.eloquent.run.metrics import (
    FEWER_THAN_2_VARIANTS,
    NO_REPLY,
    NO_SCORE,
    build_metric_rows,
    compare_systems,
    pair_values_by_item,
)
from evaluation.eloquent.run.replies import REPEATED, UNKNOWN_ITEM, UNKNOWN_LANGUAGE, Reply
from evaluation.runs.flow.metrics import Exclusions

FEWER_THAN_2_REPLIES = "fewer_than_2_replies"
FEWER_THAN_2_ANSWERS = "fewer_than_2_answers"
NOT_JUDGED = "not_judged"
ERROR = "error"


def select_judged_sets(
    items: Sequence[PromptItem], replies: Iterable[Reply]
) -> dict[SetKey, list[Reply]]:
    """Return the sets of replies to judge: an item's two or more replies in a language.

    Sets are ordered by system (first occurrence), item and language; replies by wording.
    """
    groups = _group_replies_by_set(replies)
    systems = dict.fromkeys(key[0] for key in groups)
    keys = [
        (system, item.id, code) for system in systems for item in items for code in item.languages
    ]
    return {key: groups[key] for key in keys if len(groups.get(key, ())) > 1}


def evaluate_replies(
    items: Sequence[PromptItem],
    replies: Sequence[Reply],
    judgements: Sequence[Judgement],
    parameters: EloquentParameters,
    exclusions: Exclusions,
    progress: Progress | None = None,
    embedder: Embedder | None = None,
) -> Findings:
    """Evaluate replies and judgements by the ELOQUENT robustness task; return the findings.

    Sums and means use the scores of models as judges, or people's scores if only people judged.
    People's scores are reported in columns of their own. Languages with fewer than 2 wordings of an
    item are skipped, and judgements of them are counted in `exclusions`. `embedder` is used in
    place of that of the parameters.

    Raises
    ------
    BackendError
        The replies cannot be embedded.
    """
    similarity = compute_reply_similarity(replies, parameters, progress, embedder)
    return evaluate_judgements(items, replies, judgements, similarity, parameters, exclusions)


def evaluate_judgements(
    items: Sequence[PromptItem],
    replies: Sequence[Reply],
    judgements: Sequence[Judgement],
    near: ReplySimilarity,
    parameters: EloquentParameters,
    exclusions: Exclusions,
) -> Findings:
    """Evaluate judgements with already computed similarities of the replies.

    Used after people judge the replies of a finished run: nothing is embedded again.
    """
    by_id = {item.id: item for item in items}
    _count_skipped_languages(items, exclusions)
    selected = _select_known_judgements(by_id, judgements, exclusions)
    systems = tuple(
        dict.fromkeys([*(row.system for row in replies), *(row.system for row in selected)])
    )
    _count_missing_replies(items, replies, systems, exclusions)
    sets = _list_set_keys(items, systems, selected)
    groups = _group_replies_by_set(replies)
    people, models = (
        _compute_reply_set_scores(sets, selected, human=True),
        _compute_reply_set_scores(sets, selected, human=False),
    )
    scored = models if any(not row.by_human for row in selected) else people
    answered = Counter((row.system, row.item, row.language) for row in replies if row.answered)
    judged = Counter((row.system, row.item, row.language) for row in selected)
    # A file of judgements may have systems whose replies are not known.
    has_replies = {row.system for row in replies}
    rows = []
    for index, (system, item, language) in enumerate(sets):
        key = (system, item, language)
        n_replies, n_answered = len(groups.get(key, ())), answered[key]
        score = convert_nan_to_none(scored.score[index])
        variants = by_id[item].list_variants_in(language) if language else by_id[item].variants
        skipped = FEWER_THAN_2_VARIANTS if len(variants) < 2 else None
        few = FEWER_THAN_2_REPLIES if system in has_replies and n_replies < 2 else None
        # The first that applies: a set with one wording cannot be judged at all.
        reason = skipped or (NO_SCORE if judged[key] else few or NOT_JUDGED)
        alike, alike_answered = near.of_sets.get(key, (None, None))
        why = FEWER_THAN_2_ANSWERS if alike is not None and alike_answered is None else None
        rows.append(
            SetRow(
                system,
                item,
                language,
                by_id[item].variation,
                len(variants),
                n_replies,
                n_replies - n_answered,
                score,
                convert_nan_to_none(scored.spread[index]),
                int(scored.n_judges[index]),
                int(scored.n_scores[index]),
                convert_nan_to_none(people.score[index]),
                alike,
                alike_answered,
                n_answered,
                reason if score is None else None,
                why if alike is not None else skipped or few or NO_REPLY,
            )
        )
    item_rows = tuple(
        _build_item_row(item, system, rows, near.across.get((system, item.id)))
        for item in items
        for system in systems
    )
    judges = tuple(dict.fromkeys(row.judge for row in selected))
    return Findings(
        systems,
        tuple(rows),
        item_rows,
        tuple(build_metric_rows(systems, rows, item_rows, selected, parameters)),
        tuple(selected),
        judges,
        tuple(compare_judges(_average_scores_by_judge(judges, selected))),
        tuple(
            compare_systems(
                systems,
                pair_values_by_item(
                    systems, ((r.item, r.language, r.system, r.score) for r in rows)
                ),
                parameters,
            )
        ),
        tuple(replies),
        near.info,
        near.warnings,
    )


def _group_replies_by_set(replies: Iterable[Reply]) -> dict[SetKey, list[Reply]]:
    """Return the replies that did not fail, grouped by (system, item, language)."""
    groups: dict[SetKey, list[Reply]] = defaultdict(list)
    for reply in replies:
        if not reply.status.is_missing:
            groups[reply.system, reply.item, reply.language].append(reply)
    for group in groups.values():
        group.sort(key=lambda reply: reply.place)
    return groups


def _count_skipped_languages(items: Sequence[PromptItem], exclusions: Exclusions) -> None:
    """Count in `exclusions` each item and language with fewer than 2 wordings."""
    for item in items:
        for language in item.languages:
            if len(item.list_variants_in(language)) < 2:
                exclusions.add(FEWER_THAN_2_VARIANTS, {"item": item.id, "language": language})


def _count_missing_replies(
    items: Sequence[PromptItem],
    replies: Sequence[Reply],
    systems: Iterable[str],
    exclusions: Exclusions,
) -> None:
    """Count in `exclusions` failed replies, and wordings to which a system has no reply."""
    present = {(reply.system, reply.item, reply.place) for reply in replies}
    replied = {reply.system for reply in replies}
    for system in systems:
        for item in items if system in replied else ():
            for variant in item.variants:
                if (system, item.id, variant.place) not in present:
                    exclusions.add(
                        NO_REPLY,
                        {
                            "system": system,
                            "item": item.id,
                            "language": variant.language,
                            "variant": variant.place + 1,
                        },
                    )
    for reply in replies:
        if reply.status.is_missing:
            exclusions.add(
                reply.status.value,
                {
                    "system": reply.system,
                    "item": reply.item,
                    "language": reply.language,
                    "variant": reply.place + 1,
                },
            )


def _select_known_judgements(
    items: dict[str, PromptItem], judgements: Sequence[Judgement], exclusions: Exclusions
) -> list[Judgement]:
    """Return the judgements of known reply sets; count the others in `exclusions`."""
    selected: dict[tuple[str, ...], Judgement] = {}
    for judgement in judgements:
        item, reason = items.get(judgement.item), None
        key = (
            judgement.system,
            judgement.item,
            judgement.language,
            judgement.judge,
            judgement.repeat,
        )
        if item is None:
            reason = UNKNOWN_ITEM
        elif judgement.language and judgement.language not in item.languages:
            reason = UNKNOWN_LANGUAGE
        elif not any(
            len(item.list_variants_in(part)) > 1
            for part in _list_covered_languages(item, judgement.language)
        ):
            reason = f"judgement_of_{FEWER_THAN_2_VARIANTS}"
        elif key in selected:
            reason = REPEATED
        details = {
            **({} if judgement.line is None else {"line": judgement.line}),
            **{name: getattr(judgement, name) for name in ("item", "system", "language", "judge")},
            "repeat": judgement.repeat,
        }
        if reason is not None:
            exclusions.add(reason, details)
            continue
        selected[key] = judgement
        if judgement.score is None:
            exclusions.add(judgement.reason or NO_SCORE, details)
    return list(selected.values())


def _list_covered_languages(item: PromptItem, language: str) -> tuple[str, ...]:
    """Return the languages that a judgement covers: `language`, or if "" all of the item's."""
    return (language,) if language else item.languages


def _list_set_keys(
    items: Sequence[PromptItem], systems: Sequence[str], judgements: Sequence[Judgement]
) -> list[SetKey]:
    """Return the keys (system, item, language) of all reply sets.

    The language "" is for judgements of a whole item.
    """
    # Judges of files may score an item as a whole, in place of each language or in addition.
    whole = {
        (judgement.system, judgement.item) for judgement in judgements if not judgement.language
    }
    in_part = {(judgement.system, judgement.item) for judgement in judgements if judgement.language}
    keys = []
    for system in systems:
        for item in items:
            if (system, item.id) in whole:
                keys.append((system, item.id, ""))
            if (system, item.id) in in_part or (system, item.id) not in whole:
                keys += [(system, item.id, language) for language in item.languages]
    return keys


def _compute_reply_set_scores(
    sets: Sequence[SetKey], judgements: Sequence[Judgement], *, human: bool
) -> SetScores:
    """Return each reply set's score by people (`human`) or by judge models."""
    set_codes = {key: code for code, key in enumerate(sets)}
    selected = [row for row in judgements if row.by_human is human]
    names = dict.fromkeys(row.judge for row in selected)
    judge_codes = {name: code for code, name in enumerate(names)}
    return compute_set_scores(
        [set_codes[row.system, row.item, row.language] for row in selected],
        [judge_codes[row.judge] for row in selected],
        [np.nan if row.score is None else row.score for row in selected],
        len(sets),
    )


def _build_item_row(
    item: PromptItem,
    system: str,
    rows: Sequence[SetRow],
    across: float | None,
) -> ItemRow:
    """Return the result row of an item and system, from the rows of its reply sets."""
    item_sets = [row for row in rows if row.system == system and row.item == item.id]
    parts = [row for row in item_sets if row.language]
    scores = [row.score for row in item_sets if row.score is not None]
    by_language = [row.score for row in parts if row.score is not None]
    judged = [row for row in item_sets if row.n_prompts > 1]
    return ItemRow(
        item.id,
        system,
        item.variation,
        sum(len(item.list_variants_in(language)) > 1 for language in item.languages),
        len(item.variants),
        sum(row.n_replies for row in parts),
        sum(row.n_no_answer for row in parts),
        _compute_mean(scores),
        sum(scores) if scores else None,
        len(scores),
        _compute_mean([row.spread for row in item_sets]),
        _compute_mean([row.human_score for row in item_sets]),
        _compute_mean([row.similarity for row in parts]),
        _compute_mean([row.similarity_answered for row in parts]),
        across,
        max(by_language) - min(by_language) if len(by_language) > 1 else None,
        None if scores else (judged[0].reason if judged else FEWER_THAN_2_VARIANTS),
    )


def _compute_mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if there are none."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _average_scores_by_judge(
    judges: Sequence[str], judgements: Sequence[Judgement]
) -> dict[str, dict[SetKey, float]]:
    """Return each judge's mean score of each reply set, by judge and set key."""
    scores_by_judge: dict[str, dict[SetKey, list[float]]] = {
        judge: defaultdict(list) for judge in judges
    }
    for row in judgements:
        if row.score is not None:
            scores_by_judge[row.judge][row.system, row.item, row.language].append(row.score)
    return {
        judge: {key: float(np.mean(scores)) for key, scores in judge_scores.items()}
        for judge, judge_scores in scores_by_judge.items()
    }
