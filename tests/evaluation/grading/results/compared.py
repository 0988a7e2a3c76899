"""Rana's rivers with three models: an old and a new version of Ox, and Elk, asked twice over.

Scores are made by hand: on 12 questions Ox 2 stands .1 above Ox 1 but on the last two, where it is
.2 below; Elk stands .3 below Ox 1 everywhere.
"""

import numpy as np

from evaluation.core.stats.inference.comparison import compare_models
from evaluation.models import LLMAnswerScore, LLMComparison, LLMResponse, LLMScore
from tests.evaluation.grading.results import world

OX_1 = np.array([0.5, 0.52, 0.54, 0.56, 0.58, 0.6, 0.62, 0.64, 0.66, 0.68, 0.7, 0.72])
SCORES = {
    "Ox 2": OX_1 + np.array([0.1] * 10 + [-0.2] * 2),
    "Ox 1": OX_1,
    "Elk": OX_1 - 0.3 + 0.01 * np.arange(12),
}
ABOUT = {
    "Ox 1": {"family": "Ox", "version": "1", "strategy": "closed"},
    "Ox 2": {"family": "Ox", "version": "2", "strategy": "closed"},
    "Elk": {"family": "Ox", "version": "2", "strategy": "passage"},
}


def compared(owner=None):
    """The run, with every pair compared as a grading compares them."""
    run = world.finished(n_questions=12, n_models=3, owner=owner)
    models = {}
    for at, name in enumerate(("Ox 1", "Ox 2", "Elk")):
        model = run.llm_scores.select_related("model").get(model__name=f"model {at}").model
        for field, value in ABOUT[name].items():
            setattr(model, field, value)
        model.name = name
        model.save()
        models[name] = model
        mean = float(SCORES[name].mean())
        LLMScore.objects.filter(run=run, model=model).update(
            score=mean, score_answered=mean, score_low=mean - 0.05, score_high=mean + 0.05
        )
        for number, score in enumerate(SCORES[name].tolist(), 1):
            LLMAnswerScore.objects.filter(
                run=run,
                llm_response__model=model,
                llm_response__question__external_id=f"r{number}",
            ).update(score=score)
    for number, question in enumerate(run.version.questions.order_by("position"), 1):
        question.category = "north" if number <= 10 else "south"
        type(question).objects.filter(pk=question.pk).update(category=question.category)
    LLMComparison.objects.filter(run=run).delete()
    names = list(SCORES)
    for pair in compare_models(np.array(list(SCORES.values())), names):
        LLMComparison.objects.create(
            run=run,
            model_a=models[pair.model_a],
            model_b=models[pair.model_b],
            difference=pair.difference,
            low=pair.low,
            high=pair.high,
            p_value=pair.p_value,
            adjusted_p_value=pair.adjusted_p_value,
            smallest_detectable=pair.smallest_detectable,
            n=pair.n,
            test=pair.test,
        )
    return run


def stays_a_draft(monkeypatch):
    """Let the questions of a version be changed after it was answered."""
    monkeypatch.setattr("annotations.models.QuestionSetVersion.publish", lambda version: True)


def model_of(run, name):
    return run.llm_scores.get(model__name=name).model.public_id


def with_costs(run, name, **extra):
    """Give every answer of a model what it cost."""
    LLMResponse.objects.filter(model__name=name, scores__run=run).update(extra=extra)
