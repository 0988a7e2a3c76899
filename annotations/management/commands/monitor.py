"""Command that prints the progress of a collection: ``manage.py monitor SET``."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.answering.money import CollectionCosts
from annotations.answering.monitor import (
    find_newest_collection,
    list_least_answered_questions,
    load_collection_status,
)
from annotations.answering.rank_notice import find_rank_notice
from annotations.management.importing import USAGE, QuestionSetCommand
from annotations.models import Submission

LABELS = dict(Submission.State.choices)


class Command(QuestionSetCommand):
    """Print how many workers of a question set are answering, have submitted or have left."""

    help = "Show how many people are answering the question set SET, are done, or have left."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: question set, and JSON as output."""
        super().add_arguments(parser)
        parser.add_argument(
            "--json", action="store_true", help="one JSON object with the counts by state"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the progress of the set's newest collection, as text or as JSON."""
        question_set = self.find_question_set(options)
        collection = find_newest_collection(question_set)
        if collection is None:
            raise CommandError(f"{question_set} is not published for workers", returncode=USAGE)
        now, notice = load_collection_status(collection), find_rank_notice(collection)
        if options["json"]:
            facts = {"question_set": question_set.name, "version": collection.version.number}
            short_of = [row.as_dict() for row in list_least_answered_questions(collection)]
            report = {**facts, **now.as_dict(), "fewest_answers": short_of}
            report["rank_notice"] = None if notice is None else notice.code
            self.stdout.write(json.dumps(report, ensure_ascii=False))
            return
        self.stdout.write(f"{collection.version}: {now.state}")
        if notice is not None:
            self.stdout.write(notice.words)
        self.stdout.write(f"places: {now.taken:,} of {now.places:,} taken, {now.free:,} free")
        for state, n in now.states.items():
            self.stdout.write(f"{LABELS[state].lower()}: {n:,}")
        if collection.checks_needed or now.failed_checks:
            self.stdout.write(f"submitted, with failed attention checks: {now.failed_checks:,}")
        self.stdout.write(f"answers handed in: {now.answers:,}")
        if now.median_minutes is not None:
            self.stdout.write(f"minutes from consent to the end (median): {now.median_minutes:g}")
        if now.minutes is not None and now.minutes.people > 1:
            minutes = now.minutes
            self.stdout.write(f"half of them took {minutes.low:.1f} to {minutes.high:.1f} minutes")
        self.stdout.write(f"did not agree: {now.declined:,}")
        for stage in now.stages:
            self.stdout.write(f"now, {stage.words}: {stage.people:,}")
        for left in now.left:
            self.stdout.write(left.words)
        for of_device in now.devices:
            self.stdout.write(
                f"device, {of_device.words}: {of_device.began:,} began, "
                f"{of_device.submitted:,} handed in"
            )
        if now.money is not None:
            self._print_costs(now.money)

    def _print_costs(self, money: CollectionCosts) -> None:
        """Print the costs of the collection and the workers' median hourly pay."""
        unit = money.currency
        self.stdout.write(
            f"cost so far: {unit} {money.so_far:,.2f}, in the end at most "
            f"{unit} {money.at_the_end:,.2f}"
        )
        if money.hourly is not None:
            less = f", less than {unit} {money.least:,.2f}" * money.is_too_little
            self.stdout.write(
                f"pay for an hour, from consent to the end (median): {unit} "
                f"{money.hourly:,.2f}{less}"
            )
