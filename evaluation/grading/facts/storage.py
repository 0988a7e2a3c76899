"""Convert facts to database rows of a run; `evaluation.grading.facts.run` computes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.grading.facts.methods import Verdict
from evaluation.grading.facts.run import CrowdFacts
from evaluation.grading.facts.run.records import WORKER, count_facts
from evaluation.grading.summary import FactsFound
from evaluation.models import AnswerFact, CrowdFact, ExemplaryAnswer

# Verdicts on answers to questions on which the crowd agrees on something.
OF_AGREED = frozenset(
    {Verdict.AGREES, Verdict.CONTRADICTS, Verdict.CONTESTED, Verdict.MISSING, Verdict.EXTRA}
)


class FactRows:
    """Database rows for the facts of a grading; no rows if facts are switched off."""

    def __init__(self, run: int, facts: CrowdFacts | None) -> None:
        self.run, self.facts = run, facts
        self._agreed: Counter[tuple[str, Any]] = Counter()
        self._contradicted: Counter[tuple[str, Any]] = Counter()
        if facts is not None:
            verdicts = [((one.kind, one.name), one.question, one.verdict) for one in facts.answers]
            on_agreed = {
                (who, question) for who, question, verdict in verdicts if verdict in OF_AGREED
            }
            contradicting = {
                (who, on_agreed)
                for who, on_agreed, verdict in verdicts
                if verdict == Verdict.CONTRADICTS
            }
            self._agreed.update(who for who, _ in on_agreed)
            self._contradicted.update(who for who, _ in contradicting)

    def crowd(self) -> Iterator[CrowdFact]:
        """Yield a database row for every value that workers state."""
        for place, fact in enumerate(self.facts.crowd if self.facts else ()):
            yield CrowdFact(
                run_id=self.run,
                place=place,
                question_id=fact.question,
                slot=fact.slot,
                value=fact.value,
                mentions=fact.mentions,
                of=fact.of,
                state=fact.state.value,
            )

    def answers(self) -> Iterator[AnswerFact]:
        """Yield a database row for every value that an answer states or lacks."""
        for place, fact in enumerate(self.facts.answers if self.facts else ()):
            of_worker = fact.kind == WORKER
            yield AnswerFact(
                run_id=self.run,
                place=place,
                question_id=fact.question,
                response_id=fact.key if of_worker else None,
                llm_response_id=None if of_worker else fact.key,
                slot=fact.slot,
                value=fact.value,
                verdict=fact.verdict.value,
                mentions=fact.mentions,
                of=fact.of,
                crowd=fact.crowd,
                n_crowd=fact.n_crowd,
                spans=[list(span) for span in fact.spans],
            )

    def counted(self, kind: str, name: Any) -> Mapping[str, Any]:
        """Return the agreement of a worker's or model's facts, as columns of `FactCounts`."""
        if self.facts is None:
            return {}
        agreement = self.facts.agreement(kind, name)
        return {
            "facts": agreement.facts,
            "fact_agreement": agreement.agreement,
            "fact_agreement_low": agreement.low,
            "fact_agreement_high": agreement.high,
            "fact_questions": self._agreed[kind, name],
            "fact_contradicted": self._contradicted[kind, name],
        }

    def of_questions(self) -> Mapping[Any, str]:
        """Return, by question, SPOKEN or the code of the reason why it has no facts."""
        if self.facts is None:
            return {}
        spoken = dict.fromkeys(self.facts.questions, ExemplaryAnswer.SPOKEN)
        return {**spoken, **self.facts.silent}

    def summary(self) -> FactsFound | None:
        """Return the counts of the facts for the run's summary; None if switched off."""
        if self.facts is None:
            return None
        return count_facts(self.facts)
