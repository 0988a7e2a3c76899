import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations.exchange import ColumnNames, InputError
from annotations.exchange.importing import import_answers
from annotations.exchange.importing.report import DRY_RUN, NOTHING_CHANGED
from annotations.exchange.importing.target import quote_beginning
from annotations.models import Question, QuestionSet, Response, Submission, Worker
from tests.annotations import world
from tests.annotations.exchange.files import HEADER, write, write_xlsx
from tests.problems import check_problem, faults, only_problem

pytestmark = pytest.mark.django_db

ROWS = HEADER + "ada,r1,north\nada,r2,\nben,r1, South \nada,r1,north\n"


@pytest.fixture
def version():
    return world.version(world.user("rana"))


@pytest.fixture
def rivers(version):
    return version.question_set


def stored():
    rows = Response.objects.order_by("pk")
    return [(r.submission.worker.external_id, r.question.external_id, r.text) for r in rows]


def counts(report):
    return report.n_rows, report.n_new, report.n_unchanged, report.n_repeated, report.n_empty


def refusal(question_set, path, **options):
    before = (Response.objects.count(), Worker.objects.count(), Question.objects.count())
    with pytest.raises(InputError) as caught:
        import_answers(question_set, path, **options)
    assert before == (Response.objects.count(), Worker.objects.count(), Question.objects.count())
    return caught.value


def test_answers_come_in_as_written_in_the_order_of_the_file(rivers, version, tmp_path):
    report = import_answers(rivers, write(tmp_path, ROWS))
    assert counts(report) == (4, 3, 0, 1, 1)
    assert report.created == {"workers": 2, "questions": 0}
    assert stored() == [("ada", "r1", "north"), ("ada", "r2", ""), ("ben", "r1", " South ")]
    assert {r.state for r in Response.objects.all()} == {"submitted"}
    assert Response.objects.get(text="").status == "empty"
    assert set(Submission.objects.values_list("state", "source")) == {("submitted", "imported")}
    assert rivers.latest_version() == version
    assert rivers.latest_version().is_published
    assert any("published now" in line for line in report.lines())


@pytest.mark.skipif(connection.vendor != "sqlite", reason="rows are copied on PostgreSQL")
def test_an_import_leaves_no_temporary_table_with_its_connection(rivers, tmp_path):
    import_answers(rivers, write(tmp_path, ROWS))
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_temp_master WHERE type = 'table'")
        assert cursor.fetchall() == []


def test_the_same_file_again_changes_nothing_and_says_so(rivers, tmp_path):
    path = write(tmp_path, ROWS)
    import_answers(rivers, path)
    report = import_answers(rivers, path)
    assert counts(report) == (4, 0, 3, 1, 1)
    assert not report.changed
    assert [*report.lines()][-1] == NOTHING_CHANGED
    assert len(stored()) == 3


def test_a_longer_file_adds_only_what_is_new(rivers, tmp_path):
    import_answers(rivers, write(tmp_path, ROWS))
    report = import_answers(rivers, write(tmp_path, ROWS + "ben,r2,east\ncy,r1,west\n"))
    assert counts(report) == (6, 2, 3, 1, 1)
    assert stored()[3:] == [("ben", "r2", "east"), ("cy", "r1", "west")]
    assert Submission.objects.count() == 3


def test_a_stored_answer_that_the_file_leaves_out_is_nobodys_business(rivers, tmp_path):
    import_answers(rivers, write(tmp_path, ROWS))
    # The file has ada and r2, but not ada's answer to it.
    report = import_answers(rivers, write(tmp_path, HEADER + "ada,r1,north\nben,r2,east\n"))
    assert counts(report) == (2, 1, 1, 0, 0)
    assert len(stored()) == 4


def test_another_text_for_a_stored_answer_names_both_and_stores_nothing(rivers, tmp_path):
    import_answers(rivers, write(tmp_path, ROWS))
    changed = HEADER + "cy,r1,west\nada,r1,up\nada,r2,now\nben,r1,South\n"
    error = refusal(rivers, write(tmp_path, changed))
    assert faults(error) == [(line, None, "stored_answer_differs") for line in (3, 4)]
    first, second = (problem.values for problem in error.problems)
    assert (first["worker"], first["question"]) == ("ada", "r1")
    assert (first["text"], first["what"]) == ("'north'", "text")
    assert (second["text"], second["what"]) == (quote_beginning(""), "text")


def test_a_dry_run_says_the_same_and_stores_nothing(rivers, tmp_path):
    path = write(tmp_path, ROWS + "ada,new,x\n")
    report = import_answers(rivers, path, create_questions=True, dry_run=True)
    assert counts(report) == (5, 4, 0, 1, 1)
    assert report.created == {"workers": 2, "questions": 1}
    assert [*report.lines()][-1] == DRY_RUN
    assert (Response.objects.count(), Worker.objects.count(), Submission.objects.count()) == (
        0,
        0,
        0,
    )
    assert not rivers.latest_version().is_published


def writes_of(do):
    """The statements of a call that are no questions to the database."""
    with CaptureQueriesContext(connection) as asked:
        result = do()
    # (PostgreSQL reads what is read in parts by a cursor that it declares.)
    reads = ("SELECT", "DECLARE")
    return result, [one["sql"] for one in asked if not one["sql"].startswith(reads)]


MORE = HEADER + "ada,r1,north\nada,r2,\ndan,r1,east\ndan,r2,x\ncy,new,y\nben,new,z\n"


