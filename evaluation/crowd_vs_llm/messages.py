"""Messages of a comparison of panels, by message code."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.core.messages.message import Sentence

PANELS: Mapping[str, Sentence] = {
    "panels.farther_than_halves": "Models agree on other answers than people do: over "
    "{questions:question} what models agree on and what people agree on are alike by {cosine:.2f} "
    "(1 says the same), while two random halves of the people are alike by {halves:.2f}.",
    "panels.closer_than_halves": "Models agree on the same answers as people do: over "
    "{questions:question} what models agree on and what people agree on are alike by {cosine:.2f} "
    "(1 says the same), and two random halves of the people by {halves:.2f}.",
    "panels.distance": "Over {questions:question} what models agree on and what people agree on "
    "are alike by {cosine:.2f} (1 says the same).",
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
    "votes, and the result is like that of the people alone by {cosine:.2f} (1 says the same).",
    "panels.nobody_flagged": "No worker answers so like one of the models that an alarm says so.",
    "panels.without_flagged": "Without the {workers:worker} who, an alarm says, may answer with a "
    "model, what people agree on is like what it was by {cosine:.2f} (1 says the same), and "
    "{swapped} of {pairs:pair} of models change places.",
    "panels.all_flagged": "Of all workers ({workers}) an alarm says that they may answer with a "
    "model: nobody is left without them.",
    "panels.models_copy": "Models learn from the same texts and from each other, so they can agree "
    "and be wrong together. A panel of models measures how much a model is like other models; only "
    "people, or a key, can say whether that is right.",
    "panels.models_alike": "Here two models' answers to a question are more alike "
    "({of_models:.2f}; 1 says the same) than two people's ({of_people:.2f}).",
    "panels.not_alike": "Here two models' answers to a question are not more alike "
    "({of_models:.2f}; 1 says the same) than two people's ({of_people:.2f}), as far as these "
    "questions show.",
    "panels.few_models": "Only {models:model} answered, and it takes 3 to weigh them by their "
    "quality: here every model's vote counts the same.",
}
