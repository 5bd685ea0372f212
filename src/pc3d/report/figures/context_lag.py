"""How contexts follow a change: alignment with the teacher and the gate, step by step since then."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from pc3d.experiment.methods import Line
from pc3d.report.changes import Change
from pc3d.report.figures.shocks import aligned, look, panel_size
from pc3d.report.figures.style import INK, Figure, color_of, drawn, tidy
from pc3d.report.names import heading

ROWS = {"alignment": "cosine to the teacher", "gate": "gate"}
LINES: dict[str, Line] = {"stayers": "-", "newcomers": ":"}


def context_lag_figure(changes: Sequence[Change], task: str) -> Figure | None:
    """A column for each shock, above the alignment and below the gate; nothing where nobody has contexts."""
    shown = [change for change in changes if any(shock.contexts for shock in change.shocks)]
    rosters = list(dict.fromkeys(change.roster for change in shown))
    if not rosters:
        return None
    with drawn(heading("changing-context", task), panel_size(len(ROWS), len(rosters))) as figure:
        panels = figure.drawing.subplots(len(ROWS), len(rosters), squeeze=False, sharex=True, sharey="row")
        for row, what in zip(panels, ROWS, strict=True):
            for axes, roster in zip(row, rosters, strict=True):
                for change in shown:
                    if change.roster == roster:
                        _draw(axes, change, what)
                tidy(axes)
            row[0].set_ylabel(ROWS[what])
        for axes, roster in zip(panels[0], rosters, strict=True):
            axes.set_title(roster, loc="left")
        for axes in panels[-1]:
            axes.set_xlabel("steps since the change")
        who = [Line2D([], [], linestyle=line, color=INK, label=label) for label, line in LINES.items()]
        methods = dict.fromkeys(change.method for change in shown)
        handles = [*map(look, methods), *who]
        figure.drawing.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


def _draw(axes: Axes, change: Change, what: str) -> None:
    for who, line in LINES.items():
        found = [shock.contexts.get(who, {}).get(what, np.zeros(0)) for shock in change.shocks]
        curves = [(0, values) for values in found if len(values)]
        if curves:
            steps, values = aligned(curves)
            axes.plot(steps, values.mean(axis=0), line, color=color_of(change.method), linewidth=1.5)
