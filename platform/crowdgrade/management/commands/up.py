"""Command that runs the site: web servers and a background process, until Ctrl-C."""

from __future__ import annotations

import errno
import socket
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from crowdgrade import first_account, processes
from crowdgrade.home import create_private_folder
from crowdgrade.supervisor import (
    LOCK_FILE,
    AlreadyRunningError,
    Stopped,
    hold_lock,
    raise_on_signal,
    supervise_children,
)
from crowdgrade.web_server import open_listening_sockets


class Command(BaseCommand):
    """Run the web servers and a background process together."""

    help = "Migrate, then run web servers and a worker; restarts what dies; Ctrl-C ends all."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the command-line options: host and port."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, create the static files, then run all processes until SIGTERM or Ctrl-C."""
        host, port = options["host"], options["port"]
        home = create_private_folder(settings.HOME)
        try:
            with hold_lock(home / LOCK_FILE), raise_on_signal():
                listening = open_sockets(host, port)
                call_command("migrate", verbosity=0, interactive=False)
                call_command("collectstatic", verbosity=0, interactive=False)
                site = f"http://{f'[{host}]' if ':' in host else host}:{port}"
                self.stdout.write(f"{site}/   (Ctrl-C ends the site and its worker)")
                if first_account.has_no_account():
                    link = first_account.build_first_account_link(
                        site, first_account.ensure_account_code(home)
                    )
                    self.stdout.write(f"There is no account yet. Make the first one at {link}")
                children = [
                    *processes.build_web_servers(listening),
                    processes.build_background_process(),
                ]
                supervise_children(children, self.stderr.write)
        except AlreadyRunningError as error:
            raise CommandError(
                f"the site is running already: another process holds {error}"
            ) from None
        except Stopped:
            self.stdout.write("stopped")


def open_sockets(host: str, port: int) -> list[socket.socket]:
    """Return listening sockets; raise `CommandError` with the reason if that fails."""
    try:
        return open_listening_sockets(host, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CommandError(f"port {port} is in use: choose another with --port") from None
        raise CommandError(f"cannot listen at {host}, port {port}: {error.strerror}") from None
    except ValueError:
        raise CommandError(f"there is no address {host}: choose another with --host") from None
