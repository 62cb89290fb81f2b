"""`GranularModel`: several sets of boxes for the same samples, from fine to coarse."""

from __future__ import annotations

from dataclasses import dataclass

from hyperboxes._models.model import BoxModel


@dataclass(eq=False)
class GranularModel(BoxModel):
    """A model of several levels, of which one is read, or all vote.

    Its boxes are those of the level that is read, by its number in `level`. That is None if all
    vote; they are those of the coarsest then. `thetas` are the sizes of boxes at the levels.
    """

    levels: tuple[BoxModel, ...] = ()
    thetas: tuple[float, ...] = ()
    level: int | None = -1

    @property
    def votes(self) -> bool:
        """Whether all levels vote."""
        return self.level is None and len(self.levels) > 0

    @property
    def theta(self) -> float:
        """The size of the boxes that are read."""
        return self.thetas[self._number]

    @property
    def _number(self) -> int:
        """Which level is read: the last that there is, if learning has not come so far."""
        number = -1 if self.level is None else self.level
        has_it = -len(self.levels) <= number < len(self.levels)
        return number % len(self.levels) if has_it else len(self.levels) - 1

    def choose(self) -> None:
        """Take the boxes of the level that is read, or of the last that there is."""
        chosen = self.levels[self._number]
        self.boxes, self.calibration = chosen.boxes, chosen.calibration
