"""The form of a grading: a field for each of `AqerParameters`, with the defaults, explained."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from evaluation.backends import FOR_OPERATORS, BackendError, parse_spec
from evaluation.flow.parameters import (
    AGGREGATIONS,
    INITIALIZATIONS,
    REMEDIES,
    SIMILARITIES,
    STOPPING_RULES,
    AqerParameters,
)
from evaluation.texts.spelling import LANGUAGES

DEFAULTS = AqerParameters()
OTHER = "other"
EMBEDDERS = (
    ("minilm", "MiniLM: meaning of sentences, English, comes with the platform"),
    ("tfidf-word", "Words, weighted by rarity (TF-IDF): any language, no meaning"),
    ("tfidf-char", "Letters in groups, weighted by rarity (TF-IDF): tolerates misspelling"),
    ("bow", "Bag of words: what the majority vote needs"),
    (OTHER, "Another one, named below"),
)
LABELS = {
    "embedder": "How texts become vectors",
    "precision": "Precision",
    "init": "First weights",
    "nli": "Entailment model",
    "aggregation": "How answers become the exemplary one",
    "anchors": "Use experts' grades",
    "camps": "Several right answers",
    "group-vote": "Vote of such a group",
    "collapse-copies": "Collapse copies",
    "suggest-anchors": "Answers to suggest",
    "exclude-workers": "Exclude workers",
    "unit-length": "Vectors of unit length",
    "spelling": "Correct the spelling",
}
BASIC = ("embedder", "bootstrap")
OF_REMEDIES = (*REMEDIES, "group_vote")


def _choices(values: tuple[str, ...], words: dict[str, str]) -> list[tuple[str, str]]:
    return [(value, words.get(value, value)) for value in values]


class GradeForm(forms.Form):
    """Everything a run may be asked to do; `parameters()` is the answer of a valid form."""

    embedder = forms.ChoiceField(
        label=LABELS["embedder"],
        choices=EMBEDDERS,
        initial=DEFAULTS.embedder,
        help_text="Two answers are as similar as their vectors.",
    )
    bootstrap = forms.IntegerField(
        label="Bootstrap draws",
        min_value=0,
        max_value=10_000,
        initial=DEFAULTS.bootstrap,
        help_text="Draws of questions for the 95 % intervals; 0 for none.",
    )
    other_embedder = forms.CharField(
        label="Another embedder",
        required=False,
        max_length=500,
        help_text="Such as sentence-transformers:all-mpnet-base-v2. The worker must have it.",
    )
    precision = forms.ChoiceField(
        label=LABELS["precision"],
        choices=_choices(
            ("float32", "bfloat16", "auto"),
            {
                "float32": "float32: exact",
                "bfloat16": "bfloat16: faster where the processor has it",
                "auto": "auto: bfloat16 where the processor has it",
            },
        ),
        initial=DEFAULTS.precision,
        help_text="Of the model that makes the vectors.",
    )
    similarity = forms.ChoiceField(
        label="Similarity",
        choices=_choices(
            SIMILARITIES, {"cosine": "cosine", "euclidean": "Euclidean distance, negative"}
        ),
        initial=DEFAULTS.similarity,
        help_text="Between an answer and the exemplary answer.",
    )
    aggregation = forms.ChoiceField(
        label=LABELS["aggregation"],
        choices=_choices(
            AGGREGATIONS,
            {"mean": "weighted mean of the vectors", "majority": "weighted majority of each word"},
        ),
        initial=DEFAULTS.aggregation,
        help_text="The majority needs the bag of words.",
    )
    init = forms.ChoiceField(
        label=LABELS["init"],
        choices=_choices(
            INITIALIZATIONS,
            {
                "equal": "equal for all workers",
                "random": "random, by the seed",
                "entailment": "by entailment among the answers",
            },
        ),
        initial=DEFAULTS.init,
        help_text="Where the iteration starts.",
    )
    nli = forms.CharField(
        label=LABELS["nli"],
        required=False,
        max_length=500,
        help_text="Only for first weights by entailment: the name of a cross-encoder that the "
        "worker has.",
    )
    stopping = forms.ChoiceField(
        label="Stopping rule",
        choices=_choices(
            STOPPING_RULES,
            {
                "relative": "relative: change small for the number of workers",
                "paper": "as in the paper: mean change small",
            },
        ),
        initial=DEFAULTS.stopping,
        help_text="The paper's rule stops at once with many workers.",
    )
    tolerance = forms.FloatField(
        label="Tolerance",
        min_value=1e-15,
        max_value=1.0,
        initial=DEFAULTS.tolerance,
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
        help_text="What the stopping rule takes for small.",
    )
    max_iterations = forms.IntegerField(
        label="Most iterations",
        min_value=1,
        max_value=100_000,
        initial=DEFAULTS.max_iterations,
        help_text="It stops there even if the weights still move; the run then says so.",
    )
    leave_one_out = forms.BooleanField(
        label="Leave one out",
        required=False,
        help_text="Compare an answer with the exemplary answer of the others. Fairer with few "
        "workers a question.",
    )
    difficulty = forms.BooleanField(
        label="Take out difficulty",
        required=False,
        help_text="Workers who met hard questions are not graded down for them.",
    )
    discrimination = forms.BooleanField(
        label="Weight by discrimination",
        required=False,
        help_text="Questions that part good workers from bad ones count more.",
    )
    include_rejected = forms.BooleanField(
        label="Grade rejected answers too",
        required=False,
        help_text="Those that were refused where they were collected; else they are left out.",
    )
    bootstrap_workers = forms.BooleanField(
        label="Draw workers too",
        required=False,
        help_text="Wider intervals, as if other people of the kind had answered.",
    )
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=2**32 - 1,
        initial=DEFAULTS.seed,
        help_text="The same seed gives the same numbers again.",
    )
    exclude_workers = forms.CharField(
        label="Exclude workers",
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="To see how it is without them: ids of the platform, one on each line, as in the "
        "address of a worker's page. They get no vote, no grade and no rank; nobody is rejected.",
    )
    collapse_copies = forms.BooleanField(
        label="Collapse copies",
        required=False,
        help_text="Let each group of workers who copy from each other vote as one. A group that "
        "may be a camp of its own is left alone: experts' grades settle that.",
    )
    group_vote = forms.FloatField(
        label=LABELS["group-vote"],
        required=False,
        min_value=1e-6,
        max_value=1.0,
        initial=DEFAULTS.group_vote,
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
        help_text="Beside 1 of a single worker. Only with collapsed copies.",
    )
    weight_cap = forms.FloatField(
        label="Most weight of a worker",
        required=False,
        min_value=1e-6,
        max_value=1.0,
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
        help_text="A part of all votes, such as .1, so that nobody decides alone; empty for no cap."
        " It cannot be less than one divided by the number of workers.",
    )
    anchors = forms.BooleanField(
        label=LABELS["anchors"],
        required=False,
        help_text="Where the crowd falls into camps, the ranking that agrees best with the grades "
        "of experts is taken.",
    )
    suggest_anchors = forms.IntegerField(
        label="Answers to suggest",
        required=False,
        min_value=0,
        max_value=1000,
        initial=DEFAULTS.suggest_anchors,
        help_text="Name so many answers for experts to grade; 6 to 8 are enough, 0 for none.",
    )
    camps = forms.BooleanField(
        label=LABELS["camps"],
        required=False,
        help_text="For questions with more than one right answer: where answers fall in two camps, "
        "each is compared with the nearer one. A common error then counts as right, too.",
    )
    unit_length = forms.BooleanField(
        label="Vectors of unit length",
        required=False,
        help_text="So that no answer counts more because its vector is long. It mends noise, and "
        "makes a group that errs together stronger.",
    )
    spelling = forms.ChoiceField(
        label="Correct the spelling",
        required=False,
        choices=[("", "no"), *((code, code) for code in LANGUAGES)],
        help_text="Of a language, before texts become vectors. The worker must have the extra "
        "“spelling”.",
    )

    def __init__(
        self,
        user: AbstractBaseUser | AnonymousUser,
        *args: Any,
        like: AqerParameters = DEFAULTS,
        preset: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        """Begin with the parameters of `like`; `preset` are fields that an address set on top."""
        self.preset = {name: value for name, value in (preset or {}).items() if name in OF_FORM}
        kwargs["initial"] = {**initial_of(like), **self.preset}
        super().__init__(*args, **kwargs)
        self._operator = bool(getattr(user, "is_superuser", False))

    def clean(self) -> dict[str, Any]:
        """Refuse what contradicts itself, with the reasons of `AqerParameters.problems`."""
        values: dict[str, Any] = super().clean() or {}
        if self.errors:
            return values
        try:
            spec = parse_spec(self._embedder())
        except BackendError as error:
            self.add_error("other_embedder", str(error))
            return values
        if spec.kind in FOR_OPERATORS and not self._operator:
            self.add_error(
                "other_embedder",
                f"Only operators may use {spec.kind}: it opens a file of the server or calls "
                "another machine.",
            )
            return values
        for problem in self.parameters().problems():
            self.add_error(None, in_words_of_the_form(problem))
        return values

    def parameters(self) -> AqerParameters:
        """Return what was asked for."""
        names = AqerParameters.__dataclass_fields__
        values = {name: self.cleaned_data[name] for name in names}
        values |= {"embedder": self._embedder(), "nli": values["nli"] or None}
        values |= {
            "exclude_workers": tuple(dict.fromkeys(values["exclude_workers"].split())),
            "group_vote": values["group_vote"] or DEFAULTS.group_vote,
            "suggest_anchors": values["suggest_anchors"] or 0,
            "spelling": values["spelling"] or None,
        }
        return AqerParameters(**values)

    def _embedder(self) -> str:
        chosen: str = self.cleaned_data["embedder"]
        return self.cleaned_data["other_embedder"].strip() if chosen == OTHER else chosen

    def basic(self) -> list[forms.BoundField]:
        """Return the fields that everybody should look at."""
        return [self[name] for name in BASIC]

    def advanced(self) -> list[forms.BoundField]:
        """Return the others, but for the remedies."""
        return [self[name] for name in self.fields if name not in (*BASIC, *OF_REMEDIES)]

    def remedies(self) -> list[forms.BoundField]:
        """Return the fields against groups that copy and camps that err."""
        return [self[name] for name in self.fields if name in OF_REMEDIES]

    def advanced_is_open(self) -> bool:
        """Whether something in the folded part needs to be seen."""
        return bool(self.non_field_errors()) or self._is_open(self.advanced())

    def remedies_are_open(self) -> bool:
        """Whether something among the remedies needs to be seen."""
        return bool(self.non_field_errors()) or self._is_open(self.remedies())

    def _is_open(self, fields: list[forms.BoundField]) -> bool:
        return any(field.errors or field.name in self.preset for field in fields)

    def preset_labels(self) -> list[str]:
        """Return the labels of what an address set beforehand."""
        return [str(self[name].label) for name in self.preset]


OF_FORM = tuple(AqerParameters.__dataclass_fields__)


def initial_of(parameters: AqerParameters) -> dict[str, Any]:
    """Return parameters as the form shows them."""
    values = parameters.as_dict()
    values["exclude_workers"] = "\n".join(parameters.exclude_workers)
    if parameters.embedder not in dict(EMBEDDERS):
        values |= {"embedder": OTHER, "other_embedder": parameters.embedder}
    return values


def in_words_of_the_form(problem: str) -> str:
    """Return a problem with the command line's words for the fields in the form's."""

    def label(match: re.Match[str]) -> str:
        return f"“{LABELS.get(match[1], match[1])}”"

    return re.sub(r"--([a-z-]+)", label, problem)
