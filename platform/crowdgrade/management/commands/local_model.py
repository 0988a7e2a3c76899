"""Command that serves the packaged language model and registers it with the site."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection

from crowdgrade import demo
from crowdgrade.supervisor import Stopped, is_port_free, raise_on_signal
from evaluation.core.backends.chat import smollm2
from evaluation.core.backends.errors import ChatError
from evaluation.models import LanguageModel
from evaluation.runs.steps.asking.registration import NAME, register_local_model

HOST = "127.0.0.1"
LOOK_EVERY = 1.0

STOPPED = "The model has stopped."


class Command(BaseCommand):
    """Serve SmolLM2-135M until Ctrl-C, and register it with the site."""

    help = (
        "Serve the packaged language model (SmolLM2-135M-Instruct) on this machine until Ctrl-C, "
        "and register it with the site and with the demo, where they were set up."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the command-line options of the model server."""
        parser.add_argument("--port", type=int, default=8081, help="(%(default)s)")
        parser.add_argument(
            "--register-only", action="store_true", help="register the model; serve nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Register the model, then serve it until Ctrl-C."""
        address = f"http://{HOST}:{options['port']}"
        if options["register_only"]:
            self._register_model(address)
            return
        try:
            path = smollm2.find_model_file()
            smollm2.verify_model_file(path)
            is_served = not is_port_free(HOST, options["port"])
            if is_served and not smollm2.is_serving(address):
                raise CommandError(
                    f"port {options['port']} is in use by something else: choose another, such as "
                    f"PORT={options['port'] + 1}"
                )
            self._register_model(address)
            self._register_in_demo(options["port"])
            if is_served:
                self.stdout.write(f"The model is served already, at {address}/v1.")
                return
            with raise_on_signal(), smollm2.run_server(path, options["port"]):
                self._wait_for_signal(address)
        except ChatError as error:
            raise CommandError(str(error)) from error
        except Stopped:
            self.stdout.write(f"\n{STOPPED}")

    def _wait_for_signal(self, address: str) -> None:
        """Print the model's URL and wait for a signal."""
        self.stdout.write(f"{smollm2.MODEL} answers at {address}/v1, a chat address as OpenAI has.")
        self.stdout.write("Ctrl-C ends it.")
        self.stdout.flush()
        while True:
            time.sleep(LOOK_EVERY)

    def _register_model(self, address: str) -> None:
        """Register the model in the configured database; without one do nothing."""
        if not _has_site_tables():
            self.stdout.write(f"No site in {settings.HOME} yet, so none knows the model.")
            return
        names = register_local_model(address)
        if not names:
            problem = "no user to register it for: make one with `manage.py createsuperuser`"
            self.stdout.write(f"The site in {settings.HOME} has {problem}.")
            return
        self.stdout.write(f"Registered as “{NAME}” for {', '.join(names)} in {settings.HOME}.")
        if not settings.MODEL_NETWORKS:
            self.stdout.write("Models on this machine need CROWDGRADE_MODEL_NETWORKS=127.0.0.0/8.")

    def _register_in_demo(self, port: int) -> None:
        """Register the model in the demo's database too, in a process with its settings."""
        home = Path(settings.DEMO_HOME)
        if home == Path(settings.HOME) or not (home / "crowdgrade.sqlite3").exists():
            return
        self.stdout.flush()
        command = [sys.executable, sys.argv[0], "local_model", "--register-only"]
        # A process of its own, because Django reads its settings once per process.
        subprocess.run(
            [*command, "--port", str(port)], env=demo.build_demo_environment(), check=True
        )


def _has_site_tables() -> bool:
    """Return whether the database exists and has the site's tables."""
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite" and not Path(name).exists():
        return False  # a query would create the file
    try:
        LanguageModel.objects.exists()
    except DatabaseError:
        return False
    return True
