"""Field mappings from other benchmarks' records to items, with built-in mappings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from annotations.exchange.problems import Problems
from annotations.exchange.reading.nested_records import Paths
from evaluation.core.text.items import CHOICE, EXACT, EXTRACTIVE, FREE, KINDS, MATCHERS
from evaluation.runs.files.problem_messages import add_problem, build_error


class AnswerForm(StrEnum):
    """How a record of another benchmark states its accepted answers, such as by text or index."""

    TEXT = "text"
    LABEL = "label"
    PLACE = "place"
    FLAGS = "flags"
    YES_NO = "yes_no"


@dataclass(frozen=True)
class FieldMapping:
    """Where to find each field of an item in the records of another benchmark.

    Attributes
    ----------
    kind, matcher, dataset : the same for all items; `dataset_from` is a path instead.
    records : path of the records in a JSON document. In JSON Lines each line is a record, in a
        table each row.
    item : path of the id; without it items are numbered from 1.
    question, context, choices, answers, labels : paths; of several the first that exists counts.
    fixed_choices : choices of all items of the kind choice, in place of `choices`.
    answers_are : form of the answers: texts; labels of choices, which `labels` leads to (without
        it they are the keys of an object of choices); indices from 0; a flag for each choice; yes
        or no.
    parted_by : separator of several answers in a cell.
    unanswerable : path of a flag of questions without an answer.
    is_accepted : path of a flag whether the record's answer is right. Records with one id are one
        item then, whose accepted answers are those of its records with this flag.
    header : column names of a CSV file without a header.
    tsv_quote : quote character of a TSV file; empty where quotation marks belong to the cells.
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
    answers_are: AnswerForm = AnswerForm.TEXT
    parted_by: str = ""
    unanswerable: Paths = ()
    matcher: str = ""
    dataset: str = ""
    dataset_from: Paths = ()
    header: tuple[str, ...] = ()
    is_accepted: Paths = ()
    tsv_quote: str = '"'

    @classmethod
    def read_json_file(cls, path: Path) -> Self:
        """Return the mapping in a JSON file; raises `InputError` if it is invalid."""
        try:
            entries = json.loads(path.read_text(encoding="utf-8-sig"))
        except (OSError, ValueError, RecursionError) as error:
            cause = getattr(error, "strerror", None) or str(error)
            raise build_error(str(path), "mapping_unreadable", cause=cause) from error
        problems = Problems(path.name)
        if not isinstance(entries, dict):
            add_problem(problems, None, None, "mapping_no_object")
            problems.raise_if_any()
        values = {
            name: _convert_mapping_value(name, value, problems) for name, value in entries.items()
        }
        for name in ("kind", "question", "answers"):
            if name not in values:
                add_problem(problems, None, name, "field_missing")
        problems.raise_if_any()
        return cls(**values)


ALLOWED_VALUES: Mapping[str, Sequence[str]] = {
    "kind": KINDS,
    "matcher": MATCHERS,
    "answers_are": tuple(AnswerForm),
}


def _convert_mapping_value(name: str, value: Any, problems: Problems) -> Any:
    """Return a mapping field's value converted from JSON; add an invalid one to `problems`."""
    known = {each.name: each for each in fields(FieldMapping)}
    if name not in known:
        add_problem(problems, None, name, "field_unknown", known=", ".join(known))
    elif isinstance(known[name].default, tuple) or name in ("question", "answers"):
        paths = [value] if isinstance(value, str) else value
        if isinstance(paths, list) and all(isinstance(path, str) for path in paths):
            return tuple(paths)
        add_problem(problems, None, name, "field_no_path")
    elif not isinstance(value, str):
        add_problem(problems, None, name, "field_no_text")
    elif name in ALLOWED_VALUES and value not in ALLOWED_VALUES[name]:
        choices = ", ".join(ALLOWED_VALUES[name])
        add_problem(problems, None, name, "field_no_choice", choices=choices)
    elif name == "answers_are":
        return AnswerForm(value)
    return value


def set_default_dataset(mapping: FieldMapping, dataset: str) -> FieldMapping:
    """Return the mapping with the data set name `dataset`, unless it has one."""
    return mapping if mapping.dataset else replace(mapping, dataset=dataset)


