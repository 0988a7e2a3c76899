"""Base class of commands whose code is in a source checkout, not in the package."""

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
    """Command that a module of the source checkout declares and runs.

    The module has two functions: `add_arguments(parser)` and `run(command, options)`. It is loaded
    when the command is called.
    """

    module: ClassVar[str]

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments of the checkout's module; raise CommandError without a checkout."""
        try:
            self._load().add_arguments(parser)
        except CommandError as error:
            parser.error(str(error))

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command of the checkout's module."""
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
