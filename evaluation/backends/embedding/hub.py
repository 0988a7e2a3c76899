"""Where a model comes from: a local folder, the local cache, and only then the model hub."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from evaluation.backends.embedding.contract import require
from evaluation.backends.errors import BackendError

Loaded = TypeVar("Loaded")
PROBE_SECONDS = 5.0
WEIGHTS = (".safetensors", ".bin")


def load_model(name: str, what: str, remedy: str, load: Callable[[bool], Loaded]) -> Loaded:
    """What `load(local_only)` gives, tried without the network first.

    A folder never uses the network. A hub name does only if it is not in the cache, and only after
    one quick question to the hub: the libraries themselves retry an unreachable one for minutes.
    BackendError, with `what` the model is for and the `remedy`, if the model cannot be had.
    """
    folder = is_folder(name)
    try:
        with quiet():
            return load(True)
    except BackendError:
        raise
    except Exception as error:
        # Whatever a broken or foreign folder makes the libraries raise, it is the model's fault.
        if brings_code(error):
            raise BackendError(_code_of_its_own(name, what, remedy), "own_code") from error
        if folder:
            raise BackendError(
                f"{what}: the folder {name} holds no model that can be loaded ({brief(error)}): "
                f"{remedy}",
                "no_model",
            ) from error
    _ask_hub(name, what, remedy)
    try:
        with quiet():
            return load(False)
    except Exception as error:
        if brings_code(error):
            raise BackendError(_code_of_its_own(name, what, remedy), "own_code") from error
        raise BackendError(
            f"{what}: the model {name!r} cannot be loaded ({brief(error)}): {remedy}",
            "not_loadable",
        ) from error


def brings_code(error: BaseException) -> bool:
    """Whether a library refused a model because its files bring code that it would have to run."""
    return "trust_remote_code" in str(error)


def _code_of_its_own(name: str, what: str, remedy: str) -> str:
    return (
        f"{what}: the model {name!r} brings program code of its own, which is never run here: "
        f"{remedy} that needs none"
    )


def is_folder(name: str) -> bool:
    """Whether the name is a local folder; BackendError if it is written like one but is none."""
    path = Path(name).expanduser()
    if path.is_dir():
        return True
    if path.is_file() or name.startswith(("/", ".", "~")) or name.count("/") > 1 or "\\" in name:
        raise BackendError(
            f"there is no folder {name}: give a folder that holds a model, or the name of a model "
            "on the hub"
        )
    return False


def _ask_hub(name: str, what: str, remedy: str) -> None:
    hub = require("huggingface_hub", what)
    constants = require("huggingface_hub.constants", what)
    advice = f"{remedy}; a local folder works without the hub"
    if constants.HF_HUB_OFFLINE:
        raise BackendError(
            f"{what}: the model {name!r} is not on this machine, and HF_HUB_OFFLINE forbids "
            f"asking the hub: {advice}",
            "not_installed",
        )
    full = name if "/" in name else f"sentence-transformers/{name}"
    try:
        hub.HfApi().model_info(full, timeout=PROBE_SECONDS)
    except (hub.errors.RepositoryNotFoundError, hub.errors.HFValidationError) as error:
        raise BackendError(
            f"{what}: the hub has no public model {full!r}: check its name; {advice}"
        ) from error
    except Exception as error:
        # The hub library changes its HTTP client, and with it the errors, between versions.
        raise BackendError(
            f"{what}: the model {name!r} is not on this machine and the hub cannot be reached "
            f"({brief(error)}): {advice}"
        ) from error


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No progress bars of the model libraries: a pipe shall stay empty."""
    logging = require("transformers.utils.logging", "loading a model")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def file_hash(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folder_revision(folder: Path) -> str:
    """A short hash of a model folder's weights and settings; other files do not count."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in {*WEIGHTS, ".json"} and path.is_file():
            digest.update(f"{path.relative_to(folder).as_posix()} {file_hash(path)}\n".encode())
    return digest.hexdigest()[:12]


def brief(error: BaseException) -> str:
    """The first line of an error's message, or its kind, short enough for one sentence."""
    lines = str(error).strip().splitlines()
    text = lines[0].rstrip(" .:") if lines else type(error).__name__
    return text if len(text) <= 200 else text[:197] + "..."
