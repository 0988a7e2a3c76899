"""``study eloquent``: prompts are put to a model, its replies to judges, and all of it resumes."""

import json

import pytest

from evaluation.eloquent.run.judging import INSTRUCTION
from tests.evaluation.commands.running import manage
from tests.evaluation.core.backends.chat.fake import FakeChat, error, needs_packaged_model, said
from tests.evaluation.eloquent.test_evaluate import metric, prompts_text, rows

PROMPTS = ["The rules?", "What rules?", "Reglerna?", "Write to mum.", "Write to mother."]


def is_judge(body):
    return body["messages"][0]["role"] == "system"


class World:
    """Answers prompts by `replies`, judges by `scores`, in turn."""

    def __init__(self):
        self.replies = {}
        self.scores = ["They agree.\nSimilarity score: 4"]
        self.asked = 0
        self.server = FakeChat(self.answer)

    def answer(self, body):
        if is_judge(body):
            self.asked += 1
            return said(self.scores[(self.asked - 1) % len(self.scores)])
        question = body["messages"][-1]["content"]
        found = self.replies.get(question, f"reply to {question}")
        return found if not isinstance(found, str) else said(found)

    def bodies(self, judge):
        return [body for body in self.server.bodies if is_judge(body) is judge]


@pytest.fixture
def world():
    made = World()
    yield made
    made.server.close()


@pytest.fixture
def prompts(tmp_path):
    path = tmp_path / "prompts.json"
    path.write_text(prompts_text())
    return path


@pytest.fixture
def study(world, prompts, tmp_path):
    def run(*more, judge=True):
        judges = ("--judge", world.server.spec) if judge else ()
        return manage(
            *("study", "eloquent", prompts, "--model", world.server.spec, *judges),
            *("--concurrency", "1", "--embedder=tfidf-word", "--bootstrap=20", "--name=small"),
            *("--output", tmp_path / "out", *more),
        )

    return run


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def summary(folder):
    return json.loads((folder / "summary.json").read_text())


def test_every_prompt_gets_a_conversation_of_its_own(study, world, out):
    ran = study("--temperature", "0.5")
    assert (ran.code, ran.err) == (0, "")
    asked = world.bodies(judge=False)
    assert [body["messages"] for body in asked] == [
        [{"role": "user", "content": prompt}] for prompt in PROMPTS
    ]
    assert {body["temperature"] for body in asked} == {0.5}
    assert [row["reply"] for row in rows(out / "replies.csv")] == [
        f"reply to {prompt}" for prompt in PROMPTS
    ]


def test_a_judge_sees_each_set_once_and_a_language_with_one_wording_is_skipped(study, world, out):
    study()
    judged = [body["messages"][-1]["content"] for body in world.bodies(judge=True)]
    assert len(judged) == 2  # 001 in English, 002; 001 in Swedish has one wording
    assert "reply to The rules?" in judged[0]
    assert "reply to What rules?" in judged[0]
    assert "Reglerna" not in judged[0]
    assert metric(out, "small", "sum")["value"] == "8.0"
    (skipped,) = [row for row in rows(out / "reply_sets.csv") if row["language"] == "sv"]
    assert skipped["reason"] == "fewer_than_2_variants"
    notes = {row["notes"] for row in rows(out / "judgements.csv")}
    assert notes == {"They agree."}
    assert [step["step"] for step in summary(out)["asked"]] == ["answer", "judge"]


def test_a_judge_without_a_score_is_asked_once_more_and_then_has_none(study, world, out):
    # 001: none, then 3; 002: none, none. First both are asked, then both again.
    world.scores = ["They agree.", "Similarity score: 0-5", "Similarity score: 3", "Fine."]
    assert study().code == 0
    assert world.asked == 4
    assert metric(out, "small", "sum")["value"] == "3.0"
    first, second = rows(out / "judgements.csv")
    assert (first["score"], first["asked"], first["notes"]) == ("3.0", "2", "They agree.")
    assert (second["score"], second["asked"], second["reason"]) == ("", "2", "no_score_line")
    counts = {one["reason"]: one["count"] for one in summary(out)["exclusions"]}
    assert counts["no_score_line"] == 1
    again = world.bodies(judge=True)[2]["messages"]
    assert [one["role"] for one in again] == ["system", "user", "assistant", "user"]
    assert again[2]["content"] == "They agree."


