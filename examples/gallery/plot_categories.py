"""
Tables with categories
======================

Text, Booleans and numbers in one table: no encoding, and rules that name the categories.
"""

# %%
# A table
# -------
# Houses, some with missing values. The price depends on the area and the district; one house in
# twenty has a random price.

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
# A condition on a categorical column is a set of categories.

model = BoostedHyperboxes(6, random_state=0).fit(X_train, y_train)
print(f"accuracy {model.score(X_test, y_test):.3f}\n")
print(export_text(model))

# %%
# A counterfactual may change a category.

house = X_test[(X_test["district"] == "hill") & (X_test["area"] > 140)][:1]
print(explain(model, house)[0])

# %%
# What to see
# -----------
# Districts with similar prices are neighbors on the axis; the model finds this order. The boxes
# drawn contain houses like this one, with a garden if it has one.

BoxesDisplay.from_estimator(model, X_test, y_test, features=["area", "district"], at=house)
plt.show()

# %%
# A district that was not seen in training is a missing value.

unknown = house.assign(district="moon")
print(model.predict(unknown), model.predict_proba(unknown).round(2))
