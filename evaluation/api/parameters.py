"""The parameters of a run in a request: those of `AqerParameters`, within the form's bounds."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from rest_framework import serializers

from annotations.web.rest.base import StrictSerializer
from evaluation.backends import FOR_OPERATORS, BackendError, parse_spec
from evaluation.flow.parameters import (
    AGGREGATIONS,
    INITIALIZATIONS,
    SIMILARITIES,
    STOPPING_RULES,
    AqerParameters,
)
from evaluation.texts.spelling import LANGUAGES

DEFAULTS = AqerParameters()


def _as_key(switch: re.Match[str]) -> str:
    """Return a switch of the command line as the key that it is here."""
    return switch[1].replace("-", "_")


def in_words_of_the_api(text: str) -> str:
    """Return a text with the command line's switches as the keys that they are here."""
    words = re.sub(r"(--[a-z-]+) [A-Z]{2,}\b", r"\1", text)
    return re.sub(r"--([a-z-]+)", _as_key, words)


def _choice(name: str, values: Any, help_text: str) -> serializers.ChoiceField:
    default = getattr(DEFAULTS, name)
    return serializers.ChoiceField(choices=list(values), default=default, help_text=help_text)


def _switch(name: str, help_text: str) -> serializers.BooleanField:
    return serializers.BooleanField(default=getattr(DEFAULTS, name), help_text=help_text)


class ParametersSerializer(StrictSerializer):
    """How answers become vectors and how workers are graded; what is left out has its default."""

    embedder = serializers.CharField(
        default=DEFAULTS.embedder,
        max_length=500,
        help_text="minilm, tfidf-word, tfidf-char, bow, or sentence-transformers:NAME, which the "
        "worker must have. Operators may name a server or a file as well.",
    )
    precision = _choice("precision", ("float32", "bfloat16", "auto"), "Of the embedder.")
    similarity = _choice("similarity", SIMILARITIES, "Between an answer and the exemplary one.")
    init = _choice("init", INITIALIZATIONS, "First weights of the workers.")
    nli = serializers.CharField(
        default=None,
        allow_null=True,
        max_length=500,
        help_text="Name of the entailment model; only with init entailment.",
    )
    aggregation = _choice(
        "aggregation", AGGREGATIONS, "How answers become the exemplary one; majority needs bow."
    )
    stopping = _choice("stopping", STOPPING_RULES, "The paper's rule stops at once with many.")
    tolerance = serializers.FloatField(
        default=DEFAULTS.tolerance,
        min_value=1e-15,
        max_value=1.0,
        help_text="What the stopping rule takes for small.",
    )
    max_iterations = serializers.IntegerField(
        default=DEFAULTS.max_iterations, min_value=1, max_value=100_000
    )
    leave_one_out = _switch(
        "leave_one_out", "Compare an answer with the exemplary answer of the others."
    )
    difficulty = _switch("difficulty", "Take out the difficulty of the questions.")
    discrimination = _switch("discrimination", "Weight questions by their discrimination.")
    bootstrap = serializers.IntegerField(
        default=DEFAULTS.bootstrap,
        min_value=0,
        max_value=10_000,
        help_text="Draws of questions for the 95% intervals; 0 for none.",
    )
    bootstrap_workers = _switch("bootstrap_workers", "Draw workers too.")
    include_rejected = _switch(
        "include_rejected", "Answers that were refused where they were collected go in as well."
    )
    seed = serializers.IntegerField(
        default=DEFAULTS.seed, min_value=0, max_value=2**32 - 1, help_text="Of all random numbers."
    )
    exclude_workers = serializers.ListField(
        child=serializers.UUIDField(),
        default=list,
        max_length=2_000,
        help_text="Ids of workers who have no vote, no grade and no rank.",
    )
    collapse_copies = _switch("collapse_copies", "Let each group of workers who copy vote as one.")
    group_vote = serializers.FloatField(
        default=DEFAULTS.group_vote,
        min_value=1e-6,
        max_value=1.0,
        help_text="Vote of such a group, beside 1 of a worker; only with collapse_copies.",
    )
    weight_cap = serializers.FloatField(
        default=None,
        allow_null=True,
        min_value=1e-6,
        max_value=1.0,
        help_text="Most weight of a worker, a part of all votes; null for no cap.",
    )
    anchors = _switch(
        "anchors", "Of two camps, take the ranking that agrees best with the grades of experts."
    )
    suggest_anchors = serializers.IntegerField(
        default=DEFAULTS.suggest_anchors,
        min_value=0,
        max_value=1000,
        help_text="Name so many answers for experts to grade; 0 for none.",
    )
    camps = _switch("camps", "Two right answers to a question whose answers fall in two camps.")
    unit_length = _switch("unit_length", "Vectors of unit length.")
    spelling = serializers.ChoiceField(
        choices=list(LANGUAGES),
        default=None,
        allow_null=True,
        help_text="Language whose spelling is corrected before texts become vectors.",
    )

    def validate_exclude_workers(self, ids: list[UUID]) -> list[str]:
        """Return the ids as they are stored, each once."""
        return list(dict.fromkeys(map(str, ids)))

    def validate_embedder(self, spec: str) -> str:
        """Refuse what cannot be read, and what opens a file or calls a server for requesters."""
        try:
            kind = parse_spec(spec).kind
        except BackendError as error:
            raise serializers.ValidationError(str(error)) from error
        if kind in FOR_OPERATORS and not self._is_operator():
            raise serializers.ValidationError(
                f"Only operators may use {kind}: it opens a file of the server or calls another "
                "machine."
            )
        return spec

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Refuse what contradicts itself, each reason at the first parameter it names."""
        reasons: dict[str, list[str]] = {}
        for problem in AqerParameters(**values).problems():
            named = re.search(r"--([a-z_-]+)", problem)
            field = named[1].replace("-", "_") if named else "embedder"
            reasons.setdefault(field, []).append(in_words_of_the_api(problem))
        if reasons:
            raise serializers.ValidationError(reasons)
        return values

    def _is_operator(self) -> bool:
        user = self.context["request"].user
        return bool(user.is_active and user.is_superuser)