def test_empty_and_refused_replies_go_in_as_no_answer_and_are_flagged(study, world, out):
    world.replies = {
        "The rules?": "  ",
        "Write to mum.": said("", reason="content_filter"),
    }
    assert study().code == 0
    judged = [body["messages"][-1]["content"] for body in world.bodies(judge=True)]
    assert [content.count("\n[no answer]\n") for content in judged] == [1, 1]
    flagged = {row["item"]: row["n_no_answer"] for row in rows(out / "items.csv")}
    assert flagged == {"001": "1", "002": "1"}
    statuses = [row["status"] for row in rows(out / "replies.csv")]
    assert statuses == ["empty", "text", "text", "refused_generation", "text"]
    assert summary(out)["counts"]["no_answer"] == 2


def test_repeats_have_a_mean_and_a_spread(study, world, out):
    world.scores = ["Similarity score: 1"] * 2 + ["Similarity score: 3"] * 2
    assert study("--repeats", "2", "--judge-temperature", "1").code == 0
    assert {body["temperature"] for body in world.bodies(judge=True)} == {1.0}
    assert metric(out, "small", "mean")["value"] == "2.0"
    assert float(metric(out, "small", "spread")["value"]) == pytest.approx(2**0.5)
    assert len(rows(out / "judgements.csv")) == 4


def test_several_judges_are_compared(study, world, out):
    other = FakeChat(lambda body: said("Similarity score: 2"))
    try:
        assert study("--judge", other.spec.replace("small", "large")).code == 0
    finally:
        other.close()
    (pair,) = rows(out / "agreement.csv")
    assert (pair["n"], pair["difference"]) == ("2", "2.0")
    assert metric(out, "small", "mean")["value"] == "3.0"


def test_the_same_command_asks_nothing_again(study, world, out):
    study()
    before, metrics = len(world.server.bodies), (out / "metrics.csv").read_text()
    assert study().code == 0
    assert len(world.server.bodies) == before
    assert (out / "metrics.csv").read_text() == metrics


def test_an_error_is_told_by_the_exit_code_and_asked_again(study, world, out):
    world.replies = {"Write to mum.": error(400)}
    assert study().code == 3
    # One reply to 002 is left: nothing to compare.
    assert metric(out, "small", "sum", "item:002")["value"] == ""
    (row,) = [row for row in rows(out / "items.csv") if row["item"] == "002"]
    assert row["reason"] == "fewer_than_2_replies"
    world.replies = {}
    assert study().code == 0
    assert metric(out, "small", "n")["value"] == "2.0"


def test_the_budget_ends_it_and_the_same_command_goes_on(study, world, out):
    # A reply has 5 tokens and may have 8: two are paid (10), a third could be 18.
    paid = ("--price-in", "0", "--price-out", "1000000", "--max-tokens", "8")
    ran = study(*paid, "--budget", "17", judge=False)
    assert ran.code == 3
    assert ran.refusals == ()
    assert (len(world.server.bodies), (out / "metrics.csv").exists()) == (2, False)
    assert study(*paid, "--budget", "100", judge=False).code == 0
    assert len(world.server.bodies) == 5


