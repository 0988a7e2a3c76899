"""Evaluate a file of replies: what ``manage.py evaluate multiqa`` does around the flow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotations.exchange import OutputFolder, read_answers
from evaluation.files.metrics import (
    FILES,
    ITEMS,
    SUMMARY,
    refuse_to_replace,
    study_summary,
    write_metrics,
)
from evaluation.files.multiqa.field_mapping import FieldMapping
from evaluation.files.multiqa.mapping import read_mapped
from evaluation.files.multiqa.reading import (
    AS_OURS,
    ItemsFile,
    MultiqaColumns,
    read_items,
    read_replies,
)
from evaluation.files.multiqa.tables import comparisons, item_lines, item_metric_lines
from evaluation.files.problem_messages import file_error
from evaluation.flow.inputs import Answers
from evaluation.flow.metrics import Exclusions
from evaluation.flow.multiqa.crowd import CrowdFound, CrowdRow, measured_by_crowd
from evaluation.flow.multiqa.evaluation import MultiqaEvaluation, evaluate
from evaluation.flow.multiqa.items import MultiqaItem
from evaluation.flow.multiqa.parameters import MultiqaParameters
from evaluation.options import TERMINAL

Progress = Callable[[str, int, int], None]

NAME = "multiqa"
CROWD = "crowd.csv"
UNKNOWN_QUESTION = "crowd_answer_to_unknown_item"


@dataclass(frozen=True)
class MultiqaRequest:
    """What to evaluate, how, and where the tables go."""

    items: Path
    replies: Path
    parameters: MultiqaParameters
    output: Path
    columns: MultiqaColumns = AS_OURS
    mapping: FieldMapping | None = None
    crowd: Path | None = None
    keep_thinking: bool = False


@dataclass(frozen=True)
class EvaluatedFiles:
    """An evaluation with what is known of its files."""

    found: MultiqaEvaluation
    counts: Mapping[str, int]
    warnings: list[str]


def evaluate_files(request: MultiqaRequest, progress: Progress | None = None) -> EvaluatedFiles:
    """Evaluate and write; nothing is written if anything fails.

    Raises
    ------
    InputError
        A file, or what it holds, cannot be used.
    BackendError
        Free texts cannot be embedded.
    """
    inputs = (request.items, request.replies, request.crowd)
    refuse_to_replace(request.output, (*FILES, CROWD), inputs)
    with OutputFolder(request.output) as folder:
        items = items_of(request.items, request.columns, request.mapping)
        left_out = Exclusions()
        replies = read_replies(
            request.replies, items.items, left_out, request.columns, request.keep_thinking
        )
        hashes = {"items": items.sha256, "replies": replies.sha256}
        measured = None
        if request.crowd is not None:
            people, hashes["crowd"] = read_crowd(request.crowd, items.items, left_out)
            measured = measured_by_crowd(
                items.items, replies.replies, people, request.parameters, progress
            )
        found = evaluate(items.items, replies.replies, request.parameters, left_out, progress)
        counts = {**_of_items(items), "reply_rows": replies.n_rows, **_of_replies(found)}
        of_files = [*items.warnings, *replies.warnings]
        return write_evaluated(folder, found, counts, hashes, of_files, measured=measured)


def items_of(path: Path, columns: MultiqaColumns, mapping: FieldMapping | None) -> ItemsFile:
    """Read items of ours, or other people's records. Raises `InputError`."""
    return read_items(path, columns) if mapping is None else read_mapped(path, mapping)


def write_evaluated(
    folder: OutputFolder,
    found: MultiqaEvaluation,
    counts: Mapping[str, int],
    hashes: Mapping[str, str],
    warnings: list[str],
    more: Mapping[str, Any] | None = None,
    measured: CrowdFound | None = None,
) -> EvaluatedFiles:
    """Write metrics.csv, items.csv and summary.json, with `more` in the latter.

    Where people answered as well there is crowd.csv, and their numbers are among the metrics.
    """
    messages = [*found.judgement.warnings, *(measured.warnings if measured else ())]
    told = [*warnings, *dict.fromkeys(TERMINAL.all_said(messages))]
    if measured is not None:
        found.rows += measured.rows
        counts = {**counts, **measured.counts}
        folder.write_csv(CROWD, CrowdRow._fields, measured.items)
    write_metrics(folder, found.rows, item_metric_lines(found))
    folder.write_lines(ITEMS, item_lines(found))
    summary = study_summary(
        NAME,
        found.parameters,
        hashes,
        counts,
        found.judgement.left_out,
        made=_made(found, measured),
        warnings=told,
        more={
            "systems": [one.judged.laid.system for one in found.systems],
            "embedding": found.judgement.info and found.judgement.info.as_dict(),
            **_reranked(found),
            "wrong_by_form": found.judgement.listed.as_list(),
            "left_out_of_metrics": found.left_out(),
            "comparisons": comparisons(found),
            **(more or {}),
        },
    )
    folder.write_json(SUMMARY, summary)
    return EvaluatedFiles(found, counts, told)


def _of_items(items: ItemsFile) -> dict[str, int]:
    return {
        "item_rows": items.n_rows,
        "repeated_item_rows": items.n_repeated,
        "items": len(items.items),
    }


def _of_replies(found: MultiqaEvaluation) -> dict[str, int]:
    counted = sum(int((one.judged.laid.statuses >= 0).sum()) for one in found.systems)
    return {"replies": counted, "systems": len(found.systems)}


def _made(found: MultiqaEvaluation, measured: CrowdFound | None) -> dict[str, str]:
    """Return the parts of the signature that tell how texts became vectors, and were re-ranked."""
    info = found.judgement.info
    if info is None and measured is not None:
        info = measured.info
    if info is None:
        return {"embedder": "none", "precision": "none"}
    reranking = found.judgement.reranking
    return {
        "embedder": info.model,
        "revision": info.revision,
        "precision": info.precision,
        **(reranking.signed() if reranking else {}),
    }


def _reranked(found: MultiqaEvaluation) -> dict[str, Any]:
    """Return what the summary says of re-ranking: nothing where there was none."""
    reranking = found.judgement.reranking
    return {} if reranking is None else {"reranking": reranking.as_dict()}


def read_crowd(
    path: Path, items: Sequence[MultiqaItem], left_out: Exclusions
) -> tuple[Answers, str]:
    """Read people's answers to the items (worker, question, answer), and the file's hash.

    Those to other questions are noted. Raises `InputError`: the file cannot be used, or none of
    its answers is to an item.
    """
    file = read_answers(path)
    known = {item.item for item in items}
    there = []
    for record in file.records:
        if record.question in known:
            there.append(record)
        else:
            left_out.add(UNKNOWN_QUESTION, {"item": record.question, "line": record.line})
    if not any(record.text for record in there):
        raise file_error(file.name, "answers_to_others")
    return Answers.of(
        (one.row, one.worker, one.question, one.text, one.is_rejected) for one in there
    ), file.sha256
