"""Lists: keyset pages, bounded, short texts, a constant number of queries, no primary keys."""

import base64
import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations.models import Question
from tests.api.conftest import problem
from tests.evaluation.grading.results import world as graded

pytestmark = pytest.mark.django_db
LONG = "a very long text " * 1000


def lists_of(run):
    of_set = f"question-sets/{run.version.question_set.public_id}"
    return [
        "question-sets/",
        "language-models/",
        "runs/",
        *(f"{of_set}/{name}/" for name in ("versions", "questions", "answers", "model-answers")),
        *(f"runs/{run.public_id}/results/{name}/" for name in ("workers", "questions", "models")),
    ]


def pages_of(asking, address, limit):
    """All rows, a page at a time."""
    rows, address = [], f"{address}?limit={limit}"
    while address:
        page = asking.get(address).json()
        assert len(page["results"]) <= limit
        rows += page["results"]
        address = page["next"]
    return rows


@pytest.mark.slow
def test_every_row_comes_once_however_long_the_pages_are(api, rana):
    run = graded.finished(n_workers=5, n_questions=4, n_models=3, owner=rana)
    asking = api(rana)
    lengths = set()
    for address in lists_of(run):
        at_once = pages_of(asking, address, 200)
        for limit in (1, 3):
            assert pages_of(asking, address, limit) == at_once, address
        lengths.add(len(at_once))
    assert lengths == {1, 3, 4, 5, 12, 20}  # 5 workers and 3 models answered 4 questions


def test_a_page_inside_a_report_is_followed_as_well(api, rana):
    run = graded.finished(n_workers=5, n_questions=4, owner=rana)
    asking, results = api(rana), f"runs/{run.public_id}/results/"
    for kind, names in (("worker", 4), ("question", 5)):
        one = asking.get(f"{results}{kind}s/").json()["results"][0][kind]
        address, seen = f"{results}{kind}s/{one}/?limit=2", []
        while address:
            page = asking.get(address).json()["answers"]
            seen += [json.dumps(row) for row in page["results"]]
            address = page["next"]
        assert len(seen) == len(set(seen)) == names


def test_a_row_that_is_added_meanwhile_shifts_nothing(api, rana):
    run = graded.finished(n_questions=4, owner=rana)
    asking, address = api(rana), "question-sets/"
    for name in ("a", "b", "c"):
        asking.post(address, {"name": name})
    first = asking.get(f"{address}?limit=2").json()
    assert [row["name"] for row in first["results"]] == ["c", "b"]
    asking.post(address, {"name": "d"})
    names = [row["name"] for row in asking.get(first["next"]).json()["results"]]
    assert names == ["a", run.version.question_set.name]


@pytest.mark.parametrize(
    "cursor",
    [
        *("x", "!!!", "e30", "bnVsbA", "WyJuZXdlc3QiXQ"),  # {}, null, ["newest"]
        base64.urlsafe_b64encode(b'["newest", 7]').decode(),
        base64.urlsafe_b64encode(b'["newest", null]').decode(),
        base64.urlsafe_b64encode(b'["newest", "7"]').decode(),
        base64.urlsafe_b64encode(b'["position", "nan_0"]').decode(),
        base64.urlsafe_b64encode(b'["grade", "inf", "' + b"0" * 32 + b'"]').decode(),
        base64.urlsafe_b64encode(b'["grade", Infinity, "' + b"0" * 32 + b'"]').decode(),
        base64.urlsafe_b64encode(b'["grade", 1' + b"0" * 400 + b', "' + b"0" * 32 + b'"]').decode(),
        base64.urlsafe_b64encode(b"[" * 10_000).decode(),
    ],
)
def test_a_cursor_that_no_page_handed_out_is_400(api, rana, cursor):
    run = graded.finished(owner=rana)
    asking = api(rana)
    for address in lists_of(run):
        response = asking.get(f"{address}?cursor={cursor}")
        body = problem(response, 400, "bad-cursor")
        assert body["errors"][0]["parameter"] == "cursor"


@pytest.mark.parametrize("limit", ["0", "201", "-1", "x", "1.5", "", "٣"])
def test_a_limit_is_1_to_200(api, rana, limit):
    run, asking = graded.finished(owner=rana), api(rana)
    for address in lists_of(run):
        problem(asking.get(f"{address}?limit={limit}"), 400, "invalid")


def test_lists_hold_no_long_text(api, rana):
    run = graded.finished(owner=rana, text=LONG)
    Question.objects.bulk_update(
        [_long(question) for question in run.version.questions.all()], ["metadata"]
    )
    asking = api(rana)
    for address in lists_of(run):
        with CaptureQueriesContext(connection) as asked:
            rows = asking.get(address).json()["results"]
        for row in rows:
            assert len(json.dumps(row)) < 2500, address
        # Nor does the database hand it out to be cut here.
        assert not any('"metadata"' in query["sql"].split("FROM")[0] for query in asked), address


def _long(question):
    question.metadata = {"source": LONG}
    return question


def test_a_list_asks_the_database_the_same_number_of_times_however_long_it_is(api, rana, otto):
    short = graded.finished(n_workers=3, n_questions=2, n_models=1, owner=otto)
    long = graded.finished(n_workers=9, n_questions=8, n_models=7, owner=rana)

    def counts(user, run):
        asking, found = api(user), {}
        asking.get("runs/")  # notes the token's first use
        for address in lists_of(run):
            with CaptureQueriesContext(connection) as asked:
                assert asking.get(address).status_code == 200
            found[address.rpartition(str(run.public_id))[2].split("/")[-2]] = len(asked)
        return found

    few, many = counts(otto, short), counts(rana, long)
    assert few == many
    # Two of them ask for the teams and shares of the reader, once for all lists of an answer.
    assert max(many.values()) <= 8, many


def test_no_answer_holds_a_primary_key(api, rana):
    run = graded.finished(owner=rana)
    asking = api(rana)
    for address in [*lists_of(run), f"runs/{run.public_id}/", f"runs/{run.public_id}/results/"]:
        for name, value in _leaves(asking.get(address).json()):
            is_id = name in ("id", "pk", "owner") or name.endswith("_id")
            assert not is_id or (isinstance(value, str) and len(value) == 36), (address, name)


def _leaves(value, name=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, name)
    else:
        yield name, value
