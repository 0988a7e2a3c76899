#!/usr/bin/env python
"""Run a Crowdgrade command: ``python manage.py help`` lists them."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def main() -> None:
    """Put the site on the path and hand over to Django."""
    # The package `crowdgrade` lives in platform/, which must never become a
    # package itself: it would hide Python's own module of that name.
    sys.path.insert(0, str(ROOT / "platform"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdgrade.settings")
    try:
        from crowdgrade.command_help import CommandLine
    except ImportError:
        sys.exit(
            "Django is not installed in this Python. Run `make install` once, then use "
            "`.venv/bin/python manage.py ...` (or activate .venv first)."
        )
    try:
        CommandLine(sys.argv).execute()
    except Exception as error:
        from django.conf import settings
        from django.core.exceptions import ImproperlyConfigured

        # An environment variable with a wrong value: the settings were not read.
        if isinstance(error, ImproperlyConfigured) and not settings.configured:
            sys.exit(f"Error: {error}")
        # Loaded only now: an outage is rare, and most commands are quick.
        from crowdgrade.outages import describe_outage

        said = describe_outage(error)
        if said is None:
            raise
        sys.exit(f"Error: {said}")


if __name__ == "__main__":
    main()
