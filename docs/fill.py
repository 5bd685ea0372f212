"""Puts the report's tables, and sentences on the same runs, into the pages: nobody types a number.

`make results` runs it, as `python -m docs.fill`, once the report is made.

A page says with two comments where a table or a sentence goes, and whatever stands between them is replaced:

    <!-- table main -->
    <!-- end -->

    On Spread PC3D is <!-- sentence against-ippo-spread -->**better**<!-- end --> than IPPO.

A sentence may stand within a paragraph, a list's item or a table's cell, but not begin one of the first two:
Markdown takes a line that begins with a comment for HTML. What the recorded runs do not give is said to be
missing.
"""

import json
import re
import textwrap
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

from docs.sentences.before import SENTENCES_OF_BEFORE
from docs.sentences.claims import longer
from docs.sentences.facts import Facts, NotKnown
from docs.sentences.methods import execution_table, method_table
from docs.sentences.table import sentences
from pc3d.report.runs import find_runs
from pc3d.report.sections import comparison, context, results, trials
from pc3d.report.tables.results import ABLATIONS
from pc3d.report.tables.table import markdown
from pc3d.tasks.registry import papers

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
REPORT = RESULTS / "report"
RECORDED = [RESULTS / task for task in papers()]
# Runs by the recipe of contexts of before: results/README.md.
BEFORE = RESULTS / "before"
SENTENCES = REPORT / "sentences.json"
SPEED = ROOT / "docs" / "speed.md"
PAGES = (
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("reproduction*.md")),
    ROOT / "docs" / "changing_teams.md",
    ROOT / "docs" / "large_teams.md",
)
WIDTH = 120
MISSING = "*The recorded runs do not make this table yet.*\n"
UNTOLD = "(the recorded runs do not tell this yet)"
TABLE = re.compile(r"^<!-- table ([\w-]+) -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
SENTENCE = re.compile(r"<!-- sentence ([\w-]+) -->.*?<!-- end -->", re.DOTALL)
MARK = re.compile(r" ?<!-- sentence [\w-]+ -->|<!-- end -->|(?<=\d) %")
# A paragraph, or a list's item: from its first line to the next one, to a blank line or to a row of a table.
BLOCK = re.compile(
    r"^(?![|#`\n])( *)([-*] +|\d+\. +)?(\S.*\n(?:(?! *(?:[-*] |\d+\. |[|#`\n])).*\n)*)", re.MULTILINE
)
OF_METHODS = {"execution": execution_table, "methods": method_table}
GLUE = "\0"


def filled(text: str) -> str:
    """A page with its tables and sentences as the report has them now."""
    told = {**json.loads(SENTENCES.read_text(encoding="utf-8")), **_of_speed(), **_of_before()}
    text = TABLE.sub(lambda match: f"<!-- table {match[1]} -->\n\n{_table(match[1])}\n<!-- end -->", text)
    text = SENTENCE.sub(lambda match: _marked(match[1], told.get(match[1], UNTOLD)), text)
    return BLOCK.sub(_wrapped, text)


def _table(name: str) -> str:
    if name in OF_METHODS:
        return OF_METHODS[name]()
    if name.startswith(f"{BEFORE.name}-"):
        return _tables_before().get(name.removeprefix(f"{BEFORE.name}-"), MISSING)
    file = REPORT / "tables" / f"{name}.md"
    return file.read_text(encoding="utf-8") if file.exists() else MISSING


@cache
def _tables_before() -> dict[str, str]:
    """Returns and contexts of the runs by the recipe of before, by the names that tables have in a report."""
    if not BEFORE.is_dir():
        return {}
    runs = find_runs([BEFORE])
    makers = (results, partial(comparison, "Ablations", ABLATIONS), context, trials)
    return {table.name: markdown(table) for make in makers for table in make(runs).tables}


def _marked(name: str, sentence: str) -> str:
    return f"<!-- sentence {name} -->{sentence}<!-- end -->"


def _wrapped(match: re.Match[str]) -> str:
    """A block with sentences in lines of one length, none of which begins with a comment."""
    indent, bullet, block = match[1], match[2] or "", match[3]
    if not SENTENCE.search(block):
        return match[0]
    if block.startswith("<!--"):
        raise ValueError(f"a sentence cannot begin a paragraph or an item: {block[:80]}")
    glued = MARK.sub(lambda mark: mark[0].replace(" ", GLUE), " ".join(block.split()))
    lines = textwrap.wrap(
        glued,
        WIDTH,
        initial_indent=indent + bullet,
        subsequent_indent=" " * len(indent + bullet),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace(GLUE, " ") + "\n"


@cache
def _of_before() -> dict[str, str]:
    """Today's PC3D beside the runs of before."""
    now, before, told = Facts(find_runs(RECORDED)), Facts(find_runs([BEFORE])), {}
    for name, sentence in SENTENCES_OF_BEFORE.items():
        with suppress(NotKnown):
            told[name] = sentence(now, before)
    return told


def _of_speed() -> dict[str, str]:
    """How much longer PC3D's updates took than MAPPO's undisturbed, by the page on speed."""
    rows = re.findall(
        r"^\| (\w+) \| (pc3d|mappo) \| ([\d,]+) ms", SPEED.read_text(encoding="utf-8"), re.MULTILINE
    )
    times = {
        (task.lower(), method): float(milliseconds.replace(",", "")) for task, method, milliseconds in rows
    }
    tasks = {task for task, _ in times}
    return {f"undisturbed-{task}": longer(times[task, "pc3d"] / times[task, "mappo"]) for task in tasks}


if __name__ == "__main__":
    told = json.dumps(sentences(find_runs(RECORDED)), indent=1, ensure_ascii=False)
    SENTENCES.write_text(f"{told}\n", encoding="utf-8")
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"filled {page.relative_to(ROOT)}")
