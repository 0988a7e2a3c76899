"""The words of the REST API: options are the keys of `parameters`."""

from __future__ import annotations

from evaluation.words.catalogue import Catalogue


def option(name: str) -> str:
    """Return the key of an option."""
    return name


CATALOGUE = Catalogue(option)
said, all_said = CATALOGUE.said, CATALOGUE.all_said
