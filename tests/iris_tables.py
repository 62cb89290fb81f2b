"""Data for the command line: irises to learn from and others to try the model on."""

from sklearn.datasets import load_iris

IRIS = load_iris(as_frame=True)
FEATURES = list(IRIS.data.columns)
TABLE = IRIS.data.assign(species=IRIS.target_names[IRIS.target]).sample(frac=1, random_state=0)
TRAIN, TEST = TABLE[:100], TABLE[100:]
