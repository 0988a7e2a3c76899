"""The attacks, a module each with an `ATTACK`; found by listing this folder."""
