"""Write the files of every study of models: metrics.csv, items.csv, summary.json.

    with OutputFolder(output) as folder:
        write_metrics(folder, rows)
        folder.write_csv(ITEMS, ..., ...)
        folder.write_json(SUMMARY, study_summary("eloquent", {...}, {...}, exclusions, ...))

The rows are those of `evaluation.runs.flow.metrics`; intervals by items come from
`evaluation.core.stats.inference.clustered`. What a program may rely on is defined in
platform/docs/data-formats.md, "Studies".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar, cast

from annotations.exchange import OutputFolder
from annotations.exchange.writing.folder import format_csv_line
from evaluation.consensus.signatures import collect_versions, combine_hashes
from evaluation.core.options import Parameters, build_signature_parts
from evaluation.core.options.parameters import SHORT
from evaluation.runs.files.problem_messages import build_error
from evaluation.runs.flow.metrics import Exclusions, MetricRow, sort_overall_first
from evaluation.runs.flow.stored import ResultTable

METRICS = "metrics.csv"
ITEMS = "items.csv"
SUMMARY = "summary.json"
FILES = (METRICS, ITEMS, SUMMARY)

RowT = TypeVar("RowT")


def write_metrics(
    folder: OutputFolder, rows: Iterable[MetricRow], lines: Iterable[str] = ()
) -> None:
    """Write metrics.csv, the rows over all items before those of groups.

    `lines` are further rows as finished CSV lines with their line ends: a study with millions of
    rows formats them faster than cell by cell.
    """
    table = (format_csv_line(row) + "\n" for row in (MetricRow._fields, *sort_overall_first(rows)))
    folder.write_lines(METRICS, chain(table, lines))


def write_result_table(
    folder: OutputFolder, table: ResultTable[RowT], rows: Iterable[RowT]
) -> None:
    """Write a declared result table as its CSV file; in metrics.csv overall rows come first."""
    if table.file == METRICS:
        write_metrics(folder, cast(Iterable[MetricRow], rows))
    else:
        folder.write_csv(table.file, table.columns, table.build_cells(rows))


def build_study_signature(
    study: str, parameters: Parameters, input_hash: str, made: Mapping[str, str] | None = None
) -> str:
    """Return a study's signature: its name, all parameters, input hash and version.

    `made` are parts that are added, or that replace those of the parameters, such as an embedder's
    model and revision.
    """
    parts = {
        **build_signature_parts(parameters),
        **(made or {}),
        "inputs": input_hash[:SHORT],
        "version": metadata.version("crowdgrade"),
    }
    return "|".join([study, *(f"{name}:{value}" for name, value in parts.items())])


def build_study_summary(
    study: str,
    parameters: Parameters,
    input_hashes: Mapping[str, str],
    counts: Mapping[str, Any],
    exclusions: Exclusions,
    *,
    made: Mapping[str, str] | None = None,
    warnings: Iterable[str] = (),
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the content of a study's summary.json.

    Parameters
    ----------
    input_hashes : SHA-256 of each input file, by its role. counts : numbers of inputs, by name.
    made : see `build_study_signature`. more : further entries of this study, by key.
    """
    input_hash = combine_hashes(input_hashes.values())
    return {
        "signature": build_study_signature(study, parameters, input_hash, made),
        "parameters": parameters.as_dict(),
        "counts": dict(counts),
        "exclusions": exclusions.as_list(),
        "warnings": list(warnings),
        **(more or {}),
        "versions": collect_versions(),
        "input_hash": input_hash,
        "input_hashes": dict(input_hashes),
    }


def refuse_to_replace_inputs(
    output: Path, written: Iterable[str], inputs: Iterable[Path | None]
) -> None:
    """Raise `InputError` if a file to write would replace one of the input files."""
    targets = [output / name for name in written]
    for path in inputs:
        if path is not None and any(_is_same_file(path, target) for target in targets):
            raise build_error(str(path), "file_replaced", output=output)


def _is_same_file(path: Path, other: Path) -> bool:
    """Return whether both paths are the same existing file."""
    try:
        # Not by comparing paths: a link, or another spelling, may lead to the same file.
        return path.samefile(other)
    except (OSError, ValueError):  # one of them is not there
        return False
