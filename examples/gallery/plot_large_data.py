"""
Files larger than memory
========================

Fit a file in pieces. The boxes are those of a fit in one go.
"""

# %%
# A large file
# ------------
# 100,000 rows of eight numbers and a class in a temporary folder. They are 1,797 handwritten
# digits, reduced to eight components; each is drawn some fifty times with noise.

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
# With ranges known in advance, the result does not depend on how the file is divided. One pass
# finds them.


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
# Each piece is predicted, then learned, so the accuracy is that on new rows. It rises by a point,
# and so does the number of boxes: where classes overlap, there are always more exceptions. Use a
# larger ``theta`` or pruning for a smaller model.

model = ImprovedOnlineGFMM(theta=0.3, scaling=ranges)
display = GrowthDisplay.from_stream(model, pieces(), classes=range(10))
plt.show()

print(display.model.hyperboxes_)
print(f"accuracy on the last piece: {display.batch_accuracy[-1]:.3f}")
folder.cleanup()

# %%
# Without Python
# --------------
# The command line also makes both passes::
#
#     hyperboxes fit digits.csv --target digit --theta 0.3 --batch-rows 50000 -o digits.hyperboxes
