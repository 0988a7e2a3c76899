"""Contradiction by meaning: an entailment model reads each answer beside what the crowd says.

What the crowd says of a question are at most 6 claims, each the text of somebody's answer: the
exemplary answer, and for each of at most 5 agreed facts that it does not state the answer nearest
to it of those that do. Nobody is held against a claim of their own; whoever gave the exemplary
answer is held against the nearest one of another.

The probabilities are the model's own. Nobody measured them here: no such model comes with the
platform (platform/docs/evidence.md).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evaluation.consensus.inputs import Answers, ModelAnswers
from evaluation.flow.fact_slots import MEANING
from evaluation.grading.facts.methods import State, Verdict
from evaluation.grading.facts.methods.consensus import SUPPORT, is_agreed, is_contested
from evaluation.grading.facts.run.records import MODEL, WORKER, AnswerFact, CrowdFact, CrowdFacts
from evaluation.grading.summary import MeaningFound
from evaluation.methods.cells import Floats

# Probability from which on two texts contradict each other, or one entails the other.
THRESHOLD = 0.5
# What is said of two texts that are the same.
SAME = (0.0, 1.0)
# Agreed facts of a question that answers are read beside.
MOST_FACTS = 5

Pair = tuple[str, str]


class ReadsPairs(Protocol):
    """A model of whether texts contradict and entail each other; see `ContradictionModel`."""

    name: str
    revision: str

    def both_ways(
        self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (n,) probabilities of contradiction, and of entailment either way."""


@dataclass(frozen=True)
class _Answer:
    """An answer that is read: of a worker the row in `Answers`, of a model that in its own."""

    kind: str
    name: Any
    key: Any
    text: str
    votes: bool = False
    row: int | None = None


