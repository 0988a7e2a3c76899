"""The crowd as the ruler: replies to reworded questions scored by the consensus of people.

Where people answered the items, no key is needed: a reply's score is its similarity to the
exemplary answer that AQER makes of theirs. How far a system's scores spread over rewordings stands
beside how far people's leave-one-out scores spread over people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.backends import EmbedderInfo
from evaluation.flow.inputs import Answers, ModelAnswers, choose
from evaluation.flow.judge.reference import aqer_scores
from evaluation.flow.metrics import OVERALL, MetricRow, group_name
from evaluation.flow.multiqa.items import MultiqaItem
from evaluation.flow.multiqa.parameters import MultiqaParameters
from evaluation.flow.multiqa.replies import STATUSES, Replies
from evaluation.flow.parameters import AqerParameters
from evaluation.flow.vectors import EmbedTexts
from evaluation.methods.inference.clustered import drawn_intervals, means
from evaluation.methods.undefined import or_none, ratio
from evaluation.words.message import Message

Floats = NDArray[np.float64]
Progress = Callable[[str, int, int], None]

NO_CROWD = "no_crowd"
NUMBERS = (
    *("crowd_score", "crowd_score_original", "crowd_worst", "crowd_best"),
    *("spread_rewordings", "spread_people"),
)
RATIO = "spread_ratio"


class CrowdRow(NamedTuple):
    """A row of crowd.csv: the replies of a system to an item, measured by the crowd.

    Scores are similarities to the exemplary answer; the spreads are standard deviations, over the
    wordings and over the people, None below two.
    """

    system: str
    item: str
    n_replies: int
    n_workers: int
    crowd_score: float | None
    crowd_score_original: float | None
    crowd_worst: float | None
    crowd_best: float | None
    spread_rewordings: float | None
    spread_people: float | None


@dataclass(frozen=True)
class CrowdFound:
    """What the crowd says of every system: rows of metrics, rows of items, how vectors were made.

    `counts` are people's answers that were compared with, their workers and items; `scores` those
    of single replies by system, item and variant.
    """

    rows: list[MetricRow]
    items: list[CrowdRow]
    info: EmbedderInfo
    warnings: list[Message]
    counts: dict[str, int]
    scores: dict[tuple[str, str, int], float] = field(default_factory=dict)


def measured_by_crowd(
    items: Sequence[MultiqaItem],
    replies: Replies,
    crowd: Answers,
    parameters: MultiqaParameters,
    progress: Progress | None = None,
    embed_texts: EmbedTexts | None = None,
) -> CrowdFound:
    """Score every reply by the consensus of the people who answered its item.

    An EMPTY or refused reply scores as no answer, an ERROR is missing (methods, house rules).
    `crowd` names items as its questions. `embed_texts` makes the vectors in place of the flow's
    own, by the options of `grading_of`. Raises `BackendError`.
    """
    grading = grading_of(parameters)
    of_system, of_item, variants, _, _ = replies.columns()
    columns = zip(*(one.tolist() for one in replies.columns()), strict=True)
    asked = ModelAnswers.of(
        (row, system << 32 | variant, items[item].item, replies.texts[text], STATUSES[status], 0)
        for row, (system, item, variant, text, status) in enumerate(columns)
    )
    given = choose(grading, crowd, asked)
    of_people, found, embedded = aqer_scores(given, embed_texts, progress)
    people: dict[str, list[float]] = {}
    for question, score in zip(given.answered.questions, of_people.tolist(), strict=True):
        people.setdefault(question, []).append(score)
    scores: dict[tuple[int, int], dict[int, float]] = {}
    assert given.models is not None
    for row, score, status in zip(
        given.models.keys, found.tolist(), given.models.statuses, strict=True
    ):
        item = int(of_item[row])
        if items[item].item not in people or status.is_missing:
            continue
        of_wordings = scores.setdefault((int(of_system[row]), item), {})
        of_wordings[int(variants[row])] = score
    rows = [
        _row(replies.systems[system], items[item].item, of_wordings, people[items[item].item])
        for (system, item), of_wordings in sorted(scores.items())
    ]
    counts = {
        "crowd_answers": len(given.answered),
        "crowd_workers": len(set(given.answered.workers)),
        "crowd_items": len(people.keys() & {item.item for item in items}),
    }
    metrics = list(_metrics(replies.systems, items, rows, parameters))
    of_replies = {
        (replies.systems[system], items[item].item, variant): score
        for (system, item), of_wordings in scores.items()
        for variant, score in of_wordings.items()
    }
    return CrowdFound(metrics, rows, embedded.info, embedded.warnings, counts, of_replies)


def grading_of(parameters: MultiqaParameters) -> AqerParameters:
    """Return how people's consensus is made."""
    return AqerParameters(
        embedder=parameters.embedder,
        precision=parameters.precision,
        bootstrap=0,
        seed=parameters.seed,
    )


def _row(system: str, item: str, of_wordings: dict[int, float], people: list[float]) -> CrowdRow:
    scores = np.array(list(of_wordings.values()))
    others = np.array(people)
    others = others[~np.isnan(others)]
    return CrowdRow(
        system,
        item,
        len(scores),
        len(people),
        or_none(float(scores.mean())),
        of_wordings.get(0),
        float(scores.min()),
        float(scores.max()),
        float(scores.std(ddof=1)) if len(scores) > 1 else None,
        float(others.std(ddof=1)) if len(others) > 1 else None,
    )


def _metrics(
    systems: Sequence[str],
    items: Sequence[MultiqaItem],
    rows: Sequence[CrowdRow],
    parameters: MultiqaParameters,
) -> Iterator[MetricRow]:
    of_item = {item.item: item for item in items}
    for system in systems:
        of_system = [row for row in rows if row.system == system]
        groups: dict[str, list[CrowdRow]] = {OVERALL: of_system}
        for key in ("kind", "dataset"):
            for row in of_system:
                name = getattr(of_item[row.item], key)
                if name:
                    groups.setdefault(group_name(key, name), []).append(row)
        for group, members in groups.items():
            yield from _of_group(system, group, members, parameters)


def _of_group(
    system: str, group: str, rows: Sequence[CrowdRow], parameters: MultiqaParameters
) -> Iterator[MetricRow]:
    table = np.array(
        [[getattr(row, name) for row in rows] for name in NUMBERS], dtype=np.float64
    ).reshape(len(NUMBERS), len(rows))
    draws, seed = parameters.bootstrap, parameters.seed
    for name, estimate in zip(NUMBERS, means(table, draws, seed), strict=True):
        row = MetricRow.of(system, group, name, estimate)
        yield row if row.value is not None else row._replace(reason=NO_CROWD)
    both = table[[NUMBERS.index("spread_rewordings"), NUMBERS.index("spread_people")]]
    known = ~np.isnan(both).any(axis=0)
    both, n = both[:, known], int(known.sum())

    def of_draws(weights: Floats) -> Floats:
        sums = both @ weights.T
        return ratio(sums[0], sums[1])[None]

    value = of_draws(np.ones((1, n)))[0] if n else [np.nan]
    (estimate,) = drawn_intervals(value, n, of_draws, n, draws, seed)
    row = MetricRow.of(system, group, RATIO, estimate)
    yield row if row.value is not None else row._replace(reason=NO_CROWD)