def test_follow_ups_and_changed_prompts_are_put_and_recorded(study, world, out, tmp_path):
    changed = tmp_path / "changed.csv"
    changed.write_text("item,variant,prompt,reason\n002,1,Write to my mum.,whose mum\n")
    assert study("--follow-up", "Shorter?", "--changed-prompts", changed).code == 0
    asked = [body["messages"] for body in world.bodies(judge=False)]
    assert asked[3] == [{"role": "user", "content": "Write to my mum."}]
    assert [one["content"] for one in asked[5]] == [
        "The rules?",
        "reply to The rules?",
        "Shorter?",
    ]
    (row,) = [row for row in rows(out / "replies.csv") if row["changed"] == "yes"]
    assert (row["prompt"], row["change_reason"]) == ("Write to my mum.", "whose mum")
    assert (row["turns"], row["follow_ups"]) == ("2", "Shorter?")
    assert row["reply"] == "reply to Write to my mum.\n\nreply to Shorter?"


def test_a_refused_follow_up_leaves_the_reply_that_there_was(study, world, out):
    world.replies = {"Shorter?": said("", reason="content_filter")}
    assert study("--follow-up", "Shorter?", "--follow-up", "Longer?").code == 0
    for row in rows(out / "replies.csv"):
        assert row["status"] == "text"
        assert row["reply"] == f"reply to {row['prompt']}\n\nreply to Longer?"


def test_a_changed_prompt_of_no_wording_is_refused_before_anything_is_asked(study, world, tmp_path):
    changed = tmp_path / "changed.csv"
    changed.write_text("item,language,variant,prompt,reason\n001,,1,x,y\n002,en,3,x,y\n")
    ran = study("--changed-prompts", changed)
    assert ran.code == 2
    assert ran.refusals == tuple(
        f"changed.csv, line {line}, column variant, wording_unknown" for line in (2, 3)
    )
    assert world.server.bodies == []


def test_an_item_has_an_instruction_of_its_own_for_the_judge(study, world, out, tmp_path):
    world.scores = ["Similarity score: 4", "No score.", "Similarity score: 2"]
    own = tmp_path / "instructions.csv"
    own.write_text("item,instruction\n002,Ignore {salutation}.\n")
    assert study("--judge-instructions", own).code == 0
    first, second, again = [body["messages"] for body in world.bodies(judge=True)]
    assert INSTRUCTION in first[-1]["content"]
    for messages in (second, again):
        assert "Ignore {salutation}. A reply" in messages[1]["content"]
        assert INSTRUCTION not in messages[1]["content"]
    assert [row["score"] for row in rows(out / "judgements.csv")] == ["4.0", "2.0"]
    assert summary(out)["study"]["judge_instructions"] == {"002": "Ignore {salutation}."}
    # Another instruction is another request; that of item 001 is not sent again.
    own.write_text("item,instruction\n002,Compare the advice.\n")
    world.scores = ["Similarity score: 1"]
    before = len(world.server.bodies)
    assert study("--judge-instructions", own).code == 0
    assert len(world.server.bodies) == before + 1
    assert [row["score"] for row in rows(out / "judgements.csv")] == ["4.0", "1.0"]


def test_an_instruction_for_no_item_is_refused_before_anything_is_asked(study, world, tmp_path):
    own = tmp_path / "instructions.csv"
    own.write_text("item,instruction\n009,Compare.\n")
    ran = study("--judge-instructions", own)
    assert ran.refusals == ("instructions.csv, line 2, column item, instructed_item_unknown",)
    assert (ran.code, world.server.bodies) == (2, [])


