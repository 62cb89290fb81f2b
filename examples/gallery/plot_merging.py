"""
Merging models
==============

Fit models at eight sites that share no data, and merge them into one.
"""

# %%
# Parts of the data
# -----------------
# Digits, divided among eight sites. All models must have the same classes and ranges, which are
# known here: ten digits, and pixels from 0 to 16.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from hyperboxes import ImprovedOnlineGFMM, merge

N_PLACES = 8
X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
new = {"theta": 0.5, "scaling": [[0] * 64, [16] * 64]}
parts = [
    ImprovedOnlineGFMM(**new).partial_fit(
        X_train[place::N_PLACES], y_train[place::N_PLACES], classes=range(10)
    )
    for place in range(N_PLACES)
]

# %%
# One model
# ---------
# The boxes of all models are put together. Where two classes overlap, the box that loses fewer
# samples is cut; then boxes of a class are merged within ``theta``. That needs no samples, and the
# order of the models does not matter.

merged = merge(parts)
print(merged.hyperboxes_)

# %%
# What to see
# -----------
# The merged model gets better with each site and ends about as accurate as a model of all data,
# with a few boxes more.

everything = ImprovedOnlineGFMM(**new, random_state=0).fit(X_train, y_train)
models = [parts[0], *(merge(parts[:n]) for n in range(2, N_PLACES + 1))]
numbers = range(1, N_PLACES + 1)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharex=True)
axes[0].plot(numbers, [m.score(X_test, y_test) for m in models], "o-", c="#0072B2", label="merged")
axes[0].plot(
    numbers, [m.score(X_test, y_test) for m in parts], "s", c="#D55E00", label="each place alone"
)
axes[0].axhline(
    everything.score(X_test, y_test), c="0.4", ls="--", label="one model of all data", zorder=0
)
axes[0].set(xlabel="places", ylabel="accuracy on new digits", ylim=(0.7, 0.99))
axes[0].legend(frameon=False, loc="lower right")
axes[1].plot(numbers, [len(m.hyperboxes_) for m in models], "o-", c="#0072B2")
axes[1].axhline(len(everything.hyperboxes_), c="0.4", ls="--", zorder=0)
axes[1].set(xlabel="places", ylabel="boxes", ylim=(0, None))
plt.show()

for name, model in {"one place": parts[0], "merged": merged, "all data": everything}.items():
    print(f"{name:9}  {len(model.hyperboxes_)} boxes  {model.score(X_test, y_test):.3f}")

# %%
# A model can be sent as a file: see :func:`hyperboxes.save`. Models are not anonymous: the bounds
# of boxes are values of samples, and a box of a single sample is that sample.
