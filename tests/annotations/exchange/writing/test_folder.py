import csv
import json
import os
import stat
from enum import StrEnum
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotations.exchange import InputError, OutputFolder
from tests.problems import raises_problem


def snapshot(folder: Path) -> dict[str, tuple[bytes | None, int]]:
    """Everything below a folder: its content and when it was last changed."""
    return {
        str(path.relative_to(folder)): (
            path.read_bytes() if path.is_file() else None,
            path.stat().st_mtime_ns if path.is_file() else 0,
        )
        for path in folder.rglob("*")
    }


@pytest.fixture
def existing(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "a.csv").write_text("old a")
    (folder / "b.csv").write_text("old b")
    (folder / "mine.txt").write_text("mine")
    return folder


def fill(folder: OutputFolder) -> None:
    folder.write_csv("a.csv", ["x"], [["new"]])
    folder.write_json("b.csv", {"new": 1})
    with folder.open("c.npz") as file:
        file.write(b"new c")


def fill_and_raise(folder: OutputFolder, error, before=lambda: None) -> None:
    fill(folder)
    before()
    raise error


def test_what_is_no_ordinary_file_is_not_replaced(existing):
    os.mkfifo(existing / "pipe")
    (existing / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with (
            raises_problem("output_not_ordinary", name=name),
            OutputFolder(existing) as folder,
        ):
            folder.open(name)
    assert stat.S_ISFIFO((existing / "pipe").lstat().st_mode)
    assert (existing / "link").is_symlink()


def test_a_folder_that_was_not_there_appears_with_all_files_and_nothing_else(tmp_path):
    with OutputFolder(tmp_path / "deep" / "er" / "out") as folder:
        fill(folder)
        assert not (tmp_path / "deep" / "er" / "out").exists()
    assert sorted(snapshot(tmp_path)) == [
        "deep",
        "deep/er",
        "deep/er/out",
        "deep/er/out/a.csv",
        "deep/er/out/b.csv",
        "deep/er/out/c.npz",
    ]


def test_a_new_folder_has_the_rights_any_new_folder_has(tmp_path):
    (tmp_path / "plain").mkdir()
    with OutputFolder(tmp_path / "out"):
        pass
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "out")}
    assert len(modes) == 1


