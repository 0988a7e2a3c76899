"""Whatever is sent, the answer is one that the schema describes; schemathesis asks."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, given, settings

from crowdgrade.models.tokens import make_token
from evaluation.flow.asking.prompts import TEMPLATES, Prompt
from evaluation.models import LanguageModel
from evaluation.steps.asking.prompts import create_prompt
from tests.desk.routes import VALUES

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
checks = pytest.importorskip("schemathesis.specs.openapi.checks")
DOCUMENT = Path(__file__).resolve().parents[2] / "platform" / "docs" / "openapi.yaml"
SCHEMA = yaml.safe_load(DOCUMENT.read_text(encoding="utf-8"))
OPERATIONS = [
    (method, path)
    for path, methods in SCHEMA["paths"].items()
    for method in methods
    if method in ("get", "post", "patch")
]
EXAMPLES = 25
# Ids of other things, or rows that contradict each other, fit the schema and will not do.
UNFAIR = checks.positive_data_acceptance

OF_WRITING = ("project_id", "problem_id", "own_id", "check_id", "member_id")

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def ids(world):
    """What stands in the place of ids that nobody could guess."""
    question = world.version.questions.first()
    mine = SimpleNamespace(
        owner=world.rana, run=world.run, set=world.set, version=world.version, team=None
    )
    return {
        "set_id": world.set.public_id,
        "run_id": world.run.public_id,
        "question_id": question.public_id,
        "question": question.public_id,
        "passage_id": world.version.passages.first().public_id,
        "worker": world.version.submissions.first().worker.public_id,
        "worker_id": world.version.submissions.first().worker.public_id,
        "answer_id": question.responses.first().public_id,
        "model_id": LanguageModel.objects.order_by("pk").first().public_id,
        "prompt_id": create_prompt(
            world.rana.pk, "ours", Prompt("closed", TEMPLATES["closed"])
        ).prompt.public_id,
        "model_answer_id": question.llm_responses.first().public_id,
        "place": VALUES["place"](mine),
        "first": VALUES["first"](mine),
        "second": VALUES["second"](mine),
        "other_id": VALUES["other_id"](mine),
        "name": "workers",
        "task_id": VALUES["task_id"](mine),
        "model_note_id": VALUES["model_note_id"](mine),
        "import_id": VALUES["import_id"](mine),
        **{name: VALUES[name](mine) for name in OF_WRITING},
    }


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=str)
def test_every_answer_is_as_the_schema_says(method, path, world, ids):
    _, token = make_token(world.rana, "contract", 1)
    schema = schemathesis.openapi.from_dict(json.loads(json.dumps(SCHEMA)))
    schema.app = get_wsgi_application()
    operation = schema[path][method.upper()]

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def check(case):
        for name in case.path_parameters or {}:
            case.path_parameters[name] = str(ids[name])
        if case.query:
            case.query.pop("cursor", None)  # nobody guesses one; `test_lists` tries bad ones
        case.call_and_validate(
            headers={"Authorization": f"Bearer {token}"}, excluded_checks=[UNFAIR]
        )

    check()
