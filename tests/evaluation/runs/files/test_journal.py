"""The journal of a folder in which a command asks models."""

from annotations.exchange import AnswerStatus
from evaluation.runs.files.journal import Configuration, Journal, ReplyRow

SMALL = Configuration(
    *("small", "small", "replies", "", "small", "closed", "", "{question}", "hash"), {}, None
)


def replied(question, key):
    """Return a row with the reply "north" to a request with a key."""
    facts = ("north", AnswerStatus.TEXT, "stop", 3, 1, 0.5, 1, 0.25, None, "", "")
    return ReplyRow(SMALL.id, question, 0, 0, key, *facts)


def test_the_raw_answer_to_a_request_is_that_of_the_row_that_was_sent(tmp_path):
    with Journal(tmp_path) as journal:
        journal.append_reply(SMALL, replied("q1", "k"), {"reply": {"text": "north"}})
        journal.append_reply(SMALL, replied("q2", "k"), {"copied": True})
        assert (journal.find_raw_reply("k"), journal.find_raw_reply("other")) == (
            {"text": "north"},
            None,
        )
    with Journal(tmp_path, read_only=True) as again:
        assert (again.find_raw_reply("k"), again.find_raw_reply("other")) == (
            {"text": "north"},
            None,
        )
        assert [question for _, question, _ in again.rows] == ["q1", "q2"]
        assert again.configurations == {SMALL.id: SMALL}


def test_an_incomplete_last_line_is_cut_off_and_the_next_row_follows_the_whole_ones(tmp_path):
    with Journal(tmp_path) as journal:
        journal.append_reply(SMALL, replied("q1", "a"), {"reply": "one"})
    with journal.path.open("ab") as file:
        file.write(b'{"model": "small", "sta')
    with Journal(tmp_path) as journal:
        journal.append_reply(SMALL, replied("q2", "b"), {"reply": "two"})
        assert (journal.find_raw_reply("a"), journal.find_raw_reply("b")) == ("one", "two")
    assert len(journal.path.read_bytes().splitlines()) == 2
