"""UMWP over files: problems and replies in, tables out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from annotations.exchange import ColumnNames, InputError, OutputFolder
from annotations.exchange.reading.answers import DEFAULT_COLUMNS, read_answers
from annotations.exchange.reading.decoding import open_text
from annotations.exchange.reading.reply_labels import read_reply_labels
from annotations.exchange.reading.systems import read_systems
from annotations.exchange.reading.word_problems import (
    WordProblemReply,
    read_word_problem_replies,
    read_word_problems,
)
from evaluation.files.metrics import (
    FILES,
    ITEMS,
    SUMMARY,
    refuse_to_replace,
    study_summary,
    write_metrics,
)
from evaluation.flow.metrics import Exclusions
from evaluation.flow.umwp.ablation import AblationRow
from evaluation.flow.umwp.comparing import ComparisonRow
from evaluation.flow.umwp.labels import LabelledReplies, LabelRow, label_replies
from evaluation.flow.umwp.parameters import UmwpParameters
from evaluation.flow.umwp.people import (
    PEOPLE,
    PersonRow,
    people_metrics,
    people_rows,
    replies_of,
)
from evaluation.flow.umwp.sizes import SizeRow, TrendRow, size_rows, trend_rows
from evaluation.flow.umwp.study import ItemRow, PairRow, UmwpStudy, study_replies
from evaluation.flow.umwp.templates import own_templates, templates_of
from evaluation.flow.umwp.tuning import agreement, labelled_replies
from evaluation.methods.umwp.labels import Draws
from evaluation.options import TERMINAL

PAIRS, ABLATION, COMPARISONS = "pairs.csv", "ablation.csv", "comparisons.csv"
LABELS = "labels.csv"
PERSONS = "people.csv"
UMWP_FILES = (*FILES, PAIRS, ABLATION, COMPARISONS)
SIZES, TRENDS, PICTURE = "sizes.csv", "size_trends.csv", "f1_by_size.svg"

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class UmwpRequest:
    """What to evaluate, how, and where to; `templates` None for the project's own.

    `labels` are what annotators said of the replies, `people` answers of people to the problems,
    whose columns are called as `columns` says. `systems` says how large the systems are.
    """

    problems: Path
    replies: Path
    templates: Path | None
    parameters: UmwpParameters
    output: Path
    labels: Path | None = None
    people: Path | None = None
    columns: ColumnNames = DEFAULT_COLUMNS
    systems: Path | None = None
    keep_thinking: bool = False

    @property
    def written(self) -> tuple[str, ...]:
        """Return the names of the tables."""
        of_sizes = ((name, self.systems) for name in (SIZES, TRENDS, PICTURE))
        more = ((LABELS, self.labels), (PERSONS, self.people), *of_sizes)
        return (*UMWP_FILES, *(name for name, path in more if path is not None))


def evaluate_umwp(
    request: UmwpRequest,
    progress: Progress | None = None,
    picture: Callable[[Sequence[SizeRow]], str] | None = None,
) -> UmwpStudy:
    """Classify the replies and write the tables; `picture` draws F1 by size, "" for none.

    Raises
    ------
    InputError
        A file that will not do.
    BackendError
        The encoder cannot be had.
    """
    inputs = (request.problems, request.replies, request.templates, request.labels, request.people)
    refuse_to_replace(request.output, request.written, (*inputs, request.systems))
    problems = read_word_problems(request.problems)
    replies = read_word_problem_replies(request.replies, request.keep_thinking)
    hashes = {"problems": problems.sha256, "replies": replies.sha256}
    counts = {"repeated": replies.n_repeated}
    templates = own_templates()
    if request.templates is not None:
        templates, hashes["templates"] = read_templates(request.templates)
    labels = None
    if request.labels is not None:
        known = {(one.system, one.item, one.form) for one in replies.replies}
        labels = read_reply_labels(request.labels, known)
        hashes["labels"] = labels.sha256
    systems = None if request.systems is None else read_systems(request.systems)
    if systems is not None:
        hashes["systems"] = systems.sha256
    left_out = Exclusions()
    people: list[WordProblemReply] = []
    if request.people is not None:
        if any(one.system == PEOPLE for one in replies.replies):
            raise InputError.single(
                replies.name,
                f"a system is called {PEOPLE}, as the row of people would be",
                "Give the system another name.",
            )
        answers = read_answers(request.people, request.columns)
        hashes["people"] = answers.sha256
        people = list(replies_of(answers.records, left_out))
    with OutputFolder(request.output) as folder:
        study = study_replies(
            request.parameters,
            problems.problems,
            replies.replies,
            templates,
            request.templates is None,
            progress,
            people,
        )
        study.notes += replies.warnings
        if request.people is not None:
            _refuse_strangers(request.people, study)
        study.exclusions.merge(left_out)
        labelled = None
        if labels is not None:
            draws = Draws(request.parameters.bootstrap, request.parameters.seed)
            labelled = label_replies(study.judged, labels.labels, draws, study.failed)
            study.exclusions.merge(labelled.exclusions)
            counts |= {"labels": len(labels.labels), "annotators": len(labelled.annotators)}
        if request.people is not None:
            counts |= {
                "people": len(study.people),
                "peoples_answers": sum(map(len, study.people.values())),
            }
        write_umwp(folder, study, hashes, counts, labelled=labelled)
        if systems is not None:
            rows = size_rows(study.metrics, systems.systems)
            folder.write_csv(SIZES, SizeRow._fields, rows)
            folder.write_csv(TRENDS, TrendRow._fields, trend_rows(rows))
            if picture is not None and (drawn := picture(rows)):
                folder.write_lines(PICTURE, [drawn])
    return study


def _refuse_strangers(path: Path, study: UmwpStudy) -> None:
    """Raise `InputError` if people answered, but none of these problems."""
    if not study.people:
        raise InputError.single(
            str(path),
            "nobody answered any of the problems",
            "The column question holds the ids of the problems; --columns says what it is called.",
        )


def write_umwp(
    folder: OutputFolder,
    study: UmwpStudy,
    hashes: Mapping[str, str],
    counts: Mapping[str, int],
    more: Mapping[str, Any] | None = None,
    labelled: LabelledReplies | None = None,
) -> None:
    """Write the tables; `hashes` of the inputs, `counts` and `more` go into summary.json.

    What people answered stands in the study; `labelled` are the labels of the replies.
    """
    metrics = [*study.metrics, *people_metrics(study)]
    if labelled is not None:
        metrics += labelled.metrics()
        folder.write_csv(LABELS, LabelRow._fields, labelled.rows())
    if study.people:
        folder.write_csv(PERSONS, PersonRow._fields, people_rows(study))
    write_metrics(folder, metrics)
    folder.write_csv(ITEMS, ItemRow._fields, study.items())
    folder.write_csv(PAIRS, PairRow._fields, study.pairs())
    folder.write_csv(ABLATION, AblationRow._fields, study.ablation())
    folder.write_csv(COMPARISONS, ComparisonRow._fields, study.comparisons)
    folder.write_json(SUMMARY, {**_summary(study, hashes, counts), **(more or {})})


def read_templates(path: Path) -> tuple[tuple[str, ...], str]:
    """Return the templates of a file, one a line, and its SHA-256; `InputError` without any."""
    text = open_text(path)
    found = templates_of("".join(text.lines("")))
    if not found:
        raise InputError.single(
            text.name, "there is no template", "Write one sentence a line, as a reply would say it."
        )
    return found, text.sha256


def _summary(
    study: UmwpStudy, hashes: Mapping[str, str], counts: Mapping[str, int]
) -> dict[str, Any]:
    info = study.found.info
    labelled = labelled_replies()
    same, kappa = agreement(labelled)
    made = {
        "encoder": info.model,
        "revision": info.revision,
        "precision": info.precision,
        "threshold": f"{study.threshold:.4g}",
    }
    return study_summary(
        "umwp",
        study.parameters,
        hashes,
        {**study.counts(), **counts},
        study.exclusions,
        made=made,
        warnings=[*study.notes, *TERMINAL.all_said(study.warnings())],
        more={
            "complete": study.complete,
            "threshold": study.threshold,
            "threshold_on_labelled_replies": None if study.tuned is None else asdict(study.tuned),
            "labelled_replies": {"n": len(labelled), "agreement": same, "kappa": kappa},
            "encoder": info.as_dict(),
            "templates": list(study.found.templates),
        },
    )
