"""Compare each answer with the crowd's claims by an entailment model, for contradictions.

A question has at most 6 claims, each the text of an answer: the exemplary answer, and for each of
at most 5 agreed facts that it does not state, the answer that states the fact and is nearest to it.
No answer is compared with itself; the exemplary answer is compared with the nearest other answer.

The probabilities are the model's own. They were not measured here: no such model comes with the
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
from evaluation.core.stats.cells import Floats
from evaluation.grading.facts.methods import SUPPORT, ValueState, Verdict, is_agreed, is_contested
from evaluation.grading.facts.run.reading import MODEL, WORKER, AnswerFact, CrowdFact, CrowdFacts
from evaluation.grading.summary import MeaningCounts
from evaluation.runs.flow.stored import MEANING

# Probability from which on two texts contradict each other, or one entails the other.
THRESHOLD = 0.5
# What is said of two texts that are the same.
SAME = (0.0, 1.0)
# Agreed facts of a question that answers are read beside.
MOST_FACTS = 5

Pair = tuple[str, str]


class EntailmentRater(Protocol):
    """Protocol of a model that rates contradiction and entailment between two texts."""

    name: str
    revision: str

    def compute_contradictions(
        self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the probabilities of contradiction and of entailment of each pair of texts.

        Each pair is read in both orders; of contradiction the lower probability counts, of
        entailment the greater.
        """


@dataclass(frozen=True)
class _ComparedAnswer:
    """An answer to compare with the crowd's claims; `row` is its row in `Answers`."""

    kind: str
    name: Any
    key: Any
    text: str
    votes: bool = False
    row: int | None = None


