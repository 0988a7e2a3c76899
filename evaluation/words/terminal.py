"""The words of the command line and of its files: options are switches."""

from __future__ import annotations

from evaluation.words.catalogue import Catalogue


def option(name: str) -> str:
    """Return the switch of an option."""
    return f"--{name.replace('_', '-')}"


CATALOGUE = Catalogue(option)
said, all_said = CATALOGUE.said, CATALOGUE.all_said
