"""What `pc3d benchmark` measures, as tables."""

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pc3d.benchmark.churn import ROSTER, ChurnCost, measure_churn
from pc3d.benchmark.growth import MEASURES, Growth, growth_figure, measure_growth_in_own_process, slope
from pc3d.benchmark.peers.work import Work, contestants, measure_peers
from pc3d.benchmark.side_by_side import measure_scaling
from pc3d.benchmark.tasks import PARALLEL_EPISODES, measure_task
from pc3d.benchmark.training import TrainingSpeed, measure_in_own_process
from pc3d.cli.display import table
from pc3d.presets.paper import paper
from pc3d.report.figures.style import save
from pc3d.report.paper_numbers import CLOCKED_EPISODES, seconds_per_512, seconds_per_update
from pc3d.tasks.registry import entry_of


def show_tasks(
    console: Console, names: Sequence[str], sizes: Sequence[int], repeats: int, seconds: float
) -> None:
    speeds = []
    with console.status("measuring"):
        for task in (entry_of(name).task_class for name in names):
            admitted = [size for size in sizes if task.smallest_team <= size <= task.largest_team]
            speeds += [measure_task(task(slots=size), repeats, seconds) for size in admitted]
    headings = ("task", "agents", "original", *(f"port, {many} parallel" for many in PARALLEL_EPISODES))
    rows = (
        (
            speed.task_name,
            str(speed.team_size),
            f"{speed.original:,.0f}",
            *(f"{port:,.0f} ({port / speed.original:.0f}×)" for port in speed.port),
        )
        for speed in speeds
    )
    console.print(table("Environment steps per second", headings, rows, words=1))
    console.print(
        "Team steps per second: reset, uniformly random actions, step and everyone's observation. "
        "The port plays whole episodes in one compiled call; the original plays one episode at a time, "
        "behind our interface (for Spread at n = 8 that costs it 15 %). "
        f"Median of {repeats} measurements of {seconds:g} s or more, one thread."
    )


def show_export(
    console: Console, names: Sequence[str], methods: Sequence[str], repeats: int, seconds: float
) -> None:
    from pc3d.benchmark.export import measure_step  # needs the extra export

    with console.status("measuring"):
        steps = [measure_step(*pair, repeats, seconds) for pair in product(names, methods)]
    rows = (
        (
            step.task_name,
            step.method,
            f"{step.in_package:.0f} µs",
            f"{step.float32:.0f} µs",
            f"{step.float32_bytes / 1024:.0f} KiB",
            f"{step.int8:.0f} µs",
            f"{step.int8_bytes / 1024:.0f} KiB",
        )
        for step in steps
    )
    headings = ("task", "method", "JAX", "float32", "file", "int8", "file")
    console.print(table("One step of one agent", headings, rows, words=2))
    console.print(
        "One agent, one step, one thread, the paper's networks, called from Python: onnxruntime with float32 "
        "and with int8, and JAX in pc3d. "
        f"The median over the single steps of {repeats * seconds:g} s."
    )


def show_training(console: Console, names: Sequence[str], methods: Sequence[str], repeats: int) -> None:
    pairs, speeds = list(product(names, methods)), []
    with console.status("measuring") as status:
        for number, (task, method) in enumerate(pairs, 1):
            status.update(f"{task} {method}, {number} of {len(pairs)}")
            speed = measure_in_own_process(task, method, repeats)
            speeds.append(speed)
            update, whole = speed.update_seconds * 1000, speed.projected_seconds / 60
            told = f"{task} {method}: {update:,.0f} ms an update, {whole:.1f} min a run"
            console.print(told, highlight=False)  # at once: all of it together takes long
        status.update("two runs side by side")
        scaling = measure_scaling()
    console.print(_table("Learner updates on one core", SPEEDS, speeds))
    console.print(_table("Whole runs on one core", TIMES, speeds))
    console.print(
        f"Two runs on two cores do {scaling.update:.2f} times the work of one; two plain matrix products do "
        f"{scaling.matrix:.2f} times: {scaling.kept:.0%} of that scaling is kept."
    )
    console.print(
        f"Medians of up to {repeats}, fewer of what takes long; one thread. Update and GFLOP/s are "
        "of a usual update of the last stage: operations are counted from the networks' shapes (matrix "
        "products alone, for agents that are there alone), and 'useful' is their share of a plain matrix "
        "product's rate within the same minute. The projection weighs every stage by its episodes. "
        f"Paper, on another processor: seconds per update as printed; those for {CLOCKED_EPISODES} episodes "
        "are inferred, 8 updates for the MAPPO family and nothing for IPPO."
    )


