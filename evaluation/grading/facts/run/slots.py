"""The crowd's consensus on one kind of fact of a question, and verdicts on an answer's values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.core.stats.cells import Floats, Integers
from evaluation.grading.facts.methods import (
    Consensus,
    JudgedValue,
    Mentions,
    ValueState,
    compute_consensus,
    judge_answer,
)
from evaluation.grading.facts.texts import NAME, NUMBER, TextFact

# Values whose words are compared; the agreed ones are among the first.
SHOWN = 10


@dataclass(frozen=True)
class SlotConsensus:
    """The workers' consensus on the values of one kind of fact ("slot") of a question.

    Attributes
    ----------
    codes : of names, by key. shown : the K values in words. contexts : (K,) stems of the clauses
        that state them. asks_names : the question asks who, where or which.
    """

    slot: str
    crowd: Consensus
    codes: Mapping[str, int]
    shown: Sequence[str]
    contexts: Sequence[frozenset[str]]
    asks_names: bool

    @classmethod
    def from_facts(
        cls,
        slot: str,
        facts: Sequence[TextFact],
        voters: Sequence[int],
        weights: Floats,
        asks_names: bool,
    ) -> SlotConsensus:
        """Return the consensus on one kind of fact, from the facts that voters state.

        Parameters
        ----------
        voters : code of each fact's voter. weights : voting weights by code of the voter.
        """
        codes = {key: at for at, key in enumerate(dict.fromkeys(fact.key for fact in facts))}
        low, high, bound = build_columns(facts, codes)
        crowd = compute_consensus(
            Mentions(np.array(voters, dtype=np.int64), low, high, bound), weights
        )
        contexts: list[frozenset[str]] = []
        # The words around a value decide which of several agreed values it contradicts.
        if slot == NUMBER or sum(state == ValueState.AGREED for state in crowd.states) > 1:
            for first, last in zip(crowd.low[:SHOWN], crowd.high[:SHOWN], strict=True):
                near = np.flatnonzero((low <= last) & (high >= first)).tolist()
                contexts.append(frozenset().union(*(facts[at].context for at in near)))
        shown = [facts[at].shown for at in crowd.shown.tolist()]
        return cls(slot, crowd, codes, shown, contexts, asks_names)

    def judge_values(
        self, own: Sequence[TextFact], weight: float = 0.0, is_voter: bool = False
    ) -> list[JudgedValue]:
        """Return a verdict for each value of an answer, and for each agreed value that it lacks.

        `weight` is that of the answer's voter, who is left out of the crowd.
        """
        return judge_answer(
            self.crowd,
            *build_columns(own, self.codes),
            weight=weight,
            is_voter=is_voter,
            may_contradict=self.slot != NAME or self.asks_names,
            one_is_enough=self.slot == NAME,
            likeness=self._compute_likeness(own),
        )

    def _compute_likeness(self, own: Sequence[TextFact]) -> list[list[float]] | None:
        """Return the word overlap (V, K) of each own value's clause with the crowd values' clauses.

        None if no verdict depends on it. Below 0 if two numbers count different things: an answer
        states several, and their clauses share no word.
        """
        if not self.contexts or not own:
            return None
        apart = -1.0 if self.slot == NUMBER and len(own) > 1 else 0.0
        rest = [apart] * (len(self.crowd.backed) - len(self.contexts))
        return [
            [float(len(stated.context & other)) or apart for other in self.contexts] + rest
            for stated in own
        ]


def build_columns(
    facts: Sequence[TextFact], codes: Mapping[str, int]
) -> tuple[Floats, Floats, Integers]:
    """Return the lower ends, upper ends and bounds of values as arrays; names become codes."""
    # -1 for a name that no voter states: no interval of the crowd holds it.
    lows = [codes.get(fact.key, -1) if fact.key else fact.low for fact in facts]
    highs = [codes.get(fact.key, -1) if fact.key else fact.high for fact in facts]
    bounds = [fact.bound for fact in facts]
    return (
        np.array(lows, dtype=np.float64),
        np.array(highs, dtype=np.float64),
        np.array(bounds, dtype=np.int64),
    )
