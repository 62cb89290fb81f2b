"""What users read of a fitted model: rules, SQL, explanations."""
