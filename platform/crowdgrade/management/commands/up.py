"""The door to the running site: ``manage.py up`` serves it and works, until Ctrl-C."""

from __future__ import annotations

import errno
import socket
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from crowdgrade import first_account, processes
from crowdgrade.home import private_folder
from crowdgrade.supervisor import (
    AlreadyRunningError,
    Stopped,
    only_one,
    stopped_by_signal,
    supervise,
)
from crowdgrade.web_server import listen

LOCK_FILE = "up.lock"


class Command(BaseCommand):
    """Run the web servers and a worker together."""

    help = "Migrate, then run web servers and a worker; restarts what dies; Ctrl-C ends all."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take where to listen."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run all until a signal comes."""
        host, port = options["host"], options["port"]
        home = private_folder(settings.HOME)
        try:
            with only_one(home / LOCK_FILE), stopped_by_signal():
                listening = listening_at(host, port)
                call_command("migrate", verbosity=0, interactive=False)
                call_command("collectstatic", verbosity=0, interactive=False)
                site = f"http://{f'[{host}]' if ':' in host else host}:{port}"
                self.stdout.write(f"{site}/   (Ctrl-C ends the site and its worker)")
                if first_account.is_needed():
                    link = first_account.link(site, first_account.ensure_code(home))
                    self.stdout.write(f"There is no account yet. Make the first one at {link}")
                children = [*processes.web(listening), processes.worker()]
                supervise(children, self.stderr.write)
        except AlreadyRunningError as error:
            raise CommandError(
                f"the site is running already: another process holds {error}"
            ) from None
        except Stopped:
            self.stdout.write("stopped")


def listening_at(host: str, port: int) -> list[socket.socket]:
    """Return sockets that listen. Raises `CommandError` where that cannot be."""
    try:
        return listen(host, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CommandError(f"port {port} is in use: choose another with --port") from None
        raise CommandError(f"cannot listen at {host}, port {port}: {error.strerror}") from None
    except ValueError:
        raise CommandError(f"there is no address {host}: choose another with --host") from None
