"""Replies and judgements become numbers: by set, item, system, kind of variation and language."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from annotations.exchange.reading.prompts import PromptItem
from evaluation.flow.eloquent.comparing import compare_systems, paired_items
from evaluation.flow.eloquent.found import Findings, ItemRow, Key, SetRow
from evaluation.flow.eloquent.judging import Judgement
from evaluation.flow.eloquent.matching import REPEATED, UNKNOWN_ITEM, UNKNOWN_LANGUAGE, Reply
from evaluation.flow.eloquent.nearness import Nearness, nearness
from evaluation.flow.eloquent.numbers import FEWER_THAN_2_VARIANTS, NO_REPLY, NO_SCORE, metric_rows
from evaluation.flow.eloquent.parameters import EloquentParameters
from evaluation.flow.metrics import Exclusions
from evaluation.flow.vectors import Progress
from evaluation.methods.eloquent.judged import SetScores, set_scores
from evaluation.methods.eloquent.judges import judge_agreements
from evaluation.methods.undefined import or_none

FEWER_THAN_2_REPLIES = "fewer_than_2_replies"
FEWER_THAN_2_ANSWERS = "fewer_than_2_answers"
NOT_JUDGED = "not_judged"
ERROR = "error"


def sets_to_judge(items: Sequence[PromptItem], replies: Iterable[Reply]) -> dict[Key, list[Reply]]:
    """Return the sets that a judge can compare: two replies at least; ERRORs are missing.

    In the order of systems as they come first, items and languages, replies in that of wordings.
    """
    found = _grouped(replies)
    systems = dict.fromkeys(key[0] for key in found)
    keys = [
        (system, item.id, one) for system in systems for item in items for one in item.languages
    ]
    return {key: found[key] for key in keys if len(found.get(key, ())) > 1}


def evaluate(
    items: Sequence[PromptItem],
    replies: Sequence[Reply],
    judgements: Sequence[Judgement],
    parameters: EloquentParameters,
    exclusions: Exclusions,
    progress: Progress | None = None,
) -> Findings:
    """Evaluate (ELOQUENT robustness task; methods section 5).

    Scores of models as judges make the sums and means; people's stand beside them, unless only
    people judged. A language with fewer than 2 wordings of an item is skipped, and what is said
    of it counted as excluded.

    Raises `BackendError`: the replies cannot be embedded.
    """
    near = nearness(replies, parameters, progress)
    return evaluate_judgements(items, replies, judgements, near, parameters, exclusions)


def evaluate_judgements(
    items: Sequence[PromptItem],
    replies: Sequence[Reply],
    judgements: Sequence[Judgement],
    near: Nearness,
    parameters: EloquentParameters,
    exclusions: Exclusions,
) -> Findings:
    """Evaluate judgements of replies that were compared as vectors before; as `evaluate`.

    People judge after a run is done: what they say is put to what the run has.
    """
    by_id = {item.id: item for item in items}
    _note_skipped(items, exclusions)
    kept = _judgements(by_id, judgements, exclusions)
    systems = tuple(
        dict.fromkeys([*(one.system for one in replies), *(one.system for one in kept)])
    )
    _note_missing(items, replies, systems, exclusions)
    sets = _sets(items, systems, kept)
    found = _grouped(replies)
    people, models = _scores(sets, kept, human=True), _scores(sets, kept, human=False)
    scored = models if any(not one.by_human for one in kept) else people
    answered = Counter((one.system, one.item, one.language) for one in replies if one.answered)
    judged = Counter((one.system, one.item, one.language) for one in kept)
    has_replies = {one.system for one in replies}
    rows = []
    for at, (system, item, language) in enumerate(sets):
        key = (system, item, language)
        n_replies, n_answered = len(found.get(key, ())), answered[key]
        score = or_none(scored.score[at])
        variants = by_id[item].variants_in(language) if language else by_id[item].variants
        skipped = FEWER_THAN_2_VARIANTS if len(variants) < 2 else None
        few = FEWER_THAN_2_REPLIES if system in has_replies and n_replies < 2 else None
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
                or_none(scored.spread[at]),
                int(scored.n_judges[at]),
                int(scored.n_scores[at]),
                or_none(people.score[at]),
                alike,
                alike_answered,
                n_answered,
                reason if score is None else None,
                why if alike is not None else skipped or few or NO_REPLY,
            )
        )
    item_rows = tuple(
        _item_row(item, system, rows, near.across.get((system, item.id)))
        for item in items
        for system in systems
    )
    judges = tuple(dict.fromkeys(one.judge for one in kept))
    return Findings(
        systems,
        tuple(rows),
        item_rows,
        tuple(metric_rows(systems, rows, item_rows, kept, parameters)),
        tuple(kept),
        judges,
        tuple(judge_agreements(_by_judge(judges, kept))),
        tuple(
            compare_systems(
                systems,
                paired_items(systems, ((r.item, r.language, r.system, r.score) for r in rows)),
                parameters,
            )
        ),
        tuple(replies),
        near.info,
        near.warnings,
    )


def _grouped(replies: Iterable[Reply]) -> dict[Key, list[Reply]]:
    """Return the replies that are no ERROR by set, in the order of wordings."""
    found: dict[Key, list[Reply]] = defaultdict(list)
    for one in replies:
        if not one.status.is_missing:
            found[one.system, one.item, one.language].append(one)
    for of_set in found.values():
        of_set.sort(key=lambda one: one.place)
    return found


def _note_skipped(items: Sequence[PromptItem], exclusions: Exclusions) -> None:
    for item in items:
        for language in item.languages:
            if len(item.variants_in(language)) < 2:
                exclusions.add(FEWER_THAN_2_VARIANTS, {"item": item.id, "language": language})


def _note_missing(
    items: Sequence[PromptItem],
    replies: Sequence[Reply],
    systems: Iterable[str],
    exclusions: Exclusions,
) -> None:
    """Count prompts without a reply, of systems that replied to anything, and ERRORs."""
    there = {(one.system, one.item, one.place) for one in replies}
    replied = {one.system for one in replies}
    for system in systems:
        for item in items if system in replied else ():
            for variant in item.variants:
                if (system, item.id, variant.place) not in there:
                    exclusions.add(
                        NO_REPLY,
                        {
                            "system": system,
                            "item": item.id,
                            "language": variant.language,
                            "variant": variant.place + 1,
                        },
                    )
    for one in replies:
        if one.status.is_missing:
            exclusions.add(
                one.status.value,
                {
                    "system": one.system,
                    "item": one.item,
                    "language": one.language,
                    "variant": one.place + 1,
                },
            )


def _judgements(
    items: dict[str, PromptItem], given: Sequence[Judgement], exclusions: Exclusions
) -> list[Judgement]:
    """Return what counts, those without a score too; note what does not."""
    kept: dict[tuple[str, ...], Judgement] = {}
    for one in given:
        item, reason = items.get(one.item), None
        key = (one.system, one.item, one.language, one.judge, one.repeat)
        if item is None:
            reason = UNKNOWN_ITEM
        elif one.language and one.language not in item.languages:
            reason = UNKNOWN_LANGUAGE
        elif not any(len(item.variants_in(part)) > 1 for part in _parts(item, one.language)):
            reason = f"judgement_of_{FEWER_THAN_2_VARIANTS}"
        elif key in kept:
            reason = REPEATED
        named = {
            **({} if one.line is None else {"line": one.line}),
            **{name: getattr(one, name) for name in ("item", "system", "language", "judge")},
            "repeat": one.repeat,
        }
        if reason is not None:
            exclusions.add(reason, named)
            continue
        kept[key] = one
        if one.score is None:
            exclusions.add(one.reason or NO_SCORE, named)
    return list(kept.values())


def _parts(item: PromptItem, language: str) -> tuple[str, ...]:
    """Return the languages that a judgement is about: all, where it is of the item as a whole."""
    return (language,) if language else item.languages


def _sets(
    items: Sequence[PromptItem], systems: Sequence[str], judgements: Sequence[Judgement]
) -> list[Key]:
    """Every system with every language of every item, and with items judged as a whole."""
    whole = {(one.system, one.item) for one in judgements if not one.language}
    in_part = {(one.system, one.item) for one in judgements if one.language}
    keys = []
    for system in systems:
        for item in items:
            if (system, item.id) in whole:
                keys.append((system, item.id, ""))
            if (system, item.id) in in_part or (system, item.id) not in whole:
                keys += [(system, item.id, language) for language in item.languages]
    return keys


def _scores(sets: Sequence[Key], judgements: Sequence[Judgement], *, human: bool) -> SetScores:
    place = {key: at for at, key in enumerate(sets)}
    among = [one for one in judgements if one.by_human is human]
    judges = {name: at for at, name in enumerate(dict.fromkeys(one.judge for one in among))}
    return set_scores(
        [place[one.system, one.item, one.language] for one in among],
        [judges[one.judge] for one in among],
        [np.nan if one.score is None else one.score for one in among],
        len(sets),
    )


def _item_row(
    item: PromptItem,
    system: str,
    rows: Sequence[SetRow],
    across: float | None,
) -> ItemRow:
    of_item = [row for row in rows if row.system == system and row.item == item.id]
    parts = [row for row in of_item if row.language]
    scores = [row.score for row in of_item if row.score is not None]
    by_language = [row.score for row in parts if row.score is not None]
    judged = [row for row in of_item if row.n_prompts > 1]
    return ItemRow(
        item.id,
        system,
        item.variation,
        sum(len(item.variants_in(language)) > 1 for language in item.languages),
        len(item.variants),
        sum(row.n_replies for row in parts),
        sum(row.n_no_answer for row in parts),
        _mean(scores),
        sum(scores) if scores else None,
        len(scores),
        _mean([row.spread for row in of_item]),
        _mean([row.human_score for row in of_item]),
        _mean([row.similarity for row in parts]),
        _mean([row.similarity_answered for row in parts]),
        across,
        max(by_language) - min(by_language) if len(by_language) > 1 else None,
        None if scores else (judged[0].reason if judged else FEWER_THAN_2_VARIANTS),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _by_judge(
    judges: Sequence[str], judgements: Sequence[Judgement]
) -> dict[str, dict[Key, float]]:
    """Return each judge's mean score of each set it scored."""
    found: dict[str, dict[Key, list[float]]] = {judge: defaultdict(list) for judge in judges}
    for one in judgements:
        if one.score is not None:
            found[one.judge][one.system, one.item, one.language].append(one.score)
    return {
        judge: {key: float(np.mean(scores)) for key, scores in of_judge.items()}
        for judge, of_judge in found.items()
    }
