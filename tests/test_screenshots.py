"""The pictures of the documents: ten, small, and one in the README."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "platform/docs/screenshots"


def test_there_are_ten_pictures_below_one_and_a_half_megabytes():
    pictures = sorted(FOLDER.glob("*.png"))
    assert len(pictures) == 10
    assert sum(picture.stat().st_size for picture in pictures) < 1_500_000


def test_the_readme_shows_one_of_them():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = [one for one in FOLDER.glob("*.png") if f"]({one.relative_to(ROOT)})" in readme]
    assert len(shown) == 1
