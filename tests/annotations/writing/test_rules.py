import csv
import json
import re
import threading

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections

from annotations import writing
from annotations.exchange.reading.word_problems import read_word_problems
from annotations.models import ProblemVote, QuestionSet, Share, Team, WritingEvent, WrittenProblem
from annotations.writing import WritingError
from tests.annotations.writing.conftest import APPLES, MADE, published_set
from tests.evaluation.commands.running import called as manage

State = WrittenProblem.State
Category = writing.CATEGORY_DESCRIPTIONS


def refused(code, action, *arguments):
    with pytest.raises(WritingError) as caught:
        action(*arguments)
    assert caught.value.code == code


def votes(world, problem, *said):
    """Each is a validator's name and what they say: a category, or None for "has an answer"."""
    for name, category in said:
        who = world.people[name].pk
        writing.vote_on_problem(
            world.project, who, problem.public_id, category is None, category, f"by {name}"
        )
    problem.refresh_from_db()
    return problem.state


def test_writing_begins_with_a_frozen_wording_and_questions_that_have_an_answer(world):
    assert writing.start_project(world.version) == world.project
    draft = QuestionSet.objects.create(owner=world.rana, name="draft").draft()
    refused("not_published", writing.start_project, draft)
    draft.questions.create(external_id="1", text="Why?", answerable=None)
    draft.publish()
    refused("no_originals", writing.start_project, draft)


def test_each_question_is_taken_once_and_in_order(world):
    first = writing.take_question(world.project, world.wanda.pk)
    second = writing.take_question(world.project, world.will.pk)
    assert [first.external_id, second.external_id] == ["1-1", "2-1"]
    assert first.text == APPLES
    refused("nothing_to_take", writing.take_question, world.project, world.wanda.pk)
    assert writing.count_problems(world.project) == writing.ProblemCount(wanted=2, taken=2)


def test_what_is_given_up_is_free_for_others_first(world):
    first = writing.take_question(world.project, world.wanda.pk)
    writing.withdraw_problem(first)
    # Wanda gets the other question; what she gave up is offered to her last.
    assert writing.take_question(world.project, world.wanda.pk).external_id == "2-1"
    assert writing.take_question(world.project, world.will.pk).external_id == "1-2"


def test_several_may_be_written_of_one_question(world):
    world.project.per_original = 2
    world.project.save()
    taken = [writing.take_question(world.project, who.pk) for who in (world.wanda, world.will) * 2]
    # A writer gets what they have not written of before.
    assert [one.external_id for one in taken] == ["1-1", "1-2", "2-1", "2-2"]
    assert {one.author_id for one in taken[:2]} == {world.wanda.pk, world.will.pk}


@pytest.mark.parametrize(
    ("text", "category", "code"),
    [
        (" \n", 1, "text_missing"),
        ("x" * 5001, 1, "text_too_long"),
        (f"  {APPLES.upper()} ", 1, "text_of_the_original"),
        ("tom has apples.  How many pears?", 4, "text_there_already"),
        (MADE, None, "category_missing"),
    ],
)
def test_what_cannot_be_handed_in_says_why(world, text, category, code):
    problem = writing.take_question(world.project, world.wanda.pk)
    refused(code, writing.submit_problem, problem, text, category)
    problem.refresh_from_db()
    assert (problem.state, problem.text) == (State.DRAFT, APPLES)


def test_two_cannot_hand_in_the_same_words(world, handed_in):
    other = writing.take_question(world.project, world.will.pk)
    refused("text_there_already", writing.submit_problem, other, MADE.upper(), 2)


def test_three_who_agree_accept_it(world, handed_in):
    assert votes(world, handed_in, ("vic", 2), ("val", 2)) == State.CHECKING
    assert votes(world, handed_in, ("vin", 1)) == State.ACCEPTED
    kinds = list(handed_in.events.order_by("pk").values_list("kind", "by__username"))
    assert kinds == [("begun", "wanda"), ("submitted", "wanda"), ("accepted", "vin")]


