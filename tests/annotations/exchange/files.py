"""Small files for the tests, and what reading them says."""

import json
from pathlib import Path

import openpyxl
import pytest

from annotations.exchange import InputError, read_answers, read_model_answers

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


def only_fault(path: Path, read=read_answers, **options) -> str:
    error = fault(path, read, **options)
    assert error.total == 1, str(error)
    return str(error)


def texts(path: Path) -> list[tuple[str, str, str]]:
    return [(r.worker, r.question, r.text) for r in read_answers(path).records]


def model_fault(path: Path, **options) -> str:
    return only_fault(path, read_model_answers, **options)
