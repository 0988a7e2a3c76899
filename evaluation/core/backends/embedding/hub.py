"""Load a model from a local folder, the local cache or, as a last resort, the model hub."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from evaluation.core.backends.embedding.contract import import_library
from evaluation.core.backends.errors import BackendError

Loaded = TypeVar("Loaded")
PROBE_SECONDS = 5.0
WEIGHTS = (".safetensors", ".bin")


def load_model(name: str, what: str, remedy: str, load: Callable[[bool], Loaded]) -> Loaded:
    """Load a model with `load(local_only)`, first from local files, then from the model hub.

    A folder never uses the network. A hub name does only if it is not in the cache, and only after
    one quick question to the hub: the libraries themselves retry an unreachable one for minutes.
    BackendError, with `what` the model is for and the `remedy`, if the model cannot be had.
    """
    folder = is_folder(name)
    try:
        with hide_progress_bars():
            return load(True)
    except BackendError:
        raise
    except Exception as error:
        # Whatever a broken or foreign folder makes the libraries raise, it is the model's fault.
        if needs_own_code(error):
            raise BackendError(_format_own_code_error(name, what, remedy), "own_code") from error
        if folder:
            raise BackendError(
                f"{what}: the folder {name} holds no model that can be loaded "
                f"({shorten_error(error)}): {remedy}",
                "no_model",
            ) from error
    _ask_hub(name, what, remedy)
    try:
        with hide_progress_bars():
            return load(False)
    except Exception as error:
        if needs_own_code(error):
            raise BackendError(_format_own_code_error(name, what, remedy), "own_code") from error
        raise BackendError(
            f"{what}: the model {name!r} cannot be loaded ({shorten_error(error)}): {remedy}",
            "not_loadable",
        ) from error


def needs_own_code(error: BaseException) -> bool:
    """Return whether a library refused a model because the model brings program code."""
    return "trust_remote_code" in str(error)


def _format_own_code_error(name: str, what: str, remedy: str) -> str:
    """Return the error message for a model that brings program code."""
    return (
        f"{what}: the model {name!r} brings program code of its own, which is never run here: "
        f"{remedy} that needs none"
    )


def is_folder(name: str) -> bool:
    """Return whether a model's name is a local folder. Raises BackendError if that is missing."""
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
    """Raise BackendError if the model hub lacks the model or does not answer in 5 seconds."""
    hub = import_library("huggingface_hub", what)
    constants = import_library("huggingface_hub.constants", what)
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
            f"({shorten_error(error)}): {advice}"
        ) from error


@contextlib.contextmanager
def hide_progress_bars() -> Iterator[None]:
    """Hide the progress bars of the model libraries while the block lasts."""
    logging = import_library("transformers.utils.logging", "loading a model")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def compute_file_hash(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def compute_folder_revision(folder: Path) -> str:
    """Return a hash of 12 digits of a model folder's weights and settings."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in {*WEIGHTS, ".json"} and path.is_file():
            digest.update(
                f"{path.relative_to(folder).as_posix()} {compute_file_hash(path)}\n".encode()
            )
    return digest.hexdigest()[:12]


def shorten_error(error: BaseException) -> str:
    """Return the first line of an error's message, at most 200 characters."""
    lines = str(error).strip().splitlines()
    text = lines[0].rstrip(" .:") if lines else type(error).__name__
    return text if len(text) <= 200 else text[:197] + "..."
