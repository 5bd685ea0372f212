"""A small drawing board with smooth edges: world coordinates in, an RGB array out."""

from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

OVERSAMPLING = 3
Number = float | np.number  # a coordinate may come straight out of an array
Color = tuple[int, int, int] | tuple[int, int, int, int]
Paint = Color | None  # None: that part is not drawn

# Okabe and Ito's colours, told apart by people with any kind of colour vision.
INK: Color = (38, 42, 51)
PAPER: Color = (255, 255, 255)
GRID: Color = (222, 225, 230)
MUTED: Color = (150, 156, 166)
BLUE: Color = (0, 114, 178)
ORANGE: Color = (230, 159, 0)
GREEN: Color = (0, 158, 115)
VERMILION: Color = (213, 94, 0)
SKY: Color = (86, 180, 233)


def faint(color: Color, opacity: float) -> Color:
    """The colour, shining through."""
    return (*color[:3], round(255 * opacity))


@lru_cache(maxsize=32)
def _font(pixels: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(pixels)


class Canvas:
    """Draws in world units: x to the right; y up, or down for grids (`y_down`)."""

    def __init__(
        self, left: Number, bottom: Number, width: Number, height: Number, size: int, *, y_down: bool = False
    ) -> None:
        self.left, self.bottom, self.width, self.height = left, bottom, width, height
        self.y_down = y_down
        self.scale = size / max(width, height) * OVERSAMPLING
        pixels = round(width * self.scale), round(height * self.scale)
        self.image = Image.new("RGB", pixels, PAPER[:3])
        self.pen = ImageDraw.Draw(self.image, "RGBA")

    def disc(
        self, x: Number, y: Number, radius: Number, fill: Paint, outline: Paint = None, line: Number = 0
    ) -> None:
        (px, py), r = self._at(x, y), radius * self.scale
        self.pen.ellipse((px - r, py - r, px + r, py + r), fill, outline, self._line(line))

    def rectangle(
        self,
        x: Number,
        y: Number,
        width: Number,
        height: Number,
        fill: Paint,
        outline: Paint = None,
        line: Number = 0,
        radius: Number = 0,
    ) -> None:
        """A box with (x, y) its corner of smallest coordinates."""
        (ax, ay), (bx, by) = self._at(x, y), self._at(x + width, y + height)
        box = (min(ax, bx), min(ay, by), max(ax, bx), max(ay, by))
        self.pen.rounded_rectangle(box, radius * self.scale, fill, outline, self._line(line))

    def polygon(self, points: list[tuple[Number, Number]], fill: Color) -> None:
        self.pen.polygon([self._at(x, y) for x, y in points], fill)

    def line(self, ax: Number, ay: Number, bx: Number, by: Number, color: Color, width: Number) -> None:
        self.pen.line((*self._at(ax, ay), *self._at(bx, by)), color, self._line(width))

    def text(self, x: Number, y: Number, text: str, color: Color, height: Number) -> None:
        """Text centred on the point, `height` world units tall."""
        font = _font(max(6, round(height * self.scale)))
        self.pen.text(self._at(x, y), text, color, font, anchor="mm")

    def pixels(self) -> np.ndarray:
        """The picture, reduced from the oversampled one."""
        size = self.image.width // OVERSAMPLING, self.image.height // OVERSAMPLING
        return np.asarray(self.image.resize(size, Image.Resampling.BOX))

    def _at(self, x: Number, y: Number) -> tuple[Any, Any]:
        down = (y - self.bottom) if self.y_down else (self.bottom + self.height - y)
        return (x - self.left) * self.scale, down * self.scale

    def _line(self, width: Number) -> int:
        return max(1, round(width * self.scale)) if width else 0
