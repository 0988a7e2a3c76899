"""Write the result tables, facts and summary of a graded file of answers.

Record of a graded file of answers: the grading, and the files it was made from. Build summary.json:
signature, parameters, counts, alarms, facts and warnings.

Write the tables of facts of a graded file, and agreement columns of other tables.

platform/docs/data-formats.md, "facts.csv", describes them.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from annotations.exchange import AnswerFile, ModelAnswerFile, OutputFolder
from annotations.exchange.reading.duplicates import Duplicates
from evaluation.consensus import ModelScores
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import combine_hashes
from evaluation.core.messages.message import Message
from evaluation.core.options import TERMINAL
from evaluation.core.stats.grams import Vectors, convert_to_dense
from evaluation.grading.alarms.run.detection import COLUMNS, Alarm, join_ids
from evaluation.grading.crowd import EmptyCellReasons
from evaluation.grading.facts.run import CrowdFacts
from evaluation.grading.facts.run.reading import MODEL, WORKER, count_facts
from evaluation.grading.run.grading import Grading
from evaluation.grading.run.results import (
    NO_ANSWERS,
    AnswerRow,
    ContrastCells,
    GradeChange,
    GradeChanges,
    ModelAnswerRow,
    ModelRow,
    RankCells,
    Results,
    WorkerRow,
    compute_leave_one_out_means,
)
from evaluation.grading.summary import describe_contradictions
from evaluation.runs.files.problem_messages import build_error


@dataclass(frozen=True)
class FileGrading:
    """A grading of files, with the contents and hashes of the files from which it was made.

    Attributes
    ----------
    answers, models : contents of the files. input_hashes : SHA-256 of each input file.
    asked : requests to a chat model with tokens and cost, by step. is_complete : whether every
        request has a reply.
    """

    grading: Grading
    answers: AnswerFile
    models: ModelAnswerFile | None
    input_hashes: dict[str, str]
    asked: Sequence[Mapping[str, Any]] = ()
    is_complete: bool = True

    @property
    def input_hash(self) -> str:
        """SHA-256 of the hashes of all input files."""
        return combine_hashes(self.input_hashes.values())

    @property
    def warnings(self) -> list[str]:
        """Warnings about the files and the grading, each as a sentence."""
        of_models = self.models.warnings if self.models else []
        of_files: list[Message | str] = [*self.answers.warnings, *of_models]
        return TERMINAL.format_messages([*of_files, *self.grading.warnings])


SUMMARY = "summary.json"


def build_summary(graded: FileGrading, undefined: EmptyCellReasons) -> dict[str, Any]:
    """Return the contents of summary.json.

    Call it after the tables are written, because they fill `undefined`.
    """
    grading = graded.grading
    parameters, info = grading.inputs.parameters, grading.embedded.info
    grading_summary = grading.build_summary()
    return {
        "signature": grading.build_signature(graded.input_hash),
        "parameters": {
            **parameters.as_dict(),
            **_describe_duplicates(graded.answers),
            **({"keep_html": True} if graded.answers.keeps_html else {}),
            **({"keep_ids": True} if graded.answers.keeps_ids else {}),
            "precision": info.precision,
            "precision_requested": parameters.precision,
        },
        "embedding": grading_summary["embedding"],
        "counts": _build_counts(graded),
        "iterations": grading_summary["iterations"],
        "converged": grading_summary["converged"],
        "trace": grading_summary["trace"],
        "ceiling": grading_summary["ceiling"],
        "model_comparisons": _build_comparisons(grading.graded.models),
        "remedies": _build_remedies(grading),
        "warnings": graded.warnings,
        "alarms": [build_alarm_cells(alarm) for alarm in grading.alarms.found],
        "alarm_checks": grading_summary["alarm_checks"],
        "length": grading_summary["length"],
        "facts": _build_facts(grading),
        "contradictions": _build_contradictions(grading),
        **({"asked": graded.asked} if graded.asked else {}),
        "undefined": undefined.list_reasons(),
        "versions": grading_summary["versions"],
        "input_hash": graded.input_hash,
        "input_hashes": graded.input_hashes,
    }


def _build_facts(grading: Grading) -> dict[str, Any] | None:
    """Return the numbers of facts for summary.json; None if facts are switched off."""
    if grading.facts is None:
        return None
    counts = asdict(count_facts(grading.facts))
    return {name: value for name, value in counts.items() if value is not None}


def _build_contradictions(grading: Grading) -> dict[str, Any]:
    """Return the entry of summary.json on whether an entailment model checked contradictions."""
    message = describe_contradictions(None if grading.facts is None else count_facts(grading.facts))
    return {
        "checked": message.code == "meaning.found",
        "code": message.code,
        "message": TERMINAL.format_message(message),
    }


def build_alarm_cells(alarm: Alarm) -> dict[str, Any]:
    """Return an alarm's values by column of alarms.csv, with its messages as text."""
    outcome = "" if alarm.outcome is None else TERMINAL.format_message(alarm.outcome)
    return {
        **alarm.as_dict(),
        "message": TERMINAL.format_message(alarm.message),
        "outcome": outcome,
    }


