"""What the crowd agrees on, fact by fact, to rows; see `evaluation.grading.facts.run`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.grading.facts.methods import Verdict
from evaluation.grading.facts.run import CrowdFacts
from evaluation.grading.facts.run.records import WORKER, facts_found
from evaluation.grading.summary import FactsFound
from evaluation.models import AnswerFact, CrowdFact, ExemplaryAnswer

# Verdicts on answers to questions on which the crowd agrees on something.
OF_AGREED = frozenset(
    {Verdict.AGREES, Verdict.CONTRADICTS, Verdict.CONTESTED, Verdict.MISSING, Verdict.EXTRA}
)


class FactRows:
    """The facts of a grading as rows of a run; nothing of any kind where nobody looked for them."""

    def __init__(self, run: int, facts: CrowdFacts | None) -> None:
        self.run, self.facts = run, facts
        self._agreed: Counter[tuple[str, Any]] = Counter()
        self._contradicted: Counter[tuple[str, Any]] = Counter()
        if facts is not None:
            of = [((one.kind, one.name), one.question, one.verdict) for one in facts.answers]
            asked = {(who, question) for who, question, verdict in of if verdict in OF_AGREED}
            against = {(who, asked) for who, asked, verdict in of if verdict == Verdict.CONTRADICTS}
            self._agreed.update(who for who, _ in asked)
            self._contradicted.update(who for who, _ in against)

    def crowd(self) -> Iterator[CrowdFact]:
        """Yield a row for every value that workers state."""
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
        """Yield a row for every value that an answer states or lacks."""
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
        """Return what somebody's facts come to, by the columns of `FactCounts`."""
        if self.facts is None:
            return {}
        found = self.facts.agreement(kind, name)
        return {
            "facts": found.facts,
            "fact_agreement": found.agreement,
            "fact_agreement_low": found.low,
            "fact_agreement_high": found.high,
            "fact_questions": self._agreed[kind, name],
            "fact_contradicted": self._contradicted[kind, name],
        }

    def of_questions(self) -> Mapping[Any, str]:
        """Return for each question that was answered whether it is spoken of, or why not."""
        if self.facts is None:
            return {}
        spoken = dict.fromkeys(self.facts.questions, ExemplaryAnswer.SPOKEN)
        return {**spoken, **self.facts.silent}

    def summary(self) -> FactsFound | None:
        """Return what the run says of its facts in all."""
        if self.facts is None:
            return None
        return facts_found(self.facts)
