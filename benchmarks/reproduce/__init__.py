"""`make reproduce`: the paper's experiments, our values beside the published ones."""
