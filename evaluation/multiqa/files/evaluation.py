"""Evaluate a file of replies, and read labelled pairs that tune the cosine.

Read labelled pairs of accepted answer and reply, which measure and tune the cosine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import AnswerFile, InputError, OutputFolder
from annotations.exchange.header import Column
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import DEFAULT_COLUMNS
from annotations.exchange.reading.source import make_source
from annotations.exchange.reading.tables import open_table
from annotations.exchange.writing.folder import format_csv_line
from evaluation.consensus.inputs import Answers, Progress
from evaluation.core.options import TERMINAL
from evaluation.core.stats.cells import convert_nan_to_none
from evaluation.core.stats.statistics.descriptive import ThresholdErrors
from evaluation.core.text.items import MultiqaItem
from evaluation.multiqa.files.field_mapping import FieldMapping
from evaluation.multiqa.files.mapping import parse_yes_no, read_mapped_items
from evaluation.multiqa.files.reading import (
    STANDARD_COLUMNS,
    ItemsFile,
    MultiqaColumns,
    read_items,
    read_replies,
)
from evaluation.multiqa.items import EMPTY, NO_REPLY, REFUSED
from evaluation.multiqa.methods.panel import ITEM_METRICS, ItemMetrics
from evaluation.multiqa.options import MultiqaParameters
from evaluation.multiqa.run.evaluation import (
    CrowdResult,
    MultiqaEvaluation,
    SystemResult,
    evaluate_replies,
    score_replies_by_crowd,
)
from evaluation.multiqa.run.judging import (
    LabelledPair,
    find_tuned_cosine,
    measure_cosine_errors,
    use_recorded_cosine,
)
from evaluation.multiqa.run.rows import CROWD, ITEM_COLUMNS
from evaluation.runs.files.answers import read_answers_to_items
from evaluation.runs.files.metrics import (
    FILES,
    ITEMS,
    SUMMARY,
    build_study_summary,
    refuse_to_replace_inputs,
    write_metrics,
    write_result_table,
)
from evaluation.runs.files.problem_messages import add_problem, build_error
from evaluation.runs.flow.metrics import Exclusions, build_group_name

COLUMNS = (
    Column("question", ("question",), required=False),
    Column("accepted", ("accepted",)),
    Column("reply", ("reply",)),
    Column("right", ("right",)),
)


def measure_labelled_pairs(path: Path, parameters: MultiqaParameters) -> ThresholdErrors:
    """Return the errors of the cosine threshold on a file of labelled pairs.

    Raises `InputError` for an invalid file, `BackendError` if texts cannot be embedded.
    """
    pairs = read_labelled_pairs(path)
    try:
        return measure_cosine_errors(pairs, parameters, path.name)
    except ValueError:
        raise build_error(path.name, "pairs_of_one_class") from None


def read_labelled_pairs(path: Path) -> list[LabelledPair]:
    """Return the labelled pairs of a file with the columns question, accepted, reply and right.

    Rows with the same question and reply are one pair with several accepted answers. Without a
    question the accepted answer takes its place. Raises `InputError` with every invalid row.
    """
    problems = Problems(make_source(path).name)
    table = open_table(path, COLUMNS, problems)
    accepted: dict[tuple[str, str], list[str]] = {}
    labels: dict[tuple[str, str], bool] = {}
    for line, cells, _ in table.rows:
        question, answer, reply, right = (cell.strip() for cell in cells)
        for name, text in (("accepted", answer), ("reply", reply)):
            if not text:
                add_problem(problems, line, name, "pair_text_missing")
        label = parse_yes_no(right)
        if label is None:
            add_problem(problems, line, "right", "flag_neither", flag=right[:40])
        if not answer or not reply or label is None:
            continue
        # The question groups pairs into halves: pairs of one question must not both tune and
        # measure.
        key = question or answer, reply
        if labels.setdefault(key, label) != label:
            add_problem(problems, line, "right", "pair_labels_differ", reply=reply[:60])
        accepted.setdefault(key, []).append(answer)
    problems.raise_if_any()
    return [
        LabelledPair(key[0], tuple(dict.fromkeys(answers)), key[1], labels[key])
        for key, answers in accepted.items()
    ]


def refuse_tuning_without_pairs(parameters: MultiqaParameters) -> None:
    """Raise `InputError` because no tuned threshold of the embedder is recorded."""
    raise InputError.single(
        "--tune-cosine",
        f"no tuned cosine of {parameters.embedder} is recorded",
        "Name labelled pairs with --labelled-pairs FILE.",
    )


Ints = NDArray[np.int64]


def format_item_metric_lines(evaluation: MultiqaEvaluation) -> Iterator[str]:
    """Yield the lines of metrics.csv with the metrics of each single item.

    `n` of a line is the item's number of replies.
    """
    items = evaluation.judgement.items
    groups = {
        number: format_csv_line((build_group_name("item", item.item),))
        for number, item in enumerate(items)
    }
    for result in evaluation.systems:
        replies, metrics = result.judged.replies, result.overall.profile_metrics
        system = format_csv_line((replies.system,))
        # Millions of items have a few thousand profiles, so the rest of a line is formatted once
        # for each profile.
        endings = [
            _format_line_endings(metrics, profile) for profile in range(len(metrics.votes.mode))
        ]
        numbers = replies.items.tolist()
        for number, profile in zip(numbers, result.overall.profiles.tolist(), strict=True):
            begin = f"{system},{groups[number]},"
            yield "".join([f"{begin}{ending}" for ending in endings[profile]])


def _format_line_endings(metrics: ItemMetrics, profile: int) -> list[str]:
    """Return one item profile's lines of metrics.csv, without the cells system and group."""
    n = int(metrics.n_replies[profile])
    return [
        format_csv_line((name, value, None, None, n, metrics.find_reason(name, profile))) + "\n"
        for name in ITEM_METRICS
        for value in (convert_nan_to_none(float(metrics.values[name][profile])),)
    ]


