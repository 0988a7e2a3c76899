"""Replies become rows, once each, whoever brings them."""

import pytest

from annotations.exchange import AnswerStatus
from evaluation.core.backends.chat.contract import Reply
from evaluation.models import LanguageModel, LLMResponse, RawReply, Run
from evaluation.runs.flow.asking.options import AskOptions
from evaluation.runs.flow.asking.plan import RecordedReply
from evaluation.runs.steps.asking.model_askings import build_model_askings
from evaluation.runs.steps.asking.replies import (
    PendingReply,
    convert_to_storable,
    write_answer_rows,
)
from tests.annotations import world as crowd

pytestmark = pytest.mark.django_db


@pytest.fixture
def asking():
    rana = crowd.user("rana", is_staff=True)
    model = LanguageModel.objects.create(
        owner=rana, name="small", spec="openai:small@https://api.example.org/v1"
    )
    options = AskOptions(models=(str(model.public_id),))
    return build_model_askings(crowd.version(rana), rana, options)[0]


def test_an_answer_that_another_run_brought_a_moment_before_stands(asking, monkeypatch):
    owner, version = asking.model.owner, asking.questions[0].version
    first, second = (Run.objects.create(owner=owner, version=version, kind="ask") for _ in "12")

    def post(text):
        kept = RecordedReply(Reply(text, AnswerStatus.TEXT, raw={"text": text}))
        return PendingReply(asking, asking.planned[0], kept, None, None)

    update = LLMResponse.objects.bulk_update

    def after_another(rows, fields):
        monkeypatch.undo()
        write_answer_rows([post("first")], first.pk)
        return update(rows, fields)

    # Between looking what is there and inserting.
    monkeypatch.setattr(LLMResponse.objects, "bulk_update", after_another)
    write_answer_rows([post("second")], second.pk)
    row = LLMResponse.objects.get()
    assert (row.text, row.run, RawReply.objects.get().reply) == ("first", first, {"text": "first"})


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ({"text": "a\x00b"}, {"text": "a\ufffdb"}),
        ({"\ud800": ["\udfff"]}, {"\ufffd": ["\ufffd"]}),
        (None, None),
        ({"n": 1, "x": 0.5, "yes": True}, {"n": 1, "x": 0.5, "yes": True}),
        ({"score": float("nan")}, "{'score': nan}"),
    ],
)
def test_a_raw_answer_is_kept_as_every_database_takes_it(raw, kept):
    assert convert_to_storable(raw) == kept


def test_a_raw_answer_beyond_a_million_characters_is_cut():
    cut = convert_to_storable({"text": "x" * 1_000_000})
    assert (len(cut), cut[-5:]) == (100_000 + len(" ... (cut)"), "(cut)")
