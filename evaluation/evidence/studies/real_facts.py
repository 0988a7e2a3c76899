"""Count real students' answers that contradict the crowd's facts, and how many are wrong.

Facts speak only where most answers state the same slot and are short. What that leaves of Beetle,
question by question; and what would be flagged if fewer answers had to state it, with the tutors'
labels of what is flagged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from annotations.exchange import OutputFolder
from evaluation.consensus.inputs import Answers
from evaluation.core.stats.statistics.proportions import wilson_interval
from evaluation.evidence.data_sets import StudentAnswers
from evaluation.evidence.tables import write_table
from evaluation.grading.facts.methods import Verdict
from evaluation.grading.facts.run import AskedFor, CrowdFacts, find_crowd_facts
from evaluation.grading.facts.texts import Reader

CORRECT = "correct"
# Shares of the answers that have to state a slot: the one in force first, then looser ones.
GATES = (0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
QUESTIONS = ("question", "answers", "median_words", "slot", "stated", "silent")
GATED = ("stated", "questions", "flagged", "not_correct", "share", "low", "high")
FLAGS = ("stated", "question", "worker", "answer", "label", "slot", "value", "crowd", "n", "of")


def write_facts(
    folder: OutputFolder, students: StudentAnswers, question_texts: Mapping[str, str]
) -> None:
    """Write the tables fact_questions, fact_gates and fact_flags of real students' facts.

    fact_flags lists every answer that contradicts the crowd at any gate, with the share of the
    answers to its question that state the slot; where there are several values, each has a row.
    """
    columns = (students.workers.tolist(), students.questions.tolist(), students.texts)
    answers = Answers.of(
        (row, *cells, False) for row, cells in enumerate(zip(*columns, strict=True))
    )
    wanted = _find_wanted_slots(answers, question_texts)
    facts_by_gate = {gate: find_crowd_facts(question_texts, answers, stated=gate) for gate in GATES}
    write_table(
        folder,
        "fact_questions",
        QUESTIONS,
        list(_build_question_rows(answers, wanted, facts_by_gate)),
    )
    write_table(
        folder,
        "fact_gates",
        GATED,
        [_build_gate_row(gate, facts_by_gate[gate], students) for gate in GATES],
    )
    write_table(
        folder,
        "fact_flags",
        FLAGS,
        list(_build_flag_rows(facts_by_gate[min(GATES)], students, wanted)),
    )


def _find_wanted_slots(answers: Answers, question_texts: Mapping[str, str]) -> dict[str, AskedFor]:
    """Return for each question the fact slots that its answers state, and their shares."""
    reader = Reader(answers.texts)
    texts: dict[str, list[str]] = {}
    for question, text in zip(answers.questions, answers.texts, strict=True):
        texts.setdefault(question, []).append(text)
    return {
        question: AskedFor.of(given, reader.read(question_texts.get(question, ""), given))
        for question, given in texts.items()
    }


def _build_question_rows(
    answers: Answers, wanted: Mapping[str, AskedFor], found: Mapping[float, CrowdFacts]
) -> Iterator[tuple[str, int, float, str, float, str]]:
    """Yield a table row per question with its most stated fact slot, by decreasing share."""
    silent = found[GATES[0]].silent
    rows = []
    for question, asks in wanted.items():
        slot, share = max(asks.shares.items(), key=lambda one: one[1], default=("", 0.0))
        n = answers.questions.count(question)
        rows.append((question, n, asks.words, slot, share, silent.get(question, "")))
    yield from sorted(rows, key=lambda row: (-row[4], row[0]))


def _list_flagged(found: CrowdFacts) -> list[int]:
    """Return the sorted row numbers of the answers that contradict the crowd."""
    return sorted({one.key for one in found.answers if one.verdict == Verdict.CONTRADICTS})


def _build_gate_row(
    gate: float, found: CrowdFacts, students: StudentAnswers
) -> tuple[float, int, int, int, float | None, float | None, float | None]:
    """Return a gate's counts of questions, flagged and wrong answers, and the share wrong."""
    flagged = _list_flagged(found)
    wrong = int((students.labels[flagged] != CORRECT).sum())
    share = wrong / len(flagged) if flagged else None
    low, high = wilson_interval(share, len(flagged)) if share is not None else (None, None)
    ends = (None if low is None else float(low), None if high is None else float(high))
    return gate, len(found.questions), len(flagged), wrong, share, *ends


def _build_flag_rows(
    found: CrowdFacts, students: StudentAnswers, wanted: Mapping[str, AskedFor]
) -> Iterator[tuple[object, ...]]:
    """Yield each contradicting fact with its answer and label, by decreasing share of its slot."""
    rows = [one for one in found.answers if one.verdict == Verdict.CONTRADICTS]
    rows.sort(key=lambda one: (-wanted[one.question].shares[one.slot], one.question, one.key))
    for one in rows:
        yield (
            wanted[one.question].shares[one.slot],
            one.question,
            one.name,
            students.texts[one.key],
            str(students.labels[one.key]),
            one.slot,
            one.value,
            one.crowd,
            one.n_crowd,
            one.of,
        )
