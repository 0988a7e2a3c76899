"""Command ``manage.py record_demo``; its code is in `tests/benchmarks` of the checkout."""

from __future__ import annotations

from evaluation.core.backends.chat.smollm2 import INSTALL
from evaluation.management.running import CheckoutCommand


class Command(CheckoutCommand):
    """Ask SmolLM2-135M the demo's questions and store the replies."""

    help = (
        "Ask SmolLM2-135M-Instruct the demo's questions, with and without the passage, and write "
        "model_answers.csv and recording.json. " + INSTALL
    )
    requires_system_checks = ()
    module = "tests.benchmarks.recording_command"