def show_small_case(console: Console, repeats: int) -> None:
    with console.status("measuring"):
        speeds = {
            episodes: measure_in_own_process("spread", "ippo", repeats, episodes) for episodes in SMALL_CASE
        }
    rows = (
        (
            f"{episodes}",
            f"{speed.update_seconds * 1000:,.0f} ms",
            f"{speed.agent_steps:,.0f}",
            f"{speed.matrix_gigaflops:.0f}",
            f"{speed.agent_steps_per_100_gigaflops:,.0f}",
            f"{speed.useful_rate:.0%}",
        )
        for episodes, speed in speeds.items()
    )
    headings = ("episodes", "update", "gradients/s", "GFLOP/s", "gradients/s at 100 GFLOP/s", "useful")
    console.print(table("Small case: Spread, 3 agents, IPPO, dense 128, GRU 128", headings, rows, words=1))
    console.print(
        "4 epochs over whole episodes of 25 steps, one thread, playing included: gradients of single steps "
        "of single agents per second, and at 100 GFLOP/s of the core's matrix rate."
    )


SMALL_CASE = (82, 656)  # episodes in an update
Columns = dict[str, Callable[[TrainingSpeed], str]]  # by heading: how one speed is shown
SPEEDS: Columns = {
    "update": lambda speed: f"{speed.update_seconds * 1000:,.0f} ms",
    "agent-\nsteps/s": lambda speed: f"{speed.agent_steps:,.0f}",
    "GFLOP/s": lambda speed: f"{speed.useful_gigaflops:.0f}/{speed.matrix_gigaflops:.0f}",
    "useful": lambda speed: f"{speed.useful_rate:.0%}",
    "playing": lambda speed: f"{max(0.0, speed.share_of_playing):.0%}",
    "memory": lambda speed: f"{speed.peak_memory_bytes / 2**30:.1f} GiB",
}
TIMES: Columns = {
    "512\nepisodes": lambda speed: f"{speed.seconds_per_512_episodes:.1f} s",
    "paper's\nupdate": lambda speed: _if_known(seconds_per_update(speed.method, speed.task), 2),
    "paper's\n512": lambda speed: _if_known(seconds_per_512(speed.method, speed.task), 0),
    "full\nbudget": lambda speed: f"{speed.projected_seconds / 60:.1f} min",
    "compile,\ncold": lambda speed: f"{speed.cold_compile_seconds:.1f} s",
    "compile,\nwarm": lambda speed: f"{speed.warm_compile_seconds:.1f} s",
}


def _table(title: str, columns: Columns, speeds: list[TrainingSpeed]) -> Table:
    rows = ([speed.task, speed.method, *(show(speed) for show in columns.values())] for speed in speeds)
    return table(title, ("task", "method", *columns), rows, words=2, narrow=True)


def _if_known(seconds: float | None, digits: int) -> str:
    return "–" if seconds is None else f"{seconds:.{digits}f} s"


