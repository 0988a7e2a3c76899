"""Write the tables of findings and licences into platform/docs/SECURITY.md: `make security`."""

from __future__ import annotations

import sys

from tests.security import findings, licences
from tests.security.document import DOCUMENT, FINDINGS, LICENCES, ROOT, VERDICTS, put


def main() -> int:
    """Write both tables; 1, and nothing written, where something is not judged."""
    found = licences.licences_of(licences.needed("crowdgrade"))
    missing = findings.unjudged(findings.found_in(ROOT), VERDICTS["findings"])
    missing += licences.unjudged(found, VERDICTS["licences"])
    for one in missing:
        print(f"not judged in tests/security/verdicts.toml: {one}", file=sys.stderr)
    if missing:
        return 1
    text = DOCUMENT.read_text(encoding="utf-8")
    text = put(text, FINDINGS, findings.table(VERDICTS["findings"]))
    text = put(text, LICENCES, licences.table(found, VERDICTS["licences"]))
    DOCUMENT.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
