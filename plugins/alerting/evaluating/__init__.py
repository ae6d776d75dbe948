"""Evaluation: which rules fire for what happened."""
