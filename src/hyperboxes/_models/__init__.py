"""Boxes as they are learned and as users see them, and the scale between their units."""