def show_growth(
    console: Console, names: Sequence[str], sizes: Sequence[int], repeats: int, out: Path | None
) -> None:
    growths: list[Growth] = []
    with console.status("measuring") as status:
        for task, agents in product(names, sizes):
            status.update(f"{task} with {agents} agents")
            growths.append(measure_growth_in_own_process(task, agents, repeats))
            told = f"{task} with {agents} agents: {growths[-1].update_seconds * 1000:,.0f} ms an update"
            console.print(told, highlight=False)  # at once: all of it together takes long
    rows: list[tuple[str, ...]] = [
        (
            growth.task,
            str(growth.agents),
            f"{growth.update_seconds * 1000:,.0f} ms",
            f"{growth.step_seconds * 1e6:,.0f} µs",
            f"{growth.compile_seconds:.1f} s",
            f"{growth.memory_bytes / 2**30:.2f} GiB",
        )
        for growth in growths
    ]
    if len(sizes) > 1:
        for task in names:
            ours = [growth for growth in growths if growth.task == task]
            rows.append((task, "slope", *(f"{slope(ours, measure):.2f}" for measure in MEASURES)))
    console.print(table("Scaled worlds", ("task", "agents", *MEASURES), rows, words=1))
    console.print(
        "PC3D with the paper's networks, every world as dense as the paper's: one update of 4 episodes and 2 "
        "epochs, one step of one world with everyone's view, the first update's compiling with an empty "
        "cache, and the most memory of the process. A slope is the power of the number of agents."
    )
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        save(growth_figure(growths), out)
        console.print(f"figure: {out / 'growth.png'}", soft_wrap=True)


def show_churn(console: Console, names: Sequence[str], methods: Sequence[str], repeats: int) -> None:
    costs: list[ChurnCost] = []
    with console.status("measuring") as status:
        for task, method in product(names, methods):
            status.update(f"{task} {method}")
            costs.append(measure_churn(paper(task, method), repeats))
    rows = (
        (
            cost.task,
            cost.method,
            f"{cost.constant_seconds * 1000:,.0f} ms",
            f"{cost.churn_seconds * 1000:,.0f} ms",
            f"{cost.ratio:.2f}",
            f"{cost.agents:.1f} → {cost.present:.1f}",
        )
        for cost in costs
    )
    headings = ("task", "method", "constant", ROSTER, "ratio", "agents there")
    console.print(table("An update in teams that change", headings, rows, words=2))
    console.print(
        "A usual update of the last stage with the paper's settings, the same episodes and team sizes at the "
        f"start, in turns in one process; medians of {repeats}, one thread. The ratio is of the seconds per "
        "episode; under churn fewer agents are there to learn from."
    )


def show_peers(console: Console, peers_python: Path, repeats: int) -> None:
    work = Work()
    with console.status("measuring"):
        times = measure_peers(work, contestants(peers_python), repeats)
    ours = times[0]
    rows = (
        (
            each.title,
            f"{each.playing_seconds * 1000:,.0f} ms",
            f"{each.learning_seconds * 1000:,.0f} ms",
            f"{work.agent_steps / each.update_seconds:,.0f}",
            f"{each.update_seconds / ours.update_seconds:.1f}×",
            f"{each.learning_seconds / ours.learning_seconds:.1f}×",
        )
        for each in times
    )
    headings = ("learner", "playing", "learning", "steps/s", "update", "learning")
    console.print(table(f"Recurrent MAPPO on Spread, {work.agents} agents", headings, rows, words=1))
    console.print(
        f"An update is {work.episodes} episodes of {work.horizon} steps and {work.epochs} epochs over all of "
        f"them at once; a dense and a recurrent layer of {work.width}, a critic of two such layers (XuanCe's "
        f"is recurrent). Everybody on one and the same core, one thread, in turns: medians of {repeats}. "
        "Steps are of single agents, playing and learning included; the last two columns compare with pc3d. "
        "BenchMARL and XuanCe step PettingZoo's worlds one by one in their own process; so does pc3d in the "
        "original world (mpe2), in a process beside the learner's."
    )
