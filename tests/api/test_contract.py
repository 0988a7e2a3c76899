"""Whatever is sent, the answer is one that the schema describes; schemathesis asks.

Every operation that writes also succeeds at least once: `successes` says how.
"""

import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from django.core.wsgi import get_wsgi_application
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from yaml import SafeLoader

from crowdgrade.models.tokens import create_token
from tests.api.successes import SUCCESSES
from tests.desk.routes import VALUES

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
checks = pytest.importorskip("schemathesis.specs.openapi.checks")
DOCUMENT = Path(__file__).resolve().parents[2] / "platform" / "docs" / "openapi.yaml"
# With libyaml a quarter of the time; the file has a megabyte.
SCHEMA = yaml.load(DOCUMENT.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", SafeLoader))
OPERATIONS = {
    operation["operationId"]: (method, path)
    for path, methods in SCHEMA["paths"].items()
    for method, operation in methods.items()
}
READING = [name for name, (method, _) in OPERATIONS.items() if method == "get"]
WRITING = [name for name in OPERATIONS if name not in READING]
MOST_EXAMPLES = 25
JSON, LINES, FORM = "application/json", "application/x-ndjson", "multipart/form-data"
# Ids of other things, or rows that contradict each other, fit the schema and will not do.
UNFAIR = checks.positive_data_acceptance
# Asks three times more, without a token and with wrong ones: once an operation is enough.
TOKENS = checks.ignored_auth
MADE_WHOLE = checks.negative_data_rejection


@schemathesis.serializer(LINES, "text/csv")
def as_bytes(context, value):
    """Lines, and files of CSV, are sent as they are."""
    return value.encode() if isinstance(value, str) else bytes(value)


pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@cache
def described_api():
    """The schema as schemathesis reads it, once a process, with the application that it asks."""
    schema = schemathesis.openapi.from_dict(SCHEMA)
    schema.app = get_wsgi_application()
    return schema


class Operation:
    """An operation of the schema, what it is sent to, and how many examples it is sent."""

    def __init__(self, name, world, examples):
        self.method, self.path = OPERATIONS[name]
        self.examples = examples
        self.described = described_api()[self.path][self.method.upper()]
        self.mine = SimpleNamespace(
            owner=world.rana, run=world.run, set=world.set, version=world.version, team=None
        )

    def ids(self, known):
        """What stands in the address: ids that nobody could guess."""
        names = [one.name for one in self.described.path_parameters]
        return {name: str(known.get(name) or VALUES[name](self.mine)) for name in names}

    def asks(self, ids, check, ours=()):
        """Let `check` have cases of the schema's, and which of `ours` give way to theirs."""
        described = self.described
        parts = (*described.query, *described.headers, *described.body)
        varies = any(part.name != "Authorization" for part in parts)
        bounded = settings(
            max_examples=self.examples if varies else 1,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        cases = described.as_strategy(path_parameters=ids)
        theirs = st.sets(st.sampled_from(sorted(ours))) if ours else st.just(set())
        bounded(given(case=cases, theirs=theirs)(check))()


@pytest.fixture
def examples(request):
    """How many requests of the schema's an operation is sent: 5, in the long run 25."""
    return request.config.getoption("examples")


def answer_of(case, user_token, *without):
    """The response to a request, which must be one that the schema describes."""
    headers = {"Authorization": f"Bearer {user_token}"}
    return case.call_and_validate(headers=headers, excluded_checks=[UNFAIR, *without])


def undone(ask):
    """What `ask` returns; what it changed is taken back, so that the next one finds it all."""
    with transaction.atomic():
        try:
            return ask()
        finally:
            transaction.set_rollback(True)


def test_it_is_known_how_every_operation_that_writes_succeeds():
    assert set(SUCCESSES) == set(WRITING), (
        "say in tests/api/successes what an operation needs to succeed"
    )


@pytest.mark.parametrize("name", READING)
def test_every_answer_is_as_the_schema_says(name, world, examples):
    _, token = create_token(world.rana, "contract", 1)
    operation = Operation(name, world, examples)
    ids = operation.ids({"name": "workers"})
    answer_of(operation.described.Case(path_parameters=ids), token)

    def check(case, theirs):
        if case.query:
            case.query.pop("cursor", None)  # nobody guesses one; `test_lists` tries bad ones
        answer_of(case, token, TOKENS)

    operation.asks(ids, check)


@pytest.mark.parametrize("name", WRITING)
def test_every_operation_that_writes_succeeds_and_every_answer_is_as_the_schema_says(
    name, world, settings, examples
):
    world.settings = settings
    sent = SUCCESSES[name](world)
    _, token = create_token(sent.by or world.rana, "contract", 1)
    operation = Operation(name, world, examples)
    ids = operation.ids(sent.ids)
    described = {body.media_type for body in operation.described.body}
    assert bool(described) == (sent.body is not None)
    usual = FORM if FORM in described else JSON
    bodies = [(usual, sent.body)] if described else [(None, None)]
    if LINES in described:
        bodies.append((LINES, "".join(json.dumps(row) + "\n" for row in sent.body["rows"])))
    for kind, body in bodies:
        whole = {} if kind is None else {"body": body, "media_type": kind}
        case = operation.described.Case(path_parameters=ids, query=dict(sent.query), **whole)
        response = undone(lambda case=case: answer_of(case, token))
        assert 200 <= response.status_code < 300, response.content

    ours = set(sent.body or ())
    succeeded = []

    def check(case, theirs):
        if case.media_type == usual and isinstance(case.body, dict):
            case.body |= {key: sent.body[key] for key in ours - theirs}
        # What was to be refused is whole with ours: no form of theirs holds a picture, and where
        # ours is all there is nothing of theirs is left.
        made_whole = usual == FORM or (sent.body is not None and case.body == sent.body)
        without = (TOKENS, MADE_WHOLE) if made_whole else (TOKENS,)
        succeeded.append(undone(lambda: answer_of(case, token, *without)).status_code < 300)

    operation.asks(ids, check, ours)
    if not any(succeeded):
        # A run has eleven types with keys of their own: five requests may miss the type of ours.
        operation.examples = MOST_EXAMPLES
        operation.asks(ids, check, ours)
    assert any(succeeded), "no value of the schema's was taken"
