"""ELOQUENT on files: read prompts, replies and judgements, write tables, run a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotations.exchange import AnswerStatus, InputError, OutputFolder
from annotations.exchange.reading.changed_prompts import ChangedPrompt, read_changed_prompts
from annotations.exchange.reading.judge_instructions import read_judge_instructions
from annotations.exchange.reading.judgements import read_judgements
from annotations.exchange.reading.prompt_replies import NO_ANSWER, ReplyFile, read_prompt_replies
from annotations.exchange.reading.prompts import PromptFile, read_prompts
from evaluation.consensus.inputs import Progress
from evaluation.core.options import TERMINAL
from evaluation.core.text.items import parse_score
from evaluation.eloquent.options import EloquentParameters
from evaluation.eloquent.run.evaluation import evaluate_replies, select_judged_sets
from evaluation.eloquent.run.findings import (
    AGREEMENT,
    ITEMS,
    JUDGEMENTS,
    REPLIES,
    SETS,
    Findings,
    Submitter,
)
from evaluation.eloquent.run.judging import (
    AGAIN,
    STORED_TEMPLATE,
    SYSTEM,
    Judgement,
    build_judge_question,
    build_judgement,
    build_second_judge_question,
    read_judgement,
)
from evaluation.eloquent.run.replies import (
    Conversations,
    MatchedReplies,
    Reply,
    ReplyText,
    match_replies,
)
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.files.journal import NAME as JOURNAL
from evaluation.runs.files.journal import ReplyRow
from evaluation.runs.files.metrics import (
    FILES,
    SUMMARY,
    build_study_summary,
    refuse_to_replace_inputs,
    write_metrics,
    write_result_table,
)
from evaluation.runs.files.study import Step, StudyFolder
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.metrics import Exclusions, MetricRow, build_group_name
from evaluation.runs.flow.stored import StudyTable, list_file_names

KIND = "eloquent"
PROMPTS, MENDED = "prompts.csv", "prompts.json"
BY_SYSTEM, FIGURE = "items_by_system.csv", "figure1.svg"
FINDINGS_TABLES = (REPLIES, SETS, JUDGEMENTS, AGREEMENT)
TABLES = (*FILES, PROMPTS, MENDED, *list_file_names(FINDINGS_TABLES), BY_SYSTEM, FIGURE)

PROMPT_COLUMNS = ("item", "variation", "language", "variant", "prompt")


@dataclass(frozen=True)
class EloquentRequest:
    """Input files, options and output folder of ``evaluate eloquent``."""

    prompts: Path
    output: Path
    parameters: EloquentParameters
    repair: bool = False
    replies: tuple[Path, ...] = ()
    judgements: tuple[Path, ...] = ()
    keep_thinking: bool = False

    @property
    def inputs(self) -> tuple[Path, ...]:
        """Paths of all input files."""
        return (self.prompts, *self.replies, *self.judgements)


@dataclass(frozen=True)
class FileEvaluation:
    """Result of evaluating files: findings, exclusions, file hashes and warnings.

    Attributes
    ----------
    findings : has no system without replies and judgements.
    hashes : SHA-256 of each input file, by its role.
    more : further entries of summary.json.
    """

    prompts: PromptFile
    parameters: EloquentParameters
    findings: Findings
    exclusions: Exclusions
    hashes: dict[str, str]
    warnings: list[str]
    more: dict[str, Any] = field(default_factory=dict)


def evaluate_files(request: EloquentRequest, progress: Progress | None = None) -> FileEvaluation:
    """Read prompts, replies and judgements from files and evaluate them; writes nothing.

    Raises
    ------
    InputError
        A file cannot be read, or its content cannot be used.
    BackendError
        The replies cannot be embedded.
    """
    refuse_to_replace_inputs(request.output, TABLES, request.inputs)
    prompts = read_prompts(request.prompts, repair=request.repair)
    hashes = {"prompts": prompts.sha256}
    exclusions = Exclusions()
    warnings = list(prompts.warnings)
    reply_files: list[ReplyFile] = []
    for number, path in enumerate(request.replies, 1):
        reply_files.append(read_prompt_replies(path, request.keep_thinking))
        hashes[_append_number("replies", number)] = reply_files[-1].sha256
        warnings += reply_files[-1].warnings
    matched_replies = match_replies(
        prompts.items, [reply for file in reply_files for reply in file.replies], exclusions
    )
    judgements: list[Judgement] = []
    for number, path in enumerate(request.judgements, 1):
        judgement_file = read_judgements(path)
        hashes[_append_number("judgements", number)] = judgement_file.sha256
        warnings += judgement_file.warnings
        judgements += [read_judgement(judgement) for judgement in judgement_file.judgements]
    findings = evaluate_replies(
        prompts.items, matched_replies.replies, judgements, request.parameters, exclusions, progress
    )
    warnings += TERMINAL.format_messages(findings.warnings)
    return FileEvaluation(
        prompts,
        request.parameters,
        findings,
        exclusions,
        hashes,
        warnings,
        _describe_reply_files(reply_files, matched_replies),
    )


def _append_number(what: str, number: int) -> str:
    """Return the name `what`, with "_" and the number appended unless it is 1."""
    return what if number == 1 else f"{what}_{number}"


def _describe_reply_files(
    reply_files: Sequence[ReplyFile], matched_replies: MatchedReplies
) -> dict[str, Any]:
    """Return the entries of summary.json about the files of replies."""
    entries: dict[str, Any] = {}
    if matched_replies.numbering is not None:
        entries["variant_numbers"] = matched_replies.numbering.as_dict()
    facts = [facts for file in reply_files for facts in file.submissions]
    if facts:
        names = facts[0].__dataclass_fields__
        entries["submissions"] = [{name: getattr(fact, name) for name in names} for fact in facts]
    return entries


def write_tables(folder: OutputFolder, evaluated: FileEvaluation) -> None:
    """Write the result tables and summary.json; skip tables without replies or judgements."""
    prompts, findings = evaluated.prompts, evaluated.findings
    folder.write_csv(PROMPTS, PROMPT_COLUMNS, _build_prompt_rows(prompts))
    if prompts.repairs:
        with folder.open(MENDED) as file:
            file.write(prompts.mended.encode())
    write_metrics(folder, [*findings.metrics, *build_prompt_metrics(prompts)])
    written: list[StudyTable[Findings, Any]] = [ITEMS]
    if findings.systems:
        written.append(SETS)
        folder.write_csv(BY_SYSTEM, *build_system_table(findings))
    if findings.replies:
        written.append(REPLIES)
    if findings.judgements:
        written += [JUDGEMENTS, AGREEMENT]
    for table in written:
        write_result_table(folder, table, table.rows(findings))
    folder.write_json(SUMMARY, build_summary(evaluated))


def _build_prompt_rows(prompts: PromptFile) -> Iterator[tuple[object, ...]]:
    """Yield the row of prompts.csv for each wording of each item."""
    for item in prompts.items:
        for variant in item.variants:
            number = item.list_variants_in(variant.language).index(variant) + 1
            yield item.id, item.variation, variant.language, number, variant.prompt


def build_prompt_metrics(prompts: PromptFile) -> Iterator[MetricRow]:
    """Yield counts of prompts, by language and variation, as metrics without a system."""

    def build_row(group: str, metric: str, count: int) -> MetricRow:
        return MetricRow("", group, metric, float(count), None, None, count, None)

    yield build_row("", "items", len(prompts.items))
    yield build_row("", "prompts", prompts.n_prompts)
    yield build_row("", "languages", len(prompts.languages))
    for variation, count in prompts.variations.items():
        yield build_row(build_group_name("variation", variation), "items", count)
    for language, count in prompts.languages.items():
        yield build_row(build_group_name("language", language), "prompts", count)


def build_system_table(findings: Findings) -> tuple[list[str], list[list[object]]]:
    """Return the header and rows of the paper's Table 2: items by systems, with average.

    A cell is the mean over the item's languages.
    """
    cells = {(row.item, row.system): row.score for row in findings.items}
    rows: list[list[object]] = []
    for item in dict.fromkeys(row.item for row in findings.items):
        scores = [cells[item, system] for system in findings.systems]
        known = [score for score in scores if score is not None]
        rows.append([item, *scores, sum(known) / len(known) if known else None])
    return ["item", *findings.systems, "average"], rows


def build_summary(evaluated: FileEvaluation) -> dict[str, Any]:
    """Return the content of summary.json for an evaluation."""
    prompts, findings = evaluated.prompts, evaluated.findings
    info = findings.embedding
    made = None if info is None else {"embedder": info.model, "revision": info.revision}
    return build_study_summary(
        KIND,
        evaluated.parameters,
        evaluated.hashes,
        {
            "items": len(prompts.items),
            "prompts": prompts.n_prompts,
            "languages": len(prompts.languages),
            "systems": len(findings.systems),
            "replies": len(findings.replies),
            "no_answer": sum(row.n_no_answer for row in findings.sets if row.language),
            "changed_prompts": sum(reply.changed for reply in findings.replies),
            "follow_up_turns": sum(len(reply.turns) - 1 for reply in findings.replies),
            "judges": len(findings.judges),
            "judgements": len(findings.judgements),
            "judgements_without_score": sum(
                judgement.score is None for judgement in findings.judgements
            ),
            "sets_scored": sum(row.score is not None for row in findings.sets),
        },
        evaluated.exclusions,
        made=made,
        warnings=evaluated.warnings,
        more={
            "prompts": {
                "source": prompts.source,
                "year": prompts.year,
                "languages": prompts.languages,
                "variations": prompts.variations,
                "repeated_prompts": prompts.n_repeated,
                "repairs": [
                    {name: getattr(repair, name) for name in repair.__dataclass_fields__}
                    | {"repair": "added a comma"}
                    for repair in prompts.repairs
                ],
            },
            "systems": list(findings.systems),
            "judges": [
                {
                    "judge": judge,
                    "human": any(
                        judgement.by_human
                        for judgement in findings.judgements
                        if judgement.judge == judge
                    ),
                }
                for judge in findings.judges
            ],
            "no_answer": NO_ANSWER,
            "embedding": None if info is None else info.as_dict(),
            "comparisons": [comparison.__dict__ for comparison in findings.comparisons],
            **evaluated.more,
        },
    )


@dataclass(frozen=True)
class EloquentStudyRequest:
    """Input files, options and output folder of ``study eloquent``, which asks models.

    Attributes
    ----------
    system : system text of all conversations; "" for none, as in the task.
    follow_ups : follow-up questions of every conversation, in order.
    changed : table of changed prompts; None for none.
    judge_instructions : table of instructions to the judges, each for one item; None for none.
    judges : SPECs of judges. Each is asked `repeats` times about every set of replies. Prices and
        budget are those of the asking, for each model separately.
    """

    prompts: Path
    output: Path
    parameters: EloquentParameters
    repair: bool = False
    system: str = ""
    follow_ups: tuple[str, ...] = ()
    changed: Path | None = None
    judges: tuple[str, ...] = ()
    repeats: int = 1
    judge_temperature: float = 0.0
    judge_max_tokens: int = 512
    judge_key_variable: str = "OPENAI_API_KEY"
    judge_instructions: Path | None = None
    submitter: Submitter = field(default_factory=Submitter)


def execute_study(
    request: EloquentStudyRequest, asking: AskSettings, progress: Progress
) -> tuple[FileEvaluation, bool]:
    """Send the requests missing in the journal; return the evaluation, and whether it is complete.

    The second value is whether every request has a reply.

    Raises
    ------
    InputError
        A file or the folder cannot be used; nothing was asked.
    BackendError
        A model cannot be had, or the replies cannot be embedded.
    EndedEarlyError
        Not everything was asked; received replies are stored.
    """
    inputs = [request.prompts, request.changed, request.judge_instructions]
    refuse_to_replace_inputs(request.output, TABLES, inputs)
    _refuse_foreign_tables(request.output)
    prompts = read_prompts(request.prompts, repair=request.repair)
    hashes = {"prompts": prompts.sha256}
    changed: Mapping[tuple[str, int], ChangedPrompt] = {}
    if request.changed is not None:
        table = read_changed_prompts(request.changed, prompts.items)
        changed = table.prompts
        hashes["changed_prompts"] = table.sha256
    instructions: Mapping[str, str] = {}
    if request.judge_instructions is not None:
        instructed = read_judge_instructions(request.judge_instructions, prompts.items)
        instructions = instructed.instructions
        hashes["judge_instructions"] = instructed.sha256
    judges = _build_judge_settings(request, asking)
    exclusions = Exclusions()
    with StudyFolder(request.output, asking, progress) as folder:
        replies = _request_replies(folder, request, prompts, changed)
        judgements = [
            judgement
            for name, judge in judges.items()
            for judgement in _request_judgements(
                folder, request, prompts, replies, instructions, name, judge
            )
        ]
        steps, complete = folder.summarise_steps(), folder.complete
    findings = evaluate_replies(
        prompts.items, replies, judgements, request.parameters, exclusions, progress
    )
    evaluated = FileEvaluation(
        prompts,
        request.parameters,
        findings,
        exclusions,
        hashes,
        [*prompts.warnings, *TERMINAL.format_messages(findings.warnings)],
        {
            "asked": steps,
            "study": {
                "system_text": request.system,
                "follow_ups": list(request.follow_ups),
                "judge_repeats": request.repeats if request.judges else 0,
                "judge_temperature": request.judge_temperature if request.judges else None,
                "judge_instructions": dict(instructions),
            },
        },
    )
    return evaluated, complete


def _refuse_foreign_tables(output: Path) -> None:
    """Raise `InputError` if another command wrote tables into the output folder."""
    if (output / JOURNAL).exists():
        return
    for name in TABLES:
        if (output / name).exists():
            raise InputError.single(
                str(output / name),
                f"it is there without {JOURNAL}, so another command wrote it",
                "Choose another folder with --output.",
            )


def _build_judge_settings(
    request: EloquentStudyRequest, asking: AskSettings
) -> dict[str, AskSettings]:
    """Return each judge's server settings by name; equal names are numbered ("gpt #2")."""
    parameters = {"temperature": request.judge_temperature, "max_tokens": request.judge_max_tokens}
    judges: dict[str, AskSettings] = {}
    for spec in request.judges:
        judge = replace(
            asking,
            model=spec,
            name=None,
            parameters=parameters,
            key_variable=request.judge_key_variable,
        )
        name = own = judge.get_table_name(judge.get_chat_model())
        number = 1
        # The same judge may be named twice, and scores are kept by judge.
        while name in judges:
            number += 1
            name = f"{own} #{number}"
        judges[name] = replace(judge, name=name)
    return judges


