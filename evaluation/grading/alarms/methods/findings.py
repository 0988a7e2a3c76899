"""Convert the checks of a graded run into findings: the alarms, notices and information."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from evaluation.core.stats.cells import Integers
from evaluation.grading.alarms.methods.camps import Camps
from evaluation.grading.alarms.methods.copies import PARTLY_THRESHOLD, CopierGroup
from evaluation.grading.alarms.methods.pairs import Pairs
from evaluation.grading.alarms.methods.questions import QuestionCamps
from evaluation.grading.alarms.methods.survey import RunChecks

# Questions shown of two camps.
MAX_SHOWN = 5


def find_camp_exhibits(pairs: Pairs, members: tuple[Integers, ...]) -> Integers:
    """Return example answers of both camps of workers, on the questions that divide them most.

    One row per question: a worker of each camp and the question; shape (k, 3). The example is the
    camp's most central answer (medoid).
    """
    label = np.full(pairs.n_workers, -1)
    for index, camp in enumerate(members):
        label[camp] = index
    a, b = label[pairs.left], label[pairs.right]
    kind = np.where((a < 0) | (b < 0), 2, (a != b).astype(np.int64))
    place = pairs.question * 3 + kind[pairs.pair]
    shape = (pairs.n_questions, 3)
    count = np.bincount(place, minlength=3 * pairs.n_questions).reshape(shape)[:, :2]
    total = np.bincount(place, pairs.cosine, 3 * pairs.n_questions).reshape(shape)[:, :2]
    comparable = np.flatnonzero((count > 0).all(axis=1))
    mean = total[comparable] / count[comparable]
    # Kind 0 is within a camp, 1 across: the most divisive question has the lowest difference.
    order = comparable[np.argsort(mean[:, 1] - mean[:, 0], kind="stable")][:MAX_SHOWN]
    return _find_medoids(pairs, [(question, members) for question in order.tolist()])


def find_question_exhibits(pairs: Pairs, question_camps: QuestionCamps) -> Integers:
    """Return example answers of both camps on the questions with the clearest camps.

    Return one row per question: a worker of each camp and the question; shape (k, 3).
    """
    questions = question_camps.listed[:MAX_SHOWN].tolist()
    # Not strict: there may be more camps than questions that are shown.
    return _find_medoids(pairs, list(zip(questions, question_camps.camps, strict=False)))


def _find_medoids(
    pairs: Pairs, camps_by_question: list[tuple[int, tuple[Integers, ...]]]
) -> Integers:
    """Return rows (worker, worker, question): the most central answer (medoid) of each camp.

    Shape (k, 3). Questions that a camp did not answer are left out.
    """
    rows = []
    for question, camps in camps_by_question:
        answer_pairs = np.flatnonzero(pairs.question == question)
        left, right = pairs.left[pairs.pair[answer_pairs]], pairs.right[pairs.pair[answer_pairs]]
        medoids = []
        for camp in camps:
            inside = np.isin(left, camp) & np.isin(right, camp)
            likeness = np.zeros(pairs.n_workers)
            np.add.at(likeness, left[inside], pairs.cosine[answer_pairs][inside])
            np.add.at(likeness, right[inside], pairs.cosine[answer_pairs][inside])
            answered = np.intersect1d(camp, np.concatenate([left, right]))
            if len(answered):
                medoids.append(int(answered[np.argmax(likeness[answered])]))
        if len(medoids) == 2:
            rows.append([*medoids, question])
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

NO_INDICES: Integers = np.zeros(0, dtype=np.int64)
NOTHING: Integers = np.zeros((0, 3), dtype=np.int64)


@dataclass(frozen=True)
class Finding:
    """A raised alarm, notice or information, with codes of the workers and questions it names.

    Attributes
    ----------
    kind : one of `KINDS`. case : key of the message text, as in `choose_alarm_case`.
    statistic, threshold : None if the finding is not based on a number.
    workers, questions : codes of those named; none for the whole crowd.
    exhibits : (k, 3) answers to show side by side: two workers and a question; for model_like the
        second is -1 and stands for the model named in `figures`.
    figures : further values for the message.
    """

    kind: str
    severity: Severity
    case: str
    statistic: float | None
    threshold: float | None
    workers: Integers = field(default_factory=lambda: NO_INDICES)
    questions: Integers = field(default_factory=lambda: NO_INDICES)
    exhibits: Integers = field(default_factory=lambda: NOTHING)
    figures: Mapping[str, object] = field(default_factory=dict)


def build_findings(survey: RunChecks, proven: Sequence[bool | None] | None = None) -> list[Finding]:
    """Return the alarms, notices and information that the checks of a run raise.

    Parameters
    ----------
    proven : for each group of `survey.kinship.groups` whether its texts prove copying. With two
        camps, a group that equals a camp has the kind copies only if this is true or its mean
        cosine is .98 or more; else it is a clique. None: the likeness has another reason, and the
        group gets no finding.
    """
    groups = survey.kinship.groups
    proven = [False] * len(groups) if proven is None else proven
    unsorted = [
        *(
            _build_group_finding(survey, group, by_texts)
            for group, by_texts in zip(groups, proven, strict=True)
            if by_texts is not None
        ),
        *_build_camp_findings(survey),
        *_build_question_findings(survey),
        *_build_ranking_findings(survey),
        *(_build_partial_finding(group) for group in survey.kinship.partly),
        *_build_model_findings(survey),
        *_build_run_findings(survey),
    ]
    return sort_findings(unsorted)


def sort_findings(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings sorted by severity, then by kind in the order of `KINDS`."""
    return sorted(
        findings,
        key=lambda finding: (SEVERITIES.index(finding.severity), KINDS.index(finding.kind)),
    )