def format_item_lines(evaluation: MultiqaEvaluation) -> Iterator[str]:
    """Yield the lines of items.csv: the header, then one line per system and item."""
    yield format_csv_line(ITEM_COLUMNS) + "\n"
    items = evaluation.judgement.items
    for result in evaluation.systems:
        replies, panel = result.judged.replies, result.judged.panel
        votes, profiles = result.overall.profile_metrics.votes, result.overall.profiles
        counts = np.stack(
            [
                (replies.statuses != NO_REPLY).sum(axis=1),
                votes.n_votes[profiles],
                np.isin(replies.statuses, REFUSED).sum(axis=1),
                (replies.statuses == EMPTY).sum(axis=1),
            ],
            axis=1,
        ).tolist()
        metric_cells = [format_csv_line(row) for row in _list_metric_cells(result)]
        mode = votes.mode[profiles]
        rows = np.arange(len(mode))
        # Without votes the mode is -1, which would be the last column; such items are masked below.
        columns = panel.representatives[rows, np.maximum(mode, 0)]
        modal_texts = np.where(mode >= 0, replies.texts[rows, columns], NO_REPLY)
        system = format_csv_line((replies.system,))
        get_text = evaluation.judgement.get_text
        for number, item_counts, profile, original, modal in zip(
            replies.items.tolist(),
            counts,
            profiles.tolist(),
            replies.texts[:, 0].tolist(),
            modal_texts.tolist(),
            strict=True,
        ):
            item = items[number]
            names = format_csv_line((item.item, item.kind, item.dataset, item.matcher))
            n = ",".join(map(str, item_counts))
            texts = format_csv_line((get_text(original), get_text(modal)))
            yield f"{system},{names},{n},{metric_cells[profile]},{texts}\n"


def _list_metric_cells(result: SystemResult) -> Sequence[tuple[float | None, ...]]:
    """Return one row of metric values per item profile, in the order of `ITEM_METRICS`."""
    values = result.overall.profile_metrics.values
    table = np.stack([values[name] for name in ITEM_METRICS], axis=1)
    return [tuple(convert_nan_to_none(value) for value in row) for row in table]


