"""All views over files: ``manage.py evaluate views FOLDER ... --output DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotations.exchange import OutputFolder
from evaluation.charts import Chart
from evaluation.charts.views import views_chart
from evaluation.files.views import FIGURES, FileViews, Told, ViewsRequest, views_of_files
from evaluation.flow.views.parameters import ViewsParameters
from evaluation.kinds.kind import Evaluation, Progress
from evaluation.kinds.views.pictures import correlations_chart
from evaluation.kinds.views.tellers import kinds_of_files
from evaluation.kinds.views.terminal import text_of

EPILOG = """\
FOLDER is the --output of another evaluation of the same models and questions: evaluate aqer (with
--models), eloquent, multiqa, maqa, umwp, or the study of one of them. Its summary.json says which;
KIND=FOLDER says it where there is none. Models and questions are put together by their names and
ids, which have to be the same in all of them. Of two numbers for the same the first one counts.

Written into DIR: views.csv (each model on each question), correlations.csv, models.csv,
disagreements.csv, summary.json and two pictures. platform/docs/data-formats.md says what is in
them.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the folders and where the tables go."""
    add = parser.add_argument
    add("folders", nargs="+", metavar="FOLDER", help="what other evaluations wrote")
    add(
        "--questions",
        type=Path,
        metavar="FILE",
        help="texts of the questions (question, text), which are told where views disagree; the "
        "tables have its order",
    )
    add("--output", type=Path, metavar="DIR", required=True, help="folder for the tables")


def evaluate(parameters: ViewsParameters, arguments: Mapping[str, Any], progress: Progress) -> str:
    """Put together, write the files, and say what came out and where it is."""
    kinds = {kind.name: Told(kind.title, kind.views) for kind in kinds_of_files()}
    request = ViewsRequest(
        [_folder(text, kinds) for text in arguments["folders"]],
        kinds,
        parameters,
        arguments["output"],
        arguments["questions"],
    )
    with OutputFolder(request.output) as folder:
        made = views_of_files(request, progress)
        made.write(folder)
        for name, chart in zip(FIGURES, _charts(made), strict=True):
            if chart is not None:
                folder.open(name).write(chart.standalone().encode())
    return f"{text_of(made.summary)}\n\nFiles: {request.output}"


def _folder(text: str, kinds: Mapping[str, Told]) -> tuple[str, Path]:
    name, sign, path = text.partition("=")
    return (name, Path(path)) if sign and name in kinds else ("", Path(text))


def _charts(made: FileViews) -> tuple[Chart | None, Chart | None]:
    titles = {view.name: view.title for view in made.found.together.views}
    return (
        views_chart(made.found.together),
        correlations_chart(made.summary.correlations, titles),
    )


EVALUATE = Evaluation(
    help="all views of models together: what other evaluations say of each model and question",
    description="Put together what other evaluations say of the same models and questions.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run=evaluate,
)