def find_equal_camp(group: CopierGroup, camps: Camps) -> int | None:
    """Return the camp (0 or 1) of the crowd that a group of similar workers equals, or None."""
    if not camps.is_raised:
        return None
    for index, camp in enumerate(camps.members):
        # Both ways round: a few copiers inside a large camp are not the camp.
        n_common = len(np.intersect1d(group.members, camp))
        if n_common >= SAME * len(group.members) and n_common >= SAME * len(camp):
            return index
    return None


def is_copier_group(survey: RunChecks, group: CopierGroup, by_texts: bool) -> bool:
    """Return whether a group of similar workers may be called copiers without an expert.

    True if their texts prove it (`by_texts`), if their answers are nearly identical, or if the
    group is not one of the crowd's camps. The group may then be collapsed into one voter.
    """
    if by_texts or group.mean_cosine >= IDENTICAL:
        return True
    return find_equal_camp(group, survey.camps) is None


def _build_group_finding(survey: RunChecks, group: CopierGroup, by_texts: bool) -> Finding:
    """Return the finding on a group of similar workers: `copies`, or `clique` for a whole camp."""
    copies = is_copier_group(survey, group, by_texts)
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
            "camp": find_equal_camp(group, survey.camps),
            "camps_ring": survey.camps.is_raised,
        },
    )


def _build_camp_findings(survey: RunChecks) -> list[Finding]:
    """Return one finding for each of the crowd's two camps of workers; empty without camps.

    A camp is a group of workers whose answers agree with each other.
    """
    camps = survey.camps
    if not camps.is_raised:
        return []
    exhibits = find_camp_exhibits(survey.pairs, camps.members)
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
                "camp": index,
                "other": len(camps.members[1 - index]),
                "surplus": camps.surplus[index],
                "start_agreement": None if starts is None else starts.statistic,
                "open": bool(starts and starts.is_raised),
                "sampled": survey.pairs.sampled,
            },
        )
        for index, camp in enumerate(camps.members)
    ]


def _build_question_findings(survey: RunChecks) -> list[Finding]:
    """Return the finding that answers to single questions form two camps; empty if none do."""
    question_camps = survey.questions
    if not question_camps.is_raised:
        return []
    return [
        Finding(
            "two_camps",
            "alarm",
            "questions",
            question_camps.statistic,
            question_camps.threshold,
            questions=question_camps.listed,
            exhibits=find_question_exhibits(survey.pairs, question_camps),
            figures={"n_tested": question_camps.n_tested, **_measure_crowd_overlap(survey)},
        )
    ]


def _measure_crowd_overlap(survey: RunChecks) -> dict[str, float | None]:
    """Return the message value `same_as_crowd`; empty if no alarm of crowd camps is raised.

    It is the share of answers whose camp on a question matches the author's camp in the crowd.
    """
    if not survey.camps.is_raised:
        return {}
    return {"same_as_crowd": measure_camp_overlap(survey.questions.camps, survey.camps.members)}


def measure_camp_overlap(
    question_camps: Sequence[tuple[Integers, Integers]], camps: Sequence[Integers]
) -> float | None:
    """Return the share of answers whose camp on a question is the author's camp in the crowd.

    None if the crowd has no two camps, or no member of one of them answered.
    """
    n_alike = n = 0
    for larger, smaller in question_camps if len(camps) == 2 else ():
        overlaps = [
            [len(np.intersect1d(part, camp)) for camp in camps] for part in (larger, smaller)
        ]
        # Which camp of a question is which of the crowd is not known: the better matching counts.
        n_alike += max(overlaps[0][0] + overlaps[1][1], overlaps[0][1] + overlaps[1][0])
        n += sum(map(sum, overlaps))
    return n_alike / n if n else None


def _build_ranking_findings(survey: RunChecks) -> list[Finding]:
    """Return the findings that a ranking depends on one worker or on the grading method."""
    leverage, disagreement = survey.leverage, survey.disagreement
    findings = []
    if leverage.is_raised:
        of_worker = NO_INDICES if leverage.worker is None else np.array([leverage.worker])
        findings.append(
            Finding(
                "leverage",
                "alarm",
                "worker",
                leverage.statistic,
                leverage.threshold,
                workers=of_worker,
            )
        )
    if disagreement.is_raised:
        findings.append(
            Finding(
                "grader_disagreement",
                "alarm",
                "crowd",
                disagreement.statistic,
                disagreement.threshold,
            )
        )
    return findings


def _build_partial_finding(group: CopierGroup) -> Finding:
    """Return the notice about workers who share a part of their answers."""
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


def _build_model_findings(survey: RunChecks) -> list[Finding]:
    """Return one notice for each language model that some workers' answers resemble."""
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


def _build_run_findings(survey: RunChecks) -> list[Finding]:
    """Return the findings on vote concentration, stability, convergence and too few data."""
    findings = []
    if survey.concentration.is_raised:
        check = survey.concentration
        findings.append(
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
    if survey.stability.is_raised:
        check = survey.stability
        findings.append(
            Finding("unstable_ranking", "notice", "crowd", check.statistic, check.threshold)
        )
    if survey.converged is False:
        findings.append(
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
        findings.append(Finding("too_few", "notice", "crowd", float(survey.n_workers), 3.0))
    elif len(survey.unsupported):
        findings.append(
            Finding(
                "too_few",
                "info",
                "workers",
                float(len(survey.unsupported)),
                0.0,
                workers=survey.unsupported,
            )
        )
    return findings
