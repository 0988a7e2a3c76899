"""What a run found, kept with it as JSON and read back as the rows that files have too."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from annotations.exchange.reading.prompt_replies import Turn as Spoken
from annotations.exchange.records import AnswerStatus
from evaluation.flow.eloquent.found import Findings, ItemRow, SetRow
from evaluation.flow.eloquent.judging import Judgement
from evaluation.flow.eloquent.matching import Reply
from evaluation.flow.metrics import MetricRow
from evaluation.methods.eloquent.judges import JudgeAgreement
from evaluation.methods.inference.comparison import Comparison
from evaluation.models import Run, RunData
from evaluation.steps.checkpoints import Turn

NAME = "findings"


def keep_findings(turn: Turn, findings: Findings) -> None:
    """Put everything aside for the pages; call it in `fenced`."""
    turn.keep(
        NAME,
        {
            "systems": findings.systems,
            "judges": findings.judges,
            "sets": findings.sets,
            "items": findings.items,
            "metrics": findings.metrics,
            "judgements": [asdict(one) for one in findings.judgements],
            "agreements": [asdict(one) for one in findings.agreements],
            "comparisons": [asdict(one) for one in findings.comparisons],
            "replies": [{**asdict(one), "status": one.status.value} for one in findings.replies],
        },
    )


def findings_of(run: Run) -> Findings:
    """Return what a run that is done found; how vectors were made is in its summary."""
    stored: dict[str, Any] = RunData.objects.get(run=run, name=NAME).data
    return Findings(
        systems=tuple(stored["systems"]),
        sets=tuple(SetRow(*row) for row in stored["sets"]),
        items=tuple(ItemRow(*row) for row in stored["items"]),
        metrics=tuple(MetricRow(*row) for row in stored["metrics"]),
        judgements=tuple(Judgement(**one) for one in stored["judgements"]),
        judges=tuple(stored["judges"]),
        agreements=tuple(JudgeAgreement(**one) for one in stored["agreements"]),
        comparisons=tuple(Comparison(**one) for one in stored["comparisons"]),
        replies=tuple(map(_reply, stored["replies"])),
    )


def _reply(stored: dict[str, Any]) -> Reply:
    turns = tuple(Spoken(**turn) for turn in stored["turns"])
    return Reply(**{**stored, "status": AnswerStatus(stored["status"]), "turns": turns})
