"""A thousand questions and twenty models, from four sides: put together and shown."""

import numpy as np
import pytest
from django.urls import reverse

from annotations.models import Question, QuestionSet
from evaluation.model_overview.storage import (
    build_measure_readers,
    combine_source_runs,
    list_overview_run_types,
)
from tests.evaluation.model_overview.test_run_type import done
from tests.evaluation.model_overview.world import LINES, told

pytestmark = pytest.mark.long
MODELS = [f"model {n}" for n in range(20)]
PAGES = {"results-run": {}, "results-views-answers": {}, "results-views-model": {"place": 3}}


@pytest.fixture
def large(db, django_user_model, monkeypatch, settings):
    settings.RUN_KINDS = [*settings.RUN_KINDS, *LINES]
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    owner = django_user_model.objects.create_user("rita", password="rivers", is_staff=True)
    question_set = QuestionSet.objects.create(owner=owner, name="large")
    version = question_set.versions.create(number=1)
    Question.objects.bulk_create(
        Question(version=version, external_id=f"q{n}", text=f"What is {n}?", position=n)
        for n in range(1000)
    )
    rng = np.random.default_rng(0)
    numbers = rng.random((4, 20, 1000)).round(6).tolist()
    cells = [(m, q) for m in range(20) for q in range(1000)]
    rows = [
        (MODELS[m], f"q{q}", form, numbers[at][m][q], numbers[at][m][q] > 0.5, None, "")
        for at, form in enumerate(("direct", "instruction"))
        for m, q in cells
    ]
    told(version, "sure", rows)
    steady = [(MODELS[m], f"q{q}", "", None, None, numbers[2][m][q], "") for m, q in cells]
    told(version, "steady", steady)
    return question_set


def test_a_few_queries_load_and_show_twenty_thousand_answers(
    client, large, django_assert_max_num_queries
):
    """None for each answer, model or question: that would be thousands."""
    with django_assert_max_num_queries(30):
        together = combine_source_runs(
            large.latest_version(), build_measure_readers(list_overview_run_types())
        )
    assert together.values.shape == (4, 20, 1000)
    run = done(large)
    client.force_login(large.owner)
    for name, ids in PAGES.items():
        address = reverse(f"admin:{name}", kwargs={"run": run.public_id, **ids})
        with django_assert_max_num_queries(40):
            assert client.get(address).status_code == 200
