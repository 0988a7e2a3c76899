"""Command ``manage.py admit SET --earlier OTHER``: admit workers by an earlier score."""

from __future__ import annotations

import math
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.management.importing import USAGE, QuestionSetCommand
from annotations.models import Collection
from evaluation.admission import storage as recruiting
from evaluation.models import ScoreRule


class Command(QuestionSetCommand):
    """Admit only workers with a minimum score in an earlier set to a collection."""

    help = (
        "Let only people take part in the published question set SET who scored at least X in the "
        "earlier set OTHER: the raw leave-one-out score (or the question contrast) of the grading "
        "that counts for it, or an end of its 95% interval. With --count nothing is changed; with "
        "--off no score is asked for any more."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: set, admission rule, and whether to store it."""
        super().add_arguments(parser)
        parser.add_argument("--earlier", metavar="OTHER", help="name or id of the earlier set")
        parser.add_argument("--at-least", type=float, metavar="X", help="the least score")
        parser.add_argument(
            "--end",
            choices=ScoreRule.End.values,
            default=ScoreRule.End.LOW.value,
            help="what has to reach X: the score, or the lower (default) or upper end of its "
            "interval",
        )
        parser.add_argument(
            "--score",
            choices=ScoreRule.Score.values,
            default=ScoreRule.Score.RAW.value,
            help="compare by raw leave-one-out score (default) or question contrast",
        )
        parser.add_argument("--count", action="store_true", help="count only, change nothing")
        parser.add_argument("--off", action="store_true", help="ask for no score any more")

    def handle(self, *args: Any, **options: Any) -> None:
        """Count the workers who meet the admission rule; store the rule unless it is a dry run."""
        question_set = self.find_question_set(options)
        collection = (
            Collection.objects.filter(version__question_set=question_set)
            .select_related("version__question_set")
            .order_by("-version__number")
            .first()
        )
        if collection is None:
            raise CommandError(f"{question_set} is not published for workers", returncode=USAGE)
        if options["off"]:
            recruiting.delete_rule(collection)
            self.stdout.write("no score is asked for")
            return
        at_least = options["at_least"]
        if options["earlier"] is None or at_least is None or not math.isfinite(at_least):
            raise CommandError(
                "name the set and the score: --earlier OTHER --at-least X", returncode=USAGE
            )
        # The earlier set is looked up among those of the same owner, where names are unique.
        owner = question_set.owner.get_username()
        earlier = self.find_question_set(
            {**options, "question_set": options["earlier"], "owner": owner}
        )
        asked = (at_least, options["end"], options["score"])
        selection = recruiting.find_admitted_workers(collection, earlier, *asked)
        if selection.run is None:
            raise CommandError(f"{earlier} has no grading that is done", returncode=USAGE)
        self.stdout.write(
            f"{len(selection.ids):,} of {selection.n_graded:,} people would be admitted; "
            f"{selection.n_too_few:,} gave too few answers for a score"
        )
        if not options["count"]:
            rule = recruiting.store_rule(collection, earlier, *asked)
            self.stdout.write(f"{rule.n_admitted:,} are admitted by their score from now on")
