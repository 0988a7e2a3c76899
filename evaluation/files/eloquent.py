"""ELOQUENT robustness over files: prompts, replies and judgements in, tables out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotations.exchange import OutputFolder
from annotations.exchange.reading.judgements import read_judgements
from annotations.exchange.reading.prompt_replies import NO_ANSWER, ReplyFile, read_prompt_replies
from annotations.exchange.reading.prompts import PromptFile, read_prompts
from evaluation.files.metrics import (
    FILES,
    ITEMS,
    SUMMARY,
    refuse_to_replace,
    study_summary,
    write_metrics,
)
from evaluation.flow.eloquent.evaluating import evaluate
from evaluation.flow.eloquent.found import Findings, ItemRow, SetRow
from evaluation.flow.eloquent.judging import Judgement, of_file
from evaluation.flow.eloquent.matching import Matched, matched
from evaluation.flow.eloquent.parameters import EloquentParameters
from evaluation.flow.eloquent.tables import (
    AGREEMENT,
    JUDGEMENT,
    REPLY,
    agreement_rows,
    judgement_cells,
    reply_cells,
)
from evaluation.flow.metrics import Exclusions, MetricRow, group_name
from evaluation.flow.vectors import Progress
from evaluation.options import TERMINAL

KIND = "eloquent"
PROMPTS, MENDED = "prompts.csv", "prompts.json"
REPLIES, SETS, JUDGEMENTS = "replies.csv", "reply_sets.csv", "judgements.csv"
AGREEMENTS, BY_SYSTEM = "agreement.csv", "items_by_system.csv"
FIGURE = "figure1.svg"
TABLES = (*FILES, PROMPTS, MENDED, REPLIES, SETS, JUDGEMENTS, AGREEMENTS, BY_SYSTEM, FIGURE)

PROMPT = ("item", "variation", "language", "variant", "prompt")


@dataclass(frozen=True)
class EloquentRequest:
    """What to evaluate, how, and where the tables go."""

    prompts: Path
    output: Path
    parameters: EloquentParameters
    repair: bool = False
    replies: tuple[Path, ...] = ()
    judgements: tuple[Path, ...] = ()
    keep_thinking: bool = False

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that are read."""
        return (self.prompts, *self.replies, *self.judgements)


@dataclass(frozen=True)
class Evaluated:
    """What came of it.

    Attributes
    ----------
    findings : without replies and judgements it has no system.
    hashes : SHA-256 of each file that was read, by what it is.
    more : what summary.json says beside, by its key.
    """

    prompts: PromptFile
    parameters: EloquentParameters
    findings: Findings
    exclusions: Exclusions
    hashes: dict[str, str]
    warnings: list[str]
    more: dict[str, Any] = field(default_factory=dict)


def evaluate_files(request: EloquentRequest, progress: Progress | None = None) -> Evaluated:
    """Read the files and evaluate them; writes nothing.

    Raises
    ------
    InputError
        A file, or what it holds, cannot be used.
    BackendError
        The replies cannot be embedded.
    """
    refuse_to_replace(request.output, TABLES, request.inputs)
    prompts = read_prompts(request.prompts, repair=request.repair)
    hashes = {"prompts": prompts.sha256}
    exclusions = Exclusions()
    warnings = list(prompts.warnings)
    given: list[ReplyFile] = []
    for at, path in enumerate(request.replies, 1):
        given.append(read_prompt_replies(path, request.keep_thinking))
        hashes[_numbered("replies", at)] = given[-1].sha256
        warnings += given[-1].warnings
    found = matched(prompts.items, [reply for one in given for reply in one.replies], exclusions)
    judgements: list[Judgement] = []
    for at, path in enumerate(request.judgements, 1):
        judged = read_judgements(path)
        hashes[_numbered("judgements", at)] = judged.sha256
        warnings += judged.warnings
        judgements += [of_file(one) for one in judged.judgements]
    findings = evaluate(
        prompts.items, found.replies, judgements, request.parameters, exclusions, progress
    )
    warnings += TERMINAL.all_said(findings.warnings)
    return Evaluated(
        prompts,
        request.parameters,
        findings,
        exclusions,
        hashes,
        warnings,
        _of_replies(given, found),
    )


def _numbered(what: str, at: int) -> str:
    return what if at == 1 else f"{what}_{at}"


