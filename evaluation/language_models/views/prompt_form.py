"""Form of a prompt: system text and question template."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from evaluation.runs.flow.asking.prompts import (
    CLOSED,
    PASSAGE,
    SYSTEM,
    TEMPLATES,
    Prompt,
    TemplateError,
)
from evaluation.runs.steps.asking.prompts import LONGEST_TEXT

STRATEGIES = {
    CLOSED: "Closed book: from memory",
    PASSAGE: "With the passage of the question",
}
WRONG = {
    "braces": "The braces do not match: write {{{{ for a brace itself.",
    "bare": "In {field} only the name may stand between the braces.",
    "unknown": "There is no field {field}: the template may use {known}.",
    "of_passage": "{field} is only there beside a passage: choose that above, or leave it out.",
    "missing": "The field {field} is missing; without it the model would not see it.",
}


class PromptForm(forms.Form):
    """Form of a prompt; `named` adds the name field, for the first version."""

    name = forms.CharField(
        label="Name", max_length=200, help_text="For yourself, such as One short sentence."
    )
    strategy = forms.ChoiceField(label="How it is asked", choices=list(STRATEGIES.items()))
    system = forms.CharField(
        label="System text",
        required=False,
        strip=False,
        max_length=LONGEST_TEXT,
        help_text="The system message. Empty: none.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    template = forms.CharField(
        label="Template",
        strip=False,
        max_length=LONGEST_TEXT,
        help_text="The message about each question. {question} and {choices} are filled in, also "
        "{category} and {language}; beside a passage {passage} and {title}.",
        widget=forms.Textarea(attrs={"rows": 7, "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, named: bool = True, **kwargs: Any) -> None:
        start = {"strategy": CLOSED, "system": SYSTEM, "template": TEMPLATES[CLOSED]}
        kwargs["initial"] = {**start, **(kwargs.get("initial") or {})}
        super().__init__(*args, **kwargs)
        if not named:
            del self.fields["name"]

    def clean(self) -> dict[str, Any]:
        """Validate that the template can be filled in."""
        values: dict[str, Any] = super().clean() or {}
        # A browser sends line breaks of its own, and the hash of a prompt is of its characters.
        for name in ("system", "template"):
            if name in values:
                values[name] = values[name].replace("\r\n", "\n")
        if not self.errors:
            try:
                self.prompt()
            except TemplateError as error:
                said = WRONG[error.code].format(**error.values)
                self.add_error("template", ValidationError(said, error.code))
        return values

    def prompt(self) -> Prompt:
        """Return the prompt from the form. Raises TemplateError."""
        values = self.cleaned_data
        return Prompt(values["strategy"], values["template"], values["system"])
