"""Pseudonyms of workers, which tell workers apart but do not reveal their ids."""

from __future__ import annotations

import base64
from collections.abc import Callable

from django.utils.crypto import salted_hmac

from annotations.models import QuestionSet

LENGTH = 16
"""Characters, of 5 bits each: among a million workers two are alike once in 2,000,000 sets."""


def pseudonyms(question_set: QuestionSet) -> Callable[[str, str], str]:
    """Return a function from (panel, worker id) to a pseudonym.

    The same worker has the same one in every export of the set, another one in another set.
    Without this installation's secret key nobody can compute it, not even by trying all ids.
    """
    salt = f"crowdgrade.pseudonym.{question_set.public_id}"

    def name(panel: str, worker: str) -> str:
        digest = salted_hmac(salt, f"{panel}\0{worker}", algorithm="sha256").digest()
        return "w-" + base64.b32encode(digest).decode()[:LENGTH].lower()

    return name