def test_files_of_the_same_name_are_replaced_and_others_left_alone(existing):
    before = snapshot(existing)
    with OutputFolder(existing) as folder:
        fill(folder)
        assert {k: v for k, v in snapshot(existing).items() if k in before} == before
    assert sorted(snapshot(existing)) == ["a.csv", "b.csv", "c.npz", "mine.txt"]
    assert (existing / "a.csv").read_text() == "x\nnew\n"
    assert (existing / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_after_an_error_an_existing_folder_is_as_before(existing, error):
    before = snapshot(existing)
    with pytest.raises(error), OutputFolder(existing) as folder:
        fill_and_raise(folder, error)
    assert snapshot(existing) == before


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_after_an_error_a_new_folder_and_its_parents_are_not_there(tmp_path, error):
    with pytest.raises(error), OutputFolder(tmp_path / "deep" / "er" / "out") as folder:
        fill_and_raise(folder, error)
    assert snapshot(tmp_path) == {}


def test_parents_into_which_somebody_else_wrote_stay(tmp_path):
    with pytest.raises(KeyError), OutputFolder(tmp_path / "deep" / "er" / "out") as folder:
        fill_and_raise(folder, KeyError, (tmp_path / "deep" / "other").touch)
    assert sorted(snapshot(tmp_path)) == ["deep", "deep/other"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_failure_midway_through_replacing_is_rolled_back(
    existing, monkeypatch, error, after, nth
):
    before = snapshot(existing)
    replace, calls = Path.replace, []

    def failing(path, target):
        if path.parent.name != "new":
            return replace(path, target)
        calls.append(path)
        if len(calls) == nth and not after:
            raise error
        replace(path, target)
        if len(calls) == nth:
            raise error
        return target

    expected = InputError if isinstance(error, OSError) else KeyboardInterrupt
    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(expected), OutputFolder(existing) as folder:
        fill(folder)
    assert len(calls) == nth
    assert snapshot(existing) == before


@pytest.mark.parametrize("after", [False, True])
def test_an_interrupt_around_the_one_rename_leaves_nothing(tmp_path, monkeypatch, after):
    rename = Path.rename

    def failing(path, target):
        if path.name != "new":
            return rename(path, target)
        if after:
            rename(path, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(KeyboardInterrupt), OutputFolder(tmp_path / "deep" / "out") as folder:
        fill(folder)
    assert snapshot(tmp_path) == {}


def test_rolling_back_works_on_file_systems_without_hard_links(existing, monkeypatch):
    before = {name: content for name, (content, _) in snapshot(existing).items()}

    def no_links(*args, **kwargs):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    replace = Path.replace

    def failing(path, target):
        if path.parent.name == "new" and path.name == "b.csv":
            raise KeyboardInterrupt
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(KeyboardInterrupt), OutputFolder(existing) as folder:
        fill(folder)
    assert {name: content for name, (content, _) in snapshot(existing).items()} == before


def test_a_folder_that_appears_meanwhile_is_written_into(tmp_path):
    with OutputFolder(tmp_path / "out") as folder:
        fill(folder)
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "theirs").write_text("x")
    assert sorted(snapshot(tmp_path / "out")) == ["a.csv", "b.csv", "c.npz", "theirs"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]


def test_a_place_that_is_a_file_is_refused_before_any_work(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere")
    for place in ("file", "file/out", "file/deep/out", "lost"):
        with pytest.raises(InputError, match="is no folder"), OutputFolder(tmp_path / place):
            pytest.fail("the block must not be entered")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "lost"]


@pytest.mark.parametrize("place", ["x" * 300, "a\0b", "deep/" + "x" * 300 + "/out"])
def test_a_place_that_cannot_be_written_to_is_refused_before_any_work(tmp_path, place):
    with pytest.raises(InputError), OutputFolder(tmp_path / place):
        pytest.fail("the block must not be entered")
    assert snapshot(tmp_path) == {}


def test_a_system_that_refuses_is_an_input_error(existing, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(InputError, match="Permission denied"), OutputFolder(existing):
        pytest.fail("the block must not be entered")


def test_a_folder_in_the_way_of_a_file_is_refused_and_kept(existing):
    (existing / "c.npz").mkdir()
    with raises_problem("folder_in_place", name="c.npz"), OutputFolder(existing) as folder:
        fill(folder)
    assert (existing / "c.npz").is_dir()
    assert (existing / "a.csv").read_text() == "old a"


@pytest.mark.parametrize("name", ["../a.csv", "sub/a.csv", "", ".", "..", ".hidden"])
def test_only_plain_file_names_are_taken(tmp_path, name):
    with OutputFolder(tmp_path / "out") as folder, pytest.raises(ValueError, match="plain"):
        folder.open(name)


def test_a_name_is_taken_once(tmp_path):
    with OutputFolder(tmp_path / "out") as folder:
        folder.write_json("a.json", 1)
        with pytest.raises(ValueError, match="already"):
            folder.write_json("a.json", 2)


def test_nothing_is_written_outside_the_block(tmp_path):
    with pytest.raises(ValueError, match="inside"):
        OutputFolder(tmp_path / "out").write_json("a.json", 1)


def test_a_file_left_open_is_closed_and_complete(tmp_path):
    with OutputFolder(tmp_path / "out") as folder:
        file = folder.open("a.npz")
        np.savez(file, vectors=np.eye(2))
    with np.load(tmp_path / "out" / "a.npz") as arrays:
        assert arrays["vectors"].tolist() == [[1, 0], [0, 1]]


def test_a_table_has_plain_ends_full_floats_and_empty_cells_for_none(tmp_path):
    class Colour(StrEnum):
        RED = "red"

    with OutputFolder(tmp_path / "out") as folder:
        folder.write_csv(
            "a.csv",
            ["name", "value"],
            [
                ['Ärger, "laut"', 0.1 + 0.2],
                [None, np.float64(1 / 3)],
                ["a\rb\nc", np.int64(7)],
                [Colour.RED, True],
                [" lead", np.bool_(False)],
                [np.float32(0.5), 10**20],
            ],
        )
    assert (tmp_path / "out" / "a.csv").read_bytes().decode() == (
        'name,value\n"Ärger, ""laut""",0.30000000000000004\n,0.3333333333333333\n'
        '"a\rb\nc",7\nred,true\n lead,false\n0.5,100000000000000000000\n'
    )


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), np.nan, np.float32("nan"), np.float64("-inf")]
)
def test_nan_and_infinity_are_never_written(tmp_path, value):
    with pytest.raises(ValueError), OutputFolder(tmp_path / "out") as folder:  # noqa: PT011
        folder.write_csv("a.csv", ["x"], [[value]])
    with pytest.raises(ValueError), OutputFolder(tmp_path / "out") as folder:  # noqa: PT011
        folder.write_json("a.json", {"x": [value]})
    assert snapshot(tmp_path) == {}


def test_half_a_file_is_not_published_though_the_error_was_caught(tmp_path):
    with OutputFolder(tmp_path / "out") as folder:
        with pytest.raises(ValueError, match="nan"):
            folder.write_csv("a.csv", ["x"], [[1], [float("nan")]])
        folder.write_json("b.json", 1)
    assert list(snapshot(tmp_path / "out")) == ["b.json"]


def test_a_row_of_another_length_than_the_header_is_refused(tmp_path):
    with OutputFolder(tmp_path / "out") as folder, pytest.raises(ValueError, match="row 1"):
        folder.write_csv("a.csv", ["x", "y"], [[1, 2], [1]])


def test_an_array_is_no_cell(tmp_path):
    with OutputFolder(tmp_path / "out") as folder, pytest.raises(TypeError):
        folder.write_csv("a.csv", ["x"], [[np.zeros(1)]])


def test_json_is_indented_readable_and_takes_numpy_scalars(tmp_path):
    with OutputFolder(tmp_path / "out") as folder:
        folder.write_json("a.json", {"ü": np.float32(0.5), "n": np.int64(2), "none": None})
    text = (tmp_path / "out" / "a.json").read_text(encoding="utf-8")
    assert text == '{\n  "ü": 0.5,\n  "n": 2,\n  "none": null\n}\n'
    assert json.loads(text)["ü"] == 0.5


@pytest.mark.medium
@settings(deadline=None)
@given(
    st.lists(
        st.tuples(*[st.text(st.characters(exclude_categories=["Cs"]))] * 2), min_size=1, max_size=5
    )
)
def test_any_text_written_is_read_back_by_csv(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "out"
    with OutputFolder(path) as folder:
        folder.write_csv("a.csv", ["x", "y"], rows)
    with (path / "a.csv").open(encoding="utf-8", newline="") as file:
        assert [tuple(row) for row in csv.reader(file, strict=True)] == [("x", "y"), *rows]
