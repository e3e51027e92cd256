"""Traceglass in TensorBoard: a tab that passes requests to `traceglass serve`."""
