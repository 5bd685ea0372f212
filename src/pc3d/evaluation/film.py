"""An episode as moving pictures: frames with captions, and the files they go into."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import jax
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from pc3d.evaluation.presence_bars import presence_bars
from pc3d.evaluation.recording import Recording
from pc3d.system.errors import BadInput
from pc3d.system.plain import amount
from pc3d.tasks.task import AnyTask, Game

CAPTION_WIDTH, CAPTION_HEIGHT = 400, 28  # room for the longest caption, even under a narrow picture
CAPTION_FONT = 15
INK, PAPER = (38, 42, 51), (255, 255, 255)
EPISODE_SECONDS = 15  # a long episode is shown faster
SLOWEST, FASTEST = 5, 25  # frames per second
LAST_FRAME_SECONDS = 1.5

Picture = np.ndarray


def frames(
    task: AnyTask, episode: Recording, *, size: int = 480, show_range: bool = False
) -> Iterator[Picture]:
    """A picture of every moment of an episode (a recording without an episode axis), the start first."""
    moments = range(len(episode.rewards) + 1)
    states = [jax.tree.map(lambda values, at=moment: values[at], episode.states) for moment in moments]
    for moment, drawn in enumerate(task.film(states, size=size, show_range=show_range)):
        yield with_caption(task, as_picture(drawn, task.name), episode, moment)


def as_picture(drawn: object, task: str) -> Picture:
    """What a task drew: an array, or whatever NumPy makes one of, as an RGB image of Pillow's."""
    try:
        picture = np.asarray(drawn)
    except ValueError:  # rows of unequal length
        picture = np.asarray(drawn, object)
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8 or not picture.size:
        array = f"an array of {picture.dtype} with shape {picture.shape}"
        raise BadInput(
            f"draw of {task} must give a picture of rows × columns × 3 bytes (uint8; red, green, blue), "
            f"not {array if picture.dtype.kind != 'O' else f'a {type(drawn).__name__}'}"
        )
    return picture


def with_caption(game: Game, picture: Picture, episode: Recording, moment: int) -> Picture:
    """A picture with who was there, if that changes, and what had happened so far below it."""
    height, width, _ = picture.shape
    wide = max(width, CAPTION_WIDTH)
    parts = [(picture, (wide - width) // 2)]
    if not np.all(episode.present):
        bars = presence_bars(np.asarray(episode.present), moment, wide)
        parts, height = [*parts, (bars, 0)], height + len(bars)
    image, top = Image.new("RGB", (wide, height + CAPTION_HEIGHT), PAPER), 0
    for part, left in parts:
        image.paste(Image.fromarray(part), (left, top))
        top += len(part)
    place, font = (8, height + CAPTION_HEIGHT // 2), ImageFont.load_default(CAPTION_FONT)
    ImageDraw.Draw(image).text(place, caption(game, episode, moment), INK, font, anchor="lm")
    return np.asarray(image)


def caption(game: Game, episode: Recording, moment: int) -> str:
    """The step, the return so far, how many are there if that changes, and the gate of the last action."""
    so_far = float(game.reported_return(episode.rewards[:moment].sum(), episode.team_size))
    parts = [f"step {moment}/{len(episode.rewards)}", f"return {so_far:.2f}"]
    if not np.all(episode.present):
        parts.append(amount(int(np.sum(episode.present[moment])), "agent"))
    if episode.context is not None and moment > 0:
        there = episode.decisions[moment - 1]
        parts.append(f"gate {float(np.mean(episode.context.gate[moment - 1], where=there)):.2f}")
    return "   ".join(parts)


def frames_per_second(steps: int) -> int:
    return min(max(round(steps / EPISODE_SECONDS), SLOWEST), FASTEST)


def save_gif(path: Path, pictures: list[Picture], rate: int) -> None:
    images = [Image.fromarray(picture).quantize(64) for picture in pictures]
    durations = [1000 // rate] * (len(images) - 1) + [int(1000 * LAST_FRAME_SECONDS)]
    images[0].save(path, save_all=True, append_images=images[1:], duration=durations, loop=0, optimize=True)


def save_mp4(path: Path, pictures: list[Picture], rate: int) -> None:
    height, width, _ = pictures[0].shape
    options = f"-y -loglevel error -f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {rate} -i -".split()
    # Players want an even number of pixels each way.
    encoding = ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white", "-pix_fmt", "yuv420p"]
    finished = subprocess.run(
        [_ffmpeg(), *options, *encoding, str(path)],
        input=b"".join(picture.tobytes() for picture in pictures),
        capture_output=True,
        check=False,
    )
    if finished.returncode != 0:
        raise BadInput(f"ffmpeg could not write {path}: {finished.stderr.decode(errors='replace').strip()}")


FILM_FORMATS: dict[str, Callable[[Path, list[Picture], int], None]] = {".gif": save_gif, ".mp4": save_mp4}


def _ffmpeg() -> str:
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        get_ffmpeg_exe = import_module("imageio_ffmpeg").get_ffmpeg_exe
    except ImportError:
        raise BadInput(
            "an mp4 needs ffmpeg or the package imageio-ffmpeg: install one, or write a .gif"
        ) from None
    return str(get_ffmpeg_exe())
