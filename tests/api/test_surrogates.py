"""No column of rows takes half a surrogate pair: 400 with row and key, and nothing is stored."""

import json

import pytest

from annotations.models import COUNTERS, Passage, Question, Response
from tests.api.conftest import problem

pytestmark = pytest.mark.django_db
HALF = "x\ud800"
BATCH = 20
"""Bad rows that an answer lists one by one."""
ROWS = {
    "answers": {"worker": "w", "question": "q", "answer": "a"},
    "questions": {"question": "q9", "text": "Why?"},
    "passages": {"passage": "p", "text": "A river."},
    "model-answers": {"model": "m", "question": "q", "answer": "a"},
}
MODELS = {"answers": Response, "questions": Question, "passages": Passage}
NAMED = {"panel", "status", "rejected", "started_at", "submitted_at", "first_draft_at", *COUNTERS}
NAMED |= {"language", "kind", "role", "format", "accepted", "feedback", "anything", "passage"}


def columns_of(part: str) -> list[str]:
    """The keys that rows of a resource may have: of the table, of the rows, and an unknown one."""
    model = MODELS.get(part)
    stored = {one.name for one in model._meta.get_fields()} if model else set()
    return sorted(stored | set(ROWS[part]) | NAMED)


@pytest.fixture
def send(api, rana):
    """Sends rows to a resource of a set with one question; also as JSON Lines."""
    client = api(rana)
    set_id = client.post("question-sets/", {"name": "Rivers"}).json()["id"]
    client.post(f"question-sets/{set_id}/questions/", {"rows": [{"question": "q", "text": "W?"}]})

    def post(part, rows, lines):
        address = f"question-sets/{set_id}/{part}/"
        if lines:
            body = "".join(json.dumps(row) + "\n" for row in rows)
            return client.post(address, body, kind="application/x-ndjson")
        return client.post(address, {"rows": rows})

    return post


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("part", ROWS)
def test_every_column_of_rows_refuses_half_a_surrogate_pair(send, part, lines):
    bad = [(key, value) for key in columns_of(part) for value in (HALF, [HALF], {HALF: 1})]
    for begin in range(0, len(bad), BATCH):
        some = bad[begin : begin + BATCH]
        rows = [ROWS[part] | {key: value} for key, value in some]
        found = problem(send(part, rows, lines), 400, "bad-rows")
        assert found["total"] == len(some)
        assert [one["code"] for one in found["errors"]] == ["cell_unwritable"] * len(some)
        if not lines:
            pointers = [f"#/rows/{n}/{key}" for n, (key, _) in enumerate(some)]
            assert [one["pointer"] for one in found["errors"]] == pointers


@pytest.mark.parametrize("part", ROWS)
def test_a_key_that_holds_half_a_pair_is_refused(send, part):
    found = problem(send(part, [ROWS[part] | {HALF: "a"}], False), 400, "bad-rows")
    assert {one["code"] for one in found["errors"]} == {"json_key_unwritable"}
