"""Import model answers that were collected elsewhere, from files into the database.

The import uses the stages of `annotations.exchange.importing`: one transaction stores all rows or
none and overwrites nothing; the same file again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib.auth import get_user_model

from annotations.exchange import AnswerStatus, ColumnNames, ModelAnswerFile, read_model_answers
from annotations.exchange.importing.import_records import create_import
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.importing.target import (
    BATCH,
    IDS,
    get_or_create_version,
    lock_question_set,
    map_question_keys,
    open_transaction,
    quote_beginning,
    split_in_chunks,
)
from annotations.exchange.model_replies import (
    THINKING_KEPT,
    describe_thinking_counts,
    split_model_reply,
)
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.answers import DEFAULT_COLUMNS, is_same_text
from annotations.exchange.reading.source import Readable
from annotations.exchange.records import ModelAnswerRecord, ModelRequest
from annotations.exchange.thinking import separate_thinking
from annotations.models import Import, QuestionSet
from evaluation.models import LanguageModel, LLMResponse, Removal, compute_request_hash

__all__ = ["import_model_answers"]


LONGEST_NAME = 255
IMPORTED = compute_request_hash("", {})
"""The request of an imported answer: nobody told the prompt."""


def import_model_answers(
    question_set: QuestionSet,
    path: Readable,
    *,
    columns: ColumnNames = DEFAULT_COLUMNS,
    version: int | None = None,
    dry_run: bool = False,
    imported_by: int | None = None,
    keep_thinking: bool = False,
    model: str = "",
) -> ImportReport:
    """Add a file's model answers to the set's version numbered `version`, by default the latest.

    Models of the set's owner are found by their names; unknown models are created. A draft is
    published, as by `import_answers`. Raises `InputError` with every bad row, such as a question
    that the version lacks, an answer that is stored with another text or status, or a model that
    the importing user (`imported_by`, a primary key) may not see, because its name would give
    access to its details. The new rows can be removed by their `Import`. Thinking in an answer is
    stored in its `extra`, or with `keep_thinking` stays in the answer. `model` is the name for the
    model of a log that names none, or that needs another name.
    """
    file = read_model_answers(path, columns, keep_thinking, model)
    problems = Problems(file.name)
    first_lines = _find_first_lines(file, problems)
    with open_transaction(dry_run):
        # Locked: of two imports at a time both would find the same answers missing.
        target = get_or_create_version(lock_question_set(question_set), version, file.name)
        questions = map_question_keys(target, first_lines, problems)
        problems.raise_if_any()
        _refuse_hidden_models(file, question_set, imported_by, problems)
        models, made = _get_or_create_models(file, question_set)
        fresh = _select_new_answers(file, questions, models, problems)
        problems.raise_if_any()
        published = target.publish()
        brought = create_import(
            Import.What.MODEL_ANSWERS,
            target,
            file,
            imported_by=imported_by,
            n_new=len(fresh),
            n_unchanged=len(file.records) - len(fresh),
            n_models=len(made),
            publishes=published,
        )
        rows = _build_rows(file, fresh, questions, models, brought, keep_thinking)
        for batch in split_in_chunks(rows, BATCH):
            LLMResponse.objects.bulk_create(batch, batch_size=BATCH)
        LanguageModel.objects.filter(pk__in=made).update(brought_by=brought)
    n_thinking = sum(bool(record.thinking) for record in file.records)
    records = file.records if keep_thinking else ()
    n_kept = sum(separate_thinking(record.text).has_thinking for record in records)
    n_cut_off = sum(record.status is AnswerStatus.CUT_OFF for record in file.records)
    note = f"Version {target.number} is published now: its wording stays as it is."
    return ImportReport(
        what="model answers",
        file=file.name,
        sha256=file.sha256,
        question_set=question_set.name,
        version=target.number,
        n_rows=file.n_rows,
        n_new=len(fresh),
        n_unchanged=len(file.records) - len(fresh),
        n_repeated=file.n_repeated,
        n_empty=file.n_empty,
        created={"models": len(made)},
        kept_aside=file.kept_aside,
        notes=[*file.notes, *([note] if published else [])],
        warnings=[*file.warnings, *describe_thinking_counts(0, n_cut_off)],
        dry_run=dry_run,
        n_thinking=n_thinking,
        n_thinking_kept=n_kept,
    )


def _find_first_lines(file: ModelAnswerFile, problems: Problems) -> dict[str, int]:
    """Return the line of each question's first answer. Raises InputError for long model names."""
    questions: dict[str, int] = {}
    models: dict[str, int] = {}
    for record in file.records:
        questions.setdefault(record.question, record.line)
        models.setdefault(record.model, record.line)
    for name, line in models.items():
        if len(name) > LONGEST_NAME:
            problems.add_code(line, "model", "model_name_long", size=len(name), most=LONGEST_NAME)
    problems.raise_if_any()
    return questions