@dataclass
class _QuestionClaims:
    """The answers to a question, and the indices of those that serve as the crowd's claims.

    Attributes
    ----------
    claims : indices of the exemplary answer and of answers that state agreed facts.
    instead : index of the answer with which the exemplary answer itself is compared.
    """

    answers: list[_ComparedAnswer] = field(default_factory=list)
    claims: list[int] = field(default_factory=list)
    instead: int | None = None

    @property
    def voters(self) -> set[int]:
        """Indices of the answers by voting workers."""
        return {index for index, answer in enumerate(self.answers) if answer.votes}

    def iterate_pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the index pairs (answer, claim) to compare; none if fewer than 3 others vote.

        No answer is compared with itself.
        """
        n = len(self.voters)
        for index, answer in enumerate(self.answers):
            if n - answer.votes < SUPPORT:
                continue
            claims = self.claims
            if index == self.claims[0]:
                claims = [self.claims[0] if self.instead is None else self.instead, *claims[1:]]
            yield from ((index, claim) for claim in claims if claim != index)


def add_entailment_verdicts(
    facts: CrowdFacts,
    answers: Answers,
    models: ModelAnswers | None,
    scores: Floats,
    nearest: Mapping[Any, int],
    model: EntailmentRater,
    weights: Mapping[Any, float] | None = None,
    excluded: Collection[Any] = (),
    progress: Callable[[int, int], None] | None = None,
) -> CrowdFacts:
    """Return the facts with an entailment model's verdict on each answer added.

    An answer contradicts the claim with the greatest probability of contradiction, if that is at
    least .5 in both orders; it is contested if max(2, 25%) or more of the others contradict the
    same claim. It agrees if its text equals the exemplary answer's, or if either entails the other
    with at least .5. Else it is open; with fewer than 3 others it has too few.

    Parameters
    ----------
    facts : facts of the same answers. answers, models, weights, excluded : as for
        `find_crowd_facts`.
    scores : (N,) similarity of each answer to the exemplary answer. nearest : by question, the row
        of the nearest answer, which serves as the exemplary one.
    """
    compared_questions = _collect_questions(facts, answers, models, scores, nearest, excluded)
    texts_of_pair = {
        (question, index, claim): (
            compared_question.answers[claim].text,
            compared_question.answers[index].text,
        )
        for question, compared_question in compared_questions.items()
        for index, claim in compared_question.iterate_pairs()
    }
    # Each pair of texts once: the model is by far the slowest part.
    texts = list(
        dict.fromkeys(pair for pair in texts_of_pair.values() if not _is_equal_text(*pair))
    )
    contradict, entail = model.compute_contradictions(texts, progress)
    probabilities = dict(
        zip(texts, zip(contradict.tolist(), entail.tolist(), strict=True), strict=True)
    )
    probabilities_of: dict[Any, dict[tuple[int, int], tuple[float, float]]] = {
        compared_question: {} for compared_question in compared_questions
    }
    for (question, index, claim), pair in texts_of_pair.items():
        probabilities_of[question][index, claim] = probabilities.get(pair, SAME)
    crowd: dict[Any, list[CrowdFact]] = defaultdict(list)
    verdicts: dict[Any, list[AnswerFact]] = defaultdict(list)
    for question, compared_question in compared_questions.items():
        judgement = _Comparison(
            question, compared_question, probabilities_of[question], weights or {}
        )
        crowd[question] += judgement.iterate_rows()
        verdicts[question] += judgement.iterate_verdicts()
    counts = Counter(row.verdict for rows in verdicts.values() for row in rows)
    return replace(
        facts,
        crowd=_merge_by_question(facts.crowd, crowd),
        answers=_merge_by_question(facts.answers, verdicts),
        meaning=MeaningCounts(
            model=model.name,
            revision=model.revision,
            threshold=THRESHOLD,
            questions=sum(map(bool, probabilities_of.values())),
            pairs=len(texts),
            agrees=counts[Verdict.AGREES],
            contradicts=counts[Verdict.CONTRADICTS],
            contested=counts[Verdict.CONTESTED],
            open=counts[Verdict.OPEN],
            too_few=counts[Verdict.TOO_FEW],
        ),
    )


def copy_entailment_verdicts(facts: CrowdFacts, other: CrowdFacts) -> CrowdFacts:
    """Return `facts` with the entailment verdicts of `other` on the same answers added."""
    crowd: dict[Any, list[CrowdFact]] = defaultdict(list)
    verdicts: dict[Any, list[AnswerFact]] = defaultdict(list)
    for claim in other.crowd:
        if claim.slot == MEANING:
            crowd[claim.question].append(claim)
    for answer_fact in other.answers:
        if answer_fact.slot == MEANING:
            verdicts[answer_fact.question].append(answer_fact)
    return replace(
        facts,
        crowd=_merge_by_question(facts.crowd, crowd),
        answers=_merge_by_question(facts.answers, verdicts),
        meaning=other.meaning,
    )


def _collect_questions(
    facts: CrowdFacts,
    answers: Answers,
    models: ModelAnswers | None,
    scores: Floats,
    nearest: Mapping[Any, int],
    excluded: Collection[Any],
) -> dict[Any, _QuestionClaims]:
    """Return, by question, the answers to compare and those that serve as claims."""
    questions_with_answers: dict[Any, _QuestionClaims] = {
        question: _QuestionClaims() for question in nearest
    }
    for row, question in enumerate(answers.questions):
        if question in questions_with_answers:
            worker = answers.workers[row]
            text, votes = answers.texts[row], worker not in excluded
            answer = _ComparedAnswer(WORKER, worker, answers.keys[row], text, votes, row)
            questions_with_answers[question].answers.append(answer)
    model_answers = None if models is None else models.select_with_text()
    for row, question in enumerate(model_answers.questions if model_answers else ()):
        assert model_answers is not None
        if question in questions_with_answers:
            answer = _ComparedAnswer(
                MODEL, model_answers.models[row], model_answers.keys[row], model_answers.texts[row]
            )
            questions_with_answers[question].answers.append(answer)
    keys_of_facts = _find_stating_answers(facts)
    for question, compared in questions_with_answers.items():
        by_nearness = sorted(
            (index for index, answer in enumerate(compared.answers) if answer.votes),
            key=lambda index: (
                -float(np.nan_to_num(scores[compared.answers[index].row], nan=-np.inf))
            ),
        )
        index_of_row = {
            answer.row: index
            for index, answer in enumerate(compared.answers)
            if answer.row is not None
        }
        exemplar = index_of_row[nearest[question]]
        compared.claims = [exemplar]
        compared.instead = next((index for index in by_nearness if index != exemplar), None)
        for keys in keys_of_facts.get(question, {}).values():
            # The exemplary answer is one claim, agreed facts add five at most.
            if len(compared.claims) > MOST_FACTS:
                break
            stating_answers = [
                index for index in by_nearness if compared.answers[index].key in keys
            ]
            if (
                stating_answers
                and exemplar not in stating_answers
                and stating_answers[0] not in compared.claims
            ):
                compared.claims.append(stating_answers[0])
    return questions_with_answers


def _find_stating_answers(facts: CrowdFacts) -> dict[Any, dict[tuple[str, str], set[Any]]]:
    """Return, by question, the keys of the answers that state each agreed value."""
    keys_of_facts: dict[Any, dict[tuple[str, str], set[Any]]] = defaultdict(dict)
    agreed = [fact for fact in facts.crowd if fact.state == ValueState.AGREED]
    for fact in sorted(agreed, key=lambda fact: -fact.mentions):
        keys_of_facts[fact.question][fact.slot, fact.value] = set()
    for answer_fact in facts.answers:
        keys = keys_of_facts.get(answer_fact.question, {}).get(
            (answer_fact.slot, answer_fact.crowd)
        )
        if (
            keys is not None
            and answer_fact.kind == WORKER
            and answer_fact.verdict == Verdict.AGREES
        ):
            keys.add(answer_fact.key)
    return keys_of_facts


@dataclass
class _Comparison:
    """Entailment probabilities of a question's answers and claims, and verdicts from them.

    Attributes
    ----------
    probabilities : (contradiction, entailment), as `compute_contradictions` returns them, by the
        indices of an answer and a claim; empty with too few answers.
    """

    question: Any
    compared: _QuestionClaims
    probabilities: dict[tuple[int, int], tuple[float, float]]
    weights: Mapping[Any, float]

    def iterate_rows(self) -> Iterator[CrowdFact]:
        """Yield a row of facts.csv for each claim, with the number of workers who agree with it."""
        voters = self.compared.voters
        total = sum(map(self._get_weight, voters))
        for claim in self.compared.claims if self.probabilities else ():
            backers = [
                voter for voter in voters if voter == claim or self._is_agreement(voter, claim)
            ]
            n, weight = len(backers), sum(map(self._get_weight, backers))
            agreed = is_agreed(np.array([float(n)]), np.array([weight]), len(voters), total)[0]
            contested = is_contested(n, len(voters))
            state = (
                ValueState.AGREED
                if agreed
                else ValueState.CONTESTED
                if contested
                else ValueState.OPEN
            )
            text = self.compared.answers[claim].text
            yield CrowdFact(self.question, MEANING, text, n, len(voters), state)

    def iterate_verdicts(self) -> Iterator[AnswerFact]:
        """Yield a row of answer_facts.csv for each answer, with its verdict by meaning."""
        claims_of_answer = defaultdict(list)
        for index, claim in self.probabilities:
            claims_of_answer[index].append(claim)
        voters = self.compared.voters
        for index, answer in enumerate(self.compared.answers):
            others = voters - {index}
            row = AnswerFact(
                *(answer.kind, answer.name, self.question, MEANING, "", Verdict.TOO_FEW),
                of=len(others),
                key=answer.key,
            )
            yield (
                self._judge_answer(row, index, claims_of_answer[index], others)
                if claims_of_answer[index]
                else row
            )

    def _judge_answer(
        self, row: AnswerFact, index: int, claims: Sequence[int], others: Collection[int]
    ) -> AnswerFact:
        """Return an answer's row with its verdict, from the claim that it contradicts most."""
        worst = max(claims, key=lambda claim: self.probabilities[index, claim][0])
        row = replace(row, value=f"{self.probabilities[index, worst][0]:.3f}", verdict=Verdict.OPEN)
        claim_compared = worst if self._is_contradiction(index, worst) else claims[0]
        n_crowd = sum(
            other == claim_compared or self._is_agreement(other, claim_compared) for other in others
        )
        # Of the author of the exemplary answer it is known who agrees with that.
        own_claim = self.compared.claims[0] if index == self.compared.claims[0] else None
        n_alike = (
            sum(self._is_agreement(other, own_claim) for other in others)
            if own_claim is not None
            else 0
        )
        if claim_compared == worst and self._is_contradiction(index, worst):
            n_contradicting = sum(self._is_contradiction(other, worst) for other in others)
            n_back = n_contradicting if own_claim is None else n_alike
            verdict = Verdict.CONTESTED if is_contested(n_back, row.of) else Verdict.CONTRADICTS
        elif self._is_agreement(index, claim_compared):
            verdict, n_back = (
                Verdict.AGREES,
                n_crowd if own_claim is None else max(n_alike, n_crowd),
            )
            n_crowd = n_back
        else:
            return row
        crowd = self.compared.answers[claim_compared].text
        return replace(row, verdict=verdict, mentions=n_back, crowd=crowd, n_crowd=n_crowd)

    def _is_contradiction(self, index: int, claim: int) -> bool:
        """Return whether the answer with this index contradicts the claim with that index."""
        return self.probabilities.get((index, claim), (0.0, 0.0))[0] >= THRESHOLD

    def _is_agreement(self, index: int, claim: int) -> bool:
        """Return whether the answer with this index entails the claim without contradicting it."""
        contradict, entail = self.probabilities.get((index, claim), (0.0, 0.0))
        return entail >= THRESHOLD > contradict

    def _get_weight(self, index: int) -> float:
        """Return the voting weight of the worker who wrote the answer with this index."""
        return self.weights.get(self.compared.answers[index].name, 0.0)


def _is_equal_text(text: str, other: str) -> bool:
    """Return whether two texts are equal but for case and spaces."""
    return " ".join(text.casefold().split()) == " ".join(other.casefold().split())


def _merge_by_question(rows: Sequence[Any], added_rows: Mapping[Any, Sequence[Any]]) -> list[Any]:
    """Return all rows grouped by question, with the rows of `added_rows` last in each group."""
    rows_of_question: dict[Any, list[Any]] = {question: [] for question in added_rows}
    for row in rows:
        rows_of_question.setdefault(row.question, []).append(row)
    return [
        row
        for question, own in rows_of_question.items()
        for row in (*own, *added_rows.get(question, ()))
    ]
