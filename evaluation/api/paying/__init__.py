"""The payment desk by REST: people and decisions, appeals, bonuses, parts, lists, files."""
