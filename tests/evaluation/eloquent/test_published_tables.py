"""Tables 1 and 2 of the ELOQUENT paper, from the lab's prompts and the published scores."""

import csv
from collections import Counter
from fractions import Fraction

import pytest

from tests.evaluation.commands.running import manage
from tests.evaluation.eloquent.test_evaluate import metric, rows

pytestmark = pytest.mark.data

SUMS = {"poro-34b": 41, "mistral-7b": 45, "command-r": 44, "gpt-sw3-20b": 43, "gpt-4-turbo": 56}
# Item 009 of the lab's file has one English wording; the paper's 15 items are the others.
IDS = [f"{number:03}" for number in range(1, 17) if number != 9]


@pytest.fixture
def published(data_folder):
    """Rows of Table 2 as printed: an item, the scores of five systems and the average."""
    with (data_folder / "eloquent2024" / "table2.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def evaluated(data_folder, published, tmp_path):
    """Folder of `evaluate eloquent` on the lab's prompts and the published scores."""
    judgements = tmp_path / "judgements.csv"
    with judgements.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "system", "language", "score"])
        for item, row in zip(IDS, published, strict=True):
            writer.writerows([item, system, "en", row[system]] for system in SUMS)
    prompts = data_folder / "eloquent2024" / "task3.test.json"
    output = tmp_path / "out"
    ran = manage(
        *("evaluate", "eloquent", prompts, "--repair", "--judgements", judgements),
        *("--bootstrap=20", "--output", output),
    )
    assert ran.code == 0, ran.err
    return output


def test_the_sums_and_scores_of_table_2_come_out(evaluated, published):
    table = rows(evaluated / "items_by_system.csv")
    scored = [row for row in table if row["average"]]
    assert [row["item"] for row in scored] == IDS
    for row, printed in zip(scored, published, strict=True):
        assert {system: float(row[system]) for system in SUMS} == {
            system: float(printed[system]) for system in SUMS
        }
    sums = {system: float(metric(evaluated, system, "sum")["value"]) for system in SUMS}
    assert sums == SUMS
    ranks = [float(metric(evaluated, system, "rank")["value"]) for system in SUMS]
    assert ranks == [5, 2, 3, 4, 1]


def test_nine_printed_averages_of_table_2_are_not_the_means_of_their_cells(evaluated, published):
    table = {row["item"]: row for row in rows(evaluated / "items_by_system.csv")}
    wrong = []
    for item, printed in zip(IDS, published, strict=True):
        mean = Fraction(sum(int(printed[system]) for system in SUMS), len(SUMS))
        assert float(table[item]["average"]) == pytest.approx(float(mean))
        if mean != Fraction(printed["printed_average"]):
            wrong.append(printed["item"])
    assert wrong == ["02", "04", "05", "06", "08", "09", "13", "14", "15"]


def test_the_kinds_of_variation_of_table_1_have_the_means_of_their_items(evaluated, published):
    kinds = {row["item"]: row["variation"] for row in rows(evaluated / "prompts.csv")}
    counts = Counter(kinds.values())
    for kind, count in counts.items():
        assert float(metric(evaluated, "", "items", f"variation:{kind}")["value"]) == count
    assert sum(counts.values()) == 16
    scores = dict(zip(IDS, published, strict=True))
    for kind in counts.keys() - {kinds["009"]}:
        own = [int(scores[item]["gpt-4-turbo"]) for item in IDS if kinds[item] == kind]
        mean = metric(evaluated, "gpt-4-turbo", "mean", f"variation:{kind}")
        assert float(mean["value"]) == pytest.approx(sum(own) / len(own)), kind
    # Vocabulary: items 001, 007 and 008 with 5, 5 and 4.
    assert kinds["001"] == kinds["007"] == kinds["008"] == "vocabulary"
    mean = metric(evaluated, "gpt-4-turbo", "mean", "variation:vocabulary")
    assert float(mean["value"]) == pytest.approx(14 / 3)