@pytest.mark.parametrize("before", [None, ROWS])
@pytest.mark.parametrize("create", [True, False])
def test_a_dry_run_writes_nothing_and_foretells_what_the_import_does(
    rivers, tmp_path, before, create
):
    """Not even into a transaction that is undone: on SQLite that would keep all others out."""
    if before:
        import_answers(rivers, write(tmp_path, before))
    text = MORE if create and not before else MORE.replace("new", "r1").replace("cy,r1,y\n", "")
    text = text.replace("ben,r1,z\n", "ben,r2,z\n")
    path = write(tmp_path, text)
    foretold, written = writes_of(
        lambda: import_answers(rivers, path, create_questions=create, dry_run=True)
    )
    assert written == []
    done = import_answers(rivers, path, create_questions=create)
    told, real = foretold.as_dict(), done.as_dict()
    assert (told.pop("dry_run"), real.pop("dry_run")) == (True, False)
    assert told == real
    assert real["n_new"] > 0


def test_a_dry_run_into_a_set_that_is_not_there_yet_makes_none(version, tmp_path):
    unmade = QuestionSet(owner=version.question_set.owner, name="lakes")
    path = write(tmp_path, ROWS)
    foretold, written = writes_of(
        lambda: import_answers(unmade, path, create_questions=True, dry_run=True)
    )
    assert written == []
    assert counts(foretold) == (4, 3, 0, 1, 1)
    assert (foretold.version, foretold.created) == (1, {"workers": 2, "questions": 2})
    assert not QuestionSet.objects.filter(name="lakes").exists()


def test_a_dry_run_refuses_what_the_import_refuses(rivers, tmp_path):
    import_answers(rivers, write(tmp_path, ROWS))
    path = write(tmp_path, HEADER + "ada,r1,up\nada,r9,x\n")
    tried = refusal(rivers, path, dry_run=True)
    assert str(tried) == str(refusal(rivers, path))


def test_an_unknown_question_is_told_once_with_its_first_line(rivers, tmp_path):
    error = refusal(rivers, write(tmp_path, ROWS + "ada,r9,x\nben,r9,y\nben,r8,y\n"))
    assert faults(error) == [(line, "question", "question_unknown") for line in (6, 8)]
    assert error.problems[0].values == {"version": "rivers, version 1", "question": "r9"}


def test_unknown_questions_are_made_if_that_was_asked_for(rivers, tmp_path):
    report = import_answers(rivers, write(tmp_path, ROWS + "ada,r9,x\n"), create_questions=True)
    assert report.created["questions"] == 1
    made = Question.objects.get(external_id="r9")
    assert (made.text, made.position) == ("", 3)
    error = refusal(rivers, write(tmp_path, HEADER + "ada,r7,x\n"), create_questions=True)
    check_problem(only_problem(error), "version_published", question="r7")


def test_a_set_without_a_version_gets_its_first(tmp_path):
    from annotations.models import QuestionSet

    lakes = QuestionSet.objects.create(owner=world.user("rana"), name="lakes")
    import_answers(lakes, write(tmp_path, ROWS), create_questions=True)
    assert lakes.versions.get().questions.count() == 2


def test_an_older_version_is_named_by_its_number(rivers, version, tmp_path):
    version.publish()
    version.copy_as_draft()
    path = write(tmp_path, ROWS)
    assert import_answers(rivers, path, version=1).version == 1
    assert import_answers(rivers, path).version == 2
    error = refusal(rivers, path, version=3)
    check_problem(only_problem(error), "version_unknown", question_set="rivers", number=3)


def test_the_same_id_in_another_panel_is_another_worker(rivers, tmp_path):
    path = write(tmp_path, HEADER + "ada,r1,north\n")
    import_answers(rivers, path)
    report = import_answers(rivers, path, panel="prolific")
    assert (report.n_new, report.created["workers"]) == (1, 1)
    assert Worker.objects.filter(external_id="ada").count() == 2
    other = world.version(rivers.owner, "lakes").question_set
    assert import_answers(other, path).created["workers"] == 0


def test_the_workers_of_another_owner_are_not_taken(rivers, tmp_path):
    world.submission(world.version(world.user("otto")), "ada")
    import_answers(rivers, write(tmp_path, HEADER + "ada,r1,north\n"))
    owners = Worker.objects.filter(external_id="ada").values_list("owner__username", flat=True)
    assert sorted(owners) == ["otto", "rana"]


def test_further_columns_are_kept_aside_by_their_names(rivers, tmp_path):
    rows = [["pid", "item", "answer", "seconds"], [7, "r1", "north", 2.5], [8, "r2", "", None]]
    columns = ColumnNames.parse("worker=pid,question=item")
    report = import_answers(rivers, write_xlsx(tmp_path, *rows), columns=columns)
    assert report.kept_aside == ("seconds",)
    assert list(Response.objects.order_by("pk").values_list("extra", flat=True)) == [
        {"seconds": "2.5"},
        {"seconds": ""},
    ]


def test_an_id_that_is_too_long_is_told(rivers, tmp_path):
    error = refusal(rivers, write(tmp_path, HEADER + f"{'w' * 256},r1,a\nada,{'q' * 256},b\n"))
    assert faults(error) == [(3, "question", "id_too_long"), (2, "worker", "id_too_long")]


@pytest.mark.medium
def test_many_workers_are_found_again(rivers, tmp_path):
    rows = "".join(f"w{i},r{j},answer {i}\n" for i in range(1300) for j in (1, 2))
    path = write(tmp_path, HEADER + rows)
    first, second = import_answers(rivers, path), import_answers(rivers, path)
    assert (first.n_new, first.created["workers"]) == (2600, 1300)
    assert (second.n_unchanged, second.changed) == (2600, False)