@pytest.mark.parametrize("said", [(2, 2, None), (2, 1, 3), (None, None, None), (1, 1, 1)])
def test_one_who_finds_an_answer_or_no_majority_for_the_reason_sends_it_back(
    world, handed_in, said
):
    named = zip(("vic", "val", "vin"), said, strict=True)
    assert votes(world, handed_in, *named) == State.RETURNED
    words = writing.list_anonymous_votes(handed_in)
    assert len(words) == 3
    assert sorted(word.note for word in words) == ["by val", "by vic", "by vin"]


def test_what_comes_back_is_written_anew_and_checked_anew(world, handed_in):
    votes(world, handed_in, ("vic", None), ("val", 2), ("vin", 2))
    writing.submit_problem(handed_in, "Tom has some apples. How many has he now?", 2)
    handed_in.refresh_from_db()
    assert (handed_in.revision, handed_in.state) == (2, State.CHECKING)
    # The votes about the first wording count no more, and are kept.
    assert len(writing.list_problem_tasks(world.project, world.vic.pk).open) == 1
    assert votes(world, handed_in, ("vic", 2), ("val", 2), ("vito", 2)) == State.ACCEPTED
    assert ProblemVote.objects.filter(problem=handed_in).count() == 6
    texts = handed_in.events.filter(kind="submitted").order_by("pk").values_list("text", flat=True)
    assert list(texts) == [MADE, "Tom has some apples. How many has he now?"]


def test_a_validator_may_correct_until_it_is_decided(world, handed_in):
    votes(world, handed_in, ("vic", None), ("vic", 2), ("val", 2))
    assert handed_in.votes.count() == 2
    own = writing.find_problem_task(world.project, world.vic.pk, handed_in.public_id)
    assert (own.answerable, own.category) == (False, 2)
    votes(world, handed_in, ("vin", 2))
    assert writing.find_problem_task(world.project, world.vic.pk, handed_in.public_id) is None
    who = world.vic.pk
    refused("decided", writing.vote_on_problem, world.project, who, handed_in.public_id, True, None)


def test_who_checks_sees_the_text_and_nothing_else(world, handed_in):
    votes(world, handed_in, ("vic", 2))
    (task,) = writing.list_problem_tasks(world.project, world.val.pk).open
    assert vars(task) == {
        "id": handed_in.public_id,
        "text": MADE,
        "answerable": None,
        "category": None,
        "note": "",
    }


def test_the_author_does_not_check_it_even_as_a_validator(world, handed_in):
    handed_in.author = world.vic
    handed_in.save()
    assert not writing.list_problem_tasks(world.project, world.vic.pk).open
    assert writing.find_problem_task(world.project, world.vic.pk, handed_in.public_id) is None
    refused(
        "decided",
        writing.vote_on_problem,
        world.project,
        world.vic.pk,
        handed_in.public_id,
        True,
        None,
    )


def test_no_more_check_it_than_are_needed(world, handed_in):
    world.project.votes_needed = 2
    world.project.save()
    handed_in.project.refresh_from_db()
    votes(world, handed_in, ("vic", None))
    ProblemVote.objects.create(
        problem=handed_in, validator=world.val, revision=1, answerable=True
    )  # as if both were under way at once
    assert not writing.list_problem_tasks(world.project, world.vin.pk).open
    refused(
        "decided",
        writing.vote_on_problem,
        world.project,
        world.vin.pk,
        handed_in.public_id,
        True,
        None,
    )


@pytest.mark.parametrize(
    ("answerable", "category", "note", "code"),
    [
        (None, None, "", "verdict_missing"),
        (False, None, "", "category_missing"),
        (True, 2, "", "category_of_answerable"),
        (True, None, "x" * 2001, "note_too_long"),
    ],
)
def test_a_vote_says_what_is_missing(world, handed_in, answerable, category, note, code):
    arguments = (world.project, world.vic.pk, handed_in.public_id, answerable, category, note)
    refused(code, writing.vote_on_problem, *arguments)
    assert not handed_in.votes.exists()