def _refuse_hidden_models(
    file: ModelAnswerFile, question_set: QuestionSet, imported_by: int | None, problems: Problems
) -> None:
    """Raise InputError for each model of the set's owner that the importing user may not see."""
    if imported_by in (None, question_set.owner_id):
        return
    lines: dict[str, int] = {}
    for record in file.records:
        lines.setdefault(record.model, record.line)
    user = get_user_model()._default_manager.get(pk=imported_by)
    owned = LanguageModel.objects.filter(owner_id=question_set.owner_id)
    # Sending answers makes a model visible; a name alone must not open the details of a hidden one.
    hidden = owned.exclude(pk__in=owned.visible_to(user).values("pk"))
    for some in split_in_chunks(lines, IDS):
        for name in hidden.filter(name__in=some).values_list("name", flat=True):
            problems.add_code(lines[name], "model", "model_hidden", name=name)
    problems.raise_if_any()


def _get_or_create_models(
    file: ModelAnswerFile, question_set: QuestionSet
) -> tuple[dict[str, int], list[int]]:
    """Return the primary keys of the file's models by name, and the keys of those just created."""
    keys: dict[str, int] = {}
    new: list[int] = []
    for name in dict.fromkeys(record.model for record in file.records):
        model, made = LanguageModel.objects.get_or_create(owner_id=question_set.owner_id, name=name)
        # The deletion under way would take the new answers with it.
        if Removal.objects.filter(target_id=model.public_id, finished_at=None).exists():
            raise InputError.from_code(file.name, "model_being_deleted", name=name)
        keys[name] = model.pk
        if made:
            new.append(model.pk)
    return keys, new


def _select_new_answers(
    file: ModelAnswerFile,
    questions: dict[str, int],
    models: dict[str, int],
    problems: Problems,
) -> list[ModelAnswerRecord]:
    """Return the answers that are not stored yet; add a problem for each that contradicts one."""
    waiting = {
        (models[r.model], questions[r.question], *_identify_request(r)): r for r in file.records
    }
    unchanged: set[int] = set()
    for some in split_in_chunks({question for _, question, *_ in waiting}, IDS):
        replies = LLMResponse.objects.filter(
            question__in=some, model__in=list(models.values())
        ).values_list(
            *("model_id", "question_id", "request", "sample", "text", "status", "finish_reason"),
            *(f"extra__{THINKING_KEPT}", "created_at"),
        )
        for model, question, request, sample, *stored in replies.iterator(BATCH):
            text, status, reason, thinking, since = stored
            record = waiting.get((model, question, request, sample))
            if record is None:
                continue
            unchanged.add(record.row)
            # What is older than the separation of thinking holds it in its text.
            text, status, _ = split_model_reply(
                text, AnswerStatus(status), reason, keep_thinking=bool(thinking)
            ).parts
            if status != record.status or not is_same_text(text, record.text):
                what = "status" if status != record.status else "text"
                problems.add_code(
                    record.line,
                    None,
                    "model_answer_differs",
                    model=record.model,
                    question=record.question,
                    since=f"{since:%Y-%m-%d}",
                    text=quote_beginning(text),
                    what=what,
                )
    return [record for record in file.records if record.row not in unchanged]


def _identify_request(record: ModelAnswerRecord) -> tuple[str, int]:
    """Return an answer's request hash and sample number; (`IMPORTED`, 0) if the file has none."""
    asking = record.asking
    if asking is None:
        return IMPORTED, 0
    return compute_request_hash(asking.prompt, asking.parameters), asking.sample


def _build_rows(
    file: ModelAnswerFile,
    fresh: list[ModelAnswerRecord],
    questions: dict[str, int],
    models: dict[str, int],
    brought: Import | None,
    keep_thinking: bool,
) -> Iterator[LLMResponse]:
    """Yield the database rows of the new answers."""
    for record in fresh:
        extra: dict[str, Any] = file.get_extra_cells(record)
        asking = record.asking or ModelRequest()
        extra = {**asking.extra, **extra}
        if record.thinking:
            extra["thinking"] = record.thinking
        if keep_thinking and separate_thinking(record.text).has_thinking:
            extra[THINKING_KEPT] = True
        request, sample = _identify_request(record)
        yield LLMResponse(
            model_id=models[record.model],
            question_id=questions[record.question],
            prompt=asking.prompt,
            parameters=asking.parameters,
            request=request,
            sample=sample,
            text=record.text,
            status=record.status.value,
            finish_reason=asking.finish_reason or str(extra.get("finish_reason", ""))[:100],
            extra=extra,
            brought_by=brought,
        )
