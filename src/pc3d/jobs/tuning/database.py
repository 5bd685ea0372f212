"""The database under a search: how it is opened, and what it may refuse, as one sentence each."""

import contextlib
import warnings
from collections.abc import Iterator

import optuna
from optuna.exceptions import ExperimentalWarning, OptunaError, UpdateFinishedTrialError
from optuna.trial import FrozenTrial
from sqlalchemy.exc import SQLAlchemyError

from pc3d.system.errors import BadInput

SECONDS_FOR_A_LOCK = 5  # SQLite; Optuna itself tries up to five times
SECONDS_BETWEEN_HEARTBEATS = 30
SECONDS_UNTIL_LOST = 180


class TakenOver(Exception):
    """Another machine thought this one dead and has taken its trial."""


def open_database(url: str) -> optuna.storages.RDBStorage:
    """Only relational databases: of Optuna's storages, these hold nothing but numbers, text and JSON."""
    options = {"connect_args": {"timeout": SECONDS_FOR_A_LOCK}} if url.startswith("sqlite") else {}
    return optuna.storages.RDBStorage(
        url,
        engine_kwargs=options,
        heartbeat_interval=SECONDS_BETWEEN_HEARTBEATS,
        grace_period=SECONDS_UNTIL_LOST,
        heartbeat_stale_trial_callback=_try_again,
    )


@contextlib.contextmanager
def explained_refusals() -> Iterator[None]:
    """What a database may refuse, as one sentence; a search that stops there continues later."""
    try:
        with warnings.catch_warnings():
            # We keep the heartbeat ourselves, and know that it may change in a later version of Optuna.
            warnings.simplefilter("ignore", ExperimentalWarning)
            warnings.filterwarnings("ignore", message="Heartbeat of storage")
            yield
    except UpdateFinishedTrialError:
        raise TakenOver from None
    except (OptunaError, SQLAlchemyError, ImportError, ValueError, LookupError, RuntimeError) as error:
        raise BadInput(_sentence(error)) from None


def _try_again(study: optuna.Study, lost: FrozenTrial) -> None:
    """Put a trial that was lost with its machine in line once more."""
    if lost.params:
        study.enqueue_trial(lost.params, user_attrs={"again": lost.number})


def _sentence(error: Exception) -> str:
    reason = (str(error.__cause__ or error).splitlines() or [type(error).__name__])[0]
    if isinstance(error, ImportError):
        return "this storage needs a database driver that is not installed: install it beside optuna"
    if "database is locked" in reason:
        return "the storage is locked by another process: wait until it is done; nothing is lost"
    if "Could not parse" in reason or "Can't load plugin" in reason:
        return f"--storage is a database's address such as sqlite:///search.db: {reason}"
    return f"the storage cannot be used ({reason}); nothing is lost, the same command continues when it can"
