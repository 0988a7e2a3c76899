import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.core.backends import EmbedderError, EmbedderSpec, get_embedder, parse_embedder_spec

ROOT = Path(__file__).resolve().parents[5]


@pytest.mark.parametrize(
    ("spec", "parsed"),
    [
        ("minilm", ("minilm", "", "")),
        (" bow ", ("bow", "", "")),
        ("sentence-transformers:org/name", ("sentence-transformers", "org/name", "")),
        ("precomputed:C:/a.npz", ("precomputed", "C:/a.npz", "")),
        ("openai:m@http://h/v1", ("openai", "m", "http://h/v1")),
        ("openai:m@2:b@https://h", ("openai", "m@2:b", "https://h")),
    ],
)
def test_a_spec_is_taken_apart(spec, parsed):
    assert parse_embedder_spec(spec) == EmbedderSpec(spec.strip(), *parsed)


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ("", "unknown_spec"),
        ("word2vec", "unknown_spec"),
        ("minilm:x", "unknown_spec"),
        ("openai", "names_nothing"),
        ("precomputed:", "nothing_after_colon"),
        ("openai:model", "no_url"),
        ("openai:@http://h", "no_url"),
        ("openai:m@ftp://h", "no_address"),
        ("openai:m@http://", "no_address"),
        ("openai:m@http://h:port/", "no_address"),
        ("openai:m@http://h:99999/", "no_address"),
        ("openai:m@http://user:secret@h/v1", "more_than_address"),
        ("openai:m@http://h/v1?key=secret", "more_than_address"),
        ("precomputed:a.npz", "file_of_vectors"),
    ],
)
def test_a_spec_that_is_none_is_refused_with_advice(spec, code):
    with pytest.raises(EmbedderError) as raised:
        get_embedder(spec)
    assert raised.value.code == code
    assert "secret" not in str(raised.value) or "secret" in spec.partition("@")[0]


def test_an_unknown_precision_is_refused():
    with pytest.raises(EmbedderError, match="choose float32, bfloat16, auto"):
        get_embedder("bow", "float16")


def test_bfloat16_is_refused_where_there_is_none_and_auto_is_not():
    with pytest.raises(EmbedderError, match="has no bfloat16"):
        get_embedder("tfidf-word", "bfloat16")
    assert get_embedder("tfidf-word", "auto").describe().precision == "float64"


def test_importing_the_package_and_parsing_load_no_model_library():
    code = (
        "import sys; from evaluation.core.backends import parse_embedder_spec, get_embedder;"
        "parse_embedder_spec('minilm');"
        "print({'torch', 'sklearn', 'transformers', 'sentence_transformers', 'httpx', 'django',"
        "'py3langid', 'scipy'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert result.stdout.strip() == "set()", result.stderr