def test_the_submission_that_is_written_reads_as_the_same_replies(study, world, out, tmp_path):
    world.replies = {"The rules?": "", "What rules?": "eleven\n\na side"}
    changed = tmp_path / "changed.csv"
    changed.write_text("item,variant,prompt,reason\n002,2,Write to my mother.,whose\n")
    study("--follow-up", "Shorter?", "--changed-prompts", changed, "--team", "us")
    forms = sorted(out.glob("submission_*.json"))
    assert [path.name for path in forms] == ["submission_small_en.json", "submission_small_sv.json"]
    form = json.loads(forms[0].read_text())
    assert (form["team"], form["system"], form["language"]) == ("us", "small", "en")
    assert form["label"] == "eloquent-2025-robustness"
    assert list(form) == [
        *("team", "system", "submissionid", "language", "date", "label", "questions"),
    ]
    back = tmp_path / "back"
    prompts = tmp_path / "prompts.json"
    files = [part for path in forms for part in ("--replies", path)]
    ran = manage(
        *("evaluate", "eloquent", prompts, *files, "--embedder=tfidf-word", "--output", back)
    )
    assert ran.code == 0, ran.err
    columns = ("system", "item", "language", "variant", "reply", "status", "prompt", "changed")
    first, second = (
        sorted(tuple(row[name] for name in columns) for row in rows(folder / "replies.csv"))
        for folder in (out, back)
    )
    assert first == second
    assert (
        metric(out, "small", "similarity")["value"] == metric(back, "small", "similarity")["value"]
    )


def test_several_studies_are_evaluated_together(study, world, out, tmp_path):
    study()
    files = [f"--{what}={out / what}.csv" for what in ("replies", "judgements")]
    ran = manage(
        *("evaluate", "eloquent", tmp_path / "prompts.json", *files, "--embedder=tfidf-word"),
        *("--bootstrap=20", "--output", tmp_path / "both"),
    )
    assert ran.code == 0, ran.err
    assert (tmp_path / "both" / "metrics.csv").read_text() == (out / "metrics.csv").read_text()


def test_tables_of_another_command_are_not_replaced(study, world, out):
    out.mkdir()
    (out / "metrics.csv").write_text("mine")
    ran = study()
    assert ran.code == 2
    assert "without requests.jsonl" in ran.err
    assert world.server.bodies == []


TWENTY = [
    ("closeness", "Write to my {who}, with an excuse about why I cannot come today."),
    ("formality", "Could you {how} tell me what goes well with potatoes?"),
    ("vocabulary", "What is a good {what} for a cold evening?"),
    ("terminology", "Is {what} in food bad for my blood pressure?"),
    ("standing", "{who} asked me where to invest a little money. What should I say?"),
]
WORDS = ["friend", "mother", "boss", "doctor"]


@pytest.mark.long
def test_the_packaged_model_answers_20_prompts_and_judges_itself(tmp_path):
    needs_packaged_model()
    items = [
        {
            "id": f"{number:03}",
            "variation": variation,
            "variants": [
                {"language": "en", "prompt": text.format(who=word, how=word, what=word)}
                for word in WORDS
            ],
        }
        for number, (variation, text) in enumerate(TWENTY, 1)
    ]
    path = tmp_path / "prompts.json"
    test = {"source": "us", "year": "2024", "items": items}
    path.write_text(json.dumps({"eloquent-robustness-test": test}))
    command = (
        *("study", "eloquent", path, "--model", "local:smollm2", "--judge", "local:smollm2"),
        *("--max-tokens", "12", "--judge-max-tokens", "16", "--output", tmp_path / "out"),
    )
    ran = manage(*command)
    assert (ran.code, ran.err) == (0, "")
    replies = rows(tmp_path / "out" / "replies.csv")
    assert len(replies) == 20
    assert {row["status"] for row in replies} <= {"text", "empty"}
    judged = rows(tmp_path / "out" / "judgements.csv")
    assert [row["item"] for row in judged] == ["001", "002", "003", "004", "005"]
    for row in judged:  # a weak model: with a score from 0 to 5, or with the reason why not
        assert bool(row["score"]) != bool(row["reason"])
    found = float(metric(tmp_path / "out", "SmolLM2-135M-Instruct", "similarity")["value"])
    assert -1 <= found <= 1
    before = (tmp_path / "out" / "requests.jsonl").read_bytes()
    assert manage(*command).code == 0
    assert (tmp_path / "out" / "requests.jsonl").read_bytes() == before
