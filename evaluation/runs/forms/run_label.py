"""What people call a run, and what they note about it: the part of a form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms

from evaluation.models import Run

if TYPE_CHECKING:
    LabelForm = forms.ModelForm[Run]
else:
    LabelForm = forms.ModelForm


class RunLabelForm(LabelForm):
    """The name of a run and notes about it; its fields stand beside those of the options."""

    prefix = "label"

    class Meta:
        """The fields, in their order."""

        model = Run
        fields = ("name", "notes")
        labels: ClassVar = {"name": "Name of the run", "notes": "Notes"}
        widgets: ClassVar = {"notes": forms.Textarea(attrs={"rows": 2})}

    def said(self) -> dict[str, Any]:
        """Return name and notes of a valid form, by name."""
        return {field: self.cleaned_data[field] for field in self.Meta.fields}
