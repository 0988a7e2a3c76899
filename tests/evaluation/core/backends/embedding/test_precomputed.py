import numpy as np
import pytest

from evaluation.core.backends import EmbedderError, PrecomputedVectors


def save(path, **arrays):
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4"])
def test_floats_keep_their_precision(tmp_path, dtype):
    rows = np.arange(6, dtype=dtype).reshape(3, 2)
    vectors = PrecomputedVectors.load(save(tmp_path / "v.npz", answers=rows, models=rows[:1]))
    assert vectors.answers.dtype == np.dtype(dtype).newbyteorder("=")
    np.testing.assert_array_equal(vectors.answers, rows)
    assert vectors.models.shape == (1, 2)


def test_whole_numbers_become_float64_and_models_may_be_absent(tmp_path):
    vectors = PrecomputedVectors.load(save(tmp_path / "v.npz", answers=[[1, 2], [3, 4]]))
    assert vectors.answers.dtype == np.float64
    assert vectors.models is None


def test_bools_become_zeros_and_ones_for_the_majority_vote(tmp_path):
    vectors = PrecomputedVectors.load(save(tmp_path / "v.npz", answers=[[True, False]]))
    np.testing.assert_array_equal(vectors.answers, [[1.0, 0.0]])


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"other": np.ones((2, 2))}, "no array 'answers'.*found: other"),
        ({"answers": np.array([[{}]])}, "never unpickled"),
        ({"answers": np.ones(3)}, r"has the shape \(3,\)"),
        ({"answers": np.ones((3, 0))}, r"has the shape \(3, 0\)"),
        ({"answers": np.array([["a"]])}, "instead of numbers"),
        ({"answers": np.array([[1j]])}, "instead of numbers"),
        ({"answers": np.ones((2, 2)), "models": np.ones((2, 3))}, "2 dimensions, models 3"),
    ],
)
def test_arrays_of_the_wrong_kind_are_refused(tmp_path, arrays, words):
    path = save(tmp_path / "v.npz", **arrays)
    with pytest.raises(EmbedderError, match=words) as raised:
        PrecomputedVectors.load(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04broken", b"\x80\x04N."])
def test_a_file_that_is_no_npz_is_refused(tmp_path, content):
    path = tmp_path / "v.npz"
    path.write_bytes(content)
    with pytest.raises(EmbedderError) as raised:
        PrecomputedVectors.load(path)
    assert raised.value.code == "no_npz"


def test_a_single_array_is_no_npz(tmp_path):
    np.save(tmp_path / "v.npy", np.ones((2, 2)))
    with pytest.raises(EmbedderError) as raised:
        PrecomputedVectors.load(tmp_path / "v.npy")
    assert raised.value.code == "no_npz"


def test_a_damaged_npz_is_refused(tmp_path):
    path = save(tmp_path / "v.npz", answers=np.arange(2000.0).reshape(100, 20))
    data = bytearray(path.read_bytes())
    data[500:600] = bytes(100)
    path.write_bytes(bytes(data))
    with pytest.raises(EmbedderError, match="damaged"):
        PrecomputedVectors.load(path)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(EmbedderError, match=r"none\.npz.*No such file"):
        PrecomputedVectors.load(tmp_path / "none.npz")
    with pytest.raises(EmbedderError, match="cannot be read"):
        PrecomputedVectors.load(tmp_path)


def test_a_wrong_count_names_both_counts(tmp_path):
    vectors = PrecomputedVectors.load(save(tmp_path / "v.npz", answers=np.ones((3, 2))))
    with pytest.raises(EmbedderError) as raised:
        vectors.check_array("answers", 4)
    counts = {"array": "answers", "rows": 3, "data_rows": 4}
    assert (raised.value.code, raised.value.values) == ("wrong_count", counts)
    with pytest.raises(EmbedderError, match="no array 'models'"):
        vectors.check_array("models", 3)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_only_used_rows_must_be_finite(tmp_path, bad):
    rows = np.ones((4, 2))
    rows[2, 1] = bad
    vectors = PrecomputedVectors.load(save(tmp_path / "v.npz", answers=rows))
    vectors.check_array("answers", 4, [True, True, False, True])
    vectors.check_array("answers", 4, [0, 1, 3])
    vectors.check_array("answers", 4, [])
    for used in (None, [False, False, True, True], [3, 2]):
        with pytest.raises(EmbedderError, match="row with index 2"):
            vectors.check_array("answers", 4, used)