def _request_replies(
    folder: StudyFolder,
    request: EloquentStudyRequest,
    prompts: PromptFile,
    changed: Mapping[tuple[str, int], ChangedPrompt],
) -> list[Reply]:
    """Ask each prompt in its own conversation, then the follow-ups; return the replies."""
    conversations = Conversations(prompts.items, changed, request.system)
    step = Step("answer", "{prompt}", request.system)
    conversations.add_replies(
        _collect_reply_texts(folder.ask_step(step, conversations.build_first_requests()))
    )
    for number, question in enumerate(request.follow_ups, 1):
        step = Step(f"follow-up {number}", question, request.system)
        rows = folder.ask_step(step, conversations.build_follow_up_requests(question))
        conversations.add_replies(_collect_reply_texts(rows), question)
    return conversations.build_replies(folder.system)


def _collect_reply_texts(rows: Mapping[tuple[str, int], ReplyRow]) -> dict[str, ReplyText]:
    """Return the text and status of each reply, by the id of its conversation."""
    return {name: (row.answer, row.status) for (name, _), row in rows.items()}


def _request_judgements(
    folder: StudyFolder,
    request: EloquentStudyRequest,
    prompts: PromptFile,
    replies: Sequence[Reply],
    instructions: Mapping[str, str],
    name: str,
    judge: AskSettings,
) -> list[Judgement]:
    """Ask a judge to score each set of replies, twice if its reply has no score."""
    sets = select_judged_sets(prompts.items, replies)
    ids = {f"{item}/{language}": (system, item, language) for system, item, language in sets}
    own = {index: instructions.get(item, "") for index, (_, item, _) in ids.items()}
    items = [
        Item(index, build_judge_question(sets[key], own[index]), request.repeats)
        for index, key in ids.items()
    ]
    first = folder.ask_step(Step("judge", STORED_TEMPLATE, SYSTEM), items, judge)
    again = {
        f"{index}/{sample + 1}": (index, sample)
        for (index, sample), row in first.items()
        if row.status is not AnswerStatus.ERROR and parse_score(row.answer).score is None
    }
    second: dict[tuple[str, int], ReplyRow] = {}
    if again:
        items = [
            Item(
                name_again,
                build_second_judge_question(
                    sets[ids[index]], first[index, sample].answer or NO_ANSWER, own[index]
                ),
            )
            for name_again, (index, sample) in again.items()
        ]
        asked = folder.ask_step(Step("judge again", AGAIN, SYSTEM), items, judge)
        second = {again[name_again]: row for (name_again, _), row in asked.items()}
    return [
        build_judgement(
            ids[index],
            name,
            sample,
            [(one.answer, one.status) for one in (row, second.get((index, sample))) if one],
        )
        for (index, sample), row in first.items()
    ]
