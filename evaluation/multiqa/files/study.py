"""MultiQ&A study on files: reword questions, ask a model every wording, evaluate its replies.

The journal of the output folder stores every reply. If the command is interrupted, the same command
continues and repeats no finished request.
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
from annotations.exchange.reading.source import make_source
from annotations.exchange.reading.tables import open_table
from evaluation.consensus.inputs import Answers, Progress
from evaluation.core.messages.message import Message
from evaluation.core.options import TERMINAL
from evaluation.core.text.items import MultiqaItem
from evaluation.multiqa.files.evaluation import (
    FileEvaluation,
    choose_cosine,
    read_crowd_answers,
    read_item_file,
    write_tables,
)
from evaluation.multiqa.files.field_mapping import FieldMapping
from evaluation.multiqa.files.reading import STANDARD_COLUMNS, ItemsFile, MultiqaColumns
from evaluation.multiqa.items import Replies, choose_prompt_form
from evaluation.multiqa.options import MultiqaParameters
from evaluation.multiqa.run import meaning, study
from evaluation.multiqa.run.evaluation import evaluate_replies, score_replies_by_crowd
from evaluation.multiqa.run.rows import CROWD
from evaluation.multiqa.run.study import (
    Rewording,
    RewordingChecker,
    Wording,
    add_missing_rewordings,
    build_conversations,
    has_no_usable_rewording,
    list_wordings,
    request_rewordings,
    summarize_rejected_rewordings,
)
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.files.journal import NAME as JOURNAL
from evaluation.runs.files.journal import ReplyRow
from evaluation.runs.files.metrics import FILES, refuse_to_replace_inputs
from evaluation.runs.files.problem_messages import add_problem, build_error
from evaluation.runs.files.study import EndedEarlyError, Step, StudyFolder
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.metrics import Exclusions

REPLIES, REWORDINGS = "replies.csv", "rewordings.csv"
TABLES = (*FILES, REPLIES, REWORDINGS, CROWD.file)
REPLY_COLUMNS = (
    *("system", "item", "variant", "variant_text", "reply", "status", "finish_reason"),
    *("prompt_tokens", "completion_tokens", "seconds", "attempts", "cost", "error"),
)
REWORDING_COLUMNS = (
    *("item", "variant", "variant_text", "attempt", "reason", "cosine", "entailment"),
)


@dataclass(frozen=True)
class MultiqaStudyRequest:
    """Input files, options and output folder of ``study multiqa``, without server settings.

    Attributes
    ----------
    items, output : file of items and output folder.
    crowd : file of workers' answers to the items, for the crowd score.
    rewordings : number of rewordings of each question.
    variants : file of typed wordings (item, variant_text) in place of a rewriter.
    rewriter : specification of another model that rewords; None for the model that answers.
    rewriter_tokens : length limit of the rewriter's reply.
    meaning : the least cosine of a rewording to its question; 0 accepts any.
    nli, entailment : an entailment model, and the least probability in both directions.
    labelled_pairs : file of pairs that measure the cosine of a right answer, and tune it.
    keep_html, keep_ids : whether HTML and ids such as 101.0 of `crowd` stay as typed.
    """

    items: Path
    output: Path
    parameters: MultiqaParameters
    columns: MultiqaColumns = STANDARD_COLUMNS
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
    labelled_pairs: Path | None = None
    keep_html: bool = False
    keep_ids: bool = False


@dataclass(frozen=True)
class MultiqaStudyResult:
    """Result of a study; `complete` is true if every request has a reply."""

    evaluation: FileEvaluation
    rewordings: list[Rewording]
    complete: bool


def execute_study(
    request: MultiqaStudyRequest, asking: AskSettings, progress: Progress
) -> MultiqaStudyResult:
    """Reword questions, send the requests missing in the journal, evaluate, write tables.

    Raises
    ------
    InputError
        A file or the folder cannot be used. No request was sent.
    BackendError
        A model is missing, or texts cannot be embedded.
    EndedEarlyError
        Not everything was asked, or no rewording was accepted. The journal keeps all replies; no
        table is written.
    """
    inputs = (request.items, request.variants, request.crowd, request.labelled_pairs)
    refuse_to_replace_inputs(request.output, TABLES, inputs)
    refuse_tables_without_journal(request.output)
    items = read_item_file(request.items, request.columns, request.mapping)
    _refuse_items_without_question(items)
    hashes = {"items": items.sha256}
    parameters, errors = choose_cosine(request.parameters, request.labelled_pairs, hashes)
    left_out = Exclusions()
    answers: Answers | None = None
    warnings = [*items.warnings]
    if request.crowd is not None:
        answers, file = read_crowd_answers(
            request.crowd, items.items, left_out, request.keep_html, request.keep_ids
        )
        hashes |= file.build_hashes("crowd")
        warnings += file.warnings
    answered_items = set(answers.questions) if answers else set()
    scorable = [
        number
        for number, item in enumerate(items.items)
        if item.answers or item.item in answered_items
    ]
    if not scorable:
        raise InputError.single(
            items.name, "no item has an accepted answer", "Fill in the column answers."
        )
    ids = [items.items[number].item for number in scorable]
    checker = RewordingChecker(
        [items.items[number].question for number in scorable],
        request.rewordings,
        request.parameters,
        request.meaning,
        request.nli,
        request.entailment,
        progress,
    )
    # A missing re-ranker must fail before requests cost money.
    meaning.load_reranker(request.parameters.reranker)
    with StudyFolder(request.output, asking, progress) as folder:
        if request.variants is not None:
            rewordings, hashes["variants"] = _read_typed_wordings(
                request, items, scorable, checker, left_out
            )
        else:
            rewordings = _request_rewordings(folder, request, asking, ids, checker, left_out)
        wordings = list_wordings(items.items, scorable, rewordings)
        rows = _ask_wordings(folder, items.items, wordings)
        steps, complete, system = folder.summarise_steps(), folder.complete, folder.system
    replies = Replies()
    replies.add_system(system)
    for (number, variant, _), row in zip(wordings, rows, strict=True):
        replies.add_reply(system, number, variant, row.answer, row.status)
    if request.variants is None:
        add_missing_rewordings(rewordings, ids, request.rewordings, left_out)
    crowd = None
    if answers is not None:
        crowd = score_replies_by_crowd(items.items, replies, answers, parameters, progress)
    result = evaluate_replies(items.items, replies, parameters, left_out, progress, errors)
    counts = {
        "item_rows": items.n_rows,
        "repeated_item_rows": items.n_repeated,
        "items": len(items.items),
        "rewordings_kept": sum(len(accepted) for accepted in checker.accepted),
        "rewordings_dropped": sum(rewording.variant is None for rewording in rewordings),
        "replies": len(rows),
        "systems": 1,
    }
    more = {
        "rewordings": _summarize_rewordings(request, rewordings),
        "asked": steps,
    }
    with OutputFolder(request.output) as out:
        evaluation = write_tables(out, result, counts, hashes, warnings, more, crowd=crowd)
        out.write_csv(
            REPLIES,
            REPLY_COLUMNS,
            (
                _list_reply_cells(system, items.items, wording, row)
                for wording, row in zip(wordings, rows, strict=True)
            ),
        )
        out.write_csv(
            REWORDINGS,
            REWORDING_COLUMNS,
            (
                _list_rewording_cells(items.items[scorable[rewording.item]], rewording)
                for rewording in rewordings
            ),
        )
    return MultiqaStudyResult(evaluation, rewordings, complete)


def refuse_tables_without_journal(output: Path) -> None:
    """Raise `InputError` if another command wrote tables into the output folder."""
    if (output / JOURNAL).exists():
        return
    for name in TABLES:
        if (output / name).exists():
            raise build_error(str(output / name), "folder_of_others", journal=JOURNAL)


def _refuse_items_without_question(items: ItemsFile) -> None:
    """Raise `InputError` that lists every item without a question text."""
    problems = Problems(items.name)
    for item, line in zip(items.items, items.lines, strict=True):
        if not item.question:
            add_problem(problems, line, "question", "item_without_question", item=item.item[:60])
    problems.raise_if_any()


def _request_rewordings(
    folder: StudyFolder,
    request: MultiqaStudyRequest,
    asking: AskSettings,
    ids: Sequence[str],
    checker: RewordingChecker,
    left_out: Exclusions,
) -> list[Rewording]:
    """Ask the rewriter model for rewordings; `EndedEarlyError` if none is accepted."""
    step = Step(
        "reword",
        study.TEMPLATE,
        parameters={
            "temperature": study.TEMPERATURE,
            "max_tokens": request.rewriter_tokens,
        },
    )
    rewriter = asking
    if request.rewriter is not None:
        variable = request.rewriter_key_variable or asking.key_variable
        rewriter = replace(asking, model=request.rewriter, name=None, key_variable=variable)
    rows: dict[tuple[str, int], ReplyRow] = {}

    def ask(items: Sequence[Item]) -> dict[tuple[str, int], ReplyRow]:
        replies = folder.ask_step(step, items, rewriter)
        rows.update(replies)
        return replies

    rewordings = request_rewordings(checker, ids, ask, left_out)
    if has_no_usable_rewording(rewordings, left_out):
        # At its temperature the rewriter may do better, so the next call must not reuse these.
        folder.reject_replies(row for row in rows.values() if row.status is not AnswerStatus.ERROR)
        values = summarize_rejected_rewordings(rewordings, ids, left_out)
        raise EndedEarlyError(TERMINAL.format_message(Message("run.no_usable_rewording", values)))
    return rewordings


def _read_typed_wordings(
    request: MultiqaStudyRequest,
    items: ItemsFile,
    scorable: Sequence[int],
    checker: RewordingChecker,
    left_out: Exclusions,
) -> tuple[list[Rewording], str]:
    """Return the rewordings in a user's file, and the file's SHA-256.

    Only repetitions are rejected. Wordings of unknown items are added to `left_out`. Raises
    `InputError`.
    """
    assert request.variants is not None
    problems = Problems(make_source(request.variants).name)
    columns = request.columns.build_columns(
        ("item", "variant_text"), frozenset({"item", "variant_text"})
    )
    table = open_table(request.variants, columns, problems)
    positions = {items.items[number].item: position for position, number in enumerate(scorable)}
    known = {item.item for item in items.items}
    rewordings: list[Rewording] = []
    for line, (raw, text), _ in table.rows:
        item = clean_id(raw)
        if not item:
            problems.add(line, "item", "the item is missing", "Fill in the id.")
        elif not text.strip():
            problems.add(line, "variant_text", "the wording is missing", "Fill it in.")
        elif item not in known:
            left_out.add("unknown_item", {"item": item, "line": line})
        # Other known items cannot be scored, so none of their wordings is asked.
        elif item in positions:
            rewordings.append(checker.accept_typed(positions[item], text.strip()))
    problems.raise_if_any()
    return rewordings, table.sha256


def _ask_wordings(
    folder: StudyFolder, items: Sequence[MultiqaItem], wordings: Sequence[Wording]
) -> list[ReplyRow]:
    """Ask each wording in its own conversation; return the replies in the wordings' order."""
    # A step of the journal has one template, so each prompt form is a step of its own.
    by_form: dict[str, list[Wording]] = {}
    templates: dict[str, str] = {}
    for wording in wordings:
        form = choose_prompt_form(items[wording.item])
        by_form.setdefault(form.name, []).append(wording)
        templates[form.name] = form.template
    rows: dict[str, ReplyRow] = {}
    for name, members in by_form.items():
        step = Step(f"answer: {name}", templates[name])
        replies = folder.ask_step(step, build_conversations(items, members))
        rows.update({conversation: row for (conversation, _), row in replies.items()})
    return [rows[wording.build_id(items)] for wording in wordings]


