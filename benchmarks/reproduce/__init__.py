"""`make reproduce`: the paper's experiments, our values and the published ones."""
