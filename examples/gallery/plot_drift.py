"""
Concept drift
=============

Digits arrive in batches; halfway, the images are flipped vertically.
"""

# %%
# The stream
# ----------
# The images are real, in the order of their collection. The drift is artificial: from image 900 on
# the rows of all images are reversed, so a 6 looks much like a 9 before. The ranges of the pixels
# are known.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits

from hyperboxes import AdaptiveGFMM, ImprovedOnlineGFMM, prune

images, y = load_digits(return_X_y=True)
images = images.reshape(-1, 8, 8)
images[900:] = images[900:, ::-1]
X = images.reshape(-1, 64)
BATCH = 50

# %%
# Four models
# -----------
# Each batch is predicted, then learned. When the accuracy falls by more than 0.2 below its best,
# the model is (a) kept, (b) pruned with the new batch, or (c) replaced by a new one. (d)
# ``AdaptiveGFMM`` adapts by itself.


def run(theta, react):
    """Return the accuracy on each batch, and the number of boxes in the end."""
    new = ImprovedOnlineGFMM(theta=theta, scaling=[[0] * 64, [16] * 64])
    new = AdaptiveGFMM() if react == "AdaptiveGFMM" else new
    model = clone(new).partial_fit(X[:BATCH], y[:BATCH], classes=range(10))
    scores, best = [], 0.0
    for start in range(BATCH, len(X), BATCH):
        batch = X[start : start + BATCH], y[start : start + BATCH]
        scores.append(model.score(*batch))
        best = max(best, np.mean(scores[-3:]))
        if scores[-1] < best - 0.2 and react in ("prune", "restart"):
            prunes = react == "prune"
            model = prune(model, *batch, keep_unused=True) if prunes else clone(new)
            best = best if prunes else 0.0
        model.partial_fit(*batch, classes=range(10))
    return np.array(scores), len(model.hyperboxes_)


# %%
# What to see
# -----------
# ``ImprovedOnlineGFMM`` keeps all boxes. With small boxes (left) the model recovers anyway, because
# most new images lie elsewhere, and pruning finds little to drop. With large boxes (right) old
# boxes block new ones: without help the model takes some 500 images to recover, pruned somewhat
# fewer. A new model is better here; it would lose too much if drift were slow or old images came
# back. ``AdaptiveGFMM`` recovers by itself and is the best.

looks = {"leave alone": ("#D55E00", "-"), "prune": ("#009E73", "--"), "restart": ("#0072B2", ":")}
looks["AdaptiveGFMM"] = "#444444", "-."
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
for ax, theta in zip(axes, (0.5, 0.9), strict=True):
    for react, (colour, line) in looks.items():
        scores, n_boxes = run(theta, react)
        smooth = np.convolve(scores, np.ones(4) / 4, "valid")
        ax.plot(BATCH * np.arange(5, 5 + len(smooth)), smooth, line, c=colour, label=react, lw=2)
        after = scores[900 // BATCH :].mean()
        print(f"theta {theta}, {react:12}: {after:.3f} after the drift, {n_boxes} boxes")
    ax.axvline(900, c="0.6", lw=1, zorder=0)
    ax.set(title=f"theta={theta}", xlabel="images seen")
axes[0].set_ylabel("accuracy, mean of 4 batches")
axes[0].legend(loc="lower left", frameon=False)
plt.show()