def refuse_to_replace_results(output: Path, hashes: Mapping[str, str]) -> None:
    """Raise `InputError` if the output folder holds results of other input files.

    Inputs are compared by kind (answers, models, ...) and hash. The same answers may be graded
    again in the same folder with other settings or with further files.
    """
    path = output / SUMMARY
    try:
        inputs = dict(json.loads(path.read_text("utf-8"))["input_hashes"])
        inputs["answers"]  # whatever was graded, these were read
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError):
        raise build_error(str(path), "summary_unknown") from None
    # A kind of file that is not read now is no contradiction.
    replaced = [name for name, old_hash in inputs.items() if hashes.get(name, old_hash) != old_hash]
    if replaced:
        raise build_error(str(path), "results_replaced", inputs=", ".join(replaced))


def _describe_duplicates(answers: AnswerFile) -> dict[str, str]:
    """Return the rule that was applied to repeated answers, by key; empty if none was."""
    duplicates = answers.duplicates
    return {} if duplicates in (None, Duplicates.REFUSE) else {"duplicates": str(duplicates)}


def _build_counts(graded: FileGrading) -> dict[str, int]:
    """Return the numbers of rows, answers, workers and questions that were graded."""
    aqer, inputs = graded.grading.graded.aqer, graded.grading.inputs
    counts = {
        "rows": graded.answers.n_rows,
        "repeated_rows": inputs.n_repeated,
        "empty_answers": inputs.n_empty,
        "answers": len(inputs.answered),
        "workers": len(aqer.workers_),
        "questions": len(aqer.questions_),
        "single_answer_questions": int((aqer.n_workers_of_question_ == 1).sum()),
    }
    if _describe_duplicates(graded.answers):
        counts["superseded_rows"] = graded.answers.n_superseded
    if graded.answers.n_html_removed:
        counts["html_removed"] = graded.answers.n_html_removed
    if graded.models is not None:
        models = graded.models
        counts |= {"model_rows": models.n_rows, "repeated_model_rows": models.n_repeated}
    return counts


def _build_remedies(grading: Grading) -> dict[str, Any] | None:
    """Return the effects of the remedies for summary.json; None in a run without remedies."""
    report, changes = grading.graded.remedies, grading.compute_changes()
    if report is None or changes is None:
        return None
    remedies = report.as_dict()
    no_source = dict.fromkeys(("first", "n_first", "n_timed"))
    if "groups" in remedies:
        remedies["groups"] = [{**group, **no_source, **group} for group in remedies["groups"]]
    return {
        **remedies,
        "groups_not_asked_for": report.left,
        "gone": [build_alarm_cells(alarm) for alarm in grading.alarms.gone],
        "camps_now": [asdict(camp) for camp in grading.alarms.camps_now],
        "compared_with_plain": changes.build_summary(),
    }


def _build_comparisons(scores: ModelScores | None) -> list[dict[str, Any]]:
    """Return the pairwise comparisons of models, for summary.json; empty without models."""
    return [
        {
            "model_a": pair.model_a,
            "model_b": pair.model_b,
            "difference": pair.difference,
            "low": pair.low,
            "high": pair.high,
            "p_value": pair.p_value,
            "adjusted_p_value": pair.adjusted_p_value,
            "smallest_detectable": pair.smallest_detectable,
            "n": pair.n,
            "reason": pair.reason,
            "test": pair.test,
        }
        for pair in (scores.comparisons if scores else [])
    ]


FACTS, ANSWER_FACTS = "facts.csv", "answer_facts.csv"
OF_CROWD = ("question", "slot", "value", "mentions", "of", "state")
OF_ANSWERS = ("kind", "name", "question", "slot", "value", "verdict", "of")
AGREEMENT = ("facts", "fact_agreement", "fact_agreement_low", "fact_agreement_high")


def write_facts(folder: OutputFolder, facts: CrowdFacts) -> None:
    """Write facts.csv (values that workers state) and answer_facts.csv (verdicts on answers)."""
    crowd = (
        (answer.question, answer.slot, answer.value, answer.mentions, answer.of, answer.state.value)
        for answer in facts.crowd
    )
    answers = (
        (
            answer.kind,
            answer.name,
            answer.question,
            answer.slot,
            answer.value,
            answer.verdict.value,
            answer.of,
        )
        for answer in facts.answers
    )
    folder.write_csv(FACTS, OF_CROWD, crowd)
    folder.write_csv(ANSWER_FACTS, OF_ANSWERS, answers)


