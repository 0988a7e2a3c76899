"""Try the crowd of a file in parts: what ``manage.py evaluate crowd-size`` does around the flow.

Read the answers and, where there are any, the experts' grades; try; write all files together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotations.exchange import (
    AnswerFile,
    ColumnNames,
    InputError,
    OutputFolder,
    read_answer_grades,
)
from annotations.exchange.reading.answer_grades import unknown_answers
from annotations.exchange.reading.duplicates import Duplicates
from evaluation.backends import parse_spec
from evaluation.files.grading import answers_of, read_people, refuse_nothing, vectors_from
from evaluation.files.metrics import refuse_to_replace
from evaluation.flow.crowd_size.conclusion import CrowdSizeSummary
from evaluation.flow.crowd_size.parameters import CrowdSizeParameters
from evaluation.flow.crowd_size.trial import TooFewWorkersError, Trial, try_crowd
from evaluation.flow.inputs import GradingInput, choose
from evaluation.flow.signatures import combined_hash, versions
from evaluation.flow.vectors import Progress
from evaluation.methods.crowd_size import FEWEST_VOTERS
from evaluation.options import TERMINAL

TABLE, SUMMARY = "crowd_size.csv", "summary.json"
COLUMNS = ("by", "size", "measure", "pearson", "low", "high", "spearman", "draws")


@dataclass(frozen=True)
class TrialRequest:
    """What to try, how, and where the files go. `judgements`: experts' grades, None for none."""

    answers: Path
    judgements: Path | None
    columns: ColumnNames
    parameters: CrowdSizeParameters
    output: Path
    duplicates: Duplicates = Duplicates.REFUSE


@dataclass(frozen=True)
class FileTrial:
    """What came of it. `input_hashes`: SHA-256 of each input file."""

    trial: Trial
    input_hashes: dict[str, str]
    file_warnings: list[str]

    @property
    def found(self) -> CrowdSizeSummary:
        """What the trial found."""
        return CrowdSizeSummary.of_trial(self.trial)

    def write(self, folder: OutputFolder) -> None:
        """Write crowd_size.csv and summary.json."""
        folder.write_csv(TABLE, COLUMNS, rows_of(self.found))
        folder.write_json(SUMMARY, self._summary())

    def _summary(self) -> dict[str, Any]:
        found = self.found.as_dict()
        input_hash = combined_hash(self.input_hashes.values())
        return {
            "signature": self.trial.signature(input_hash),
            "parameters": self.trial.parameters.as_dict(),
            "counts": {
                name: found[name]
                for name in ("answers", "workers", "questions", "judged", "judged_workers")
            },
            "measure": found["measure"],
            "verdicts": found["verdicts"],
            "said": TERMINAL.all_said(self.found.messages),
            "warnings": TERMINAL.all_said([*self.file_warnings, *self.trial.warnings]),
            "embedding": self.trial.embedded.info.as_dict(),
            "versions": versions(),
            "input_hash": input_hash,
            "input_hashes": self.input_hashes,
        }


def try_file(request: TrialRequest, progress: Progress | None = None) -> FileTrial:
    """Try a file's crowd; nothing is written.

    Raises
    ------
    InputError
        A file, or what it holds, cannot be used.
    BackendError
        The answers cannot be embedded.
    """
    target = parse_spec(request.parameters.embedder)
    vectors = Path(target.target) if target.kind == "precomputed" else None
    refuse_to_replace(
        request.output, (TABLE, SUMMARY), (request.answers, request.judgements, vectors)
    )
    answers = read_people(request.answers, request.columns, request.duplicates)
    given = choose(request.parameters.grading(), answers_of(answers))
    refuse_nothing(answers, given)
    hashes = answers.hashes
    grades: dict[Any, float] = {}
    if request.judgements is not None:
        grades, hashes["judgements"] = _grades(request, given, answers)
    embed_texts, of_vectors = vectors_from(given, answers, None)
    hashes |= of_vectors
    try:
        trial = try_crowd(request.parameters, given, grades, embed_texts, progress)
    except TooFewWorkersError:
        raise InputError.single(
            answers.name,
            f"fewer than {FEWEST_VOTERS} workers answered, so there are no smaller crowds to try",
            "Collect answers of more people.",
        ) from None
    return FileTrial(trial, hashes, answers.warnings)


def _grades(
    request: TrialRequest, given: GradingInput, answers: AnswerFile
) -> tuple[dict[Any, float], str]:
    """Return the mean grade of each judged answer, by its key, and the file's hash."""
    assert request.judgements is not None
    judgements = read_answer_grades(request.judgements, request.columns)
    known = given.answered
    key_of = {
        (worker, "", question): key
        for key, worker, question in zip(known.keys, known.workers, known.questions, strict=True)
    }
    unknown_answers(judgements, set(key_of), answers.name)
    return {key_of[answer]: grade for answer, grade in judgements.means().items()}, (
        judgements.sha256
    )


def rows_of(found: CrowdSizeSummary) -> Iterator[tuple[object, ...]]:
    """Yield the rows of `COLUMNS`."""
    for one in found.points:
        yield (
            *(one.by, one.size, one.measure, one.pearson, one.low, one.high),
            *(one.spearman, one.n_draws),
        )