def test_problems_come_in_another_order_to_each_validator(world):
    world.project.per_original = 5
    world.project.save()
    for number in range(10):
        problem = writing.take_question(world.project, world.wanda.pk)
        writing.submit_problem(problem, f"{MADE} {number}", 2)
    orders = {
        name: [
            task.text
            for task in writing.list_problem_tasks(world.project, world.people[name].pk).open
        ]
        for name in ("vic", "val")
    }
    assert sorted(orders["vic"]) == sorted(orders["val"])
    assert orders["vic"] != orders["val"]


def test_a_closed_project_takes_nothing_more(world, handed_in):
    draft = writing.take_question(world.project, world.will.pk)
    writing.set_project_open(world.project, is_open=False)
    who = world.vic.pk
    refused("closed", writing.take_question, world.project, world.wanda.pk)
    refused("closed", writing.submit_problem, draft, "Something else?", 5)
    refused("closed", writing.save_problem, draft, "Something else?", 5)
    refused("closed", writing.vote_on_problem, world.project, who, handed_in.public_id, True, None)
    assert not writing.list_problem_tasks(world.project, who).open
    writing.set_project_open(world.project, is_open=True)
    assert len(writing.list_problem_tasks(world.project, who).open) == 1


def test_the_requester_sends_back_and_leaves_out_with_a_reason(world, handed_in):
    votes(world, handed_in, ("vic", 2), ("val", 2), ("vin", 2))
    refused("note_missing", writing.return_problem, handed_in, world.rana.pk, " ")
    writing.return_problem(handed_in, world.rana.pk, "Too near to another one.")
    handed_in.refresh_from_db()
    assert handed_in.state == State.RETURNED
    assert writing.find_return_note(handed_in) == "Too near to another one."
    refused("not_decided", writing.return_problem, handed_in, world.rana.pk, "Again")
    writing.discard_problem(handed_in, world.rana.pk, "Not wanted.")
    assert writing.find_next_original(world.project, world.will.pk).external_id == "1"
    refused("not_decided", writing.discard_problem, handed_in, world.rana.pk, "Again")


def test_what_happened_is_never_changed(world, handed_in):
    event = handed_in.events.earliest("pk")
    with pytest.raises(TypeError):
        event.delete()
    assert WritingEvent.objects.filter(by=world.wanda).count() == 2


def test_who_writes_does_not_check_and_who_sees_votes_does_not_either(world, handed_in):
    assert "is a writer and has begun" in writing.find_invitation_error(
        world.project, world.wanda, "validator"
    )
    assert writing.find_invitation_error(world.project, world.will, "validator") == ""
    assert "is a validator already" in writing.find_invitation_error(
        world.project, world.vic, "validator"
    )
    assert "cannot check blindly" in writing.find_invitation_error(
        world.project, world.rana, "validator"
    )
    assert writing.find_invitation_error(world.project, world.rana, "writer") == ""
    vera, ed = (User.objects.create_user(name) for name in ("vera", "ed"))
    Share.objects.create(question_set=world.version.question_set, user=vera, role="viewer")
    Share.objects.create(question_set=world.version.question_set, user=ed, role="expert")
    assert "cannot check blindly" in writing.find_invitation_error(world.project, vera, "validator")
    # An expert sees questions only.
    assert writing.find_invitation_error(world.project, ed, "validator") == ""


def test_a_team_is_invited_but_for_those_who_cannot(world, handed_in):
    team = Team.objects.create(owner=world.rana, name="checkers")
    for name in ("will", "wanda"):
        team.memberships.create(user=world.people[name])
    invited, reasons = writing.invite_team(world.project, team, "validator")
    assert invited == ["will"]
    assert len(reasons) == 2
    assert world.project.members.get(user=world.will).role == "validator"


def test_the_overview_counts_states_people_and_agreement(world, handed_in):
    votes(world, handed_in, ("vic", 2), ("val", 2), ("vin", 1))
    other = writing.take_question(world.project, world.will.pk)
    writing.submit_problem(other, "A rope is cut into 4 parts. How long is each?", 1)
    other.refresh_from_db()
    votes(world, other, ("vic", None), ("val", 1), ("vin", 1))
    found = writing.summarize_project(world.project)
    states = {state: n for state, _, n in found.states if n}
    assert states == {"accepted": 1, "returned": 1}
    assert found.accepted == 1
    assert {number: n for number, _, n in found.categories if n} == {2: 1}
    done = {one.member.user.username: (one.done, one.accepted) for one in found.people}
    assert done == {
        "wanda": (1, 1),
        "will": (1, 0),
        "vito": (0, 0),
        **dict.fromkeys(("vic", "val", "vin"), (2, 0)),
    }
    agreement = found.agreement
    # All three find the first unanswerable, with two reasons; of the second they disagree.
    assert (agreement.n, agreement.verdict, agreement.unanswerable, agreement.category) == (
        2, 1, 1, 0,
    )  # fmt: skip
    assert (found.n_writers, found.n_validators) == (2, 4)


