"""Download of a run: tables, summary, a README, and the descriptions of columns.

A column has one description and one heading in all tables, unless this module or the run type
names the table before it: "items.score".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from annotations.exchange import InputError
from annotations.exchange.writing.archive import Files, write_zip
from annotations.exchange.writing.folder import OutputFolder
from annotations.exchange.writing.formats import build_sheet_rows, write_csv
from annotations.exchange.writing.sheet import write_workbook
from evaluation.core.options import SITE
from evaluation.models import Run
from evaluation.runs.reports.about import build_run_title
from evaluation.runs.run_types.kind import Kind

COLUMNS: Mapping[str, str] = {
    # Who and what
    "system": "the model",
    "system_a": "the first of two models",
    "system_b": "the second of two models",
    "form": "the prompt form: what the prompt says about unanswerable questions",
    "model": "the model",
    "model_a": "the first of two models",
    "model_b": "the second of two models",
    "worker": "the worker's id",
    "panel": "where the worker's id comes from",
    "question": "the question's id",
    "item": "the item's id",
    "language": "language tag; empty for an item as a whole",
    "variation": "in what the wordings differ",
    "variant": "number of the wording among those of its item, from 1",
    "group": "part that the number is of; empty for all",
    "metric": "name of the number",
    "measure": "by what models are compared",
    "judge": "who judged; people are human:NAME",
    "other": "the other one of two who judged",
    "stratum": "part of all answers that it was drawn from: people, low, middle or high (thirds of "
    "the workers by grade), or models",
    "audit.weight": "how many of all answers this one represents",
    "audit.settles": "1 where this grade settles what the other experts disagree on, else 0",
    "audit.grade": "what the expert gave it, 0 (wrong) to 5 (right)",
    "audit.score": "its score in the run, of a worker's answer without the worker's own part",
    "repeat": "number of the judgement by the same judge, from 1",
    "judged_at": "when it was given or last changed, ISO 8601",
    # Numbers
    "value": "the number",
    "low": "lower end of the 95% interval",
    "high": "upper end of the 95% interval",
    "n": "how many it is of",
    "reason": "code of why a number is missing; empty where none is",
    "score": "score; its range is that of the table",
    "score_low": "lower end of the 95% interval of the score",
    "score_high": "upper end of the 95% interval of the score",
    "sum": "sum of the scores",
    "mean": "mean of the scores",
    "spread": "standard deviation of repeats",
    "precision": "share of what the model names that is right, 0 to 1",
    "recall": "share of what is right that the model names, 0 to 1",
    "f1": "harmonic mean of precision and recall, 0 to 1",
    "exact_set": "share of questions with all right answers and no other, 0 to 1",
    "answer_accuracy": "share of the answerable questions with the right number, 0 to 1",
    "pair_accuracy": "share of pairs with the unanswerable question recognised and its original "
    "answered correctly, 0 to 1",
    "auroc": "how often the measure is higher for a right answer than for a wrong one; 0.5 is "
    "chance",
    "calibration_error": "mean distance between confidence and share of right answers, 0 to 1",
    "interval": "95% interval of the value before it",
    "lost": "F1 lost without the other part",
    "only_system": "questions that only the first model has right",
    "only_other": "questions that only the other model has right",
    "judges.kappa": "kappa with quadratic weights: 1 for full agreement, 0 for that of chance",
    "judges.n": "sets that both judges scored",
    "apart.score": "mean score by the judges, 0 to 5",
    "semantic-samples.mean": "mean entropy over the questions, in nats",
    "semantic-samples.samples": "replies to each question",
    "semantic-samples.difference": "AUROC less that of the semantic entropy, on the same questions",
    "positions.n": "answers at this position",
    "rank": "1 for the best; those alike share one",
    "rank_low": "lower end of the 95% interval of the rank",
    "rank_high": "upper end of the 95% interval of the rank",
    "difference": "the first less the second",
    "absolute_difference": "mean difference without its sign",
    "p_value": "probability of such a difference by chance alone",
    "adjusted_p_value": "the same, corrected for the number of comparisons",
    "smallest_detectable": "the smallest difference that the data show in 4 of 5 cases",
    "mid_p_value": "the p-value by which the test errs as often as it should, not corrected",
    "test": "how the p-value was computed",
    "correction": "how p-values were corrected",
    "kappa": "Cohen's kappa: 1 for full agreement, 0 for that of chance",
    "pearson": "Pearson's correlation, -1 to 1",
    "spearman": "Spearman's rank correlation, -1 to 1",
    "percentile": "share of the workers below, in percent",
    "similarity": "mean cosine of all pairs of replies, no answer counting 0",
    "similarity_answered": "the same among answers alone",
    "similarity_across_languages": "mean cosine of answers in different languages",
    "similarity_reason": "code of why there is no similarity",
    "human_score": "mean score by people, 0 to 5",
    "language_range": "highest less lowest score of a language",
    "languages": "languages with two wordings or more",
    "n_prompts": "wordings",
    "n_replies": "replies, errors left out",
    "n_no_answer": "replies that are empty or refused",
    "n_answered": "replies that are answers",
    "n_answers": "answers",
    "n_judges": "judges with a score",
    "n_scores": "scores in all",
    # Facts
    "slot": "what kind of thing a value is of, such as year or duration",
    "facts.value": "a value that workers state",
    "facts.state": "agreed, contested, open (no majority) or too_few (fewer than 3 state anything)",
    "mentions": "how many of them state this value",
    "of": "how many workers state a value of the slot",
    "answer-facts.value": "the value that the answer states; of a missing one the crowd's",
    "answer-facts.kind": "worker or model",
    "answer-facts.name": "the worker's id, or the model",
    "answer-facts.of": "how many others state a value of the slot",
    "verdict": "agrees, contradicts (the crowd), contested, missing, extra, open or too_few",
    "workers.facts": "facts of the answers that agree with the crowd or contradict it",
    "models.facts": "facts of the answers that agree with the crowd or contradict it",
    "fact_agreement": "share of these facts that agrees; in no grade, empty below 5 facts",
    "fact_questions": "answered questions on which the crowd agrees on a fact",
    "fact_contradicted": "those of them on which an answer contradicts the crowd; in no score",
    "fact_agreement_low": "lower end of its 95% interval",
    "fact_agreement_high": "upper end of its 95% interval",
    # Texts
    "prompt": "as it was put to the model",
    "reply": "what the model replied; of several turns all answers",
    "status": "text, empty, refused or error",
    "changed": "whether the prompt is another one than the set has",
    "change_reason": "why it was changed",
    "turns": "turns of the conversation",
    "follow_ups": "questions after the first, one on each line",
    "notes": "the judge's words before its score",
    "judge_reply": "all of the judge's words",
    "asked": "how often the judge was asked; 0 for a person",
    "text": "its text",
    "answer": "the text of the answer",
    # Grades of workers
    "grade": "grade, 0 to 1 within this run",
    "grade_low": "lower end of the 95% interval of the grade",
    "grade_high": "upper end of the 95% interval of the grade",
    "raw": "in-sample score: the worker's mean similarity to the consensus, the worker's own "
    "answers in it; the grade is stretched from it. The raw score where the run left each worker "
    "out",
    "raw_low": "lower end of the 95% interval of raw",
    "raw_high": "upper end of the 95% interval of raw",
    "leave_one_out": "raw score: the worker's mean similarity to the consensus of the others; "
    "compare runs by this",
    "raw_leave_one_out": "the same as leave_one_out: the raw score, by which limits on the pages "
    "of pay, bonuses and invitations are set",
    "contrast": "question contrast: leave-one-out score less the mean cosine to the exemplary "
    "answers of the other questions",
    "contrast_low": "lower end of the 95% interval of contrast",
    "contrast_high": "upper end of the 95% interval of contrast",
    "weight": "the weight of the worker",
    "support": "whether there are answers enough for a rank",
    "dispersion": "how far answers differ, 0 for none",
    "iteration": "pass of the estimation",
}


class Heading(NamedTuple):
    """Heading of a column on pages, and how its cells are written.

    `digits` is the number of decimals; 0 for counts and ranks, None for texts. `ends` names the two
    columns with the ends of an interval, which are shown in one cell under this heading.
    """

    title: str
    digits: int | None = None
    ends: tuple[str, str] | None = None


HEADINGS: Mapping[str, Heading] = {
    "system": Heading("Model"),
    "respondent": Heading("System"),
    "system_a": Heading("Model"),
    "system_b": Heading("Other model"),
    "measure": Heading("Measure"),
    "item": Heading("Item"),
    "language": Heading("Language"),
    "n": Heading("Questions", 0),
    "interval": Heading("95% interval", 2, ("low", "high")),
    # Scores against known answers
    "precision": Heading("Precision", 2),
    "recall": Heading("Recall", 2),
    "f1": Heading("F1", 2),
    "exact_set": Heading("Exact set", 2),
    "accuracy": Heading("Accuracy", 2),
    "answer_accuracy": Heading("Answer accuracy", 2),
    "pair_accuracy": Heading("Pair accuracy", 2),
    "gold_answers": Heading("Right answers", 0),
    # Confidence
    "auroc": Heading("AUROC", 2),
    "calibration_error": Heading("Expected calibration error", 2),
    "compared": Heading("Compared", 0),
    "finding": Heading("Finding"),
    "semantic-samples.samples": Heading("Replies", 0),
    "semantic-samples.mean": Heading("Mean", 2),
    # Parts of a classifier
    "form": Heading("Prompt form"),
    "part": Heading("Part"),
    "lost": Heading("F1 lost", 2),
    # Places in a reply
    "position": Heading("Position", 0),
    "positions.n": Heading("Answers", 0),
    "max_softmax": Heading("Maximum softmax probability", 2),
    # Comparisons and tests
    "difference": Heading("Difference", 3),
    "adjusted_p_value": Heading("p (Holm)", 3),
    "smallest_detectable": Heading("Smallest detectable difference", 3),
    "better": Heading("Better model"),
    "only_system": Heading("Only the first right", 0),
    "only_other": Heading("Only the other right", 0),
    # Judges
    "judge": Heading("Judge"),
    "judges.other": Heading("Other judge"),
    "judges.n": Heading("Both scored", 0),
    "absolute_difference": Heading("Mean absolute difference", 2),
    "judges.kappa": Heading("Weighted kappa", 2),
    "spearman": Heading("Spearman correlation", 2),
    "human_score": Heading("Annotators", 2),
    "apart.score": Heading("Judges", 2),
}


def find_column_description(table: str, column: str, own: Mapping[str, str] | None = None) -> str:
    """Return the description of a result table's column; "" without one."""
    for words in (own or {}, COLUMNS):
        for name in (f"{table}.{column}", column):
            if name in words:
                return words[name]
    return ""


