"""How all figures look and how they are saved: PNG for papers, SVG that follows a light or dark page."""

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from pc3d.experiment.methods import METHODS, Line
from pc3d.report.names import Heading
from pc3d.system.files import write_atomically

STYLE = mpl.rc_params_from_file(
    str(files("pc3d.report.figures") / "house.mplstyle"), use_default_template=False
)
INK = str(STYLE["text.color"])
DARK_PAGE_INK = "#d5d9e0"
FAINT = 0.35
OTHER_COLOR = "#8c6d5a"
REFERENCE_LINES: dict[str, Any] = {"random": ":", "noop": "-.", "scripted": "--"}
PNG_DOTS_PER_INCH = 200


@dataclass(frozen=True)
class Figure:
    """A drawing with the words that belong to it; `name` is the file it is written to."""

    name: str
    title: str
    caption: str
    drawing: Drawing


@contextlib.contextmanager
def house_style(name: str = "") -> Iterator[None]:
    """Draw and save in here; the name makes a file's inner identifiers its own, the same every time."""
    with mpl.rc_context({**STYLE, "svg.hashsalt": f"pc3d {name}"}):
        yield


@contextlib.contextmanager
def drawn(heading: Heading, size: tuple[float, float]) -> Iterator[Figure]:
    """An empty figure of that size in inches, to be drawn in here."""
    with house_style():
        yield Figure(*heading, Drawing(figsize=size))


def color_of(method: str) -> str:
    return METHODS[method].color if method in METHODS else OTHER_COLOR


def line_of(method: str) -> Line:
    return METHODS[method].line if method in METHODS else "-"


def tidy(axes: Axes) -> None:
    """Horizontal help lines behind the data, and no tick marks."""
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    axes.tick_params(length=0)


def save(figure: Figure, folder: Path) -> str:
    """Write both files and give back the SVG; equal figures give equal bytes."""
    png = io.BytesIO()
    with house_style(figure.name):
        # On white, so that it can be read wherever it is pasted.
        figure.drawing.savefig(
            png, format="png", dpi=PNG_DOTS_PER_INCH, facecolor="white", metadata={"Software": None}
        )
        figure.drawing.set_layout_engine("none")  # found for the first file; finding it again takes as long
        text = svg(figure)
    write_atomically(folder / f"{figure.name}.png", png.getvalue())
    write_atomically(folder / f"{figure.name}.svg", text.encode())
    return text


def svg(figure: Figure) -> str:
    """A transparent SVG whose ink follows the reader's choice of light or dark."""
    buffer = io.StringIO()
    with house_style(figure.name):
        figure.drawing.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    style = (
        f"<style>svg {{ color: {INK}; }} "
        f"@media (prefers-color-scheme: dark) {{ svg {{ color: {DARK_PAGE_INK}; }} }}</style>"
    )
    text = buffer.getvalue().replace(INK, "currentColor")
    start = text.index(">", text.index("<svg")) + 1
    return text[:start] + style + text[start:]
