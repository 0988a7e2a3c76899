"""Commands whose code is part of a checkout, not of the installed package."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError, CommandParser

MISSING = (
    "this command is part of a checkout of Crowdgrade and not of the installed package: {name} is "
    "missing. Clone the repository and run the command there."
)


class CheckoutCommand(BaseCommand):
    """A command that a module of the checkout declares and runs.

    The module has two functions: `add_arguments(parser)` and `run(command, options)`. It is loaded
    when the command is called.
    """

    module: ClassVar[str]

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments of the module; end with a message if there is no checkout."""
        try:
            self._load().add_arguments(parser)
        except CommandError as error:
            parser.error(str(error))

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the module's command."""
        self._load().run(self, options)

    def _load(self) -> ModuleType:
        try:
            return import_module(self.module)
        except ModuleNotFoundError as error:
            # What the module itself imports, such as a peer, is reported as it is.
            if error.name is None or not f"{self.module}.".startswith(f"{error.name}."):
                raise
            package = self.module.rpartition(".")[0]
            raise CommandError(MISSING.format(name=package)) from None