READY: Mapping[str, FieldMapping] = {
    # {"data": [{"title", "paragraphs": [{"context", "qas": [{"id", "question", "is_impossible",
    # "answers": [{"text", "answer_start"}]}]}]}]}, or rows with "answers": {"text": [...]}.
    "squad2": FieldMapping(
        kind=EXTRACTIVE,
        records=("data.*.paragraphs.*.qas.*", "*"),
        item=("id",),
        question=("question",),
        context=("^.context", "context"),
        answers=("answers.text", "answers.*.text", "answers"),
        unanswerable=("is_impossible",),
    ),
    # CSV: Question, Best Answer, Correct Answers (separated by ;) ...; rows of the hub: question,
    # best_answer, correct_answers.
    "truthfulqa": FieldMapping(
        kind=FREE,
        question=("question", "Question"),
        answers=("correct_answers", "Correct Answers"),
        parted_by=";",
    ),
    # {"question", "mc1_targets": {"choices": [...], "labels": [...]}}, or {text: 0 or 1}.
    "truthfulqa-mc": FieldMapping(
        kind=CHOICE,
        question=("question",),
        choices=("mc1_targets.choices", "mc1_targets"),
        answers=("mc1_targets.labels", "mc1_targets"),
        answers_are=AnswerForm.FLAGS,
    ),
    # CSV without a header: question, four choices, the letter; rows of the hub: question, subject,
    # choices, answer (a number from 0).
    "mmlu": FieldMapping(
        kind=CHOICE,
        question=("question",),
        choices=("choices", "A,B,C,D"),
        answers=("answer",),
        answers_are=AnswerForm.PLACE,
        dataset_from=("subject",),
        header=("question", "A", "B", "C", "D", "answer"),
    ),
    # {"id", "question": {"stem", "choices": [{"text", "label"}]}, "answerKey"}, or rows of the hub
    # with "question" and "choices": {"text": [...], "label": [...]}. Labels are A to E or 1 to 5.
    "arc": FieldMapping(
        kind=CHOICE,
        item=("id",),
        question=("question.stem", "question"),
        choices=("question.choices.*.text", "choices.text"),
        labels=("question.choices.*.label", "choices.label"),
        answers=("answerKey",),
        answers_are=AnswerForm.LABEL,
    ),
    # {"question", "title", "answer": true, "passage"}; of SuperGLUE "label" and "idx".
    "boolq": FieldMapping(
        kind=CHOICE,
        item=("idx",),
        question=("question",),
        context=("passage",),
        fixed_choices=("yes", "no"),
        answers=("answer", "label"),
        answers_are=AnswerForm.YES_NO,
    ),
    # {"Data": [{"Question", "QuestionId", "Answer": {"Value", "Aliases", ...}}]}, or rows of the
    # hub with "question", "question_id", "answer": {"value", "aliases"}.
    "triviaqa": FieldMapping(
        kind=FREE,
        records=("Data.*", "*"),
        item=("QuestionId", "question_id"),
        question=("Question", "question"),
        answers=("Answer.Aliases", "answer.aliases", "Answer.Value", "answer.value"),
        matcher=EXACT,
    ),
    # {"question", "answer": text, "options": {"A": ...}, "answer_idx": "A", "meta_info"}.
    "medqa": FieldMapping(
        kind=CHOICE,
        question=("question",),
        choices=("options",),
        answers=("answer_idx", "answer"),
        answers_are=AnswerForm.LABEL,
    ),
    # TSV without quotes, a row for each sentence: QuestionID, Question, DocumentID, DocumentTitle,
    # SentenceID, Sentence, Label; rows of the hub: question_id, question, document_title, answer,
    # label. Sentences with label 1 answer the question; many questions have none.
    "wikiqa": FieldMapping(
        kind=FREE,
        item=("QuestionID", "question_id"),
        question=("Question", "question"),
        answers=("Sentence", "answer"),
        is_accepted=("Label", "label"),
        tsv_quote="",
    ),
    # {"Problem", "Rationale", "options": "a ) 38 , b ) 27.675 , ...", "correct": "a", "category"}.
    "mathqa": FieldMapping(
        kind=CHOICE,
        question=("Problem",),
        choices=("options",),
        answers=("correct",),
        answers_are=AnswerForm.LABEL,
    ),
}


def load_mapping(name: str) -> FieldMapping:
    """Return a built-in mapping by name, or the mapping in a JSON file of that path.

    Raises `InputError` for an unknown name or invalid file.
    """
    if name in READY:
        return set_default_dataset(READY[name], name)
    path = Path(name)
    if path.suffix != ".json":
        raise build_error(name, "mapping_unknown", known=", ".join(READY))
    return set_default_dataset(FieldMapping.read_json_file(path), path.stem)