def _of_replies(given: Sequence[ReplyFile], found: Matched) -> dict[str, Any]:
    """Return what summary.json says of the files of replies."""
    told: dict[str, Any] = {}
    if found.numbering is not None:
        told["variant_numbers"] = found.numbering.as_dict()
    facts = [facts for one in given for facts in one.submissions]
    if facts:
        names = facts[0].__dataclass_fields__
        told["submissions"] = [{name: getattr(one, name) for name in names} for one in facts]
    return told


def write_tables(folder: OutputFolder, evaluated: Evaluated) -> None:
    """Write every table; those of replies and judgements where there are any."""
    prompts, findings = evaluated.prompts, evaluated.findings
    folder.write_csv(PROMPTS, PROMPT, _prompt_rows(prompts))
    if prompts.repairs:
        with folder.open(MENDED) as file:
            file.write(prompts.mended.encode())
    write_metrics(folder, [*findings.metrics, *prompt_metrics(prompts)])
    folder.write_csv(ITEMS, ItemRow._fields, findings.items)
    if findings.systems:
        folder.write_csv(SETS, SetRow._fields, findings.sets)
        folder.write_csv(BY_SYSTEM, *by_system(findings))
    if findings.replies:
        folder.write_csv(REPLIES, REPLY, map(reply_cells, findings.replies))
    if findings.judgements:
        folder.write_csv(JUDGEMENTS, JUDGEMENT, map(judgement_cells, findings.judgements))
        folder.write_csv(AGREEMENTS, AGREEMENT, agreement_rows(findings))
    folder.write_json(SUMMARY, summary(evaluated))


def _prompt_rows(prompts: PromptFile) -> Iterator[tuple[object, ...]]:
    for item in prompts.items:
        for variant in item.variants:
            number = item.variants_in(variant.language).index(variant) + 1
            yield item.id, item.variation, variant.language, number, variant.prompt


def prompt_metrics(prompts: PromptFile) -> Iterator[MetricRow]:
    """Yield what the file of prompts holds: rows without a system, counts for values."""

    def row(group: str, metric: str, count: int) -> MetricRow:
        return MetricRow("", group, metric, float(count), None, None, count, None)

    yield row("", "items", len(prompts.items))
    yield row("", "prompts", prompts.n_prompts)
    yield row("", "languages", len(prompts.languages))
    for variation, count in prompts.variations.items():
        yield row(group_name("variation", variation), "items", count)
    for language, count in prompts.languages.items():
        yield row(group_name("language", language), "prompts", count)


def by_system(findings: Findings) -> tuple[list[str], list[list[object]]]:
    """Return the paper's Table 2: items by systems, with the average; columns and rows.

    A cell is the mean over the item's languages.
    """
    cells = {(row.item, row.system): row.score for row in findings.items}
    rows: list[list[object]] = []
    for item in dict.fromkeys(row.item for row in findings.items):
        scores = [cells[item, system] for system in findings.systems]
        known = [score for score in scores if score is not None]
        rows.append([item, *scores, sum(known) / len(known) if known else None])
    return ["item", *findings.systems, "average"], rows


def summary(evaluated: Evaluated) -> dict[str, Any]:
    """Return what summary.json holds."""
    prompts, findings = evaluated.prompts, evaluated.findings
    info = findings.embedding
    made = None if info is None else {"embedder": info.model, "revision": info.revision}
    return study_summary(
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
            "changed_prompts": sum(one.changed for one in findings.replies),
            "follow_up_turns": sum(len(one.turns) - 1 for one in findings.replies),
            "judges": len(findings.judges),
            "judgements": len(findings.judgements),
            "judgements_without_score": sum(one.score is None for one in findings.judgements),
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
                    {name: getattr(one, name) for name in one.__dataclass_fields__}
                    | {"repair": "added a comma"}
                    for one in prompts.repairs
                ],
            },
            "systems": list(findings.systems),
            "judges": [
                {
                    "judge": judge,
                    "human": any(one.by_human for one in findings.judgements if one.judge == judge),
                }
                for judge in findings.judges
            ],
            "no_answer": NO_ANSWER,
            "embedding": None if info is None else info.as_dict(),
            "comparisons": [one.__dict__ for one in findings.comparisons],
            **evaluated.more,
        },
    )
