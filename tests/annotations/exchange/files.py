"""Small files for the tests, and what reading them says."""

import json
from pathlib import Path

import openpyxl
import pytest

from annotations.exchange import InputError, Problem, read_answers, read_model_answers
from tests.problems import check_problem, only_problem

HEADER = "worker,question,answer\n"


def write(folder: Path, content: str | bytes, name: str = "answers.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def write_jsonl(folder: Path, *objects: object, name: str = "answers.jsonl") -> Path:
    return write(folder, "".join(json.dumps(o) + "\n" for o in objects), name)


def write_xlsx(folder: Path, *rows: list[object], name: str = "answers.xlsx") -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(folder / name)
    return folder / name


def fault(path: Path, read=read_answers, **options) -> InputError:
    with pytest.raises(InputError) as caught:
        read(path, **options)
    return caught.value


def only_fault(path: Path, read=read_answers, **options) -> Problem:
    return only_problem(fault(path, read, **options))


def check_fault(path: Path, code: str, /, *, reader=read_answers, **expected) -> None:
    """Assert that reading ends in one problem with this code, place and values."""
    check_problem(only_fault(path, reader), code, **expected)


def texts(path: Path) -> list[tuple[str, str, str]]:
    return [(r.worker, r.question, r.text) for r in read_answers(path).records]


def check_model_fault(path: Path, code: str, /, **expected) -> None:
    """Assert the same of a file of models' answers."""
    check_fault(path, code, reader=read_model_answers, **expected)
