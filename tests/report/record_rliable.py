"""Writes rliable_values.json: what rliable 1.2.0 says about some matrices of scores.

Run by hand, in an environment of its own: rliable needs arch 7, which cannot be imported beside pandas 3.

    pip install rliable==1.2.0 'pandas<3' && python record_rliable.py > rliable_values.json
"""

import json

import numpy as np

RESAMPLES = 2000
RANDOM_STATE = 7


def matrices() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Two methods' scores (seed × size): ordinary ones, ones with many ties, and very few."""
    random = np.random.default_rng(3)
    return {
        "ordinary": (random.normal(0.5, 0.2, (5, 10)), random.normal(0.4, 0.2, (5, 10))),
        "unequal seeds and ties": (random.integers(0, 4, (6, 3)) / 4, random.integers(0, 3, (4, 3)) / 4),
        "two seeds": (random.normal(size=(2, 2)), random.normal(size=(2, 2))),
    }


def estimate(function, scores) -> dict[str, float]:
    from rliable.library import get_interval_estimates

    np.random.seed(RANDOM_STATE)  # rliable draws from NumPy's global state
    points, intervals = get_interval_estimates(
        {"x": scores}, lambda *data: np.array([function(*data)]), reps=RESAMPLES
    )
    low, high = intervals["x"][:, 0]
    return {"value": float(points["x"][0]), "low": float(low), "high": float(high)}


def main() -> None:
    from rliable.metrics import aggregate_iqm, probability_of_improvement

    cases = [
        {
            "name": name,
            "ours": ours.tolist(),
            "theirs": theirs.tolist(),
            "interquartile_mean": estimate(aggregate_iqm, ours),
            "probability_of_improvement": estimate(probability_of_improvement, [ours, theirs]),
        }
        for name, (ours, theirs) in matrices().items()
    ]
    print(json.dumps({"resamples": RESAMPLES, "random_state": RANDOM_STATE, "cases": cases}, indent=1))


if __name__ == "__main__":
    main()
