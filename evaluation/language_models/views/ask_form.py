"""Form to ask models: checkboxes of models, a list of prompts, and the options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms

from annotations.models.access import AnyUser
from evaluation.language_models.views.models import Place, place_of
from evaluation.models import LanguageModel
from evaluation.runs.flow.asking.options import AskOptions
from evaluation.runs.forms.options import form_for
from evaluation.runs.steps.asking.prompts import list_prompts

MOST_CHOSEN = 5
"""Models that are chosen beforehand; where there are more, people choose."""
FITTING = "What suits each model: closed book, or beside its passage"


@dataclass(frozen=True)
class ModelBox:
    """A model with its checkbox in the form, and the server it runs on."""

    box: Any
    model: LanguageModel
    place: Place

    @property
    def has_prices(self) -> bool:
        """Whether the model's prices are known."""
        return self.model.price_in is not None


class AskForm(form_for(AskOptions)):  # type: ignore[misc]
    """Form of `AskOptions` in which models and prompts are chosen by name, not id."""

    def __init__(self, user: AnyUser, *args: Any, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        few = self.askable if len(self.askable) <= MOST_CHOSEN else []
        begun = [str(one) for one in self.initial.get("models") or ()]
        self.initial["models"] = begun or [str(row.public_id) for row in few]
        self.fields["prompt"] = forms.ChoiceField(
            label="Prompt",
            required=False,
            choices=[("", FITTING), *((prompt.id, prompt.name) for prompt in list_prompts(user))],
            help_text="The instruction to models and the wording of each question. It is shown "
            "below.",
        )

    def boxes(self) -> list[ModelBox]:
        """Return the models with their checkboxes."""
        boxes = zip(self["models"], self.askable, strict=True)
        return [ModelBox(box, model, place_of(model)) for box, model in boxes]

    def others(self) -> list[forms.BoundField]:
        """Return the basic fields of the form except the models."""
        return [field for field in self.basic() if field.name != "models"]

    def begun_options(self) -> AskOptions:
        """Return the initial options of the form."""
        known = {name: self.initial.get(name) for name in AskOptions.options()}
        return AskOptions(**{**known, "prompt": known["prompt"] or None})
