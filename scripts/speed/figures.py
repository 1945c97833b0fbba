"""What a measurement says: a figure with its bound, and the table of them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value. `bound`: the most it may be, or (`at_least`) the least; None is told, not judged."""

    name: str
    value: float
    unit: str
    bound: float | None = None
    at_least: bool = False

    @property
    def ok(self) -> bool:
        """Whether it keeps its bound."""
        if self.bound is None:
            return True
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def as_json(self) -> dict[str, object]:
        """As JSON shows it."""
        return {**asdict(self), "ok": self.ok}


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as a table for people."""
    rows = [("figure", "value", "bound", "")]
    for figure in figures:
        digits = ".3g" if figure.value < 1_000 else ".0f"
        value = f"{figure.value:,{digits}} {figure.unit}"
        bound = ""
        mark = ""
        if figure.bound is not None:
            sign = "≥" if figure.at_least else "≤"
            bound = f"{sign} {figure.bound:,g} {figure.unit}".rstrip()
            mark = "ok" if figure.ok else "MISSED"
        rows.append((figure.name, value, bound, mark))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        f"{name:{widths[0]}}  {value:>{widths[1]}}  {bound:>{widths[2]}}  {mark}".rstrip()
        for name, value, bound, mark in rows
    )
