"""Report of a finished ELOQUENT run: scores, experts' judgements, replies, and tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from annotations.exchange.reading.prompt_replies import NO_ANSWER
from annotations.exchange.reading.prompts import PromptItem, PromptVariant
from evaluation.core.estimates import Exclusion, list_exclusions
from evaluation.core.messages.reasons import describe_reason
from evaluation.core.text.matching import Piece, mark_differences
from evaluation.eloquent.methods import JudgeAgreement
from evaluation.eloquent.run.evaluation import evaluate_judgements
from evaluation.eloquent.run.findings import (
    STUDY_TABLES,
    Findings,
    ReplySimilarity,
    SetKey,
    SetRow,
)
from evaluation.eloquent.run.judging import Judgement, is_human_judge
from evaluation.eloquent.run.replies import Reply
from evaluation.eloquent.storage import EloquentSummary, load_findings, load_parameters
from evaluation.models import Run
from evaluation.runs.flow.metrics import Exclusions
from evaluation.runs.flow.stored import StudyTable
from evaluation.runs.judging import Choice, Exhibit, ExpertJudgement, Judging, Part, load_judgements
from evaluation.runs.judging.declaration import Key
from evaluation.runs.reports.lists import Table


def _build_exhibits(run: Run, rng: np.random.Generator) -> list[Exhibit]:
    """Return an exhibit for each set of replies: what experts judge, shuffled and without names."""
    findings = load_findings(run)
    replies: dict[Key, list[Reply]] = defaultdict(list)
    for reply in findings.replies:
        if not reply.status.is_missing:
            replies[reply.system, reply.item, reply.language].append(reply)
    return [
        Exhibit(row.key, _build_exhibit_parts(replies[row.key], rng))
        for row in findings.sets
        if len(replies[row.key]) > 1
    ]


def _build_exhibit_parts(replies: list[Reply], rng: np.random.Generator) -> tuple[Part, ...]:
    """Return the parts of an exhibit: the first wording, then the replies in random order."""
    first = min(replies, key=lambda reply: reply.place)
    order = rng.permutation(len(replies)).tolist()
    ordered = [replies[index] for index in order]
    return (
        Part("What was asked, in one of its wordings", first.prompt, folded=True),
        *(
            Part(f"Reply {number}", reply.text.strip() if reply.answered else "", NO_ANSWER, True)
            for number, reply in enumerate(ordered, 1)
        ),
    )


def _average_machine_scores(run: Run) -> dict[str, dict[Key, float]]:
    """Return each judge model's mean score of each set of replies."""
    scores_by_judge: dict[str, dict[Key, list[float]]] = defaultdict(lambda: defaultdict(list))
    for judgement in load_findings(run).judgements:
        if judgement.score is not None:
            scores_by_judge[judgement.judge][
                judgement.system, judgement.item, judgement.language
            ].append(judgement.score)
    return {
        judge: {key: float(np.mean(scores)) for key, scores in judge_scores.items()}
        for judge, judge_scores in scores_by_judge.items()
    }


SAME_MEANING = Judging(
    name="same-meaning",
    title="Judged by people",
    one="set of replies",
    many="sets of replies",
    words="Each set holds what one system replied to the same request in several wordings. Do "
    "the replies have the same meaning? Content counts: statements, advice, omissions. Wording, "
    "style and length alone do not. You see neither the system nor any automatic score.",
    question="Do these replies mean the same?",
    choices=(
        Choice("0", "nothing in common", 0),
        Choice("1", "little in common", 1),
        Choice("2", "more apart than alike", 2),
        Choice("3", "more alike than apart", 3),
        Choice("4", "nearly the same", 4),
        Choice("5", "the same", 5),
    ),
    columns=("system", "item", "language"),
    cluster=1,
    value="score",
    exhibits=_build_exhibits,
    machines=_average_machine_scores,
)


def load_findings_with_experts(run: Run) -> Findings:
    """Return a run's findings, including experts' judgements made after its end.

    The numbers equal those of ``evaluate eloquent`` on the run's replies and all judgements.
    """
    judgements = load_judgements(run, SAME_MEANING)
    return _evaluate_with_experts(run.pk, tuple(judgements)) if judgements else load_findings(run)


@lru_cache(maxsize=2)
def _evaluate_with_experts(run_id: int, judgements: tuple[ExpertJudgement, ...]) -> Findings:
    """Return a run's findings evaluated again with experts' judgements added."""
    # Cached, because a download of all tables needs the findings once for each table.
    run = Run.objects.get(pk=run_id)
    stored = load_findings(run)
    human_judgements = [
        Judgement(item, system, language, judgement.judge, "1", float(judgement.value), None)
        for judgement in sorted(judgements, key=lambda judgement: judgement.expert)
        for system, item, language in [judgement.key]
    ]
    return evaluate_judgements(
        _restore_prompt_items(stored),
        stored.replies,
        [*stored.judgements, *human_judgements],
        ReplySimilarity.from_findings(stored),
        load_parameters(run).build_evaluation_parameters(),
        Exclusions(),
    )


