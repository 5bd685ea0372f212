"""A line of metrics as a file has it, flat, and as the code has it, with one table of returns by team size.

In a file every value is a number, so that any reader of JSON lines has columns: `return_mean_3` is the mean
return of the teams of 3, `return_count_3` of how many episodes. Older files have the table itself; both
are read.
"""

import re
from typing import Any

Line = dict[str, Any]
TABLE = "return_by_size"
COLUMN = re.compile(r"return_(mean|count)_([0-9]+)")


def flat(line: Line) -> Line:
    """As it is written: the table as columns."""
    columns: Line = {}
    for size, told in line.get(TABLE, {}).items():
        count, mean = told if isinstance(told, list | tuple) else (None, told)
        columns[f"return_mean_{size}"] = mean
        if count is not None:  # evaluations have as many rollouts at every size
            columns[f"return_count_{size}"] = count
    return {**{name: value for name, value in line.items() if name != TABLE}, **columns}


def with_table(line: Line) -> Line:
    """As it was before it was written; a line that has the table already is left as it is."""
    columns = {name: match for name in line if (match := COLUMN.fullmatch(name))}
    if TABLE in line or not columns:
        return line
    told: dict[str, dict[str, Any]] = {"mean": {}, "count": {}}
    for name, match in columns.items():
        kind, size = match.groups()
        told[kind][size] = line[name]
    means, counts = told["mean"], told["count"]
    sizes = sorted({*means, *counts}, key=lambda size: (len(size), size))
    table = {size: [counts.get(size), means.get(size)] if counts else means[size] for size in sizes}
    return {**{name: value for name, value in line.items() if name not in columns}, TABLE: table}