SUMMARY, SIGNATURE, README = "summary.json", "signature.txt", "README.md"
FORMS = ("zip", "xlsx")

ABOUT = """\
# {title}

{words}

Question set: {name}, version {version}. Run {called} ({run}), {ended}. Settings: {settings}.
{notes}{notice}
`{summary}` holds the run's settings, counts, warnings, why numbers are missing.
`{signature}` is one line that describes how it was made: runs of one signature can be compared.

A CSV file has commas and UTF-8 with a byte order mark. A cell that a spreadsheet could take for a
formula has an apostrophe before it; the last column, `crowdgrade:defused`, says so to programs
that read the file. An empty cell is a number that is missing; the column `reason` says why.
"""


def build_run_files(kind: Kind, run: Run) -> Files:
    """Return the files of a finished run by name; each is computed when it is read."""

    def table(name: str) -> Iterable[bytes]:
        made = kind.tables[name](run)
        return write_csv(made.header, made.rows)

    files: dict[str, Callable[[], Iterable[bytes]]] = {
        README: lambda: [build_run_readme(kind, run).encode()],
        SUMMARY: lambda: [_encode_json(build_run_summary(kind, run))],
        SIGNATURE: lambda: [f"{run.signature}\n".encode()],
    }
    files |= {f"{name}.csv": partial(table, name) for name in kind.tables}
    more = kind.files(run) if kind.files else {}
    return files | {name: partial(_wrap_in_chunk, data) for name, data in more.items()}


