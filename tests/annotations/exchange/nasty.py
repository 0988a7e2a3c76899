"""Texts that files of tables trip over."""

from hypothesis import strategies as st

PIECES = [
    *("=", "+", "-", "@", "＝", "＋", "－", "＠", "=cmd|' /C calc'!A0", "=1+1", "'", "''", "'="),
    *("\t", "\r", "\n", "\r\n", "\x0b", "\x85", "\u2028", '"', '""', ",", ";", "\\", "\ufeff"),
    *(" ", "\u00a0", "\u3000", "007", "1e5", "-0.5", "TRUE", "NULL", "#N/A", "2026-11-21"),
    *("👩‍👩‍👧", "🇨🇭", "שלום", "\u202eabc", "مرحبا", "e\u0301", "é", "\u200b"),
    *("<b>&amp;</b>", "]]>", "_x000D_", "_x005F_", "_x0041_", "_x00", "x000D_", "\x01", "\x1f"),
    *("\x7f", "\ufffe", "\uffff", "{", "[1]", "null", "sep=;", "word", "crowdgrade:defused"),
]

texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=6).map("".join),
    # Without NUL, which no file of text holds, and half surrogate pairs, which are no text.
    st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=30),
    st.builds(lambda piece, n: piece * n, st.sampled_from(PIECES), st.integers(50, 300)),
)
