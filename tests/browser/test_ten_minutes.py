"""Chromium walks the whole way of a requester: from a file as downloaded to what is decided.

The answers are those of the demo, in the shape of a batch of Mechanical Turk and of a spreadsheet
with a column a question; two recorded models answered the same questions.
"""

import csv
import io
import json
import os
import re
from collections import defaultdict
from pathlib import Path

import pytest
from playwright.sync_api import expect

from annotations import demo
from tests.annotations.exchange.reading.mturk_export import batch_text
from tests.browser import pages
from tests.browser.walking import PASSWORD, SECONDS_TO_GRADE, Walker

pytestmark = [pytest.mark.browser, pytest.mark.long]

# Where to keep pictures and the numbers of clicks, for somebody who wants to look at them.
PICTURES = os.environ.get("CROWDGRADE_PICTURES", "")
# From the empty set to the last download; a click too many is a page that got in the way.
MOST_CLICKS = 40
FIELD = "answer"


def wordings():
    lines = demo.QUESTIONS.read_text(encoding="utf-8").splitlines()
    return {one["id"]: one["text"] for one in map(json.loads, lines)}


def answers():
    """Return (worker, question, answer) of the demo."""
    with demo.ANSWERS.open(encoding="utf-8", newline="") as file:
        return [(row["worker"], row["question"], row["answer"]) for row in csv.DictReader(file)]


def batch():
    """A batch that waits for its requester: a HIT a question, none approved or rejected yet."""
    asked = wordings()
    open_still = {"AssignmentStatus": "Submitted", "ApprovalTime": ""}
    return batch_text(
        [
            (
                f"3HIT{question}",
                worker,
                {**open_still, "Input.question": asked[question], f"Answer.{FIELD}": text},
            )
            for worker, question, text in answers()
        ]
    )


def spreadsheet():
    """A form's answers, a column a question; who was not asked has an empty cell."""
    asked = wordings()
    of = defaultdict(dict)
    for worker, question, text in answers():
        of[worker][question] = text
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["Timestamp", "Participant ID", *asked.values()])
    for worker, said in of.items():
        cells = [said.get(question, "") for question in asked]
        writer.writerow(["2024/03/01 10:00:00 AM", worker, *cells])
    return text.getvalue()


def of_models(template, called):
    """Fill in the file that the page gives out: two models' answers, by the questions' wordings."""
    recorded = defaultdict(dict)
    with demo.MODEL_ANSWERS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            recorded[row["model"]][row["question"]] = row["answer"]
    by_wording = {text: question for question, text in wordings().items()}
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["model", "question", "answer"])
    for name, source in zip(called, list(recorded)[:2], strict=True):
        for row in csv.DictReader(io.StringIO(template.removeprefix("\ufeff"))):
            writer.writerow([name, row["question"], recorded[source][by_wording[row["text"]]]])
    return text.getvalue()


FILES = {
    "mturk": ("Batch_5141_batch_results.csv", batch, "Mechanical Turk: results of a batch"),
    "wide": ("form.csv", spreadsheet, "Google Forms"),
}


class Requester(Walker):
    """A walker whose clicks are counted, and who keeps a picture of each page."""

    def __init__(self, page, name):
        super().__init__(page)
        self.name, self.clicks, self.pages = name, 0, []

    def press(self, name, within=None):
        super().press(name, within)
        self.clicks += 1

    def look(self, heading):
        super().look(heading)
        self.pages.append(heading)
        if PICTURES:
            file = f"{self.name}-{len(self.pages):02}-{re.sub('[^a-z]+', '-', heading.lower())}"
            self.page.screenshot(path=Path(PICTURES) / f"{file}.png", full_page=True)

    def grade(self):
        """Start what the form says, and wait for its results."""
        self.press("Start the run")
        results = self.page.get_by_role("link", name="Results", exact=True)
        results.wait_for(timeout=SECONDS_TO_GRADE)

    def download(self, name):
        with self.page.expect_download() as sent:
            self.press(name)
        return Path(sent.value.path()).read_text(encoding="utf-8")


def exclude_the_copiers(walker):
    """Of each pair exclude the one who copied, then grade without them."""
    page = walker.page
    walker.press("Decide about them one by one")
    walker.look("Decide about people")
    for worker in ("Quinn", "Stan", "Rosa"):
        walker.press(worker)
        walker.look(worker)
        page.locator("summary", has_text="Exclude…").click()
        page.get_by_label("Copied from others").check()
        walker.press(f"Exclude {worker}")
        page.get_by_text(f"{worker}: Excluded.").wait_for()
        walker.clicks += 2
        walker.press("Decide about people")
        walker.look("Decide about people")
    walker.press("Grade without the excluded")
    walker.look("Grade without the excluded")
    walker.grade()
    walker.press("Results")


