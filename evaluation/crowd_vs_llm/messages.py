"""Messages of a comparison of panels, by message code."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.core.messages.message import Sentence

PANELS: Mapping[str, Sentence] = {
    "panels.farther_than_halves": "Models agree on other answers than people do: over "
    "{questions:question} the cosine of their consensus and people's is {cosine:.2f} (1: same "
    "meaning); that of two random halves of the people is {halves:.2f}.",
    "panels.closer_than_halves": "Models agree on the same answers as people do: over "
    "{questions:question} the cosine of their consensus and people's is {cosine:.2f} (1: same "
    "meaning); that of two random halves of the people is {halves:.2f}.",
    "panels.distance": "Over {questions:question} the cosine of the models' consensus and the "
    "people's is {cosine:.2f} (1: same meaning).",
    "panels.ranks_stay": "Measured by either, the models come in the same order (rank "
    "correlation {spearman:.2f}).",
    "panels.ranks_change": "Measured by what models agree on, the models come in another order "
    "than by what people agree on: {swapped} of {pairs:pair} of models change places (rank "
    "correlation {spearman:.2f}; 1 is the same order).",
    "panels.ranks_change_beyond_chance": "Measured by what models agree on, the models come in "
    "another order than by what people agree on: {certain} of {pairs:pair} of models change places "
    "beyond chance.",
    "panels.ranks_within_chance": "Both measures order the models alike as far as these questions "
    "show: {swapped} of {pairs:pair} of models change places, none beyond chance.",
    "panels.joint": "Where people and models vote together, the models have {share:.0%} of the "
    "votes; the cosine of the result and that of the people alone is {cosine:.2f} (1: same "
    "meaning).",
    "panels.nobody_flagged": "No alarm names a worker whose answers are like a model's.",
    "panels.without_flagged": "Without the {workers:worker} named by an alarm for possible "
    "answers by a model, the cosine of the people's consensus and the earlier one is "
    "{cosine:.2f} (1: same meaning), and {swapped} of {pairs:pair} of models change places.",
    "panels.all_flagged": "An alarm names all workers ({workers}) for possible answers by a "
    "model: without them no worker is left.",
    "panels.models_copy": "Models learn from the same texts and from each other, so they can agree "
    "and be wrong together. A panel of models measures how much a model is like other models; "
    "only people, or an answer key, can show whether that is right.",
    "panels.models_alike": "Here the answers of two models to a question are more similar "
    "({of_models:.2f}; 1: same meaning) than those of two people ({of_people:.2f}).",
    "panels.not_alike": "Here the answers of two models to a question are not more similar "
    "({of_models:.2f}; 1: same meaning) than those of two people ({of_people:.2f}), as far as "
    "these questions show.",
    "panels.few_models": "Only {models:model} answered, and weights by quality need 3: here "
    "every model has the same vote.",
}
