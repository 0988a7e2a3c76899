"""The door to the running site: ``manage.py up`` serves it and works, until Ctrl-C."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from crowdgrade import processes
from crowdgrade.home import private_folder
from crowdgrade.supervisor import (
    AlreadyRunningError,
    Stopped,
    only_one,
    port_is_free,
    stopped_by_signal,
    supervise,
)

LOCK_FILE = "up.lock"


class Command(BaseCommand):
    """Run the web server and a worker together."""

    help = "Migrate, then run the web server and a worker; restarts what dies; Ctrl-C ends both."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take where to listen."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run both until a signal comes."""
        host, port = options["host"], options["port"]
        home = private_folder(settings.HOME)
        try:
            with only_one(home / LOCK_FILE), stopped_by_signal():
                if not port_is_free(host, port):
                    raise CommandError(f"port {port} is in use: choose another with --port")
                call_command("migrate", verbosity=0, interactive=False)
                call_command("collectstatic", verbosity=0, interactive=False)
                self.stdout.write(f"http://{host}:{port}/   (Ctrl-C ends the site and its worker)")
                supervise([processes.web(host, port), processes.worker()], self.stderr.write)
        except AlreadyRunningError as error:
            raise CommandError(
                f"the site is running already: another process holds {error}"
            ) from None
        except Stopped:
            self.stdout.write("stopped")
