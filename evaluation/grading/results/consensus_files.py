"""The consensus of a run as files: tables, passages and the datasheet, in a folder or a ZIP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from annotations.exchange.writing import archive
from annotations.exchange.writing.archive import Files
from annotations.exchange.writing.folder import OutputFolder
from annotations.exchange.writing.formats import csv_chunks, jsonl_chunks
from evaluation.exports.items import passages
from evaluation.exports.table import Row
from evaluation.grading.results.report.consensus import NEXT, ConsensusReport, ConsensusRow

HEADER = (
    *("question", "text", "passage", "category", "language", "consensus", "similarity", "reason"),
    *(name for n in range(1, NEXT + 1) for name in (f"next_{n}", f"next_{n}_similarity")),
    *("n_answers", "n_supported_workers", "dispersion", "separation"),
    *("camp_1", "camp_1_size", "camp_2", "camp_2_size", "camps_reason"),
    *("agreed_facts", "contested_facts", "facts_reason"),
)
KEYS = (
    *(*HEADER[:8], "next", "n_answers", "n_supported_workers", "dispersion", "separation"),
    *("camps", *HEADER[-4:]),
)


def files(report: ConsensusReport) -> Files:
    """The files by their names, each written piece by piece when it is its turn."""
    sheet = report.datasheet
    found: dict[str, Callable[[], Iterator[bytes]]] = {
        "consensus.csv": lambda: csv_chunks(HEADER, map(_flat, report.rows())),
        "consensus.jsonl": lambda: jsonl_chunks(KEYS, map(_nested, report.rows())),
        "datasheet.md": lambda: iter([sheet.markdown().encode()]),
        "datasheet.json": lambda: iter([_json(sheet.as_dict())]),
    }
    of_version = passages(report.run.version)
    if of_version.n_rows:
        found["passages.jsonl"] = lambda: of_version.chunks("jsonl")
    return found


def write(report: ConsensusReport, output: Path) -> list[str]:
    """Write the files into a folder, or into one file that ends in .zip; returns their names.

    All of them appear, or none. Raises `InputError` if the place cannot be written to.
    """
    made = files(report)
    if output.suffix.lower() == ".zip":
        with OutputFolder(output.parent) as folder:
            file = folder.open(output.name)
            file.writelines(zip_chunks(report))
        return list(made)
    with OutputFolder(output) as folder:
        for name, chunks in made.items():
            folder.open(name).writelines(chunks())
    return list(made)


def zip_chunks(report: ConsensusReport) -> Iterator[bytes]:
    """The files as one ZIP, in pieces."""
    return archive.zip_chunks(files(report))


def _flat(row: ConsensusRow) -> Row:
    others = [(near.answer, near.similarity) for near in row.next]
    others += [("", None)] * (NEXT - len(others))
    camps: list[Row] = [(camp.answer, camp.size) for camp in row.camps]
    camps = camps or [(None, None)] * 2
    return (
        *_begin(row),
        *(cell for pair in others for cell in pair),
        *_support(row),
        *(cell for pair in camps for cell in pair),
        row.camps_reason or None,
        "; ".join(f"{fact.value} ({fact.mentions} of {fact.of})" for fact in row.agreed) or None,
        "; ".join(f"{fact.value} ({fact.mentions})" for fact in row.contested) or None,
        row.facts_reason or None,
    )


def _nested(row: ConsensusRow) -> Row:
    others = [{"answer": near.answer, "similarity": near.similarity} for near in row.next]
    camps = [{"answer": camp.answer, "size": camp.size} for camp in row.camps]
    facts = [[asdict(fact) for fact in found] or None for found in (row.agreed, row.contested)]
    return (
        *(*_begin(row), others, *_support(row), camps or None, row.camps_reason or None),
        *(*facts, row.facts_reason or None),
    )


def _begin(row: ConsensusRow) -> Row:
    near = row.consensus
    return (
        *(row.question, row.text, row.passage, row.category, row.language),
        *((near.answer, near.similarity) if near else (None, None)),
        row.reason or None,
    )


def _support(row: ConsensusRow) -> Row:
    return row.n_answers, row.n_supported, row.dispersion, row.separation


def _json(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()
