"""Attacks on a whole installation, bounded and on this machine only: `make attack`.

`attacks` holds a module each, with an `ATTACK` that says what is tried and what must hold; nobody
lists them anywhere else. `site` brings an installation up in a temporary folder, `watching` asks it
for pages meanwhile, `declaration` is what an attack is made of, `report` writes the table of
platform/docs/SECURITY.md.
"""
