"""Whose consensus? What is said of panels of people and of models."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.words.message import Sentence

PANELS: Mapping[str, Sentence] = {
    "panels.farther_than_halves": "The models' consensus is not that of the people: their "
    "exemplary answers have a mean cosine of {cosine:.2f} over {questions} questions, while those "
    "of two random halves of the people have {halves:.2f}.",
    "panels.closer_than_halves": "The models' consensus is as near to that of the people as two "
    "random halves of the people are to each other: the mean cosine of their exemplary answers is "
    "{cosine:.2f} over {questions} questions, and {halves:.2f} between the halves.",
    "panels.distance": "The exemplary answers of models and of people have a mean cosine of "
    "{cosine:.2f} over {questions} questions.",
    "panels.ranks_stay": "Both put the models into the same order (rank correlation "
    "{spearman:.2f}).",
    "panels.ranks_change": "Models rank otherwise under the models' consensus: {swapped} of "
    "{pairs} pairs of models change places (rank correlation {spearman:.2f}).",
    "panels.joint": "In a consensus of people and models together the models have {share:.0%} of "
    "the votes, and it has a mean cosine of {cosine:.2f} with that of the people alone.",
    "panels.nobody_flagged": "No worker is flagged as answering like one of the models.",
    "panels.without_flagged": "Without the workers who are flagged as answering like a model "
    "({workers}) the people's consensus has a mean cosine of {cosine:.2f} with what it was, and "
    "{swapped} of {pairs} pairs of models change places.",
    "panels.all_flagged": "All workers ({workers}) are flagged as answering like a model: no "
    "consensus of people is left without them.",
    "panels.models_copy": "Models learn from the same texts and from each other, so they can agree "
    "and be wrong together. A panel of models measures how much a model is like other models; only "
    "people, or a key, can say whether that is right.",
    "panels.models_alike": "Here the models' answers are more alike ({of_models:.2f}, mean cosine "
    "of two answers to a question) than the people's ({of_people:.2f}).",
    "panels.not_alike": "Here the models' answers are not more alike ({of_models:.2f}, mean cosine "
    "of two answers to a question) than the people's ({of_people:.2f}), as far as these questions "
    "show.",
    "panels.few_models": "Fewer than 3 models answered ({models}): all of them have the same vote "
    "in their panel.",
}
