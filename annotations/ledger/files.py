"""Decisions from a file: every row or none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db import transaction

from annotations.exchange.problems import Problems
from annotations.exchange.reading.decisions import DecisionFile, GivenDecision, read_decisions
from annotations.exchange.reading.source import Readable, source_of
from annotations.ledger.bonuses import (
    ROUND,
    CurrencyError,
    OtherAmountError,
    confirm,
    confirmed,
    currency_of,
    payments_of,
    plan,
)
from annotations.ledger.deciding import Wanted, decide_all
from annotations.ledger.sentences import DECISIONS
from annotations.models import Decision, QuestionSetVersion, Submission
from annotations.panels.people import contradicted, decided_people
from annotations.panels.sentences import REPORTS

NO_PANEL = "(none)"
"""What a file calls the panel of people who came in a file that names none."""


@dataclass(slots=True)
class DecideReport:
    """What became of the rows; `n_by_kind` counts the rows of each decision.

    `kinds` has what is decided of each submission, by its key.
    """

    file: str
    version: str
    n_rows: int
    n_new: int
    n_unchanged: int
    n_by_kind: dict[str, int]
    kinds: dict[int, str]
    n_bonuses: int = 0
    n_new_bonuses: int = 0
    total: Decimal = Decimal(0)
    currency: str = ""
    warnings: list[str] = field(default_factory=list)
    dry_run: bool = False

    @property
    def said_total(self) -> str:
        """The sum of the bonuses, with its currency where that is known."""
        return f"{self.total} {self.currency}".rstrip()

    def lines(self) -> Iterator[str]:
        """The report for a terminal, a line each."""
        yield f"{self.file} into {self.version}"
        yield DECISIONS.text(
            "decisions_in_file",
            n=self.n_rows,
            kinds=self.n_by_kind,
            n_new=self.n_new,
            n_unchanged=self.n_unchanged,
        )
        if self.n_bonuses:
            yield DECISIONS.text(
                "bonuses_in_file",
                n=self.n_bonuses,
                total=self.said_total,
                n_new=self.n_new_bonuses,
                n_known=self.n_bonuses - self.n_new_bonuses,
            )
        yield from (REPORTS.text("warning", warning=warning) for warning in self.warnings)
        if self.dry_run:
            yield REPORTS.text("dry_run")


def decide_by_file(
    version: QuestionSetVersion,
    given: Readable,
    user: Any,
    *,
    round_: str = ROUND,
    dry_run: bool = False,
) -> DecideReport:
    """Keep the decisions of a file about workers of a version, and its bonuses.

    Who decides writes each amount, and so confirms it; of a round everybody has one.

    Raises `InputError` with every row that will not do; nothing is kept then.
    """
    problems = Problems(source_of(given).name)
    file = read_decisions(given, problems)
    with transaction.atomic():
        keys = _submissions(version, file.rows, problems)
        problems.by_line()
        problems.raise_if_any()
        wanted = [
            Wanted(keys[row.line], row.decision, row.category, row.reason) for row in file.rows
        ]
        outcome = decide_all(user, wanted)
        amounts = {keys[row.line]: row.bonus for row in file.rows if row.bonus is not None}
        n_new_bonuses = _bonuses(version, amounts, user, round_, keys, problems)
        about = {one.submission for one in wanted}
        rejected = [keys[row.line] for row in file.rows if _is_rewarded_all_the_same(row)]
        rewarded = list(_rewarded(version, rejected, round_))
        otherwise = list(contradicted([p for p in decided_people(version) if p.key in about]))
        if dry_run:
            transaction.set_rollback(True)
    counts: dict[str, int] = {}
    for row in file.rows:
        counts[row.decision] = counts.get(row.decision, 0) + 1
    return DecideReport(
        file=file.name,
        version=str(version),
        n_rows=len(file.rows),
        n_new=outcome.n_new,
        n_unchanged=outcome.n_unchanged,
        n_by_kind=counts,
        kinds={keys[row.line]: row.decision for row in file.rows},
        n_bonuses=len(amounts),
        n_new_bonuses=n_new_bonuses,
        total=sum(amounts.values(), Decimal(0)),
        currency=currency_of(version),
        warnings=[*file.warnings, *_unkept(file), *rewarded, *otherwise],
        dry_run=dry_run,
    )


def _unkept(file: DecisionFile) -> Iterator[str]:
    """Tell of columns that are read over, so that a misspelled heading is seen."""
    if file.kept_aside:
        yield REPORTS.text("columns_left_out", names=file.kept_aside)


def _rewarded(version: QuestionSetVersion, rejected: Sequence[int], round_: str) -> Iterator[str]:
    """Warn of bonuses for who is rejected in the same row: they are meant so, or a slip."""
    if not rejected:
        return
    waiting = confirmed(payments_of(version, rejected, round_))
    n_held, n_paid = len(waiting.held_back), len(waiting.sendable)
    if n_paid:
        yield DECISIONS.text("bonus_of_rejected", n=n_paid)
    if n_held:
        yield DECISIONS.text("held_bonus_of_rejected", n=n_held)


def _is_rewarded_all_the_same(row: GivenDecision) -> bool:
    return row.decision == Decision.Kind.REJECT and row.bonus is not None


def _of_panel(submissions: Sequence[Submission], panel: str) -> list[Submission]:
    """Return those of the panel that a row names; in capitals or small letters if none is so."""
    named = [(one.worker.panel or NO_PANEL, one) for one in submissions]
    exactly = [one for name, one in named if name == panel]
    return exactly or [one for name, one in named if name.casefold() == panel.casefold()]


def _bonuses(
    version: QuestionSetVersion,
    amounts: dict[int, Decimal],
    user: Any,
    round_: str,
    lines: dict[int, int],
    problems: Problems,
) -> int:
    """Plan and confirm the bonuses of a file; return how many are new."""
    if not amounts:
        return 0
    try:
        plan(version, amounts, user, round_)
    except OtherAmountError as error:
        line = next(at for at, key in lines.items() if key == error.payment.submission)
        problems.add_code(line, "bonus", "bonus_of_other_amount", reason=str(error))
        problems.raise_if_any()
    except CurrencyError as error:
        problems.add_code(None, "bonus", "bonus_of_other_currency", reason=str(error))
        problems.raise_if_any()
    return len(confirm(version, user, round_, list(amounts)).payments)


def _submissions(
    version: QuestionSetVersion, rows: tuple[GivenDecision, ...], problems: Problems
) -> dict[int, int]:
    """Return the keys of the submissions that rows are about, by their lines."""
    known: dict[str, list[Submission]] = {}
    for one in Submission.objects.filter(version=version).select_related("worker"):
        known.setdefault(one.worker.external_id, []).append(one)
    found: dict[int, int] = {}
    taken: dict[int, int] = {}
    for row in rows:
        of_id = known.get(row.worker, [])
        there = _of_panel(of_id, row.panel) if row.panel else of_id
        name = row.worker[:40]
        if not there:
            problems.add_code(
                row.line, "worker", "worker_took_no_part", worker=name, version=str(version)
            )
        elif len(there) > 1:
            panels = ", ".join(one.worker.panel or NO_PANEL for one in there)
            problems.add_code(
                row.line, "worker", "worker_of_several_panels", worker=name, panels=panels
            )
        elif there[0].withdrawn_at or there[0].worker.erased_at:
            problems.add_code(row.line, "worker", "worker_withdrew", worker=name)
        elif (earlier := taken.setdefault(there[0].pk, row.line)) != row.line:
            problems.add_code(row.line, "worker", "decided_twice", worker=name, first_line=earlier)
        else:
            found[row.line] = there[0].pk
    return found
