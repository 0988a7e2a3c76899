"""MultiQ&A as a study: questions are reworded, every wording is asked, and the replies evaluated.

`study_files` tells the flow. Whatever a model said is in the journal of the folder, so that the
same command goes on where it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from annotations.exchange import AnswerStatus, InputError, OutputFolder
from annotations.exchange.ids import clean_id
from annotations.exchange.problems import Problems
from annotations.exchange.reading.source import source_of
from annotations.exchange.reading.tables import open_table
from evaluation.files.asking import Asking
from evaluation.files.journal import NAME as JOURNAL
from evaluation.files.journal import Row
from evaluation.files.metrics import FILES, refuse_to_replace
from evaluation.files.multiqa.evaluating import (
    CROWD,
    EvaluatedFiles,
    items_of,
    read_crowd,
    write_evaluated,
)
from evaluation.files.multiqa.field_mapping import FieldMapping
from evaluation.files.multiqa.reading import (
    AS_OURS,
    ItemsFile,
    MultiqaColumns,
)
from evaluation.files.problem_messages import file_error, note_problem
from evaluation.files.study import EndedEarlyError, Progress, Step, StudyFolder
from evaluation.flow.asking.plan import Item
from evaluation.flow.inputs import Answers
from evaluation.flow.metrics import Exclusions
from evaluation.flow.multiqa import reranking, rewording
from evaluation.flow.multiqa.answering import form_of
from evaluation.flow.multiqa.crowd import measured_by_crowd
from evaluation.flow.multiqa.evaluation import evaluate
from evaluation.flow.multiqa.items import MultiqaItem
from evaluation.flow.multiqa.parameters import MultiqaParameters
from evaluation.flow.multiqa.replies import Replies
from evaluation.flow.multiqa.rewording import Checker, Rewording
from evaluation.flow.multiqa.study import (
    Wording,
    conversations_of,
    is_unusable,
    note_fewer,
    rejected,
    reworded,
    wordings_of,
)
from evaluation.options import TERMINAL
from evaluation.words.message import Message

REPLIES, REWORDINGS = "replies.csv", "rewordings.csv"
TABLES = (*FILES, REPLIES, REWORDINGS, CROWD)
REPLY_COLUMNS = (
    *("system", "item", "variant", "variant_text", "reply", "status", "finish_reason"),
    *("prompt_tokens", "completion_tokens", "seconds", "attempts", "cost", "error"),
)
REWORDING_COLUMNS = (
    *("item", "variant", "variant_text", "attempt", "reason", "cosine", "entailment"),
)
NO_QUESTION = "no_question"


@dataclass(frozen=True)
class MultiqaStudy:
    """What is asked of whom.

    Attributes
    ----------
    rewordings : how many are wanted of each question. variants : a table of wordings (item,
        variant_text) that somebody typed, in place of a rewriter.
    crowd : people's answers to the items, to measure replies by as well.
    rewriter : the SPEC of another model than the one that answers; `rewriter_tokens` is the
        longest of its replies.
    meaning : the least cosine of a rewording to its question; 0 for any. nli, entailment : a model
        of entailment, and the least probability both ways.
    """

    items: Path
    output: Path
    parameters: MultiqaParameters
    columns: MultiqaColumns = AS_OURS
    mapping: FieldMapping | None = None
    crowd: Path | None = None
    rewordings: int = 5
    variants: Path | None = None
    rewriter: str | None = None
    rewriter_tokens: int = 512
    rewriter_key_variable: str | None = None
    meaning: float = 0.8
    nli: str | None = None
    entailment: float = 0.5


@dataclass(frozen=True)
class Studied:
    """What came of it, and whether every request has a reply."""

    evaluated: EvaluatedFiles
    rewordings: list[Rewording]
    complete: bool


def study_files(request: MultiqaStudy, asking: Asking, progress: Progress) -> Studied:
    """Reword, ask what the folder does not hold yet, evaluate, and write every table.

    Raises
    ------
    InputError
        A file or the folder cannot be used; nothing was asked.
    BackendError
        A model cannot be had, or texts cannot be embedded.
    EndedEarlyError
        Not everything was asked, or no rewording can be used; what came is kept, and no table is
        written.
    """
    inputs = (request.items, request.variants, request.crowd)
    refuse_to_replace(request.output, TABLES, inputs)
    refuse_folder_of_others(request.output)
    items = items_of(request.items, request.columns, request.mapping)
    _refuse_without_questions(items)
    hashes = {"items": items.sha256}
    left_out = Exclusions()
    people: Answers | None = None
    if request.crowd is not None:
        people, hashes["crowd"] = read_crowd(request.crowd, items.items, left_out)
    answered = set(people.questions) if people else set()
    asked = [
        number for number, item in enumerate(items.items) if item.answers or item.item in answered
    ]
    if not asked:
        raise InputError.single(
            items.name, "no item has an accepted answer", "Fill in the column answers."
        )
    ids = [items.items[number].item for number in asked]
    checker = Checker(
        [items.items[number].question for number in asked],
        request.rewordings,
        request.parameters,
        request.meaning,
        request.nli,
        request.entailment,
        progress,
    )
    reranking.loaded(request.parameters.reranker)  # refused before anybody is asked
    with StudyFolder(request.output, asking, progress) as folder:
        if request.variants is not None:
            typed, hashes["variants"] = _typed(request, items, asked, checker, left_out)
            rewordings = typed
        else:
            rewordings = _reworded(folder, request, asking, ids, checker, left_out)
        wordings = wordings_of(items.items, asked, rewordings)
        rows = _answered(folder, items.items, wordings)
        steps, complete, system = folder.steps(), folder.complete, folder.system
    replies = Replies()
    replies.add_system(system)
    for (number, variant, _), row in zip(wordings, rows, strict=True):
        replies.add(system, number, variant, row.answer, row.status)
    if request.variants is None:
        note_fewer(rewordings, ids, request.rewordings, left_out)
    measured = None
    if people is not None:
        measured = measured_by_crowd(items.items, replies, people, request.parameters, progress)
    found = evaluate(items.items, replies, request.parameters, left_out, progress)
    counts = {
        "item_rows": items.n_rows,
        "repeated_item_rows": items.n_repeated,
        "items": len(items.items),
        "rewordings_kept": sum(len(kept) for kept in checker.kept),
        "rewordings_dropped": sum(one.variant is None for one in rewordings),
        "replies": len(rows),
        "systems": 1,
    }
    more = {
        "rewordings": _told(request, rewordings),
        "asked": steps,
    }
    with OutputFolder(request.output) as out:
        evaluated = write_evaluated(
            out, found, counts, hashes, items.warnings, more, measured=measured
        )
        out.write_csv(
            REPLIES, REPLY_COLUMNS, map(_reply_cells(system, items.items), wordings, rows)
        )
        out.write_csv(
            REWORDINGS,
            REWORDING_COLUMNS,
            (_rewording_cells(items.items[asked[one.item]], one) for one in rewordings),
        )
    return Studied(evaluated, rewordings, complete)


def refuse_folder_of_others(output: Path) -> None:
    """Raise `InputError` for tables that no journal stands beside: another command wrote them."""
    if (output / JOURNAL).exists():
        return
    for name in TABLES:
        if (output / name).exists():
            raise file_error(str(output / name), "folder_of_others", journal=JOURNAL)


def _refuse_without_questions(items: ItemsFile) -> None:
    problems = Problems(items.name)
    for item, line in zip(items.items, items.lines, strict=True):
        if not item.question:
            note_problem(problems, line, "question", "item_without_question", item=item.item[:60])
    problems.raise_if_any()


def _reworded(
    folder: StudyFolder,
    request: MultiqaStudy,
    asking: Asking,
    ids: Sequence[str],
    checker: Checker,
    left_out: Exclusions,
) -> list[Rewording]:
    """Ask the rewriter, and twice more for those of which too few are kept."""
    step = Step(
        "reword",
        rewording.TEMPLATE,
        parameters={
            "temperature": rewording.TEMPERATURE,
            "max_tokens": request.rewriter_tokens,
        },
    )
    rewriter = asking
    if request.rewriter is not None:
        variable = request.rewriter_key_variable or asking.key_variable
        rewriter = replace(asking, model=request.rewriter, name=None, key_variable=variable)
    rows: dict[tuple[str, int], Row] = {}

    def ask(items: Sequence[Item]) -> dict[tuple[str, int], Row]:
        came = folder.ask(step, items, rewriter)
        rows.update(came)
        return came

    found = reworded(checker, ids, ask, left_out)
    if is_unusable(found, left_out):
        folder.reject(row for row in rows.values() if row.status is not AnswerStatus.ERROR)
        told = Message("run.no_usable_rewording", rejected(found, ids, left_out))
        raise EndedEarlyError(TERMINAL.said(told))
    return found


def _typed(
    request: MultiqaStudy,
    items: ItemsFile,
    asked: Sequence[int],
    checker: Checker,
    left_out: Exclusions,
) -> tuple[list[Rewording], str]:
    """Read wordings that somebody typed; all are kept, but for repetitions."""
    assert request.variants is not None
    problems = Problems(source_of(request.variants).name)
    columns = request.columns.columns(("item", "variant_text"), frozenset({"item", "variant_text"}))
    table = open_table(request.variants, columns, problems)
    place = {items.items[number].item: at for at, number in enumerate(asked)}
    known = {item.item for item in items.items}
    found: list[Rewording] = []
    for line, (raw, text), _ in table.rows:
        item = clean_id(raw)
        if not item:
            problems.add(line, "item", "the item is missing", "Fill in the id.")
        elif not text.strip():
            problems.add(line, "variant_text", "the wording is missing", "Fill it in.")
        elif item not in known:
            left_out.add("unknown_item", {"item": item, "line": line})
        elif item in place:
            found.append(checker.take(place[item], text.strip()))
    problems.raise_if_any()
    return found, table.sha256


def _answered(
    folder: StudyFolder, items: Sequence[MultiqaItem], wordings: Sequence[Wording]
) -> list[Row]:
    """Put every wording in a conversation of its own; the rows in the order of the wordings."""
    forms: dict[str, list[Wording]] = {}
    templates: dict[str, str] = {}
    for wording in wordings:
        form = form_of(items[wording.item])
        forms.setdefault(form.name, []).append(wording)
        templates[form.name] = form.template
    rows: dict[str, Row] = {}
    for name, members in forms.items():
        step = Step(f"answer: {name}", templates[name])
        for (one, _), row in folder.ask(step, conversations_of(items, members)).items():
            rows[one] = row
    return [rows[wording.name(items)] for wording in wordings]


def _told(request: MultiqaStudy, found: Sequence[Rewording]) -> dict[str, Any]:
    reasons = Counter(one.reason for one in found if one.reason)
    return {
        "wanted": None if request.variants is not None else request.rewordings,
        "from": "file" if request.variants is not None else request.rewriter or "the model",
        "kept": sum(one.variant is not None for one in found),
        "dropped": dict(reasons),
        "least_cosine": request.meaning or None,
        "entailment_model": request.nli,
        "least_entailment": request.entailment if request.nli else None,
    }


def _reply_cells(system: str, items: Sequence[MultiqaItem]) -> Any:
    def cells(wording: Wording, row: Row) -> tuple[object, ...]:
        number, variant, text = wording
        return (
            *(system, items[number].item, variant, text, row.answer, row.status.value),
            *(row.finish_reason, row.prompt_tokens, row.completion_tokens, row.seconds),
            *(row.attempts, row.cost, row.error or None),
        )

    return cells


def _rewording_cells(item: MultiqaItem, one: Rewording) -> tuple[object, ...]:
    return (
        item.item,
        one.variant,
        one.text,
        one.attempt,
        one.reason,
        one.cosine,
        one.entailment,
    )
