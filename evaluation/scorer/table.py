"""The Parquet file of an exported scorer: its columns, declared once, and how it is written."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.scorer.run import ScoredQuestion, ScorerContent
from evaluation.scorer.runtime.facts import FEWEST_PEOPLE

PARQUET = "data/test.parquet"


@dataclass(frozen=True)
class Column:
    """A column of the Parquet file, with its meaning for readers of the dataset card.

    Attributes
    ----------
    dtype : name of the type in Arrow and in Hugging Face's features; "" with `fields`.
    is_list : whether a cell holds a list of values. fields : of each value, if it is an object.
    """

    name: str
    dtype: str
    meaning: str = ""
    is_list: bool = False
    fields: tuple[Column, ...] = ()


FACT_FIELDS = (
    Column("slot", "string"),
    Column("shown", "string"),
    Column("backed", "int64"),
    Column("state", "string"),
)
COLUMNS = (
    Column("question", "string", "id of the question"),
    Column("text", "string", "text of the question, as people read it"),
    Column("passage", "string", "text that the question is about; empty without one"),
    Column("category", "string", "category of the question; empty without one"),
    Column("language", "string", "language of the question; empty if not stated"),
    Column("n_answers", "int64", "number of people's answers in the exemplary answer"),
    Column(
        "dispersion",
        "float64",
        "disagreement of the answers: 0 if all agree, to 1; null if undefined",
    ),
    Column("exemplary_vector", "float32", "vector of the exemplary answer", is_list=True),
    Column(
        "worker_scores",
        "float64",
        "similarity of each ranked person's answer to the exemplary "
        "answer of the others, ascending, without ids",
        is_list=True,
    ),
    Column(
        "facts",
        "",
        "values that people state: the kind (`slot`), the value (`shown`), the "
        f"number of people who state it (`backed`, at least {FEWEST_PEOPLE}) and whether they "
        "agree on it (`state`)",
        is_list=True,
        fields=FACT_FIELDS,
    ),
    Column(
        "consensus",
        "string",
        "one person's answer, the nearest to the exemplary answer; null "
        "unless answers are included",
    ),
)


def format_column_type(column: Column) -> str:
    """Return a column's type as text for the dataset card, such as "list of float32"."""
    dtype = "object" if column.fields else column.dtype
    return f"list of {dtype}" if column.is_list else dtype


def iterate_feature_lines(
    columns: tuple[Column, ...] = COLUMNS, indent: str = "  "
) -> Iterator[str]:
    """Yield the lines of Hugging Face's `features` in YAML."""
    for column in columns:
        yield f"{indent}- name: {column.name}"
        if column.fields:
            yield f"{indent}  list:"
            yield from iterate_feature_lines(column.fields, f"{indent}  ")
        else:
            yield f"{indent}  {'sequence' if column.is_list else 'dtype'}: {column.dtype}"


@dataclass(frozen=True)
class ParquetFile:
    """The Parquet file of an export; `n_bytes` is the size of its table in memory."""

    content: bytes
    n_rows: int
    n_bytes: int


def build_parquet(content: ScorerContent) -> ParquetFile:
    """Return the questions of an export as a Parquet file."""
    import pyarrow
    from pyarrow import parquet

    rows = [_build_row(question) for question in content.questions]
    schema = pyarrow.schema([(column.name, _build_arrow_type(column)) for column in COLUMNS])
    table = pyarrow.Table.from_pylist(rows, schema=schema)
    file = io.BytesIO()
    parquet.write_table(table, file)
    return ParquetFile(file.getvalue(), table.num_rows, table.nbytes)


def _build_arrow_type(column: Column) -> Any:
    """Return the Arrow type of a column."""
    import pyarrow

    inner = (
        pyarrow.struct([(field.name, _build_arrow_type(field)) for field in column.fields])
        if column.fields
        else getattr(pyarrow, column.dtype)()
    )
    return pyarrow.list_(inner) if column.is_list else inner


def _build_row(question: ScoredQuestion) -> dict[str, Any]:
    """Return a question as a row of the Parquet file: its cells by column."""
    slots = [] if question.facts is None else question.facts.to_json()["slots"]
    return {
        "question": question.question,
        "text": question.text,
        "passage": question.passage,
        "category": question.category,
        "language": question.language,
        "n_answers": question.n_answers,
        "dispersion": question.dispersion,
        "exemplary_vector": question.vector.astype(np.float32).tolist(),
        "worker_scores": list(question.worker_scores),
        "facts": [
            {"slot": slot["slot"], **{key: value[key] for key in ("shown", "backed", "state")}}
            for slot in slots
            for value in slot["values"]
        ],
        "consensus": question.consensus or None,
    }
