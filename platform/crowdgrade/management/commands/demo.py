"""The door to the demo: loads it, grades it with a real worker, prints the tables, serves it."""

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
from crowdgrade.management.commands.up import LOCK_FILE
from crowdgrade.supervisor import (
    AlreadyRunningError,
    Stopped,
    only_one,
    stopped_by_signal,
    supervise,
)
from crowdgrade.web_server import listen
from evaluation.background.watching import show_progress
from evaluation.kinds.aqer.terminal import report_of_run
from evaluation.models import Run
from evaluation.options import TERMINAL
from evaluation.words.console import Bars

HOST = "127.0.0.1"


class Command(BaseCommand):
    """Show what the platform does, on this machine and with nothing else."""

    help = (
        "Load the demo into a database of its own (var/demo), grade it with a real worker, print "
        "the workers' and the models' tables, and serve the site until Ctrl-C."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take where to serve, and whether."""
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--no-serve", action="store_true", help="end after the tables")

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare, then run web server and worker until they are no longer wanted."""
        if settings.HOME != settings.DEMO_HOME:
            # The settings are read once: start anew with those of the demo.
            os.execve(sys.executable, [sys.executable, *sys.argv], demo.environment())  # noqa: S606
        self._port, self._serve = options["port"], not options["no_serve"]
        if self._serve:
            self._listening = self._listens()
        home = demo.prepare_home()
        try:
            with only_one(home / LOCK_FILE), stopped_by_signal():
                self._run()
        except AlreadyRunningError:
            raise CommandError("the demo is running already, in another terminal") from None
        except Stopped:
            self.stdout.write("\nThe demo has stopped.")

    def _run(self) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        self.check()
        demo.ensure_login(settings.HOME)
        self._watched = demo.ensure_run(demo.load())
        self._printed = False
        self._bars = Bars()
        self.stdout.write("Grading the demo's answers; the first time this takes half a minute.")
        children = [processes.worker(log=settings.HOME / "worker.log")]
        if self._serve:
            call_command("collectstatic", verbosity=0, interactive=False)
            children += processes.web(self._listening, log=settings.HOME / "web.log")
        supervise(children, self.stderr.write, self._finished)
        if self._watched.state != Run.State.DONE:
            raise CommandError(
                f"the grading {self._watched.state}: {TERMINAL.said(self._watched.error)}"
            )

    def _listens(self) -> list[socket.socket]:
        try:
            return listen(HOST, self._port)
        except OSError:
            raise CommandError(
                f"port {self._port} is in use: choose another, such as PORT={self._port + 1}"
            ) from None

    def _finished(self) -> bool:
        """Print the tables once the run has ended; whether the demo may end with it."""
        if self._printed:
            return not self._serve
        self._watched.refresh_from_db()
        if not self._watched.is_finished:
            show_progress(self._watched, self._bars.show)
            return False
        self._bars.close()
        self._printed = True
        if self._watched.state == Run.State.DONE:
            self.stdout.write(f"\n{content.LABEL}\n{content.MODEL_LABEL}.\n")
            self.stdout.write(report_of_run(self._watched))
        else:
            self.stdout.write(
                f"The grading {self._watched.state}: {TERMINAL.said(self._watched.error)}"
            )
        if self._serve:
            self._say_where()
        return not self._serve

    def _say_where(self) -> None:
        login = settings.HOME / demo.LOGIN_FILE
        password = demo.stored_password(settings.HOME) or "(changed)"
        self.stdout.write(f"\nThe site: http://{HOST}:{self._port}/")
        self.stdout.write(f"Log in as {demo.USERNAME}, password: {password}, also in {login}")
        self.stdout.write("Ctrl-C ends the site and its worker.")
        self.stdout.flush()
