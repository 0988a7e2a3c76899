"""Write the tables of facts of a graded file, and agreement columns of other tables.

platform/docs/data-formats.md, "facts.csv", describes them.
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
    """Write facts.csv (values that workers state) and answer_facts.csv (verdicts on answers)."""
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


def add_agreement(
    kind: str, rows: Iterable[tuple[Any, ...]], facts: CrowdFacts | None, undefined: Undefined
) -> Iterator[tuple[Any, ...]]:
    """Add to each row the number of judged facts, and the share that agrees with the crowd.

    The first cell of a row is the id. The four cells are empty where facts are switched off, the
    share below 5 facts; `undefined` collects the reasons.
    """
    table = f"{kind}s.csv"
    for row in rows:
        name = row[0]
        agreement = None if facts is None else facts.agreement(kind, name)
        if agreement is None:
            cells: tuple[Any, ...] = (None,) * len(AGREEMENT)
            reason = "not_asked_for"
        else:
            cells = (agreement.facts, agreement.agreement, agreement.low, agreement.high)
            reason = "fewer_than_5_facts"
        for column, cell in zip(AGREEMENT, cells, strict=True):
            if cell is None:
                undefined.note(table, column, name, reason)
        yield (*row, *cells)
