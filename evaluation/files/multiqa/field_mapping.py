"""Where the fields of an item are in a record of a file of somebody else's (see `mapping`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from annotations.exchange.problems import Problems
from evaluation.files.problem_messages import file_error, note_problem
from evaluation.flow.multiqa.items import KINDS, MATCHERS

Paths = tuple[str, ...]


class Form(StrEnum):
    """What the answers of a record are."""

    TEXT = "text"
    LABEL = "label"
    PLACE = "place"
    FLAGS = "flags"
    YES_NO = "yes_no"


@dataclass(frozen=True)
class FieldMapping:
    """Where the fields of an item stand in a record.

    Attributes
    ----------
    kind, matcher, dataset : of all items; a data set may be a path too, as `dataset_from`.
    records : where the records are in a JSON document; each line of JSON Lines, each row is one.
    item : the id; without one items are numbered from 1.
    question, context, choices, answers, labels : paths, alternatives in their order. Without
        `choices` of the kind choice there are `fixed_choices`.
    answers_are : texts; labels, which stand beside the choices in `labels` (the keys of an object
        of choices without it); places from 0; flags, one for each choice; yes or no.
    parted_by : what parts several answers in a cell.
    unanswerable : where a record says that it has no answer.
    header : names of the columns of a CSV file without a header.
    """

    kind: str
    question: Paths
    answers: Paths
    records: Paths = ("*",)
    item: Paths = ()
    context: Paths = ()
    choices: Paths = ()
    fixed_choices: tuple[str, ...] = ()
    labels: Paths = ()
    answers_are: Form = Form.TEXT
    parted_by: str = ""
    unanswerable: Paths = ()
    matcher: str = ""
    dataset: str = ""
    dataset_from: Paths = ()
    header: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a mapping that somebody wrote, a JSON object of these fields.

        Raises `InputError`.
        """
        try:
            given = json.loads(path.read_text(encoding="utf-8-sig"))
        except (OSError, ValueError, RecursionError) as error:
            cause = getattr(error, "strerror", None) or str(error)
            raise file_error(str(path), "mapping_unreadable", cause=cause) from error
        problems = Problems(path.name)
        if not isinstance(given, dict):
            note_problem(problems, None, None, "mapping_no_object")
            problems.raise_if_any()
        values = {name: _checked(name, value, problems) for name, value in given.items()}
        for name in ("kind", "question", "answers"):
            if name not in values:
                note_problem(problems, None, name, "field_missing")
        problems.raise_if_any()
        return cls(**values)


ONE_OF: Mapping[str, Sequence[str]] = {
    "kind": KINDS,
    "matcher": MATCHERS,
    "answers_are": tuple(Form),
}


def _checked(name: str, value: Any, problems: Problems) -> Any:
    """Return the value of a field of a mapping; what is wrong with it is noted."""
    known = {one.name: one for one in fields(FieldMapping)}
    if name not in known:
        note_problem(problems, None, name, "field_unknown", known=", ".join(known))
    elif isinstance(known[name].default, tuple) or name in ("question", "answers"):
        listed = [value] if isinstance(value, str) else value
        if isinstance(listed, list) and all(isinstance(one, str) for one in listed):
            return tuple(listed)
        note_problem(problems, None, name, "field_no_path")
    elif not isinstance(value, str):
        note_problem(problems, None, name, "field_no_text")
    elif name in ONE_OF and value not in ONE_OF[name]:
        note_problem(problems, None, name, "field_no_choice", choices=", ".join(ONE_OF[name]))
    elif name == "answers_are":
        return Form(value)
    return value


def named(mapping: FieldMapping, dataset: str) -> FieldMapping:
    """Return a mapping whose items are of a data set, where it names none."""
    return mapping if mapping.dataset else replace(mapping, dataset=dataset)
