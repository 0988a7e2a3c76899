"""Import of decisions and bonuses from a file: all rows or none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db import transaction

from annotations.exchange.problems import Problems
from annotations.exchange.reading.decisions import DecisionFile, DecisionRow, read_decisions
from annotations.exchange.reading.source import Readable, make_source
from annotations.ledger.bonuses import (
    ROUND,
    confirm_payments,
    find_currency,
    load_payments,
    plan_bonuses,
    split_confirmed_payments,
)
from annotations.ledger.decisions import NewDecision, decide_on_submissions
from annotations.ledger.errors import CurrencyError, OtherAmountError
from annotations.ledger.sentences import DECISIONS
from annotations.models import Decision, QuestionSetVersion, Submission
from annotations.panels.people import describe_contradictions, load_submissions_with_decisions
from annotations.panels.sentences import REPORTS

NO_PANEL = "(none)"
"""The panel's name in a file, for workers who were imported without a panel."""


@dataclass(slots=True)
class DecisionImportReport:
    """Result of importing a file of decisions: counts, sum of bonuses, warnings.

    `n_by_kind` counts the rows by decision; `kinds` has the decision by submission key.
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
    def total_as_text(self) -> str:
        """Sum of the bonuses as text, with the currency if it is known."""
        return f"{self.total} {self.currency}".rstrip()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the report for a terminal."""
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
                total=self.total_as_text,
                n_new=self.n_new_bonuses,
                n_known=self.n_bonuses - self.n_new_bonuses,
            )
        yield from (REPORTS.text("warning", warning=warning) for warning in self.warnings)
        if self.dry_run:
            yield REPORTS.text("dry_run")


def import_decisions(
    version: QuestionSetVersion,
    source: Readable,
    user: Any,
    *,
    round_: str = ROUND,
    dry_run: bool = False,
) -> DecisionImportReport:
    """Import decisions on a version's workers, and their bonuses, from a file: all rows or none.

    The user who decides wrote each amount, so the bonuses are confirmed at once. A worker has one
    bonus in a round. Raises `InputError` with every invalid row; nothing is stored then. With
    `dry_run`, everything is checked and nothing stored.
    """
    problems = Problems(make_source(source).name)
    file = read_decisions(source, problems)
    with transaction.atomic():
        keys = _match_submissions(version, file.rows, problems)
        # Sorts the problems, which come from several passes over the file.
        problems.sort_by_line()
        problems.raise_if_any()
        decisions = [
            NewDecision(keys[row.line], row.decision, row.category, row.reason) for row in file.rows
        ]
        outcome = decide_on_submissions(user, decisions)
        amounts = {keys[row.line]: row.bonus for row in file.rows if row.bonus is not None}
        n_new_bonuses = _store_bonuses(version, amounts, user, round_, keys, problems)
        submissions = {decision.submission for decision in decisions}
        rejected_with_bonus = [keys[row.line] for row in file.rows if _has_bonus_for_rejected(row)]
        warnings = list(_warn_bonus_of_rejected(version, rejected_with_bonus, round_))
        contradictions = list(
            describe_contradictions(
                [p for p in load_submissions_with_decisions(version) if p.key in submissions]
            )
        )
        # After all checks and writes, so that a dry run finds the same problems. Without an
        # exception, because the report is returned.
        if dry_run:
            transaction.set_rollback(True)
    counts: dict[str, int] = {}
    for row in file.rows:
        counts[row.decision] = counts.get(row.decision, 0) + 1
    return DecisionImportReport(
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
        currency=find_currency(version),
        warnings=[*file.warnings, *_warn_unused_columns(file), *warnings, *contradictions],
        dry_run=dry_run,
    )


def _warn_unused_columns(file: DecisionFile) -> Iterator[str]:
    """Yield a warning if a file has unknown columns, whose names may be misspelled."""
    if file.kept_aside:
        yield REPORTS.text("columns_left_out", names=file.kept_aside)


def _warn_bonus_of_rejected(
    version: QuestionSetVersion, rejected: Sequence[int], round_: str
) -> Iterator[str]:
    """Yield a warning about bonuses of workers rejected in the same row."""
    if not rejected:
        return
    sendable, held_back = split_confirmed_payments(load_payments(version, rejected, round_))
    n_held, n_paid = len(held_back), len(sendable)
    if n_paid:
        yield DECISIONS.text("bonus_of_rejected", n=n_paid)
    if n_held:
        yield DECISIONS.text("held_bonus_of_rejected", n=n_held)


def _has_bonus_for_rejected(row: DecisionRow) -> bool:
    """Return whether a row rejects a worker and has a bonus."""
    return row.decision == Decision.Kind.REJECT and row.bonus is not None


def _filter_by_panel(submissions: Sequence[Submission], panel: str) -> list[Submission]:
    """Return the submissions of a panel's workers; ignore case unless a panel matches exactly."""
    named = [(submission.worker.panel or NO_PANEL, submission) for submission in submissions]
    exactly = [submission for name, submission in named if name == panel]
    return exactly or [
        submission for name, submission in named if name.casefold() == panel.casefold()
    ]


def _store_bonuses(
    version: QuestionSetVersion,
    amounts: dict[int, Decimal],
    user: Any,
    round_: str,
    lines: dict[int, int],
    problems: Problems,
) -> int:
    """Plan and confirm the bonuses of a file; return the number of new ones.

    `lines` has the submission's key of each line, for the problems.
    """
    if not amounts:
        return 0
    try:
        plan_bonuses(version, amounts, user, round_)
    except OtherAmountError as error:
        line = next(number for number, key in lines.items() if key == error.payment.submission)
        problems.add_code(line, "bonus", "bonus_of_other_amount", reason=str(error))
        problems.raise_if_any()
    except CurrencyError as error:
        problems.add_code(None, "bonus", "bonus_of_other_currency", reason=str(error))
        problems.raise_if_any()
    return len(confirm_payments(version, user, round_, list(amounts)).payments)


def _match_submissions(
    version: QuestionSetVersion, rows: tuple[DecisionRow, ...], problems: Problems
) -> dict[int, int]:
    """Return the submission key of each row by line number; record a problem if there is none."""
    by_worker: dict[str, list[Submission]] = {}
    for submission in Submission.objects.filter(version=version).select_related("worker"):
        by_worker.setdefault(submission.worker.external_id, []).append(submission)
    keys: dict[int, int] = {}
    first_lines: dict[int, int] = {}
    for row in rows:
        same_id = by_worker.get(row.worker, [])
        matches = _filter_by_panel(same_id, row.panel) if row.panel else same_id
        name = row.worker[:40]
        if not matches:
            problems.add_code(
                row.line, "worker", "worker_took_no_part", worker=name, version=str(version)
            )
        elif len(matches) > 1:
            panels = ", ".join(submission.worker.panel or NO_PANEL for submission in matches)
            problems.add_code(
                row.line, "worker", "worker_of_several_panels", worker=name, panels=panels
            )
        # `lock_submissions` would raise for the first one only; here each has its line.
        elif matches[0].withdrawn_at or matches[0].worker.erased_at:
            problems.add_code(row.line, "worker", "worker_withdrew", worker=name)
        elif (earlier := first_lines.setdefault(matches[0].pk, row.line)) != row.line:
            problems.add_code(row.line, "worker", "decided_twice", worker=name, first_line=earlier)
        else:
            keys[row.line] = matches[0].pk
    return keys
