"""Chromium takes a file as it was downloaded, says what its columns hold, grades it, and looks."""

import csv
import io

import pytest
from playwright.sync_api import expect

from tests.annotations.exchange.reading.mturk_export import batch_text
from tests.browser import pages
from tests.browser.walking import PASSWORD, SECONDS_TO_GRADE, Walker

pytestmark = [pytest.mark.browser, pytest.mark.long]

WORDS = ("the moon pulls the water", "rivers bring salt", "wind makes waves", "ice is light")
PEOPLE = ("A1ANN", "A2BOB", "A3CYD", "A4DEE", "A5EVE", "A6FAY")


def said(person, at):
    """What somebody answers to question `at`: most the same in other words, Fay something else."""
    return "no idea at all" if person == "A6FAY" else f"I think {WORDS[at % 4]} {at} {person[-2:]}"


def batch():
    """A batch of Mechanical Turk: six HITs, a hidden field that echoes, and the worker's age."""
    return batch_text(
        [
            (
                f"3HIT{at}",
                person,
                {
                    "Input.sentence": f"Satz {at}",
                    "Answer.age": str(30 + PEOPLE.index(person)),
                    "Answer.sentence": f"Satz {at}",
                    "Answer.translation": said(person, at),
                },
            )
            for at in range(6)
            for person in PEOPLE
        ]
    )


def spreadsheet():
    """A form's answers: a column a question, semicolons, and a row that somebody left empty."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";")
    header = [f"Why is it so, number {at}?" for at in range(6)]
    writer.writerow(["Timestamp", "Participant ID", "Age", *header])
    for person in PEOPLE:
        answers = [said(person, at) for at in range(6)]
        writer.writerow(["2024/03/01 10:00:00 AM", person, "33", *answers])
    writer.writerow([""] * (3 + len(header)))
    return text.getvalue()


FILES = {
    "mturk": ("Batch_5141_batch_results.csv", batch(), "Mechanical Turk: results of a batch"),
    "wide": ("form.csv", spreadsheet(), "Google Forms"),
}


def show_choices(page):
    """Unfold how a recognised file is read."""
    if page.locator("#choices:not([open])").count():
        page.click("#choices > summary")


@pages.IN_BOTH_WINDOWS
@pytest.mark.parametrize("name", FILES)
def test_a_downloaded_file_is_imported_graded_and_read(
    site, chromium, tmp_path, width, scheme, name
):
    file, content, title = FILES[name]
    path = tmp_path / file
    path.write_text(content, encoding="utf-8")
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    walker = Walker(context.new_page())
    page, set_name = walker.page, f"read {name} {width}"
    try:
        page.goto(f"{site}/admin/question-sets/new/")
        page.get_by_label("User name").fill("rana")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_label("Name").fill(set_name)
        walker.press("Make the question set")
        walker.look(set_name)

        walker.press("Import answers")
        walker.look("Import answers")
        page.get_by_label("File", exact=True).set_input_files(path)
        walker.press("Look into the file")
        walker.look("What do the columns hold?")
        assert page.get_by_text(title).first.is_visible()
        rows = page.get_by_role("region", name="The questions").get_by_role("row")
        n_shown = rows.count()
        assert n_shown > 2  # the heading and several questions
        show_choices(page)
        if name == "mturk":
            roles = {"Answer.translation": "answer"}
            roles |= {"Answer.age": "extra", "Answer.sentence": "extra"}
        else:
            roles = {"Why is it so, number 0?": "answer", "Timestamp": "extra"}
        for column, role in roles.items():
            expect(page.get_by_label(f"Role of {column}", exact=True)).to_have_value(role)
        if name != "mturk":
            # Another role is shown without sending the file again.
            first = page.get_by_label("Role of Why is it so, number 0?", exact=True)
            first.select_option("ignore")
            walker.press("Show these choices")
            walker.look("What do the columns hold?")
            expect(rows).to_have_count(n_shown - 1)
            expect(rows.nth(1)).to_contain_text("number 1?")
            show_choices(page)
            first.select_option("answer")

        walker.press("Check the whole file")
        walker.look("Import answers?")
        walker.press("Change how it is read")
        walker.look("What do the columns hold?")
        walker.press("Check the whole file")
        walker.look("Import answers?")
        page.get_by_role("button", name="Import 36 new answers").click()
        walker.look("The answers are imported")
        walker.press("Grade these answers")
        walker.look("Grade")
        page.get_by_label("How texts become vectors").select_option("tfidf-word")
        page.get_by_label("Bootstrap draws").fill("20")
        walker.press("Start the run")
        page.get_by_role("heading", name="Words, weighted by rarity", level=1).wait_for()
        page.get_by_role("link", name="Results", exact=True).wait_for(timeout=SECONDS_TO_GRADE)
        walker.press("Results")
        walker.look("Results of")
        # Who answered otherwise than all the others is among those to look at.
        best = page.get_by_role("region", name="Best workers")
        expect(best.get_by_role("link", name="A1ANN", exact=True)).to_be_visible()
        doubtful = page.get_by_role("region", name="Workers to review")
        expect(doubtful.get_by_role("link", name="A6FAY", exact=True)).to_be_visible()
        assert walker.complaints == []
    finally:
        context.close()
