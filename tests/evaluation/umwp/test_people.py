"""People in a run about problems without an answer: their own answers, and their labels."""

import csv
import json
from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from sklearn.metrics import cohen_kappa_score

from annotations.exchange.importing import import_answers
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import Response, Share
from evaluation.core.messages.message import Message
from evaluation.models import HumanJudgement, JudgementRequest
from evaluation.runs.judging import draw_sample
from evaluation.umwp.report.people import LABELS, UNRELATED_LABELS, build_people_report
from tests.evaluation.commands.running import called as manage
from tests.evaluation.runs.run_types.texts import numbers_of
from tests.evaluation.umwp.test_run_type import as_cell
from tests.evaluation.umwp.world import UNKNOWN, done, options, table

ANSWERS = [
    ("ann", "1", "55"),
    ("ann", "3", UNKNOWN),
    ("ben", "1", UNKNOWN),
    ("ben", "4", "2"),
    ("ben", "2", ""),
]


def answered(question_set, answers=ANSWERS):
    lines = ["worker,question,answer", *(",".join(row) for row in answers)]
    import_answers(question_set, make_bytes_source("answers.csv", "\n".join(lines).encode()))


def labelled(run, who, words, judging=LABELS):
    """Somebody who labels all replies of a run on the pages: a key by item and form."""
    user = User.objects.create_user(who)
    Share.objects.create(question_set=run.version.question_set, user=user, role="expert")
    client = Client()
    client.force_login(run.owner)
    address = reverse("admin:results-judging", args=[run.public_id, judging.name])
    asked = client.post(address, {"count": 100, "seed": 1, "experts": [user.pk]})
    assert asked.status_code == 302
    client.force_login(user)
    set_id = run.version.question_set.public_id
    for one in JudgementRequest.objects.filter(expert=user).select_related("exhibit"):
        task = reverse("admin:judge", args=[set_id, one.public_id])
        said = client.get(task).content.decode()
        assert judging.question in said
        # Blind: neither the model nor what the classifier made of it.
        assert not {"small", "large", "template", "unanswerable"} & set(said.split())
        item = one.exhibit.key[1]
        if item in words:
            assert client.post(task, {"grade": words[item]}).status_code == 302
    return user


@pytest.mark.medium
def test_people_stand_in_a_run_beside_the_models(question_set, small, large):
    answered(question_set)
    Response.objects.filter(submission__worker__external_id="ben", text="2").update(rejected=True)
    run = done(question_set, options(small, large))
    report = build_people_report(run)
    assert (report.people, report.questions, report.answers) == (2, 2, 3)
    rows = {one.system: one for one in report.benchmark}
    # Of 1, 3 and 1 again: Ann answers 1 and notices 3, Ben gives 1 up; his 4 was refused.
    people = rows["people"]
    assert people.is_people
    assert (people.precision.value, people.recall.value) == (1 / 2, 1)
    assert people.answer_accuracy.value == 1 / 2
    assert people.form == "direct"
    # Over questions 1 and 3 small is right about both, large about the first alone.
    assert (rows["small"].f1.value, rows["small"].answer_accuracy.value) == (1, 1)
    assert (rows["large"].recall.value, rows["large"].answer_accuracy.value) == (0, 1)
    left_out = {one["reason"]: one["count"] for one in run.summary["exclusions"]}
    assert (left_out["rejected_answer"], left_out["not_answered_by_worker"]) == (1, 1)
    assert [row["worker"] for row in table(run, "people")] == ["ann", "ann", "ben"]


@pytest.mark.medium
def test_a_run_names_people_among_its_inputs(question_set, small):
    before = done(question_set, options(small))
    assert build_people_report(before).benchmark == []
    answered(question_set)
    now = done(question_set, options(small))
    assert now.input_hash != before.input_hash


def test_a_model_called_people_is_refused(question_set, small):
    small.name = "people"
    small.save()
    run = done(question_set, options(small), "failed")
    assert Message.from_stored(run.error) == Message(
        "run.model_named_as_people", {"name": "people"}
    )


@pytest.mark.slow
def test_people_and_labels_of_a_run_are_those_of_its_files(
    question_set,
    small,
    large,
    tmp_path,
):
    answered(question_set)
    run = done(question_set, options(small, large, instruction=True))
    labelled(run, "cy", {"1": "no", "2": "no", "3": "yes", "4": "yes", "5": "no"})
    labelled(run, "dot", {"1": "no", "2": "cannot_tell", "3": "yes", "4": "no", "5": "yes"})
    names = {
        "problems.jsonl": "problems", "replies.csv": "replies", "labels.csv": "labels",
    }  # fmt: skip
    client = Client()
    client.force_login(run.owner)
    for name, of_run in names.items():
        address = reverse("admin:results-table", kwargs={"run": run.public_id, "name": of_run})
        if name.endswith("jsonl"):
            text = "".join(json.dumps(one) + "\n" for one in table(run, of_run)).encode()
        else:
            text = client.get(address).getvalue()
        (tmp_path / name).write_bytes(text)
    people = tmp_path / "people.csv"
    with people.open("w", newline="") as file:
        csv.writer(file).writerows([("worker", "question", "answer"), *ANSWERS])
    ran = manage(
        *("evaluate", "umwp", tmp_path / "problems.jsonl", "--replies", tmp_path / "replies.csv"),
        *("--labels", tmp_path / "labels.csv", "--people", people),
        *("--encoder", "tfidf-char", "--threshold", 0.8, "--bootstrap", 20),
        *("--output", tmp_path / "out"),
    )
    assert ran.code == 0, ran.err

    def of_files(name):
        with (tmp_path / "out" / name).open(newline="") as file:
            return [tuple(map(as_cell, row.items())) for row in csv.DictReader(file)]

    def of_run(*tables):
        return [tuple(map(as_cell, row.items())) for name in tables for row in table(run, name)]

    assert sorted(of_files("metrics.csv")) == sorted(of_run("metrics", "label-agreement"))
    assert of_files("labels.csv") == of_run("labelled-replies")
    assert of_files("people.csv") == of_run("people")


