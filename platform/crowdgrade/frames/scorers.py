"""Export the result of a grading as a scorer of language models' answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from annotations.exchange import ColumnNames
from crowdgrade.frames.inputs import FileForm, write_input
from evaluation.scorer.files import ScorerFiles, load_folder_content
from evaluation.scorer.preview import ScorerPreview, build_preview
from evaluation.scorer.run import ScorerOptions
from evaluation.scorer.writing import (
    build_export_files,
    check_task_name,
    order_formats,
    write_export,
)

OF_CARD = ("title", "licence", "languages")


class GradedResult(Protocol):
    """Protocol of a result that has a function's name and can write its files."""

    function: str

    def to_csv(self, folder: Path) -> None:
        """Write the command's result files into a folder."""


def export_result(
    result: GradedResult,
    folder: Path,
    given: Mapping[str, Any],
    columns: Mapping[str, str],
    formats: Sequence[str],
    options: Mapping[str, Any],
) -> ScorerPreview:
    """Write a result's export and return a preview of it; see `Result.export_scorer`."""
    if result.function != "grade":
        raise TypeError(f"the result of {result.function} has no exemplary answers to export")
    chosen = {name: value for name, value in options.items() if name not in OF_CARD}
    about = {name: options[name] for name in OF_CARD if name in options}
    about["languages"] = tuple(about.get("languages", ()))
    scorer_options = ScorerOptions(**{"name": "crowd", **chosen})
    check_task_name(scorer_options.name)
    checked = order_formats(formats)
    names = ColumnNames(**columns)
    roles = {"worker": names.worker, "question": names.question, "answer": names.answer}
    # Only the user can read the folder, and it is deleted with all texts in it.
    with TemporaryDirectory(prefix="crowdgrade-") as place:
        results = Path(place, "results")
        result.to_csv(results)
        paths: dict[str, Any] = {
            name: write_input(
                Path(place), name, value, FileForm.TABLE, roles if name == "answers" else {}
            ).path
            for name, value in given.items()
            if value is not None
        }
        content = load_folder_content(
            ScorerFiles(results, columns=names, **paths, **about), scorer_options
        )
        write_export(build_export_files(content, checked), folder)
    return build_preview(content)
