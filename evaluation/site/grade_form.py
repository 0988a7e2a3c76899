"""The form of a grading."""

from __future__ import annotations

import re

from evaluation.flow.parameters import AqerParameters
from evaluation.site.option_form import form_for

GradeForm = form_for(AqerParameters)


def in_words_of_the_form(message: str) -> str:
    """Return a message of an alarm with the form's labels for the flags of the command line."""
    options = AqerParameters.options()

    def label(match: re.Match[str]) -> str:
        return f"“{options[match[1].replace('-', '_')].label}”"

    return re.sub(r"--([a-z-]+)", label, message)