def build_run_zip(kind: Kind, run: Run) -> Iterator[bytes]:
    """Yield a ZIP archive of all files of a finished run, in chunks."""
    return write_zip(build_run_files(kind, run))


def build_run_workbook(kind: Kind, run: Run) -> Iterator[bytes]:
    """Yield an Excel workbook in chunks: a sheet on the columns, then one sheet per table.

    Raises `InputError`, while it is written, for a text that no cell of a workbook holds.
    """

    def table(name: str) -> Iterable[Sequence[object]]:
        made = kind.tables[name](run)
        return build_sheet_rows(made.header, made.rows)

    return write_workbook(
        {
            "README": lambda: _build_readme_sheet(kind, run),
            **{name: partial(table, name) for name in kind.tables},
        }
    )


def write_run_data(kind: Kind, run: Run, output: Path) -> list[str]:
    """Write a run's files into a folder, or one .zip or .xlsx file; return the file names.

    All files are written, or none. Raises `InputError` if the place cannot be written to.
    """
    form = output.suffix.lower().lstrip(".")
    if form in FORMS:
        made = build_run_zip if form == "zip" else build_run_workbook
        try:
            with OutputFolder(output.parent) as folder:
                folder.open(output.name).writelines(made(kind, run))
        except ValueError as error:
            raise InputError.single(str(output), str(error), "Choose another name.") from error
        return [output.name]
    files = build_run_files(kind, run)
    with OutputFolder(output) as folder:
        for name, chunks in files.items():
            folder.open(name).writelines(chunks())
    return list(files)