def _restore_prompt_items(findings: Findings) -> list[PromptItem]:
    """Return the prompts of each item, reconstructed from the stored replies."""
    # From the replies, because the draft's wordings may have changed since the run.
    wordings: dict[str, dict[int, PromptVariant]] = defaultdict(dict)
    for reply in findings.replies:
        wordings[reply.item][reply.place] = PromptVariant(
            reply.place, reply.language, reply.prompt, reply.place
        )
    return [
        PromptItem(
            item, variation, tuple(item_wordings[place] for place in sorted(item_wordings)), index
        )
        for index, (item, variation) in enumerate(
            dict.fromkeys((row.item, row.variation) for row in findings.items)
        )
        for item_wordings in [wordings[item]]
    ]


# Most sets on a page that people and models judged differently.
MOST_DISAGREED = 10


@dataclass(frozen=True)
class SystemScores:
    """Scores of one model: sum over `n` reply sets, mean with interval, rank, similarity.

    None where undefined; `rank_reason` states why there is no rank. The `human_` numbers are
    experts' scores of the `human_n` sets that they judged; `judged_mean` is the judge models' mean
    score of the same sets.
    """

    system: str
    sum: float | None
    n: int
    mean: float | None
    low: float | None
    high: float | None
    rank: int | None
    rank_reason: str
    similarity: float | None
    similarity_answered: float | None
    no_answer_rate: float | None
    human_mean: float | None
    human_low: float | None
    human_high: float | None
    human_n: int
    judged_mean: float | None


@dataclass(frozen=True)
class ScoreDisagreement:
    """A model's replies to an item whose scores by experts and by judge models differ, 0 to 5."""

    system: str
    item: str
    language: str
    score: float
    human_score: float


@dataclass(frozen=True)
class GroupScores:
    """Mean score of each model in one variation or language, and their average."""

    name: str
    means: list[float | None]
    average: float | None


@dataclass(frozen=True)
class ItemScores:
    """Score of each model on one item, the item's kind of variation, and the average."""

    item: str
    variation: str
    scores: list[float | None]
    average: float | None


@dataclass(frozen=True)
class EloquentReport:
    """Results of an ELOQUENT run shown on its main page."""

    systems: list[SystemScores]
    judges: list[str]
    items: list[ItemScores]
    variations: list[GroupScores]
    languages: list[GroupScores]
    agreements: list[JudgeAgreement]
    left_out: list[Exclusion]
    summary: EloquentSummary
    apart: list[ScoreDisagreement]

    @property
    def names(self) -> list[str]:
        """Names of the models, in column order."""
        return [system.system for system in self.systems]


def build_report(run: Run) -> EloquentReport:
    """Return the results of a finished ELOQUENT run for its main page."""
    findings, summary = load_findings_with_experts(run), EloquentSummary.from_json(run.summary)
    return EloquentReport(
        [_build_system_scores(findings, system) for system in findings.systems],
        list(findings.judges),
        build_item_scores(findings),
        _build_group_scores(findings, "variation:"),
        _build_group_scores(findings, "language:"),
        list(findings.agreements),
        list_exclusions(summary.exclusions),
        summary,
        _find_score_disagreements(findings),
    )


def _find_score_disagreements(findings: Findings) -> list[ScoreDisagreement]:
    """Return the reply sets whose scores by experts and by judge models differ most.

    [] if only people judged.
    """
    both = [
        ScoreDisagreement(row.system, row.item, row.language, row.score, row.human_score)
        for row in findings.sets
        if row.score is not None and row.human_score is not None
    ]
    # If only people judged, `score` is theirs too, and there is nothing to compare.
    if all(is_human_judge(judge) for judge in findings.judges):
        return []
    return sorted(both, key=lambda row: -abs(row.score - row.human_score))[:MOST_DISAGREED]


def _build_system_scores(findings: Findings, system: str) -> SystemScores:
    """Return the overall scores of one system."""
    metrics = {
        row.metric: row for row in findings.metrics if row.system == system and not row.group
    }
    rank, mean, human = metrics["rank"], metrics["mean"], metrics.get("human_mean")
    judged = [
        row.score
        for row in findings.sets
        if row.system == system
        and row.human_score is not None
        and _is_judged_by_models(findings, row)
    ]

    def get_value(name: str) -> float | None:
        return metrics[name].value if name in metrics else None

    return SystemScores(
        system,
        get_value("sum"),
        mean.n,
        mean.value,
        mean.low,
        mean.high,
        None if rank.value is None else int(rank.value),
        describe_reason(rank.reason),
        get_value("similarity"),
        get_value("similarity_answered"),
        get_value("no_answer_rate"),
        human.value if human else None,
        human.low if human else None,
        human.high if human else None,
        human.n if human else 0,
        _compute_mean(judged),
    )


def _is_judged_by_models(findings: Findings, row: SetRow) -> bool:
    """Return whether a reply set has a score to which judge models contributed."""
    return row.score is not None and not all(is_human_judge(judge) for judge in findings.judges)


