"""Experts say whether replies mean the same; what they say stands beside what programs judged."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

import numpy as np

from annotations.exchange.reading.prompt_replies import NO_ANSWER
from annotations.exchange.reading.prompts import PromptItem, PromptVariant
from evaluation.flow.eloquent.evaluating import evaluate_judgements
from evaluation.flow.eloquent.found import Findings
from evaluation.flow.eloquent.judging import Judgement
from evaluation.flow.eloquent.matching import Reply
from evaluation.flow.eloquent.nearness import Nearness
from evaluation.flow.metrics import Exclusions
from evaluation.judging import Choice, Exhibit, Given, Judging, Part, given_of
from evaluation.judging.declaration import Key
from evaluation.models import Run
from evaluation.steps.eloquent.comparing import parameters_of
from evaluation.steps.eloquent.tables import findings_of


def _exhibits(run: Run, rng: np.random.Generator) -> list[Exhibit]:
    """Return every set of replies, as a judge sees it: texts alone, here in random order."""
    findings = findings_of(run)
    replies: dict[Key, list[Reply]] = defaultdict(list)
    for one in findings.replies:
        if not one.status.is_missing:
            replies[one.system, one.item, one.language].append(one)
    return [
        Exhibit(row.key, _parts(replies[row.key], rng))
        for row in findings.sets
        if len(replies[row.key]) > 1
    ]


def _parts(replies: list[Reply], rng: np.random.Generator) -> tuple[Part, ...]:
    first = min(replies, key=lambda one: one.place)
    order = rng.permutation(len(replies)).tolist()
    shown = [replies[at] for at in order]
    return (
        Part("What was asked, in one of its wordings", first.prompt, folded=True),
        *(
            Part(f"Reply {number}", one.text.strip() if one.answered else "", NO_ANSWER, True)
            for number, one in enumerate(shown, 1)
        ),
    )


def _machines(run: Run) -> dict[str, dict[Key, float]]:
    """Return the mean score of each model that judged, by set."""
    found: dict[str, dict[Key, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in findings_of(run).judgements:
        if one.score is not None:
            found[one.judge][one.system, one.item, one.language].append(one.score)
    return {
        judge: {key: float(np.mean(scores)) for key, scores in of_judge.items()}
        for judge, of_judge in found.items()
    }


SAME_MEANING = Judging(
    name="same-meaning",
    title="Judged by people",
    one="set of replies",
    many="sets of replies",
    words="Each set holds what one system replied to the same request in several wordings. Do the "
    "replies say the same? What they say counts: content, advice, what is left out. Words, style "
    "and length alone do not. You are not told which system replied, nor what a program said.",
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
    exhibits=_exhibits,
    machines=_machines,
)


def findings_with_people(run: Run) -> Findings:
    """Return what a run found, with what experts said since.

    The same numbers as ``evaluate eloquent`` makes of the run's replies and the judgements of both:
    models make the scores and people stand beside them, or make them where only they judged.
    """
    given = given_of(run, SAME_MEANING)
    return _judged_by(run.pk, tuple(given)) if given else findings_of(run)


@lru_cache(maxsize=2)
def _judged_by(run_id: int, given: tuple[Given, ...]) -> Findings:
    """Return the findings with these judgements; kept, as a download asks for every table."""
    run = Run.objects.get(pk=run_id)
    stored = findings_of(run)
    said = [
        Judgement(item, system, language, one.judge, "1", float(one.value), None)
        for one in sorted(given, key=lambda one: one.expert)
        for system, item, language in [one.key]
    ]
    return evaluate_judgements(
        _items(stored),
        stored.replies,
        [*stored.judgements, *said],
        Nearness.of(stored),
        parameters_of(run).evaluation(),
        Exclusions(),
    )


def _items(findings: Findings) -> list[PromptItem]:
    """Return the items as the run put them: every wording has a reply, or the error it came to."""
    wordings: dict[str, dict[int, PromptVariant]] = defaultdict(dict)
    for one in findings.replies:
        wordings[one.item][one.place] = PromptVariant(
            one.place, one.language, one.prompt, one.place
        )
    return [
        PromptItem(item, variation, tuple(of_item[place] for place in sorted(of_item)), at)
        for at, (item, variation) in enumerate(
            dict.fromkeys((row.item, row.variation) for row in findings.items)
        )
        for of_item in [wordings[item]]
    ]
