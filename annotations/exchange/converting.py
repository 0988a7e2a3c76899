"""Files as others export them, as our own tables: for whoever has no database."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from annotations.exchange.facts import FACTS
from annotations.exchange.header import OF_ANSWERS
from annotations.exchange.importing.mapped import stage_mapped
from annotations.exchange.importing.mturk import StagedBatch
from annotations.exchange.importing.stage import StagedAnswer, extra_values
from annotations.exchange.presets import Mapping, Preset
from annotations.exchange.reading.duplicates import Duplicates, note_of
from annotations.exchange.reading.mturk import MturkQuestion
from annotations.exchange.reading.source import Readable
from annotations.exchange.writing.formats import format_of, write_table

ANSWERS = ("worker", "question", "answer", *FACTS, OF_ANSWERS)
QUESTIONS = ("question", "text")
FORMAT = 1
YES = {1: "yes", 0: "no"}
EXAMPLES = 3
LONGEST_EXAMPLE = 60


def convert(
    path: Readable,
    output: Path,
    *,
    preset: Preset,
    mapping: Mapping,
    questions: Path | None = None,
    duplicates: Duplicates = Duplicates.REFUSE,
) -> list[str]:
    """Write the answers of a file as a table of ours; says in sentences what became of them.

    It has the columns of an export of answers, so that which were rejected, times and the other
    cells come along. `questions` is a table of the questions. Raises `InputError`, and then
    nothing is written.
    """
    kinds = [(file, format_of(file)) for file in (output, questions) if file is not None]
    with stage_mapped(path, preset=preset, mapping=mapping, duplicates=duplicates) as stage:
        graded = _graded(stage)
        n_answers, n_empty = stage.count(graded), stage.count(f"text = '' AND {graded}")
        n_checks = stage.count() - n_answers
        write_table(*kinds[0], ANSWERS, _answers(stage))
        if questions is not None:
            asked = ((name, one.text or None) for name, one in _asked(stage).items())
            write_table(*kinds[1], QUESTIONS, asked)
        empty = f"; {n_empty:,} of them empty" if n_empty else ""
        repeated = f" + {stage.n_repeated:,} repeated" if stage.n_repeated else ""
        again = f" + {stage.n_superseded:,} superseded" if stage.n_superseded else ""
        again += f" + {n_checks:,} to attention checks" if n_checks else ""
        rejected = stage.count(f"rejected AND {graded}")
        return [
            f"{stage.file.n_rows:,} answers in the file = {n_answers:,} written{repeated}{again}"
            f"{empty}, of {len(stage.workers):,} workers to {len(_asked(stage)):,} questions",
            *_examples(stage),
            *([f"Rejected where they were collected, and flagged: {rejected:,}"] * bool(rejected)),
            *stage.file.notes,
            *note_of(stage.n_superseded, duplicates),
            *(f"Warning: {warning}" for warning in stage.file.warnings),
        ]


def _asked(stage: StagedBatch) -> dict[str, MturkQuestion]:
    """Return the questions that are graded, by their ids."""
    return {name: one for name, one in stage.asked.items() if not one.right}


def _graded(stage: StagedBatch) -> str:
    """Return the condition of answers that are none to an attention check."""
    checks = [at for at, name in enumerate(stage.questions) if stage.asked[name].right]
    return f"question NOT IN ({', '.join(map(str, checks))})"


def _examples(stage: StagedBatch) -> Iterator[str]:
    """Yield three answers, of different workers if there are, so that a wrong column is seen."""
    names = list(stage.questions)
    first: list[StagedAnswer] = []
    of_others: dict[int, StagedAnswer] = {}
    asked = _asked(stage)
    for answer in stage.fresh():
        if answer.text and names[answer.question] in asked:
            of_others.setdefault(answer.worker, answer)
            first += [answer] * (len(first) < EXAMPLES)
        if len(of_others) == EXAMPLES:
            break
    shown = [*of_others.values(), *(one for one in first if one not in of_others.values())]
    for answer in shown[:EXAMPLES]:
        cells = (stage.workers[answer.worker].name, names[answer.question], answer.text)
        worker, question, text = map(_shortened, cells)
        yield f"Example: worker {worker}, question {question}: {text}"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_EXAMPLE else f"{line[: LONGEST_EXAMPLE - 3]}..."


def _answers(stage: StagedBatch) -> Iterator[Sequence[object]]:
    names = list(stage.questions)
    asked = _asked(stage)
    for answer in stage.fresh():
        if names[answer.question] not in asked:
            continue  # a run would grade an attention check as any other question
        worker = stage.workers[answer.worker]
        extra = extra_values(answer.extra, stage.file.kept_aside)
        times = (worker.started_at, worker.last_seen_at, worker.submitted_at)
        yield (
            worker.name,
            names[answer.question],
            answer.text,
            worker.panel,
            "text" if answer.text else "empty",
            YES[1] if answer.rejected else None,
            answer.started,
            answer.submitted,
            answer.seconds,
            worker.state or None,
            *(time and time.isoformat() for time in times),
            json.dumps(extra, ensure_ascii=False, sort_keys=True) if extra else None,
            FORMAT,
        )