def append_agreement_cells(
    kind: str,
    rows: Iterable[tuple[Any, ...]],
    facts: CrowdFacts | None,
    undefined: EmptyCellReasons,
) -> Iterator[tuple[Any, ...]]:
    """Yield each row with four cells appended: judged facts, share that agrees, its interval.

    The first cell of a row is the id. The cells are empty where facts are switched off, the share
    below 5 facts; `undefined` collects the reasons.
    """
    table = f"{kind}s.csv"
    for row in rows:
        name = row[0]
        agreement = None if facts is None else facts.get_agreement(kind, name)
        if agreement is None:
            cells: tuple[Any, ...] = (None,) * len(AGREEMENT)
            reason = "not_asked_for"
        else:
            cells = (agreement.facts, agreement.agreement, agreement.low, agreement.high)
            reason = "fewer_than_5_facts"
        for column, cell in zip(AGREEMENT, cells, strict=True):
            if cell is None:
                undefined.add_reason(table, column, name, reason)
        yield (*row, *cells)


# Numbers written at once.
PART = 4_000_000


def write_exemplars(
    file: BinaryIO, questions: Sequence[str], vectors: Vectors, dtype: np.dtype[Any]
) -> None:
    """Write exemplars.npz: the exemplary answers' vectors, and the questions in the same order.

    Arrays `questions` (Q,) of text and `vectors` (Q, d); `numpy.load` needs no pickle.
    """
    shape = (int(vectors.shape[0]), int(vectors.shape[1]))
    # Not `numpy.savez`, which needs the whole dense array in memory: sparse vectors would not fit.
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        with archive.open("questions.npy", "w") as entry:
            # As a text type: an array of objects could only be read with pickle.
            np.lib.format.write_array(entry, np.array(questions, dtype=np.str_), allow_pickle=False)
        # The size is not known to zipfile in advance; without the option it fails beyond 2 GiB.
        with archive.open("vectors.npy", "w", force_zip64=True) as entry:
            header = {
                "descr": np.lib.format.dtype_to_descr(dtype),
                "fortran_order": False,
                "shape": shape,
            }
            np.lib.format.write_array_header_1_0(entry, header)
            step = max(1, PART // max(shape[1], 1))
            for first in range(0, shape[0], step):
                part = np.ascontiguousarray(
                    convert_to_dense(vectors[first : first + step]), dtype=dtype
                )
                entry.write(part.tobytes())


ANCHOR = ("worker", "question", "answer", "grade")
EXEMPLARS = ("question", "n_answers", "nearest_worker", "nearest_answer", "dispersion")

FILES = (
    "workers.csv",
    "answers.csv",
    "exemplars.csv",
    "exemplars.npz",
    "models.csv",
    "model_answers.csv",
    "alarms.csv",
    "summary.json",
)

RAW_LEAVE_ONE_OUT = "raw_leave_one_out"
"""Column of workers.csv: the raw score, by which people are paid and invited."""
REMEDIES = "remedies.csv"
ANCHORS = "anchors.csv"


def list_file_names(parameters: AqerParameters) -> tuple[str, ...]:
    """Return the names of all files that a grading with these parameters writes."""
    is_written = {
        FACTS: parameters.facts,
        ANSWER_FACTS: parameters.facts,
        REMEDIES: parameters.remedies,
        ANCHORS: parameters.suggest_anchors,
    }
    return (*FILES, *(name for name, wanted in is_written.items() if wanted))


def _append_group_cell(
    rows: Iterable[tuple[Any, ...]], groups: Mapping[Any, int], undefined: EmptyCellReasons
) -> Iterator[tuple[Any, ...]]:
    """Yield each worker's row with the number of the worker's connected group appended.

    A group is a set of workers connected by shared questions.
    """
    for row in rows:
        if row[0] not in groups:
            undefined.add_reason("workers.csv", "group", row[0], "no_shared_question")
        yield (*row, groups.get(row[0]))


def _append_raw_scores(
    rows: Iterable[tuple[Any, ...]], means: Mapping[Any, float], undefined: EmptyCellReasons
) -> Iterator[tuple[Any, ...]]:
    """Yield each worker's row with the leave-one-out raw score appended; None with a reason."""
    n_answers = WorkerRow._fields.index("n_answers")
    for row in rows:
        if row[0] not in means:
            reason = "no_shared_question" if row[n_answers] else NO_ANSWERS
            undefined.add_reason("workers.csv", RAW_LEAVE_ONE_OUT, row[0], reason)
        yield (*row, means.get(row[0]))


def _append_cells(
    rows: Iterable[tuple[Any, ...]], cells: Mapping[Any, ContrastCells | RankCells]
) -> Iterator[tuple[Any, ...]]:
    """Yield each row with the cells appended that belong to its worker or model."""
    for row in rows:
        yield (*row, *cells[row[0]])


def write_tables(folder: OutputFolder, graded: FileGrading) -> None:
    """Write all result tables of a graded file; without models, their tables have no rows."""
    grading = graded.grading
    results = grading.build_results()
    facts, undefined = grading.facts, results.undefined
    workers = append_agreement_cells(WORKER, results.iterate_workers(), facts, undefined)
    header: tuple[str, ...] = (*WorkerRow._fields, *AGREEMENT)
    if groups := results.list_groups():
        header = (*header, "group")
        workers = _append_group_cell(workers, groups, undefined)
    means = compute_leave_one_out_means(grading.graded.aqer, grading.inputs.answered.workers)
    workers = _append_raw_scores(workers, means, undefined)
    workers = _append_cells(workers, results.build_worker_contrasts())
    workers = _append_cells(workers, results.build_rank_cells())
    header = (*header, RAW_LEAVE_ONE_OUT, *ContrastCells._fields, *RankCells._fields)
    folder.write_csv("workers.csv", header, workers)
    folder.write_csv("answers.csv", AnswerRow._fields, results.iterate_answers())
    folder.write_csv("exemplars.csv", EXEMPLARS, _iterate_exemplar_rows(grading, results))
    with folder.open("exemplars.npz") as file:
        aqer = grading.graded.aqer
        answered = np.flatnonzero(aqer.n_workers_of_question_)
        names, vectors = aqer.questions_[answered].tolist(), aqer.compute_exemplars()[answered]
        write_exemplars(file, names, vectors, _choose_float_type(grading))
    models = append_agreement_cells(MODEL, results.iterate_models(), facts, undefined)
    models = _append_cells(models, results.build_model_contrasts())
    of_models = (*ModelRow._fields, *AGREEMENT, *ContrastCells._fields)
    folder.write_csv("models.csv", of_models, models)
    folder.write_csv("model_answers.csv", ModelAnswerRow._fields, results.iterate_model_answers())
    folder.write_csv("alarms.csv", COLUMNS, map(build_alarm_row, grading.alarms.found))
    if facts is not None:
        write_facts(folder, facts)
    changes, remedies = grading.compute_changes(), grading.graded.remedies
    if changes is not None:
        _record_empty_cells(changes, results)
        folder.write_csv(REMEDIES, GradeChange._fields, changes.rows)
    if remedies is not None and remedies.suggested is not None:
        folder.write_csv(
            ANCHORS, ANCHOR, _iterate_anchor_rows(grading, remedies.suggested.tolist())
        )
    # Last, because the tables collect the reasons of their empty cells while they are written.
    folder.write_json("summary.json", build_summary(graded, results.undefined))


def _choose_float_type(grading: Grading) -> np.dtype[Any]:
    """Return the number type of stored vectors: the embedding's, at least float32."""
    return np.result_type(grading.embedded.answers.dtype, np.float32)


def _record_empty_cells(changes: GradeChanges, results: Results) -> None:
    """Record the reasons for the empty cells of remedies.csv."""
    for row in changes.rows:
        for column in GradeChange._fields[1:]:
            if getattr(row, column) is None:
                reason = "no_rank" if column in ("plain_rank", "rank", "change") else "no_grade"
                results.undefined.add_reason(REMEDIES, column, row.worker, reason)


def _iterate_anchor_rows(grading: Grading, rows: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Yield rows of anchors.csv: answers that an expert should grade, with an empty grade."""
    answers = grading.inputs.answered
    for row in rows:
        yield (answers.workers[row], answers.questions[row], answers.texts[row], None)


def _iterate_exemplar_rows(grading: Grading, results: Results) -> Iterator[tuple[Any, ...]]:
    """Yield rows of exemplars.csv: each question's nearest answer and dispersion."""
    answers = grading.inputs.answered
    for row in results.iterate_exemplars():
        answer_row = row.nearest
        nearest = (
            (None, None)
            if answer_row is None
            else (answers.workers[answer_row], answers.texts[answer_row])
        )
        yield (row.question, row.n_answers, *nearest, row.dispersion)


def build_alarm_row(alarm: Alarm) -> tuple[Any, ...]:
    """Return an alarm as a row of alarms.csv."""
    lists = {"workers": join_ids(alarm.workers), "questions": join_ids(alarm.questions)}
    return tuple({**build_alarm_cells(alarm), **lists}.values())