def build_comparison_entries(evaluation: MultiqaEvaluation) -> list[dict[str, Any]]:
    """Return a summary.json entry for each comparison of two systems by one metric."""
    return [
        {
            "metric": name,
            "system_a": pair.model_a,
            "system_b": pair.model_b,
            "difference": pair.difference,
            "low": pair.low,
            "high": pair.high,
            "p_value": pair.p_value,
            "adjusted_p_value": pair.adjusted_p_value,
            "smallest_detectable": pair.smallest_detectable,
            "n": pair.n,
            "reason": pair.reason,
            "test": pair.test,
            "mid_p_value": pair.mid_p_value,
        }
        for name, pair in evaluation.comparisons
    ]


NAME = "multiqa"
UNKNOWN_QUESTION = "crowd_answer_to_unknown_item"


@dataclass(frozen=True)
class MultiqaRequest:
    """Input files, options and output folder of ``evaluate multiqa``."""

    items: Path
    replies: Path
    parameters: MultiqaParameters
    output: Path
    columns: MultiqaColumns = STANDARD_COLUMNS
    mapping: FieldMapping | None = None
    crowd: Path | None = None
    keep_thinking: bool = False
    labelled_pairs: Path | None = None
    keep_html: bool = False
    keep_ids: bool = False


@dataclass(frozen=True)
class FileEvaluation:
    """Result of evaluating files, with counts of their rows, and warnings as sentences."""

    result: MultiqaEvaluation
    counts: Mapping[str, int]
    warnings: list[str]


def evaluate_files(request: MultiqaRequest, progress: Progress | None = None) -> FileEvaluation:
    """Evaluate the input files and write the tables; on an error nothing is written.

    Raises
    ------
    InputError
        A file cannot be read or has invalid rows.
    BackendError
        Free texts cannot be embedded.
    """
    inputs = (request.items, request.replies, request.crowd, request.labelled_pairs)
    refuse_to_replace_inputs(request.output, (*FILES, CROWD.file), inputs)
    with OutputFolder(request.output) as folder:
        items = read_item_file(request.items, request.columns, request.mapping)
        left_out = Exclusions()
        replies = read_replies(
            request.replies, items.items, left_out, request.columns, request.keep_thinking
        )
        hashes = {"items": items.sha256, "replies": replies.sha256}
        parameters, errors = choose_cosine(request.parameters, request.labelled_pairs, hashes)
        crowd, crowd_warnings = None, []
        if request.crowd is not None:
            answers, file = read_crowd_answers(
                request.crowd, items.items, left_out, request.keep_html, request.keep_ids
            )
            hashes |= file.build_hashes("crowd")
            crowd_warnings = file.warnings
            crowd = score_replies_by_crowd(
                items.items, replies.replies, answers, parameters, progress
            )
        result = evaluate_replies(
            items.items, replies.replies, parameters, left_out, progress, errors
        )
        counts = {
            **_count_items(items),
            "reply_rows": replies.n_rows,
            **_count_replies(result),
        }
        warnings = [*items.warnings, *replies.warnings, *crowd_warnings]
        return write_tables(folder, result, counts, hashes, warnings, crowd=crowd)


def choose_cosine(
    parameters: MultiqaParameters, pairs: Path | None, hashes: dict[str, str]
) -> tuple[MultiqaParameters, ThresholdErrors | None]:
    """Return the parameters with the cosine in use, and its errors on a file of labelled pairs.

    Adds the file's SHA-256 to `hashes`. Raises `InputError`, also if the cosine shall be tuned and
    no pairs are known for the embedder; `BackendError`.
    """
    if pairs is not None:
        errors = measure_labelled_pairs(pairs, parameters)
        hashes["labelled_pairs"] = make_source(pairs).compute_digest()
        return replace(parameters, cosine=errors.threshold), errors
    # Refused and not ignored: the user would take the untuned threshold for a tuned one.
    if parameters.tune_cosine and find_tuned_cosine(parameters) is None:
        refuse_tuning_without_pairs(parameters)
    return use_recorded_cosine(parameters), None


def read_item_file(path: Path, columns: MultiqaColumns, mapping: FieldMapping | None) -> ItemsFile:
    """Return the items of a file; a `mapping` reads another benchmark's format.

    Raises `InputError`.
    """
    return read_items(path, columns) if mapping is None else read_mapped_items(path, mapping)


