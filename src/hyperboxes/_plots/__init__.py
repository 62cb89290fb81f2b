"""Pictures of models, as scikit-learn's Display classes; Matplotlib is imported when they draw."""
