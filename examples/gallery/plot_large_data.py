"""
Files larger than memory
========================

A file is read in pieces and learned as it goes. The boxes are those of learning it all at once.
"""

# %%
# A large file
# ------------
# 100,000 rows of eight numbers and a class, written to a temporary folder. They are made of 1,797
# handwritten digits, reduced to eight components: each is drawn some fifty times, and blurred.
# So accuracy says nothing about handwriting here; size is what this is about.

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from hyperboxes import GrowthDisplay, ImprovedOnlineGFMM

N_ROWS, CHUNK = 100_000, 10_000
digits, labels = load_digits(return_X_y=True)
components = PCA(8, random_state=0).fit_transform(digits)
rng = np.random.default_rng(0)
rows = rng.integers(0, len(digits), N_ROWS)
frame = pd.DataFrame(components[rows] + rng.normal(0, 1.5, (N_ROWS, 8))).add_prefix("component ")
frame["digit"] = labels[rows]
folder = TemporaryDirectory()
path = Path(folder.name) / "digits.csv"
frame.to_csv(path, index=False, float_format="%.3f")
print(f"{path.name}: {path.stat().st_size / 1e6:.0f} MB")


# %%
# First the ranges
# ----------------
# Ranges that are known in advance make learning independent of how the file is cut. One pass finds
# them.


def pieces():
    """Read the file, some rows at a time."""
    for piece in pd.read_csv(path, chunksize=CHUNK):
        yield piece.drop(columns="digit"), piece["digit"]


ends = [(X.min(), X.max()) for X, _ in pieces()]
lowest, highest = (pd.concat(end, axis=1) for end in zip(*ends, strict=True))
ranges = [lowest.min(axis=1), highest.max(axis=1)]

# %%
# Then the boxes
# --------------
# Each piece is predicted before it is learned, so accuracy is that on rows not seen yet. It rises
# by a point, and the number of boxes rises all the time: where classes overlap there is always
# another exception. More data does not make a model of boxes smaller; a larger ``theta`` does, or
# pruning.

model = ImprovedOnlineGFMM(theta=0.3, scaling=ranges)
display = GrowthDisplay.from_stream(model, pieces(), classes=range(10))
plt.show()

print(display.model.hyperboxes_)
print(f"accuracy on the last piece: {display.batch_accuracy[-1]:.3f}")
folder.cleanup()

# %%
# Without Python
# --------------
# The command line also does both passes::
#
#     hyperboxes fit digits.csv --target digit --theta 0.3 --batch-rows 50000 -o digits.hyperboxes
