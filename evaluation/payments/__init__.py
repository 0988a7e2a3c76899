"""Payment decisions: approve, reject and reward workers' answers, and invite workers again."""