@dataclass
class _Question:
    """The answers to a question, workers' first, and which of them are its claims.

    Attributes
    ----------
    claims : places of the exemplary answer and of those that state agreed facts.
    instead : place of what stands for the exemplary answer where that is held against a claim.
    """

    answers: list[_Answer] = field(default_factory=list)
    claims: list[int] = field(default_factory=list)
    instead: int | None = None

    @property
    def voters(self) -> set[int]:
        """Places of the answers of those who vote."""
        return {at for at, one in enumerate(self.answers) if one.votes}

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield (answer, claim), places of both, of the answers beside which enough others stand.

        Nobody is held against a claim of their own.
        """
        n = len(self.voters)
        for at, one in enumerate(self.answers):
            if n - one.votes < SUPPORT:
                continue
            claims = self.claims
            if at == self.claims[0]:
                claims = [self.claims[0] if self.instead is None else self.instead, *claims[1:]]
            yield from ((at, claim) for claim in claims if claim != at)


def with_meaning(
    facts: CrowdFacts,
    answers: Answers,
    models: ModelAnswers | None,
    scores: Floats,
    nearest: Mapping[Any, int],
    model: ReadsPairs,
    weights: Mapping[Any, float] | None = None,
    excluded: Collection[Any] = (),
    progress: Callable[[int, int], None] | None = None,
) -> CrowdFacts:
    """Return facts with what an entailment model says of the answers' meaning beside them.

    An answer contradicts the claim with the greatest probability of contradiction, if that is at
    least .5 read either way round; it is contested where max(2, 25%) or more of the others
    contradict the same claim as well. It agrees where it and the exemplary answer are the same
    text, or either entails the other with at least .5; else it is open, and with fewer than 3
    others too few.

    Parameters
    ----------
    facts : read from the same answers. answers, models, weights, excluded : as for `crowd_facts`.
    scores : (N,) how near each answer is to the exemplary one. nearest : by question the row of the
        exemplary answer.
    """
    asked = _questions(facts, answers, models, scores, nearest, excluded)
    read = {
        (question, at, claim): (one.answers[claim].text, one.answers[at].text)
        for question, one in asked.items()
        for at, claim in one.pairs()
    }
    texts = list(dict.fromkeys(pair for pair in read.values() if not _same(*pair)))
    contradict, entail = model.both_ways(texts, progress)
    told = dict(zip(texts, zip(contradict.tolist(), entail.tolist(), strict=True), strict=True))
    said: dict[Any, dict[tuple[int, int], tuple[float, float]]] = {one: {} for one in asked}
    for (question, at, claim), pair in read.items():
        said[question][at, claim] = told.get(pair, SAME)
    crowd: dict[Any, list[CrowdFact]] = defaultdict(list)
    judged: dict[Any, list[AnswerFact]] = defaultdict(list)
    for question, one in asked.items():
        held = _Held(question, one, said[question], weights or {})
        crowd[question] += held.rows()
        judged[question] += held.verdicts()
    counts = Counter(row.verdict for rows in judged.values() for row in rows)
    return replace(
        facts,
        crowd=_merged(facts.crowd, crowd),
        answers=_merged(facts.answers, judged),
        meaning=MeaningFound(
            model=model.name,
            revision=model.revision,
            threshold=THRESHOLD,
            questions=sum(map(bool, said.values())),
            pairs=len(texts),
            agrees=counts[Verdict.AGREES],
            contradicts=counts[Verdict.CONTRADICTS],
            contested=counts[Verdict.CONTESTED],
            open=counts[Verdict.OPEN],
            too_few=counts[Verdict.TOO_FEW],
        ),
    )


def meaning_beside(facts: CrowdFacts, other: CrowdFacts) -> CrowdFacts:
    """Return facts with what an entailment model said beside the others of the same answers."""
    crowd: dict[Any, list[CrowdFact]] = defaultdict(list)
    judged: dict[Any, list[AnswerFact]] = defaultdict(list)
    for claim in other.crowd:
        if claim.slot == MEANING:
            crowd[claim.question].append(claim)
    for said in other.answers:
        if said.slot == MEANING:
            judged[said.question].append(said)
    return replace(
        facts,
        crowd=_merged(facts.crowd, crowd),
        answers=_merged(facts.answers, judged),
        meaning=other.meaning,
    )


def _questions(
    facts: CrowdFacts,
    answers: Answers,
    models: ModelAnswers | None,
    scores: Floats,
    nearest: Mapping[Any, int],
    excluded: Collection[Any],
) -> dict[Any, _Question]:
    """Return the questions that have an exemplary answer, with all answers to them."""
    found: dict[Any, _Question] = {question: _Question() for question in nearest}
    for row, question in enumerate(answers.questions):
        if question in found:
            worker = answers.workers[row]
            text, votes = answers.texts[row], worker not in excluded
            one = _Answer(WORKER, worker, answers.keys[row], text, votes, row)
            found[question].answers.append(one)
    spoken = None if models is None else models.with_text()
    for row, question in enumerate(spoken.questions if spoken else ()):
        assert spoken is not None
        if question in found:
            one = _Answer(MODEL, spoken.models[row], spoken.keys[row], spoken.texts[row])
            found[question].answers.append(one)
    stating = _stating(facts)
    for question, asked in found.items():
        near = sorted(
            (at for at, one in enumerate(asked.answers) if one.votes),
            key=lambda at: -float(np.nan_to_num(scores[asked.answers[at].row], nan=-np.inf)),
        )
        place = {one.row: at for at, one in enumerate(asked.answers) if one.row is not None}
        exemplar = place[nearest[question]]
        asked.claims = [exemplar]
        asked.instead = next((at for at in near if at != exemplar), None)
        for keys in stating.get(question, {}).values():
            if len(asked.claims) > MOST_FACTS:
                break
            who = [at for at in near if asked.answers[at].key in keys]
            if who and exemplar not in who and who[0] not in asked.claims:
                asked.claims.append(who[0])
    return found


def _stating(facts: CrowdFacts) -> dict[Any, dict[tuple[str, str], set[Any]]]:
    """Return for each question the agreed values, best backed first, and who states each."""
    found: dict[Any, dict[tuple[str, str], set[Any]]] = defaultdict(dict)
    agreed = [one for one in facts.crowd if one.state == State.AGREED]
    for one in sorted(agreed, key=lambda one: -one.mentions):
        found[one.question][one.slot, one.value] = set()
    for said in facts.answers:
        keys = found.get(said.question, {}).get((said.slot, said.crowd))
        if keys is not None and said.kind == WORKER and said.verdict == Verdict.AGREES:
            keys.add(said.key)
    return found


@dataclass
class _Held:
    """A question's answers, held against its claims.

    Attributes
    ----------
    said : by the places of an answer and a claim the probabilities that they contradict each other
        and that either entails the other; nothing where too few answered.
    """

    question: Any
    asked: _Question
    said: dict[tuple[int, int], tuple[float, float]]
    weights: Mapping[Any, float]

    def rows(self) -> Iterator[CrowdFact]:
        """Yield the claims, with how many of the workers agree with each, its author too."""
        voters = self.asked.voters
        total = sum(map(self._weight, voters))
        for claim in self.asked.claims if self.said else ():
            backing = [at for at in voters if at == claim or self._agrees(at, claim)]
            n, weight = len(backing), sum(map(self._weight, backing))
            agreed = is_agreed(np.array([float(n)]), np.array([weight]), len(voters), total)[0]
            contested = is_contested(n, len(voters))
            state = State.AGREED if agreed else State.CONTESTED if contested else State.OPEN
            text = self.asked.answers[claim].text
            yield CrowdFact(self.question, MEANING, text, n, len(voters), state)

    def verdicts(self) -> Iterator[AnswerFact]:
        """Yield how each answer stands to the claims."""
        held = defaultdict(list)
        for at, claim in self.said:
            held[at].append(claim)
        voters = self.asked.voters
        for at, one in enumerate(self.asked.answers):
            others = voters - {at}
            row = AnswerFact(
                *(one.kind, one.name, self.question, MEANING, "", Verdict.TOO_FEW),
                of=len(others),
                key=one.key,
            )
            yield self._judged(row, at, held[at], others) if held[at] else row

    def _judged(
        self, row: AnswerFact, at: int, claims: Sequence[int], others: Collection[int]
    ) -> AnswerFact:
        worst = max(claims, key=lambda claim: self.said[at, claim][0])
        row = replace(row, value=f"{self.said[at, worst][0]:.3f}", verdict=Verdict.OPEN)
        against = worst if self._contradicts(at, worst) else claims[0]
        backed = sum(other == against or self._agrees(other, against) for other in others)
        # Of the author of the exemplary answer it is known who agrees with that.
        mine = self.asked.claims[0] if at == self.asked.claims[0] else None
        alike = sum(self._agrees(other, mine) for other in others) if mine is not None else 0
        if against == worst and self._contradicts(at, worst):
            as_well = sum(self._contradicts(other, worst) for other in others)
            back = as_well if mine is None else alike
            verdict = Verdict.CONTESTED if is_contested(back, row.of) else Verdict.CONTRADICTS
        elif self._agrees(at, against):
            verdict, back = Verdict.AGREES, backed if mine is None else max(alike, backed)
            backed = back
        else:
            return row
        crowd = self.asked.answers[against].text
        return replace(row, verdict=verdict, mentions=back, crowd=crowd, n_crowd=backed)

    def _contradicts(self, at: int, claim: int) -> bool:
        return self.said.get((at, claim), (0.0, 0.0))[0] >= THRESHOLD

    def _agrees(self, at: int, claim: int) -> bool:
        contradict, entail = self.said.get((at, claim), (0.0, 0.0))
        return entail >= THRESHOLD > contradict

    def _weight(self, at: int) -> float:
        return self.weights.get(self.asked.answers[at].name, 0.0)


def _same(one: str, other: str) -> bool:
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())


def _merged(rows: Sequence[Any], more: Mapping[Any, Sequence[Any]]) -> list[Any]:
    """Return rows by question, those of facts first."""
    found: dict[Any, list[Any]] = {question: [] for question in more}
    for row in rows:
        found.setdefault(row.question, []).append(row)
    return [row for question, own in found.items() for row in (*own, *more.get(question, ()))]
