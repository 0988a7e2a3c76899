"""A file of graded answers, or a folder or an archive of XML."""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from annotations.exchange.graded.layouts import SEMEVAL
from annotations.exchange.graded.records import MarkedAnswer, MarkedFile
from annotations.exchange.graded.semeval import MOST_BYTES, read_semeval
from annotations.exchange.graded.tables import read_table
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.source import Readable, Source, source_of

MOST_FILES = 5_000
ACCEPTED = ".csv,.tsv,.jsonl,.ndjson,.json,.xlsx,.xml,.zip"


def read_marked(given: Readable, columns: Mapping[str, str] | None = None) -> MarkedFile:
    """Read graded answers in any layout of `layouts.LAYOUTS`; labels have no values yet.

    CSV, TSV, JSON, JSON Lines and XLSX hold a table; .xml, a folder of such files and a .zip of
    them hold SemEval's. Of several answers of a worker to a question the one of the lowest `order`
    counts, the first one in the file where there is no order.

    Parameters
    ----------
    columns : what columns of the table are called, by our words (`tables.NAMED`); what is not
        named is looked for by the names that `layouts` has.

    Raises
    ------
    InputError : every bad row (no question, a worker in some rows only), no graded answer at all,
        or whatever the format forbids.
    """
    problems = Problems(_name(given))
    if _is_folder(given) or source_of(given).suffix in (".xml", ".zip"):
        found = _xml(given, problems)
    else:
        found = read_table(given, columns or {}, problems)
    if not found.answers and not problems.total:
        if found.n_unmarked:
            problems.add_code(None, None, "answers_all_ungraded", n_ungraded=found.n_unmarked)
        else:
            problems.add_code(None, None, "answers_ungraded")
    _name_all_or_none(found, problems)
    problems.raise_if_any()
    kept = _first_attempts(found.answers)
    found.n_repeated, found.answers = len(found.answers) - len(kept), kept
    return found


def _is_folder(given: Readable) -> bool:
    return not isinstance(given, Source) and Path(given).is_dir()


def _name(given: Readable) -> str:
    return source_of(given).name


def _xml(given: Readable, told: Problems) -> MarkedFile:
    found, digest = MarkedFile(told.file, layout=SEMEVAL.slug), hashlib.sha256()
    for name, handle in _files(given):
        problems = Problems(name)
        content = handle.read(MOST_BYTES + 1)
        digest.update(hashlib.sha256(content).digest())
        read_semeval(io.BytesIO(content), problems, found)
        try:
            problems.raise_if_any()
        except InputError as error:
            told.extend(error.problems)
    found.sha256 = digest.hexdigest()
    return found


def _files(given: Readable) -> Iterator[tuple[str, BinaryIO]]:
    """Yield each XML file with its name, in the order of names."""
    if _is_folder(given):
        folder = Path(str(given))
        paths = sorted(path for path in folder.rglob("*.xml") if path.is_file())
        _refuse_count(folder.name, len(paths))
        for path in paths:
            with source_of(path).open() as handle:
                yield str(path.relative_to(folder)), handle
        return
    source = source_of(given)
    source.stamp()  # what is wrong with the path is told there
    if source.suffix == ".zip":
        yield from _members(source)
        return
    with source.open() as handle:
        yield source.name, handle


def _members(source: Source) -> Iterator[tuple[str, BinaryIO]]:
    left = MOST_BYTES
    try:
        with source.open() as outer, zipfile.ZipFile(outer) as archive:
            members = sorted(
                (one for one in archive.infolist() if one.filename.lower().endswith(".xml")),
                key=lambda one: one.filename,
            )
            _refuse_count(source.name, len(members))
            for one in members:
                with archive.open(one) as part:
                    # What an archive says of its sizes is its own word: what comes is counted.
                    content = part.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise InputError.from_code(
                        source.name, "archive_too_large", most=MOST_BYTES >> 20
                    )
                yield one.filename, io.BytesIO(content)
    # A password is a RuntimeError of zipfile, a packing that it does not know the other.
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
        raise InputError.from_code(source.name, "archive_unreadable", error=str(error)) from error


def _refuse_count(name: str, count: int) -> None:
    if not count:
        raise InputError.from_code(name, "no_xml_file")
    if count > MOST_FILES:
        raise InputError.from_code(name, "archive_many_files", most=MOST_FILES)


def _name_all_or_none(found: MarkedFile, problems: Problems) -> None:
    """Note rows without a worker where others have one; ids that are silent silence all others."""
    without = [one for one in found.answers if not one.worker]
    if not without or len(without) == len(found.answers):
        return
    if found.layout == SEMEVAL.slug:
        found.notes.append(
            f"{len(without):,} of {len(found.answers):,} ids do not say whose answer it is: no "
            "worker is taken from any of them."
        )
        found.answers = [replace(one, worker="", order=None) for one in found.answers]
        return
    for one in without:
        problems.add_code(one.line, "worker", "graded_worker_missing")


def _first_attempts(answers: list[MarkedAnswer]) -> list[MarkedAnswer]:
    first: dict[tuple[str, str], MarkedAnswer] = {}
    for one in answers:
        if not one.worker:
            return answers
        before = first.setdefault((one.worker, one.question), one)
        if one.order is not None and before.order is not None and one.order < before.order:
            first[one.worker, one.question] = one
    return list(first.values())
