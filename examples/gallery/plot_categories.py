"""
Tables with categories
======================

Text, Booleans and numbers in one table: nothing to encode, and rules that name the categories.
"""

# %%
# A table
# -------
# Houses, some with values missing. What is dear depends on the area, and on where it is; one house
# in twenty costs what nobody would have thought.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from hyperboxes import BoostedHyperboxes, BoxesDisplay, explain, export_text

random = np.random.default_rng(0)
districts = ["airport", "canal", "harbour", "hill", "mill", "old town", "park", "station"]
houses = pd.DataFrame(
    {
        "area": random.uniform(30, 200, 2000).round(),
        "district": random.choice(districts, 2000),
        "garden": random.choice([True, False], 2000),
    }
)
needed = houses["district"].map(lambda name: {"hill": 70, "park": 90, "canal": 110}.get(name, 150))
is_dear = houses["area"] + 15 * houses["garden"] > needed
price = np.where(is_dear ^ (random.random(2000) < 0.05), "high", "low")
houses.loc[random.random(2000) < 0.1, "district"] = None
X_train, X_test, y_train, y_test = train_test_split(houses, price, random_state=0)
print(X_train.head(4))

# %%
# Rules
# -----
# A condition on a column of categories is a set of them.

model = BoostedHyperboxes(6, random_state=0).fit(X_train, y_train)
print(f"accuracy {model.score(X_test, y_test):.3f}\n")
print(export_text(model))

# %%
# What would have to be different about a house? Another district may do.

house = X_test[(X_test["district"] == "hill") & (X_test["area"] > 140)][:1]
print(explain(model, house)[0])

# %%
# What to see
# -----------
# Districts that mean alike for the price are neighbours on the axis, which nobody has told the
# model. Drawn are the boxes that vote on houses which have a garden if that one has, and what their
# votes add up to.

BoxesDisplay.from_estimator(model, X_test, y_test, features=["area", "district"], at=house)
plt.show()

# %%
# A district that was never learned is a missing value, which some boxes hold and others do not.

unknown = house.assign(district="moon")
print(model.predict(unknown), model.predict_proba(unknown).round(2))