def let_each_group_vote_as_one(walker):
    """Read the evidence of one alarm, and grade again with all groups as one voter each."""
    walker.press("Read the evidence")
    walker.look("Alarms of")
    walker.press("Copied or nearly copied answers")
    walker.look("Copied or nearly copied answers")
    walker.press("Grade again with every group as one voter")
    walker.look("Grade")
    walker.grade()
    walker.press("Results")


REMEDIES = {
    "mturk": (exclude_the_copiers, "is left out, and the alarm is not raised for the others"),
    "wide": (let_each_group_vote_as_one, "the 2 of them count as one voter"),
}


@pages.IN_BOTH_WINDOWS
@pytest.mark.parametrize("name", FILES)
def test_from_a_file_to_a_decision(site, chromium, tmp_path, width, scheme, name):
    file, content, title = FILES[name]
    path, models = tmp_path / file, tmp_path / "models.csv"
    path.write_text(content(), encoding="utf-8")
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
    )
    walker = Requester(context.new_page(), f"{name}-{width}")
    page, set_name = walker.page, f"{name} {width}"
    called = [f"small {name} {width}", f"tiny {name} {width}"]
    try:
        page.goto(f"{site}/admin/question-sets/new/")
        page.get_by_label("User name").fill("rana")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_label("Name").fill(set_name)
        walker.press("Make the question set")
        walker.look(set_name)

        # The file, as it was downloaded.
        walker.press("Import answers")
        walker.look("Import answers")
        page.get_by_label("File", exact=True).set_input_files(path)
        walker.press("Look into the file")
        walker.look("What do the columns hold?")
        expect(page.get_by_text(title).first).to_be_visible()
        walker.press("Check the whole file")
        walker.look("Import answers?")
        walker.press(f"Import {len(answers()):,} new answers")
        walker.look("The answers are imported")

        # Two models answered the same questions.
        walker.press("Upload model answers")
        walker.look("Upload model answers")
        template = walker.download("The questions with their ids (CSV)")
        models.write_text(of_models(template, called), encoding="utf-8")
        page.get_by_label("File").first.set_input_files(models)
        walker.press("Check the file")
        walker.look("Import model answers?")
        walker.press("Import 32 new model answers")
        walker.look("The model answers are imported")

        # The grades, with all settings as they stand.
        walker.press("Grade the answers")
        walker.look("Grade")
        walker.grade()
        walker.press("Results")
        walker.look("Results of")

        # Whom to keep, whom to look at, which model, whether to believe it.
        verdict = page.get_by_role("region", name="Can these grades be used?")
        expect(verdict).to_contain_text("Do not use these grades yet.")
        expect(verdict).to_contain_text("4 alarms.")
        best = page.get_by_role("region", name="Best workers")
        # Amara and Quinn copy from each other, as do two more pairs: none of them is called good.
        expect(best.get_by_role("link", name="Amara", exact=True)).to_have_count(0)
        expect(best.get_by_role("link", name="Henrik", exact=True)).to_be_visible()
        doubtful = page.get_by_role("region", name="Workers to review")
        expect(doubtful.get_by_role("link", name="Amara", exact=True)).to_be_visible()
        said = page.get_by_role("heading", name="Best model").locator("..")
        expect(said).to_contain_text(
            f"“{called[0]}” has the highest score, but is not significantly better"
        )

        remedy, outcome = REMEDIES[name]
        remedy(walker)
        walker.look("Results of")
        outcomes = page.get_by_role("region", name="What became of the alarms")
        expect(outcomes).to_contain_text(outcome)
        # What is left is an alarm about Uma, who pasted one text as the answer to every question.
        verdict = page.get_by_role("region", name="Can these grades be used?")
        expect(verdict).to_contain_text("Do not use these grades yet.")
        expect(verdict).to_contain_text("1 alarm.")

        # Against the run before, and the one that counts from now on.
        walker.press("Against the run before")
        walker.look("compared")
        expect(page.get_by_role("main")).to_contain_text("4 in the other one")
        page.go_back()
        walker.press("Use this run for the set")
        walker.look("Results of")
        keep = page.get_by_role("region", name="Official run and export")
        expect(keep).to_contain_text("This is the official run")

        # Taken away: the grades, and what panels are told.
        table = list(csv.DictReader(io.StringIO(walker.download("Grades of the workers (CSV)"))))
        assert len(table) == 29
        if name == "mturk":
            walker.press("Decisions and lists for the panel")
            walker.look("Decide about people")
            decided = walker.download("All decisions (CSV)")
            assert sorted(row["decision"] for row in csv.DictReader(io.StringIO(decided))) == [
                *["exclude"] * 3
            ]
            walker.download("Mechanical Turk: approve and reject (CSV)")
        if PICTURES:
            print(f"{walker.name}: {walker.clicks} clicks, {len(walker.pages)} pages")
        assert walker.clicks <= MOST_CLICKS
        assert walker.complaints == []
    finally:
        context.close()
