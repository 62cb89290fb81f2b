"""Accuracy over the number of rules: boosted boxes beside rule learners and black boxes."""
