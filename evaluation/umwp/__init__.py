"""UMWP (Sun et al. 2024): whether models recognise word problems that have no answer."""
