"""Write a run's consensus as files: tables, passages and datasheet, in a folder or ZIP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from annotations.exchange.writing import archive
from annotations.exchange.writing.archive import Files
from annotations.exchange.writing.folder import OutputFolder
from annotations.exchange.writing.formats import write_csv, write_jsonl
from evaluation.grading.results.report.consensus import NEXT, ConsensusReport, ConsensusRow
from evaluation.runs.exports import Row, build_passages_export

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


def build_consensus_files(report: ConsensusReport) -> Files:
    """Return the consensus files of a run by name; each is a function that yields its bytes."""
    sheet = report.datasheet
    writers: dict[str, Callable[[], Iterator[bytes]]] = {
        "consensus.csv": lambda: write_csv(HEADER, map(_build_csv_row, report.iterate_rows())),
        "consensus.jsonl": lambda: write_jsonl(KEYS, map(_build_json_row, report.iterate_rows())),
        "datasheet.md": lambda: iter([sheet.format_markdown().encode()]),
        "datasheet.json": lambda: iter([_encode_json(sheet.as_dict())]),
    }
    passage_file = build_passages_export(report.run.version)
    if passage_file.n_rows:
        writers["passages.jsonl"] = lambda: passage_file.iterate_chunks("jsonl")
    return writers


def write_consensus_files(report: ConsensusReport, output: Path) -> list[str]:
    """Write the consensus files into a folder or .zip file; return their names.

    All files are written, or none. Raises `InputError` if the place cannot be written to.
    """
    writers = build_consensus_files(report)
    if output.suffix.lower() == ".zip":
        with OutputFolder(output.parent) as folder:
            file = folder.open(output.name)
            file.writelines(iterate_consensus_zip(report))
        return list(writers)
    with OutputFolder(output) as folder:
        for name, chunks in writers.items():
            folder.open(name).writelines(chunks())
    return list(writers)


def iterate_consensus_zip(report: ConsensusReport) -> Iterator[bytes]:
    """Yield the bytes of a ZIP file with all consensus files of a run."""
    return archive.write_zip(build_consensus_files(report))


def _build_csv_row(row: ConsensusRow) -> Row:
    """Return the consensus on a question as a row of consensus.csv."""
    others = [(near.answer, near.similarity) for near in row.next]
    others += [("", None)] * (NEXT - len(others))
    camps: list[Row] = [(camp.answer, camp.size) for camp in row.camps]
    camps = camps or [(None, None)] * 2
    return (
        *_build_first_cells(row),
        *(cell for pair in others for cell in pair),
        *_build_support_cells(row),
        *(cell for pair in camps for cell in pair),
        row.camps_reason or None,
        "; ".join(f"{fact.value} ({fact.mentions} of {fact.of})" for fact in row.agreed) or None,
        "; ".join(f"{fact.value} ({fact.mentions})" for fact in row.contested) or None,
        row.facts_reason or None,
    )


def _build_json_row(row: ConsensusRow) -> Row:
    """Return the consensus on a question as the values of a line of consensus.jsonl."""
    others = [{"answer": near.answer, "similarity": near.similarity} for near in row.next]
    camps = [{"answer": camp.answer, "size": camp.size} for camp in row.camps]
    facts = [[asdict(fact) for fact in group] or None for group in (row.agreed, row.contested)]
    return (
        *(
            *_build_first_cells(row),
            others,
            *_build_support_cells(row),
            camps or None,
            row.camps_reason or None,
        ),
        *(*facts, row.facts_reason or None),
    )


def _build_first_cells(row: ConsensusRow) -> Row:
    """Return the first cells of a question's row: question, text, passage, nearest answer."""
    near = row.consensus
    return (
        *(row.question, row.text, row.passage, row.category, row.language),
        *((near.answer, near.similarity) if near else (None, None)),
        row.reason or None,
    )


def _build_support_cells(row: ConsensusRow) -> Row:
    """Return a question's cells on support: answers, ranked workers, dispersion, separation."""
    return row.n_answers, row.n_supported, row.dispersion, row.separation


def _encode_json(value: object) -> bytes:
    """Return a value as indented JSON, encoded in UTF-8."""
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()
