"""Lists the features of `evaluation/` that have a folder of their own.

Each has a report; one that is computed declares its run type in `run_type.py`. Tests that read
folders by name add these.
"""

from pathlib import Path

from django.conf import settings
from django.utils.module_loading import import_string

ROOT = Path(__file__).resolve().parents[1]
FEATURES = tuple(
    path.name
    for path in sorted((ROOT / "evaluation").iterdir())
    if (path / "report.py").is_file() or (path / "report").is_dir()
)


def folder_of(kind: str) -> tuple[str, ...]:
    """Return the folders below `evaluation/` of the run type of that name, the outermost first."""
    for path in settings.RUN_KINDS:
        if import_string(path).name == kind:
            _, *folders, module, _ = path.split(".")
            return tuple(folders) if module in ("run_type", "kind") else (*folders, module)
    raise LookupError(kind)
