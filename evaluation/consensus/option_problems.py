"""Sentences about grading options that cannot be used, by the code of the problem."""

from __future__ import annotations

from collections.abc import Mapping

SENTENCES: Mapping[str, str] = {
    "unreadable": "{reason}",
    "unknown_workers": "{exclude_workers}: no worker with this name answered: {reason}",
    "several_workers": "{exclude_workers}: workers of several panels have the id: {reason}; "
    "take the id in the address of the worker's page",
    "unknown_in_groups": "{collapse_workers}: no worker with this name answered: {reason}",
    "several_in_groups": "{collapse_workers}: workers of several panels have the id: "
    "{reason}; take the id in the address of the worker's page",
    "nobody_left": "{exclude_workers} names all workers who answered: leave out fewer",
    "precision_of_file": "{precision} is for models that run here: precomputed vectors keep "
    "their own",
    "nli_needed": "{init:entailment} needs an entailment model, and none comes with the "
    "platform: install or download a cross-encoder trained on natural language inference and "
    "give its name or folder by {nli:=}",
    "nli_idle": "{nli} would not be used: it reads {facts}, or first weights by {init:entailment}",
    "majority_needs_bow": "{aggregation:majority} counts words and needs {embedder:bow} (or "
    "precomputed vectors of zeros and ones)",
    "camps_or_anchors": "{camps} takes several answers for right, {anchors} and "
    "{suggest_anchors} look for the one camp that is: choose one of the two",
    "unit_length_of_mean": "{unit_length} is for {aggregation:mean}: a majority counts zeros "
    "and ones",
    "spelling_of_vectors": "{spelling} corrects texts before embedding: precomputed vectors "
    "are made",
    "contrast_needs_cosine": "{question_contrast} subtracts cosines; distances to different "
    "questions have no common scale: choose {similarity:cosine}",
    "contrast_needs_mean_vote": "{question_contrast} compares with one weighted mean a question: "
    "choose {aggregation:mean}, without {camps}",
    "contrast_of_plain_means": "{question_contrast} is a mean of its own: choose either it or "
    "{difficulty} and {discrimination}",
}
