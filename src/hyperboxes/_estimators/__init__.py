"""The public estimators, what they share, and functions from fitted models to new ones."""
