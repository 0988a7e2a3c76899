"""A comparison of two models that cannot be computed is stored with its reason."""

from annotations.models import Question
from evaluation.core.stats.inference.comparison import FEWER_THAN_2_COMMON_QUESTIONS
from evaluation.models import LLMResponse
from tests.evaluation.grading.storage.test_save import graded, version

__all__ = ["version"]


def test_models_with_one_common_question_are_not_compared_and_the_reason_is_stored(version):
    first = Question.objects.get(version=version, external_id="r1")
    LLMResponse.objects.filter(model__name="large").exclude(question=first).delete()
    run = graded(version, bootstrap=0)
    rows = {
        (row.model_a.name, row.model_b.name): row
        for row in run.llm_comparisons.select_related("model_a", "model_b")
    }
    alone = rows["small", "large"]
    assert (alone.n, alone.low, alone.high, alone.p_value) == (1, None, None, None)
    assert alone.reason == FEWER_THAN_2_COMMON_QUESTIONS
    compared = rows["small", "mute"]
    assert (compared.n > 1, compared.reason) == (True, "")
