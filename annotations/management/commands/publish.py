"""Command that publishes a question set to workers: ``manage.py publish SET --places N``."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from annotations.answering import collecting, links
from annotations.answering.errors import SettingsError
from annotations.answering.rank_notice import find_rank_notice
from annotations.answering.sentences import PUBLISHING
from annotations.management.importing import USAGE, QuestionSetCommand
from annotations.models import Collection

HERE = "http://127.0.0.1:8000"
OF_PANEL = {
    "panel": ("NAME", "name of the panel (Prolific, where its parameter holds the worker's id)"),
    "return_url": ("URL", "address of the panel to go back to, with {code} where the code belongs"),
    "code_done": ("CODE", "completion code: done"),
    "code_no_consent": ("CODE", "completion code: did not agree"),
    "code_screened_out": ("CODE", "completion code: did not pass, or not for them"),
    "code_failed_checks": ("CODE", "completion code: handed in and failed the attention checks"),
    "code_too_late": ("CODE", "completion code: full, closed, too late"),
    "code_not_chosen": ("CODE", "completion code: did not score enough in an earlier set"),
}
"""What belongs to the panel; each is an option, and a field of `Collection`."""


class Command(QuestionSetCommand):
    """Publish the latest version of a question set to workers and print their link."""

    help = (
        "Publish the latest version of the question set SET, so that people can answer it, and "
        "print the link for the panel as the last line: a worker's own link is that with "
        "?PROLIFIC_PID=ID. What is published already stays as it is; settings that are given "
        "again are changed, and the link is the same."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options: question set and the settings of the collection."""
        super().add_arguments(parser)
        parser.add_argument("--places", type=int, metavar="N", help="how many people may take part")
        parser.add_argument(
            "--answers-per-question",
            type=int,
            metavar="K",
            help="how many of them answer each question (without it all do)",
        )
        parser.add_argument(
            "--checks-needed",
            type=int,
            metavar="N",
            help="how many attention checks must be right for the code of who is done; who hands "
            "in with fewer gets that of --code-failed-checks (0: everybody is done)",
        )
        parser.add_argument(
            "--protocol",
            choices=Collection.Protocol.values,
            help="recall (default): read the text, then answer from memory; open: the text "
            "stays visible",
        )
        parser.add_argument(
            "--worker-parameter",
            metavar="NAME",
            help="the parameter in which the panel gives its id of the worker (PROLIFIC_PID)",
        )
        parser.add_argument(
            "--signals",
            choices=["on", "off"],
            help="whether the page counts how much is typed and pasted and how often it is left "
            "(on): never which keys, no text; workers see a notice, and can switch it off",
        )
        parser.add_argument(
            "--base-url",
            metavar="URL",
            help=f"the address at which workers reach this site (default: {HERE})",
        )
        panel = parser.add_argument_group("the panel")
        for name, (what, words) in OF_PANEL.items():
            panel.add_argument(f"--{name.replace('_', '-')}", metavar=what, help=words)

    def handle(self, *args: Any, **options: Any) -> None:
        """Publish the version or change its settings; print a summary and the workers' link."""
        question_set = self.find_question_set(options)
        try:
            published = collecting.publish_question_set(
                question_set,
                places=options["places"],
                answers_per_question=options["answers_per_question"],
                checks_needed=options["checks_needed"],
                protocol=options["protocol"],
                worker_parameter=options["worker_parameter"],
                signals=None if options["signals"] is None else options["signals"] == "on",
                base_url=options["base_url"],
                **_read_panel_options(options),
            )
        except SettingsError as error:
            raise CommandError(f"{question_set}: {error}", returncode=USAGE) from error
        collection = published.collection
        if not collection.base_url:
            collecting.change_settings(collection, base_url=HERE)
        version = str(collection.version)
        if published.is_new:
            self.stdout.write(PUBLISHING.text("published", version=version))
        elif published.changed:
            self.stdout.write(PUBLISHING.text("changed", version=version, names=published.changed))
        else:
            self.stdout.write(PUBLISHING.text("unchanged", version=version))
        each = collection.answers_per_question
        answers = "answers by everybody" if each is None else f"{each:,} answers to each question"
        places = "1 place" if collection.places == 1 else f"{collection.places:,} places"
        self.stdout.write(
            f"{places}, {answers}, {collection.get_protocol_display()}; "
            f"workers are known by {collection.worker_parameter}; it is {collection.state}"
        )
        if notice := find_rank_notice(collection):
            self.stdout.write(notice.words)
        self.stdout.write(links.build_collection_link(collection))


def _read_panel_options(options: dict[str, Any]) -> dict[str, str]:
    """Return the panel settings among the options; CommandError (2) for invalid values."""
    settings: dict[str, str] = {}
    for name in OF_PANEL:
        if options[name] is None:
            continue
        try:
            field: Any = Collection._meta.get_field(name)
            settings[name] = field.clean(options[name].strip(), None)
        except ValidationError as error:
            option = f"--{name.replace('_', '-')}"
            raise CommandError(f"{option}: {' '.join(error.messages)}", returncode=USAGE) from error
    return settings
