"""What rings, one finding a group, and what was checked without ringing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from evaluation.grading.alarms.methods.camps import Camps
from evaluation.grading.alarms.methods.copies import PARTLY_THRESHOLD, Group
from evaluation.grading.alarms.methods.pairs import Pairs
from evaluation.grading.alarms.methods.questions import QuestionCamps
from evaluation.grading.alarms.methods.survey import Survey
from evaluation.methods.cells import Integers

# Questions shown of two camps.
SHOWN = 5


def of_camps(pairs: Pairs, members: tuple[Integers, ...]) -> Integers:
    """Return (k, 3) a worker of each of two camps and a question on which they differ most.

    Each camp speaks by the answer that is most like the others of its camp.
    """
    label = np.full(pairs.n_workers, -1)
    for at, camp in enumerate(members):
        label[camp] = at
    a, b = label[pairs.left], label[pairs.right]
    kind = np.where((a < 0) | (b < 0), 2, (a != b).astype(np.int64))
    place = pairs.question * 3 + kind[pairs.pair]
    shape = (pairs.n_questions, 3)
    count = np.bincount(place, minlength=3 * pairs.n_questions).reshape(shape)[:, :2]
    total = np.bincount(place, pairs.cosine, 3 * pairs.n_questions).reshape(shape)[:, :2]
    able = np.flatnonzero((count > 0).all(axis=1))
    mean = total[able] / count[able]
    order = able[np.argsort(mean[:, 1] - mean[:, 0], kind="stable")][:SHOWN]
    return _medoids(pairs, [(question, members) for question in order.tolist()])


def of_questions(pairs: Pairs, found: QuestionCamps) -> Integers:
    """Return (k, 3) a worker of each camp of the most separated questions, and the question."""
    some = found.listed[:SHOWN].tolist()
    return _medoids(pairs, list(zip(some, found.camps, strict=False)))


def _medoids(pairs: Pairs, asked: list[tuple[int, tuple[Integers, ...]]]) -> Integers:
    rows = []
    for question, camps in asked:
        here = np.flatnonzero(pairs.question == question)
        left, right = pairs.left[pairs.pair[here]], pairs.right[pairs.pair[here]]
        speakers = []
        for camp in camps:
            inside = np.isin(left, camp) & np.isin(right, camp)
            likeness = np.zeros(pairs.n_workers)
            np.add.at(likeness, left[inside], pairs.cosine[here][inside])
            np.add.at(likeness, right[inside], pairs.cosine[here][inside])
            answered = np.intersect1d(camp, np.concatenate([left, right]))
            if len(answered):
                speakers.append(int(answered[np.argmax(likeness[answered])]))
        if len(speakers) == 2:
            rows.append([*speakers, question])
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


Severity = Literal["alarm", "notice", "info"]
KINDS = (
    "copies",
    "clique",
    "two_camps",
    "leverage",
    "grader_disagreement",
    "repeated",
    "dont_know",
    "model_like",
    "concentrated_weight",
    "unstable_ranking",
    "no_convergence",
    "too_few",
)
SEVERITIES: tuple[Severity, ...] = ("alarm", "notice", "info")
# A group and a camp are the same if they share this part of the members of each.
SAME = 0.8
# Answers this much alike on average are copies, whatever the rest of the crowd does.
IDENTICAL = 0.98

NOBODY: Integers = np.zeros(0, dtype=np.int64)
NOTHING: Integers = np.zeros((0, 3), dtype=np.int64)


@dataclass(frozen=True)
class Finding:
    """One alarm, in codes.

    Attributes
    ----------
    kind : one of `KINDS`. case : which of the kind's wordings fits.
    statistic, threshold : None where there is no number behind it.
    workers, questions : codes it is about; none for the whole crowd.
    exhibits : (k, 3) answers to show side by side: two workers and a question; for model_like the
        second is not a worker but the model named in `figures`, -1.
    figures : further numbers for the message.
    """

    kind: str
    severity: Severity
    case: str
    statistic: float | None
    threshold: float | None
    workers: Integers = field(default_factory=lambda: NOBODY)
    questions: Integers = field(default_factory=lambda: NOBODY)
    exhibits: Integers = field(default_factory=lambda: NOTHING)
    figures: Mapping[str, object] = field(default_factory=dict)


def findings(survey: Survey, proven: Sequence[bool | None] | None = None) -> list[Finding]:
    """Return what rings, alarms first.

    Parameters
    ----------
    proven : for each group of `survey.kinship.groups` whether its texts prove copying. Where camps
        ring, a group that is a camp is called copies only then, or if its answers are identical.
        None: its likeness has another reason and is not told.
    """
    groups = survey.kinship.groups
    proven = [False] * len(groups) if proven is None else proven
    found = [
        *(
            _of_group(survey, group, by_texts)
            for group, by_texts in zip(groups, proven, strict=True)
            if by_texts is not None
        ),
        *_of_camps(survey),
        *_of_questions(survey),
        *_of_ranking(survey),
        *(_of_part(group) for group in survey.kinship.partly),
        *_of_models(survey),
        *_of_run(survey),
    ]
    return in_order(found)


def in_order(found: Sequence[Finding]) -> list[Finding]:
    """Sort by severity, then by kind as in `KINDS`; otherwise the order stays."""
    return sorted(found, key=lambda one: (SEVERITIES.index(one.severity), KINDS.index(one.kind)))


def is_camp(group: Group, camps: Camps) -> int | None:
    """Return which camp a group is the same as, 0 or 1; None for no camp, or where none rings."""
    if not camps.rings:
        return None
    for at, camp in enumerate(camps.members):
        both = len(np.intersect1d(group.members, camp))
        if both >= SAME * len(group.members) and both >= SAME * len(camp):
            return at
    return None


def may_be_called_copies(survey: Survey, group: Group, by_texts: bool) -> bool:
    """Whether a group may be called copies, and collapsed without asking."""
    if by_texts or group.mean_cosine >= IDENTICAL:
        return True
    return is_camp(group, survey.camps) is None


def _of_group(survey: Survey, group: Group, by_texts: bool) -> Finding:
    copies = may_be_called_copies(survey, group, by_texts)
    case = "clique"
    if copies:
        case = "proven" if by_texts or group.mean_cosine >= IDENTICAL else "alike"
    return Finding(
        "copies" if copies else "clique",
        "alarm",
        case,
        group.statistic,
        survey.kinship.threshold,
        workers=group.members,
        exhibits=group.alike,
        figures={
            "mean_cosine": group.mean_cosine,
            "n_shared": group.n_shared,
            "camp": is_camp(group, survey.camps),
            "camps_ring": survey.camps.rings,
        },
    )


def _of_camps(survey: Survey) -> list[Finding]:
    camps = survey.camps
    if not camps.rings:
        return []
    exhibits = of_camps(survey.pairs, camps.members)
    starts = survey.starts
    return [
        Finding(
            "two_camps",
            "alarm",
            "crowd",
            camps.statistic,
            camps.threshold,
            workers=camp,
            exhibits=exhibits,
            figures={
                "camp": at,
                "other": len(camps.members[1 - at]),
                "surplus": camps.surplus[at],
                "start_agreement": None if starts is None else starts.statistic,
                "open": bool(starts and starts.rings),
                "sampled": survey.pairs.sampled,
            },
        )
        for at, camp in enumerate(camps.members)
    ]


def _of_questions(survey: Survey) -> list[Finding]:
    found = survey.questions
    if not found.rings:
        return []
    return [
        Finding(
            "two_camps",
            "alarm",
            "questions",
            found.statistic,
            found.threshold,
            questions=found.listed,
            exhibits=of_questions(survey.pairs, found),
            figures={"n_tested": found.n_tested, **_of_crowd(survey)},
        )
    ]


def _of_crowd(survey: Survey) -> dict[str, float | None]:
    """Return how far the camps on questions are those of the crowd, where these ring as well."""
    if not survey.camps.rings:
        return {}
    return {"same_as_crowd": same_camps(survey.questions.camps, survey.camps.members)}


def same_camps(
    of_questions: Sequence[tuple[Integers, Integers]], camps: Sequence[Integers]
) -> float | None:
    """Return how many answers to questions with camps fall as the camps of the crowd do, 0 to 1.

    None where the crowd has no two camps, or nobody in one of them answered.
    """
    alike = n = 0
    for larger, smaller in of_questions if len(camps) == 2 else ():
        both = [[len(np.intersect1d(part, camp)) for camp in camps] for part in (larger, smaller)]
        alike += max(both[0][0] + both[1][1], both[0][1] + both[1][0])
        n += sum(map(sum, both))
    return alike / n if n else None


def _of_ranking(survey: Survey) -> list[Finding]:
    leverage, disagreement = survey.leverage, survey.disagreement
    found = []
    if leverage.rings:
        of_worker = NOBODY if leverage.worker is None else np.array([leverage.worker])
        found.append(
            Finding(
                "leverage",
                "alarm",
                "worker",
                leverage.statistic,
                leverage.threshold,
                workers=of_worker,
            )
        )
    if disagreement.rings:
        found.append(
            Finding(
                "grader_disagreement",
                "alarm",
                "crowd",
                disagreement.statistic,
                disagreement.threshold,
            )
        )
    return found


def _of_part(group: Group) -> Finding:
    return Finding(
        "copies",
        "notice",
        "partly",
        group.statistic,
        PARTLY_THRESHOLD,
        workers=group.members,
        exhibits=group.alike,
        figures={"n_shared": group.n_shared},
    )


def _of_models(survey: Survey) -> list[Finding]:
    return [
        Finding(
            "model_like",
            "notice",
            "model",
            float(np.nanmax(likeness.statistic[likeness.workers])),
            likeness.threshold,
            workers=likeness.workers,
            figures={"model": likeness.model},
        )
        for likeness in survey.models
        if len(likeness.workers)
    ]


def _of_run(survey: Survey) -> list[Finding]:
    found = []
    if survey.concentration.rings:
        check = survey.concentration
        found.append(
            Finding(
                "concentrated_weight",
                "notice",
                "crowd",
                check.statistic,
                check.threshold,
                workers=survey.heaviest,
                figures={"n_workers": survey.n_workers},
            )
        )
    if survey.stability.rings:
        check = survey.stability
        found.append(
            Finding("unstable_ranking", "notice", "crowd", check.statistic, check.threshold)
        )
    if survey.converged is False:
        found.append(
            Finding(
                "no_convergence",
                "notice",
                "crowd",
                survey.last_step,
                survey.tolerance,
                figures={"n_iterations": survey.n_iterations},
            )
        )
    if survey.converged is None:
        found.append(Finding("too_few", "notice", "crowd", float(survey.n_workers), 3.0))
    elif len(survey.unsupported):
        found.append(
            Finding(
                "too_few",
                "info",
                "workers",
                float(len(survey.unsupported)),
                0.0,
                workers=survey.unsupported,
            )
        )
    return found
