"""The form of a note about a language model."""

from __future__ import annotations

from django import forms


class NoteForm(forms.Form):
    """What is to be remembered about a model."""

    text = forms.CharField(
        label="New note",
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Read by you, the owner of the model and who may change a question set that it "
        "answered in.",
        error_messages={"required": "Write what is to be remembered."},
    )