def write_tables(
    folder: OutputFolder,
    result: MultiqaEvaluation,
    counts: Mapping[str, int],
    hashes: Mapping[str, str],
    warnings: list[str],
    more: Mapping[str, Any] | None = None,
    crowd: CrowdResult | None = None,
) -> FileEvaluation:
    """Write metrics.csv, items.csv and summary.json; crowd.csv if there are workers' answers.

    Parameters
    ----------
    counts : of rows, items and replies, for the summary.
    hashes : SHA-256 of each input file, by its role.
    warnings : of the input files.
    more : further entries of summary.json.
    crowd : crowd scores; their metrics are added to metrics.csv.
    """
    messages = [*result.judgement.warnings, *(crowd.warnings if crowd else ())]
    sentences = [*warnings, *dict.fromkeys(TERMINAL.format_messages(messages))]
    if crowd is not None:
        result.rows += crowd.rows
        counts = {**counts, **crowd.counts}
        write_result_table(folder, CROWD, crowd.items)
    write_metrics(folder, result.rows, format_item_metric_lines(result))
    folder.write_lines(ITEMS, format_item_lines(result))
    summary = build_study_summary(
        NAME,
        result.parameters,
        hashes,
        counts,
        result.judgement.left_out,
        made=_list_signature_parts(result, crowd),
        warnings=sentences,
        more={
            "systems": [system.judged.replies.system for system in result.systems],
            "embedding": result.judgement.info and result.judgement.info.as_dict(),
            **_summarize_reranking(result),
            "wrong_by_form": result.judgement.listed.as_list(),
            "left_out_of_metrics": result.list_left_out_counts(),
            "comparisons": build_comparison_entries(result),
            "cosine_errors": result.cosine_errors and result.cosine_errors.as_dict(),
            **(more or {}),
        },
    )
    folder.write_json(SUMMARY, summary)
    return FileEvaluation(result, counts, sentences)


def _count_items(items: ItemsFile) -> dict[str, int]:
    """Return the counts of rows and items in a file of items, for summary.json."""
    return {
        "item_rows": items.n_rows,
        "repeated_item_rows": items.n_repeated,
        "items": len(items.items),
    }


def _count_replies(result: MultiqaEvaluation) -> dict[str, int]:
    """Return the counts of evaluated replies and of systems, for summary.json."""
    counted = sum(int((system.judged.replies.statuses >= 0).sum()) for system in result.systems)
    return {"replies": counted, "systems": len(result.systems)}


def _list_signature_parts(result: MultiqaEvaluation, crowd: CrowdResult | None) -> dict[str, str]:
    """Return the signature entries for the embedder and re-ranker, by name."""
    info = result.judgement.info
    if info is None and crowd is not None:
        info = crowd.info
    if info is None:
        return {"embedder": "none", "precision": "none"}
    reranking = result.judgement.reranking
    return {
        "embedder": info.model,
        "revision": info.revision,
        "precision": info.precision,
        **(reranking.list_signature_parts() if reranking else {}),
    }


def _summarize_reranking(result: MultiqaEvaluation) -> dict[str, Any]:
    """Return the summary.json entry about re-ranking; {} without a re-ranker."""
    reranking = result.judgement.reranking
    return {} if reranking is None else {"reranking": reranking.as_dict()}


def read_crowd_answers(
    path: Path,
    items: Sequence[MultiqaItem],
    left_out: Exclusions,
    keep_html: bool,
    keep_ids: bool,
) -> tuple[Answers, AnswerFile]:
    """Return workers' answers to the items from a file, and the file as it was read.

    With `keep_html` and `keep_ids`, HTML and ids such as 101.0 stay as typed. Answers to other
    questions are added to `left_out`. Raises `InputError` if the file cannot be read or no answer
    with a text is to an item.
    """
    known = {item.item for item in items}
    file = read_answers_to_items(
        path, DEFAULT_COLUMNS, known, keep_html=keep_html, keep_ids=keep_ids
    )
    records = []
    for record in file.records:
        if record.question in known:
            records.append(record)
        else:
            left_out.add(UNKNOWN_QUESTION, {"item": record.question, "line": record.line})
    if not any(record.text for record in records):
        raise build_error(file.name, "answers_to_others")
    return Answers.from_rows(
        (record.row, record.worker, record.question, record.text, record.is_rejected)
        for record in records
    ), file