def test_what_is_accepted_is_read_back_as_pairs_of_umwp(world, handed_in, tmp_path):
    votes(world, handed_in, ("vic", 2), ("val", 2), ("vin", 2))
    records = list(writing.export_accepted_problems(world.project))
    assert records == [
        {
            "id": 1, "question": APPLES, "answer": [7.0], "answerable": True, "category": None,
            "relevant_ids": None, "source": "made",
        },
        {
            "id": "1-1", "question": MADE, "answer": None, "answerable": False, "category": 2,
            "relevant_ids": [1], "source": "made",
        },
    ]  # fmt: skip
    path = tmp_path / "accepted.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    read = read_word_problems(path).problems
    assert [(one.id, one.relevant) for one in read] == [("1", ()), ("1-1", ("1",))]


def test_numbers_of_an_answer_are_read_out_of_lists_and_with_thousands(world):
    from annotations.writing.export import list_accepted_numbers

    question = world.version.questions.get(external_id="2")
    assert list_accepted_numbers(question) == (2.5, 2500.0)


@pytest.mark.skipif(
    "connection.vendor == 'sqlite'", reason="SQLite keeps one database in memory for tests"
)
@pytest.mark.django_db(transaction=True)
def test_writers_who_take_at_once_get_different_questions_on_postgresql():
    owner = User.objects.create_user("owner", is_staff=True)
    writers = [User.objects.create_user(f"writer{n}") for n in range(6)]
    project = writing.start_project(published_set(owner))
    taken, barrier = [], threading.Barrier(6)

    def take(who):
        barrier.wait()
        try:
            taken.append(writing.take_question(project, who.pk).external_id)
        except WritingError as error:
            taken.append(error.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=take, args=(who,)) for who in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(taken) == ["1-1", "2-1", *["nothing_to_take"] * 4]
    assert connection.vendor == "postgresql"


def test_the_command_writes_what_was_accepted_and_what_was_said(world, handed_in, tmp_path):
    votes(world, handed_in, ("vic", None), ("val", 2), ("vin", 2))
    writing.submit_problem(handed_in, f"{MADE} Or not?", 2)
    votes(world, handed_in, ("vic", 2), ("val", 2), ("vin", 2))
    out, said = tmp_path / "made.jsonl", tmp_path / "votes.csv"
    ran = manage("export_items", "problems", "--owner", "rana", "--output", out, "--votes", said)
    assert ran.code == 0, ran.err
    counts, _, path = ran.out.partition(": ")
    assert (re.findall(r"\d+", counts), path.strip()) == (["1", "1"], str(out))
    assert [json.loads(line) for line in out.read_text().splitlines()] == list(
        writing.export_accepted_problems(world.project)
    )
    with said.open(newline="") as file:
        rows = [
            (row["problem"], row["revision"], row["validator"], row["answerable"], row["category"])
            for row in csv.DictReader(file)
        ]
    assert rows[0] == ("1-1", "1", "vic", "true", "")
    assert rows[3:] == [("1-1", "2", name, "false", "2") for name in ("vic", "val", "vin")]


def test_the_command_says_what_is_missing(world, tmp_path):
    published_set(world.rana, "other")
    for name, output, reason in (
        ("other", "made.jsonl", "there is no writing of problems for other"),
        ("problems", "made.csv", "problems are written as JSON Lines"),
    ):
        path = tmp_path / output
        ran = manage("export_items", name, "--owner", "rana", "--output", path)
        assert ran.code == 2
        assert reason in ran.err
        assert not path.exists()
