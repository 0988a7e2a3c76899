"""Ready mappings for benchmarks as they are published, in their own files and on the hub."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evaluation.files.multiqa.field_mapping import FieldMapping, Form, named
from evaluation.files.problem_messages import file_error
from evaluation.flow.multiqa.items import CHOICE, EXACT, EXTRACTIVE, FREE

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
    # CSV: Question, Best Answer, Correct Answers (parted by ;) ...; rows of the hub: question,
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
        answers_are=Form.FLAGS,
    ),
    # CSV without a header: question, four choices, the letter; rows of the hub: question, subject,
    # choices, answer (a number from 0).
    "mmlu": FieldMapping(
        kind=CHOICE,
        question=("question",),
        choices=("choices", "A,B,C,D"),
        answers=("answer",),
        answers_are=Form.PLACE,
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
        answers_are=Form.LABEL,
    ),
    # {"question", "title", "answer": true, "passage"}; of SuperGLUE "label" and "idx".
    "boolq": FieldMapping(
        kind=CHOICE,
        item=("idx",),
        question=("question",),
        context=("passage",),
        fixed_choices=("yes", "no"),
        answers=("answer", "label"),
        answers_are=Form.YES_NO,
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
        answers_are=Form.LABEL,
    ),
}


def mapping_of(name: str) -> FieldMapping:
    """Return a ready mapping, or that of a file. Raises `InputError`."""
    if name in READY:
        return named(READY[name], name)
    path = Path(name)
    if path.suffix != ".json":
        raise file_error(name, "mapping_unknown", known=", ".join(READY))
    return named(FieldMapping.read(path), path.stem)
