"""Form part for the name and notes that users give to a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms

from evaluation.models import Run

if TYPE_CHECKING:
    LabelForm = forms.ModelForm[Run]
else:
    LabelForm = forms.ModelForm


class RunLabelForm(LabelForm):
    """Form of a run's name and notes, shown beside the form of its options."""

    prefix = "label"

    class Meta:
        """Declares the fields `name` and `notes` of the model `Run`, in this order."""

        model = Run
        fields = ("name", "notes")
        labels: ClassVar = {"name": "Name of the run", "notes": "Notes"}
        widgets: ClassVar = {"notes": forms.Textarea(attrs={"rows": 2})}

    def said(self) -> dict[str, Any]:
        """Return the name and notes of a valid form, by field name."""
        return {field: self.cleaned_data[field] for field in self.Meta.fields}
