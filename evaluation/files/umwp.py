"""UMWP over files: problems and replies in, tables out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from annotations.exchange import InputError, OutputFolder
from annotations.exchange.reading.decoding import open_text
from annotations.exchange.reading.word_problems import (
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
from evaluation.flow.umwp.parameters import UmwpParameters
from evaluation.flow.umwp.study import ItemRow, PairRow, UmwpStudy, study_replies
from evaluation.flow.umwp.templates import own_templates, templates_of
from evaluation.flow.umwp.tuning import agreement, labelled_replies

PAIRS = "pairs.csv"
UMWP_FILES = (*FILES, PAIRS)

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class UmwpRequest:
    """What to evaluate, how, and where to; `templates` None for the project's own."""

    problems: Path
    replies: Path
    templates: Path | None
    parameters: UmwpParameters
    output: Path


def evaluate_umwp(request: UmwpRequest, progress: Progress | None = None) -> UmwpStudy:
    """Classify the replies and write the tables.

    Raises
    ------
    InputError
        A file that will not do.
    BackendError
        The encoder cannot be had.
    """
    inputs = (request.problems, request.replies, request.templates)
    refuse_to_replace(request.output, UMWP_FILES, inputs)
    problems = read_word_problems(request.problems)
    replies = read_word_problem_replies(request.replies)
    hashes = {"problems": problems.sha256, "replies": replies.sha256}
    templates = own_templates()
    if request.templates is not None:
        templates, hashes["templates"] = read_templates(request.templates)
    with OutputFolder(request.output) as folder:
        study = study_replies(
            request.parameters,
            problems.problems,
            replies.replies,
            templates,
            request.templates is None,
            progress,
        )
        write_umwp(folder, study, hashes, {"repeated": replies.n_repeated})
    return study


def write_umwp(
    folder: OutputFolder,
    study: UmwpStudy,
    hashes: Mapping[str, str],
    counts: Mapping[str, int],
    more: Mapping[str, Any] | None = None,
) -> None:
    """Write the tables; `hashes` of the inputs, `counts` and `more` go into summary.json."""
    write_metrics(folder, study.metrics)
    folder.write_csv(ITEMS, ItemRow._fields, study.items())
    folder.write_csv(PAIRS, PairRow._fields, study.pairs())
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
        warnings=study.warnings(),
        more={
            "complete": study.complete,
            "threshold": study.threshold,
            "threshold_on_labelled_replies": None if study.tuned is None else asdict(study.tuned),
            "labelled_replies": {"n": len(labelled), "agreement": same, "kappa": kappa},
            "encoder": info.as_dict(),
            "templates": list(study.found.templates),
        },
    )