def build_run_summary(kind: Kind, run: Run) -> dict[str, object]:
    """Return the content of a run's summary.json."""
    question_set = run.version.question_set
    return {
        "kind": kind.name,
        "title": kind.title,
        "run": str(run.public_id),
        "name": run.name,
        "notes": run.notes,
        "question_set": {"name": question_set.name, "version": run.version.number},
        "signature": run.signature,
        "input_hash": run.input_hash,
        "started_at": run.started_at and run.started_at.isoformat(),
        "finished_at": run.finished_at and run.finished_at.isoformat(),
        "parameters": run.parameters,
        "summary": run.summary,
        "warnings": [SITE.format_message(warning) for warning in run.warnings],
        "reasons": run.reasons,
    }


def build_run_readme(kind: Kind, run: Run) -> str:
    """Return a run's README.md: what the run is, and what each table's columns hold."""
    parts = [_describe_run(kind, run)]
    for name, columns in _iterate_described_columns(kind, run):
        lines = [f"- `{column}`{': ' if words else ''}{words}" for column, words in columns]
        parts.append("\n".join([f"## {name}.csv", "", *lines, ""]))
    return "\n".join(parts)


def _describe_run(kind: Kind, run: Run) -> str:
    """Return the first part of README.md: the run, its settings and its files."""
    question_set = run.version.question_set
    name = build_run_title(run, kind.options)
    ended = f"done on {run.finished_at:%Y-%m-%d %H:%M} UTC" if run.finished_at else "done"
    return ABOUT.format(
        title=kind.title,
        words=kind.words,
        name=question_set.name,
        version=run.version.number,
        run=run.public_id,
        called=name.title,
        settings=name.settings,
        notes=f"Notes: {run.notes}\n" if run.notes else "",
        ended=ended,
        notice=f"{question_set.notice}\n" if question_set.notice else "",
        summary=SUMMARY,
        signature=SIGNATURE,
    )


def _iterate_described_columns(kind: Kind, run: Run) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each table's name with its (column, description) pairs."""
    for name, table_of in kind.tables.items():
        header = table_of(run).header
        yield name, [(one, find_column_description(name, one, kind.columns)) for one in header]


def _build_readme_sheet(kind: Kind, run: Run) -> Iterator[Sequence[object]]:
    """Yield the rows of the workbook's first sheet, which describes the columns."""

    def rows() -> Iterator[Sequence[object]]:
        question_set = run.version.question_set
        yield "", "what", kind.title
        yield "", "question set", f"{question_set.name}, version {run.version.number}"
        yield "", "run", f"{build_run_title(run, kind.options).title} ({run.public_id})"
        if run.notes:
            yield "", "notes", run.notes
        yield "", "signature", run.signature
        if question_set.notice:
            yield "", "notice", question_set.notice
        for name, columns in _iterate_described_columns(kind, run):
            for column, words in columns:
                yield name, column, words

    return build_sheet_rows(("sheet", "column", "what it holds"), rows())


def _wrap_in_chunk(data: bytes) -> Iterable[bytes]:
    """Return the data of a file as one chunk."""
    return [data]


def _encode_json(value: object) -> bytes:
    """Return the value as indented UTF-8 JSON; raises ValueError for NaN."""
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()
