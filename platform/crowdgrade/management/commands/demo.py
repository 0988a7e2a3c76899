"""Command that loads the demo, grades it with a background process, and serves the site."""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations import demo as content
from crowdgrade import demo, processes
from crowdgrade.supervisor import (
    LOCK_FILE,
    AlreadyRunningError,
    Stopped,
    hold_lock,
    raise_on_signal,
    supervise_children,
)
from crowdgrade.web_server import open_listening_sockets
from evaluation.core.messages.console import ProgressBars
from evaluation.core.options import TERMINAL
from evaluation.grading.commands import format_run_report
from evaluation.models import Run
from evaluation.runs.background.run_watch import show_progress

HOST = "127.0.0.1"


class Command(BaseCommand):
    """Run the demo site on this machine, without other services."""

    help = (
        "Load the demo into a database of its own (var/demo), grade it with a real worker, print "
        "the workers' and the models' tables, and serve the site until Ctrl-C."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the command-line options of the demo."""
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--no-serve", action="store_true", help="end after the tables")

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare the demo; run web server and background process until Ctrl-C or the end."""
        if settings.HOME != settings.DEMO_HOME:
            # Settings are read once per process: replace it with one that has the demo's.
            os.execve(sys.executable, [sys.executable, *sys.argv], demo.build_demo_environment())  # noqa: S606
        self._port, self._serve = options["port"], not options["no_serve"]
        if self._serve:
            # Before anything is created, so that a port in use fails at once.
            self._listening = self._open_sockets()
        home = demo.prepare_demo_home()
        try:
            with hold_lock(home / LOCK_FILE), raise_on_signal():
                self._run_demo()
        except AlreadyRunningError:
            raise CommandError("the demo is running already, in another terminal") from None
        except Stopped:
            self.stdout.write("\nThe demo has stopped.")

    def _run_demo(self) -> None:
        """Migrate, load the data, queue the grading run, and supervise the processes."""
        call_command("migrate", verbosity=0, interactive=False)
        self.check()
        demo.ensure_demo_user(settings.HOME)
        self._graded_run = demo.ensure_demo_run(demo.load_demo())
        self._printed = False
        self._bars = ProgressBars()
        self.stdout.write("Grading the demo's answers; the first time this takes half a minute.")
        children = [processes.build_background_process(log=settings.HOME / "worker.log")]
        if self._serve:
            call_command("collectstatic", verbosity=0, interactive=False)
            children += processes.build_web_servers(self._listening, log=settings.HOME / "web.log")
        supervise_children(children, self.stderr.write, self._report_when_finished)
        if self._graded_run.state != Run.State.DONE:
            raise CommandError(
                f"the grading {self._graded_run.state}: "
                f"{TERMINAL.format_message(self._graded_run.error)}"
            )

    def _open_sockets(self) -> list[socket.socket]:
        """Return listening sockets at the demo's port; raise `CommandError` if it is in use."""
        try:
            return open_listening_sockets(HOST, self._port)
        except OSError:
            raise CommandError(
                f"port {self._port} is in use: choose another, such as PORT={self._port + 1}"
            ) from None

    def _report_when_finished(self) -> bool:
        """Print progress, and the tables once the run ends; return whether the demo may end."""
        if self._printed:
            return not self._serve
        self._graded_run.refresh_from_db()
        if not self._graded_run.is_finished:
            show_progress(self._graded_run, self._bars.show)
            return False
        self._bars.close()
        self._printed = True
        if self._graded_run.state == Run.State.DONE:
            self.stdout.write(f"\n{content.LABEL}\n{content.MODEL_LABEL}.\n")
            self.stdout.write(format_run_report(self._graded_run))
        else:
            self.stdout.write(
                f"The grading {self._graded_run.state}: "
                f"{TERMINAL.format_message(self._graded_run.error)}"
            )
        if self._serve:
            self._print_login()
        return not self._serve

    def _print_login(self) -> None:
        """Print the site's URL, user name and password."""
        login = settings.HOME / demo.LOGIN_FILE
        password = demo.read_demo_password(settings.HOME) or "(changed)"
        self.stdout.write(f"\nThe site: http://{HOST}:{self._port}/")
        self.stdout.write(f"Log in as {demo.USERNAME}, password: {password}, also in {login}")
        self.stdout.write("Ctrl-C ends the site and its worker.")
        self.stdout.flush()
