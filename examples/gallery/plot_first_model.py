"""
A first model
=============

Train a model on flowers, look at its boxes, and ask why it says what it says.
"""

# %%
# Each sample has two features here, so that the boxes can be drawn.

from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

from hyperboxes import BoxesDisplay, ImprovedOnlineGFMM, explain, export_text

iris = load_iris(as_frame=True)
X = iris.data[["petal length (cm)", "petal width (cm)"]]
y = iris.target.map(dict(enumerate(iris.target_names)))
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

model = ImprovedOnlineGFMM(theta=0.3).fit(X_train, y_train)
print(f"{len(model.hyperboxes_)} boxes, accuracy {model.score(X_test, y_test):.2f}")

# %%
# Boxes of two classes share no point. Between them the nearest box decides, which the tinted
# regions show.

BoxesDisplay.from_estimator(model, X_test, y_test)

# %%
# Every box is a rule:

print(export_text(model, X_train, y_train, max_rules=4))

# %%
# And every prediction has a reason:

print(explain(model, X_test[:1])[0])
