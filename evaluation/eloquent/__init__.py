"""ELOQUENT robustness (Sahlgren et al. 2024): compare replies to prompts with one meaning."""