def build_item_scores(findings: Findings) -> list[ItemScores]:
    """Return each system's score per item (paper's Table 2), the lowest average first."""
    cells = {(row.item, row.system): row for row in findings.items}
    items = []
    for item in dict.fromkeys(row.item for row in findings.items):
        rows = [cells[item, system] for system in findings.systems]
        scores = [row.score for row in rows]
        items.append(ItemScores(item, rows[0].variation, scores, _compute_mean(scores)))
    return sorted(
        items, key=lambda item_scores: (item_scores.average is None, item_scores.average or 0.0)
    )


def _build_group_scores(findings: Findings, prefix: str) -> list[GroupScores]:
    """Return the mean scores of groups whose name begins with `prefix`, lowest first."""
    means: dict[str, dict[str, float | None]] = defaultdict(dict)
    for row in findings.metrics:
        if row.group.startswith(prefix) and row.metric == "mean":
            means[row.group.removeprefix(prefix)][row.system] = row.value
    groups = []
    for name, by_system in means.items():
        values = [by_system.get(system) for system in findings.systems]
        groups.append(GroupScores(name, values, _compute_mean(values)))
    return sorted(groups, key=lambda group: (group.average is None, group.average or 0.0))


def _compute_mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _build_table_loader(table: StudyTable[Findings, Any]) -> Callable[[Run], Table]:
    """Return a function that loads a result table of a run, with experts' judgements."""

    def load(run: Run) -> Table:
        """Return one result table of a run, including experts' judgements."""
        return Table(table.columns, table.build_cells(table.rows(load_findings_with_experts(run))))

    return load


FINDINGS_TABLES = {table.name: _build_table_loader(table) for table in STUDY_TABLES}
"""Functions that load the tables of a finished run, by name."""


# Most sets on a page of texts.
SETS_SHOWN = 20


@dataclass(frozen=True)
class MarkedReply:
    """A reply whose turns are split into pieces, marked where the replies of its set differ."""

    reply: Reply
    turns: list[list[Piece]]


@dataclass(frozen=True)
class SetTexts:
    """One model's replies to all wordings of an item in a language, with their judgements."""

    row: SetRow
    replies: list[MarkedReply]
    judgements: list[Judgement]
    why: str


@dataclass(frozen=True)
class TextsPage:
    """Page of items' replies side by side, least similar first; `next` starts the next page."""

    sets: list[SetTexts]
    total: int
    start: int
    next: int | None
    previous: int | None


def build_texts_page(
    findings: Findings, start: int = 0, only: str = "", most: int = SETS_SHOWN
) -> TextsPage:
    """Return a page of items' replies side by side, the lowest score (or similarity) first.

    `only` is the name of a model to show alone; "" shows all.
    """
    compared = [row for row in findings.sets if row.n_replies > 1 and only in ("", row.system)]
    ordered = sorted(compared, key=_build_sort_key)
    rows = ordered[start : start + most]
    texts = build_set_texts(findings, rows)
    after = start + most
    return TextsPage(
        [texts[row.key] for row in rows],
        len(ordered),
        start,
        after if after < len(ordered) else None,
        max(0, start - most) if start else None,
    )


def build_set_texts(findings: Findings, rows: Sequence[SetRow]) -> dict[SetKey, SetTexts]:
    """Return the replies and judgements of the reply sets `rows`, by (system, item, language)."""
    wanted = {row.key for row in rows}
    replies: dict[SetKey, list[Reply]] = defaultdict(list)
    for reply in findings.replies:
        key = (reply.system, reply.item, reply.language)
        if key in wanted:
            replies[key].append(reply)
    judgements: dict[SetKey, list[Judgement]] = defaultdict(list)
    for judgement in findings.judgements:
        judgements[judgement.system, judgement.item, judgement.language].append(judgement)
    return {
        row.key: SetTexts(
            row,
            _mark_differences(replies[row.key]),
            judgements[row.key],
            describe_reason(row.reason),
        )
        for row in rows
    }


def _mark_differences(replies: Sequence[Reply]) -> list[MarkedReply]:
    """Return the replies with differences marked, compared turn by turn."""
    turns: dict[int, list[list[Piece]]] = defaultdict(list)
    answered = [reply for reply in replies if reply.answered]
    for turn in range(max((len(reply.turns) for reply in answered), default=0)):
        pieces = iter(mark_differences([_get_turn_answer(reply, turn) for reply in answered]))
        for number, _ in enumerate(answered):
            turns[number].append(next(pieces))
    positions = iter(range(len(answered)))
    return [
        MarkedReply(reply, turns[next(positions)][: len(reply.turns)] if reply.answered else [])
        for reply in replies
    ]


def _get_turn_answer(reply: Reply, turn: int) -> str:
    """Return the answer of a reply's turn; "" if the reply has fewer turns."""
    return reply.turns[turn].answer if turn < len(reply.turns) else ""


def _build_sort_key(row: SetRow) -> tuple[bool, float, float]:
    """Return a sort key of a reply set: lowest score, then similarity; unscored ones last."""
    similarity = -1.0 if row.similarity is None else row.similarity
    return row.score is None, row.score or 0.0, similarity
