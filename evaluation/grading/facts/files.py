"""The facts of a graded file: its two tables, and the last columns of workers.csv and models.csv.

See platform/docs/data-formats.md, "facts.csv".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from annotations.exchange import OutputFolder
from evaluation.grading.crowd import Undefined
from evaluation.grading.facts.run import CrowdFacts

FACTS, ANSWER_FACTS = "facts.csv", "answer_facts.csv"
OF_CROWD = ("question", "slot", "value", "mentions", "of", "state")
OF_ANSWERS = ("kind", "name", "question", "slot", "value", "verdict", "of")
AGREEMENT = ("facts", "fact_agreement", "fact_agreement_low", "fact_agreement_high")


def write_facts(folder: OutputFolder, facts: CrowdFacts) -> None:
    """Write what the crowd states, and how each answer stands to it."""
    crowd = (
        (one.question, one.slot, one.value, one.mentions, one.of, one.state.value)
        for one in facts.crowd
    )
    answers = (
        (one.kind, one.name, one.question, one.slot, one.value, one.verdict.value, one.of)
        for one in facts.answers
    )
    folder.write_csv(FACTS, OF_CROWD, crowd)
    folder.write_csv(ANSWER_FACTS, OF_ANSWERS, answers)


def with_agreement(
    kind: str, rows: Iterable[tuple[Any, ...]], facts: CrowdFacts | None, undefined: Undefined
) -> Iterator[tuple[Any, ...]]:
    """Yield rows that begin with who, and behind each how far their facts agree with the crowd.

    The cells are empty where facts were not asked for, the share below 5 facts; `undefined` gets
    the reasons.
    """
    table = f"{kind}s.csv"
    for row in rows:
        who = row[0]
        found = None if facts is None else facts.agreement(kind, who)
        if found is None:
            cells: tuple[Any, ...] = (None,) * len(AGREEMENT)
            why = "not_asked_for"
        else:
            cells = (found.facts, found.agreement, found.low, found.high)
            why = "fewer_than_5_facts"
        for column, cell in zip(AGREEMENT, cells, strict=True):
            if cell is None:
                undefined.note(table, column, who, why)
        yield (*row, *cells)