def _summarize_rewordings(
    request: MultiqaStudyRequest, rewordings: Sequence[Rewording]
) -> dict[str, Any]:
    """Return the summary.json entry about the rewordings: wanted, source, and checks."""
    reasons = Counter(rewording.reason for rewording in rewordings if rewording.reason)
    return {
        "wanted": None if request.variants is not None else request.rewordings,
        "from": "file" if request.variants is not None else request.rewriter or "the model",
        "kept": sum(rewording.variant is not None for rewording in rewordings),
        "dropped": dict(reasons),
        "least_cosine": request.meaning or None,
        "entailment_model": request.nli,
        "least_entailment": request.entailment if request.nli else None,
    }


def _list_reply_cells(
    system: str, items: Sequence[MultiqaItem], wording: Wording, row: ReplyRow
) -> tuple[object, ...]:
    """Return a reply as a row of replies.csv, in the order of `REPLY_COLUMNS`."""
    number, variant, text = wording
    return (
        *(system, items[number].item, variant, text, row.answer, row.status.value),
        *(row.finish_reason, row.prompt_tokens, row.completion_tokens, row.seconds),
        *(row.attempts, row.cost, row.error or None),
    )


def _list_rewording_cells(item: MultiqaItem, rewording: Rewording) -> tuple[object, ...]:
    """Return a rewording as a row of rewordings.csv, in the order of `REWORDING_COLUMNS`."""
    return (
        item.item,
        rewording.variant,
        rewording.text,
        rewording.attempt,
        rewording.reason,
        rewording.cosine,
        rewording.entailment,
    )
