"""Command ``manage.py benchmark``; its code is in `tests/benchmarks` of the checkout."""

from __future__ import annotations

from evaluation.management.running import CheckoutCommand


class Command(CheckoutCommand):
    """Measure speed and memory against other packages."""

    help = "Measure speed and memory against named peers, as ratios of one run; needs no database."
    requires_system_checks = ()
    module = "tests.benchmarks.command"
