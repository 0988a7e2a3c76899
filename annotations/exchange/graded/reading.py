"""Read graded answers from a table, an XML file, or a folder or zip archive of XML files."""

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
from annotations.exchange.graded.tables import read_marked_table
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.source import Readable, Source, make_source

MOST_FILES = 5_000
ACCEPTED = ".csv,.tsv,.jsonl,.ndjson,.json,.xlsx,.xml,.zip"


def read_marked_answers(path: Readable, columns: Mapping[str, str] | None = None) -> MarkedFile:
    """Read the graded answers of a file in any known layout; labels stay labels.

    CSV, TSV, JSON, JSON Lines and XLSX hold a table; .xml, a folder of such files and a .zip of
    them hold SemEval's. Of several answers of a worker to a question, the one with the lowest
    `order` counts; without an order, the first one in the file.

    Parameters
    ----------
    columns : the names of the table's columns by our keys (`tables.NAMED`); other columns are
        found by the names in `layouts`.

    Raises
    ------
    InputError : every bad row (no question, a worker in some rows only), no graded answer at all,
        or what the format forbids.
    """
    problems = Problems(_get_file_name(path))
    if _is_folder(path) or make_source(path).suffix in (".xml", ".zip"):
        marked = _read_xml_files(path, problems)
    else:
        marked = read_marked_table(path, columns or {}, problems)
    if not marked.answers and not problems.total:
        if marked.n_unmarked:
            problems.add_code(None, None, "answers_all_ungraded", n_ungraded=marked.n_unmarked)
        else:
            problems.add_code(None, None, "answers_ungraded")
    _require_all_or_no_workers(marked, problems)
    problems.raise_if_any()
    # After the faults are raised, so that they name all rows and not only first attempts.
    first_attempts = _pick_first_attempts(marked.answers)
    marked.n_repeated, marked.answers = len(marked.answers) - len(first_attempts), first_attempts
    return marked


def _is_folder(path: Readable) -> bool:
    """Return whether a path is a folder; False for a `Source`."""
    return not isinstance(path, Source) and Path(path).is_dir()


def _get_file_name(path: Readable) -> str:
    """Return the file name of a path or `Source`."""
    return make_source(path).name


def _read_xml_files(path: Readable, all_problems: Problems) -> MarkedFile:
    """Read the answers of all XML files at a path; bad ones go to the problems of their file."""
    marked, digest = MarkedFile(all_problems.file, layout=SEMEVAL.slug), hashlib.sha256()
    for name, handle in _open_xml_files(path):
        problems = Problems(name)
        content = handle.read(MOST_BYTES + 1)
        # Of hashes, not of the bytes: joined bytes do not tell where one file ends.
        digest.update(hashlib.sha256(content).digest())
        read_semeval(io.BytesIO(content), problems, marked)
        try:
            problems.raise_if_any()
        except InputError as error:
            all_problems.extend(error.problems)
    marked.sha256 = digest.hexdigest()
    return marked


def _open_xml_files(place: Readable) -> Iterator[tuple[str, BinaryIO]]:
    """Yield the name and the open handle of each XML file, sorted by name."""
    if _is_folder(place):
        folder = Path(str(place))
        # Sorted, because the hash of the answers must not depend on the order of the file system.
        paths = sorted(file_path for file_path in folder.rglob("*.xml") if file_path.is_file())
        _refuse_file_count(folder.name, len(paths))
        for file_path in paths:
            with make_source(file_path).open() as handle:
                yield str(file_path.relative_to(folder)), handle
        return
    source = make_source(place)
    source.read_stamp()  # raises `InputError` for a path that cannot be read
    if source.suffix == ".zip":
        yield from _open_archived_xml_files(source)
        return
    with source.open() as handle:
        yield source.name, handle


def _open_archived_xml_files(source: Source) -> Iterator[tuple[str, BinaryIO]]:
    """Yield (name, content) of each XML file in a zip archive; `InputError` above 100 MiB."""
    bytes_left = MOST_BYTES
    try:
        with source.open() as outer, zipfile.ZipFile(outer) as archive:
            members = sorted(
                (
                    member
                    for member in archive.infolist()
                    if member.filename.lower().endswith(".xml")
                ),
                key=lambda member: member.filename,
            )
            _refuse_file_count(source.name, len(members))
            for member in members:
                with archive.open(member) as part:
                    # What an archive says of its sizes is its own word: what comes is counted.
                    content = part.read(bytes_left + 1)
                bytes_left -= len(content)
                if bytes_left < 0:
                    raise InputError.from_code(
                        source.name, "archive_too_large", most=MOST_BYTES >> 20
                    )
                yield member.filename, io.BytesIO(content)
    # A password is a RuntimeError of zipfile, a packing that it does not know the other.
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
        raise InputError.from_code(source.name, "archive_unreadable", error=str(error)) from error


def _refuse_file_count(name: str, count: int) -> None:
    """Raise `InputError` if there is no XML file or there are more than 5,000."""
    if not count:
        raise InputError.from_code(name, "no_xml_file")
    if count > MOST_FILES:
        raise InputError.from_code(name, "archive_many_files", most=MOST_FILES)


def _require_all_or_no_workers(marked: MarkedFile, problems: Problems) -> None:
    """Record a problem if only some rows name a worker; in SemEval files remove all workers."""
    without = [answer for answer in marked.answers if not answer.worker]
    if not without or len(without) == len(marked.answers):
        return
    if marked.layout == SEMEVAL.slug:
        marked.notes.append(
            f"{len(without):,} of {len(marked.answers):,} ids do not name the author of the "
            f"answer: no worker is read from any of them."
        )
        marked.answers = [replace(answer, worker="", order=None) for answer in marked.answers]
        return
    for answer in without:
        problems.add_code(answer.line, "worker", "graded_worker_missing")


def _pick_first_attempts(answers: list[MarkedAnswer]) -> list[MarkedAnswer]:
    """Return each worker's first attempt at each question; all answers if some have no worker."""
    first: dict[tuple[str, str], MarkedAnswer] = {}
    for answer in answers:
        if not answer.worker:
            return answers
        earlier = first.setdefault((answer.worker, answer.question), answer)
        if answer.order is not None and earlier.order is not None and answer.order < earlier.order:
            first[answer.worker, answer.question] = answer
    return list(first.values())
