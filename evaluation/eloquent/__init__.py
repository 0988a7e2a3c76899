"""ELOQUENT robustness (Sahlgren et al. 2024): prompts that mean the same, replies compared."""
