"""A small table with categories, for tests."""

import numpy as np
import pandas as pd

COLOURS = ["red", "green", "blue", "grey"]


def make_table(n: int = 120, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return samples whose class depends on a colour and a size, with missing values."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "size": random.uniform(0, 10, n).round(2),
            "colour": random.choice(COLOURS, n, p=[0.4, 0.3, 0.2, 0.1]),
            "sold": random.choice([True, False], n),
        }
    )
    likes = table["colour"].isin(["red", "grey"]) & (table["size"] > 3)
    y = np.where(likes ^ (random.uniform(size=n) < 0.1), "yes", "no")
    table.loc[random.choice(n, n // 12, replace=False), "colour"] = None
    return table, y