@pytest.mark.slow
def test_labels_are_compared_with_each_other_and_with_the_classifier(
    question_set,
    small,
):
    run = done(question_set, options(small))
    assert build_people_report(run).labelled == 0
    # The classifier says yes of 3, 4 and 5.
    labelled(run, "cy", {"1": "no", "2": "no", "3": "yes", "4": "yes", "5": "no"})
    report = build_people_report(run)
    assert (report.labelled, report.annotators) == (5, ["cy"])
    assert report.between.reason == "fewer_than_2_annotators"
    assert report.classifier["agreement"].value == pytest.approx(4 / 5)
    assert report.classifier["kappa"].value == pytest.approx(
        cohen_kappa_score([*"nnyyn"], [*"nnyyy"])
    )
    # All replies are labelled: weights change nothing.
    assert report.classifier["weighted_kappa"].value == report.classifier["kappa"].value
    assert report.classifier["precision"].value == pytest.approx(2 / 3)
    labelled(run, "dot", {"1": "no", "3": "yes"})
    assert build_people_report(run).between.value == pytest.approx(1)


@pytest.mark.medium
def test_unrelated_content_is_labelled_on_a_page_of_its_own(question_set, small):
    run = done(question_set, options(small))
    assert build_people_report(run).unrelated == []
    words = {"1": "no", "2": "no", "3": "yes", "4": "no", "5": "no"}
    labelled(run, "cy", words, UNRELATED_LABELS)
    report = build_people_report(run)
    # All replies are labelled: weights change nothing.
    assert [(one.system, one.form) for one in report.unrelated] == [("", ""), ("small", "direct")]
    assert [one.share.value for one in report.unrelated] == pytest.approx([1 / 5, 1 / 5])
    assert report.labelled == 0
    client = Client()
    client.force_login(run.owner)
    address = reverse("admin:results-page", kwargs={"run": run.public_id, "slug": "people"})
    assert 'id="unrelated-content"' in client.get(address).content.decode()
    row = table(run, "unrelated-content")[0]
    assert (row["metric"], row["value"], row["n"]) == ("unrelated_content", pytest.approx(0.2), 5)


@pytest.mark.medium
def test_a_label_can_be_corrected(question_set, small):
    run = done(question_set, options(small))
    user = labelled(run, "cy", {"1": "yes"})
    client = Client()
    client.force_login(user)
    set_id = run.version.question_set.public_id
    one = JudgementRequest.objects.get(expert=user, exhibit__key__1="1")
    client.post(reverse("admin:judge", args=[set_id, one.public_id]), {"grade": "no"})
    assert [given.label for given in HumanJudgement.objects.filter(expert=user)] == ["no"]


@pytest.mark.medium
def test_the_sample_holds_what_the_classifier_says_in_its_shares(question_set, small):
    version = question_set.latest_version()
    for number in range(30):
        version.questions.create(
            external_id=f"x{number}", text=f"Tom has some books and 46 more. How many? {number}",
            position=10 + number, answerable=False, category="2",
        )  # fmt: skip
    run = done(question_set, options(small))
    taken = {row["item"]: row["taken_as"] for row in table(run, "items")}
    drawn = [taken[one.key[1]] for one in draw_sample(run, LABELS, 14, 3)]
    # 33 of 35 are taken for unanswerable: of 14 about 13.2; a plain draw often misses the rest.
    assert Counter(taken.values()) == {"unanswerable": 33, "answerable": 2}
    assert Counter(drawn)["unanswerable"] in (12, 13, 14)
    later = [one.key for one in draw_sample(run, LABELS, 35, 3)]
    assert [one.key for one in draw_sample(run, LABELS, 14, 3)] == later[:14]


@pytest.mark.medium
def test_the_page_says_what_is_there_and_what_is_missing(question_set, small):
    run = done(question_set, options(small))
    client = Client()
    client.force_login(run.owner)
    address = reverse("admin:results-page", kwargs={"run": run.public_id, "slug": "people"})
    said = client.get(address).content.decode()
    assert 'id="no-people"' in said
    assert 'id="no-labels"' in said
    answered(question_set)
    run = done(question_set, options(small))
    labelled(run, "cy", {"1": "no", "3": "yes"})
    address = reverse("admin:results-page", kwargs={"run": run.public_id, "slug": "people"})
    said = client.get(address).content.decode()
    assert 'id="no-people"' not in said
    assert 'id="no-labels"' not in said
    people, labels = (
        numbers_of(said.split(f'id="{place}-counts">')[1].split("</p>")[0])
        for place in ("people", "label")
    )
    # 2 people gave 4 answers to 3 questions; 1 annotator labelled 2 replies.
    assert (people, labels) == ([2, 4, 3], [1, 2])
