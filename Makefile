# Everything a person does with this checkout. `make demo` and `make test` are the two that matter.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help setup demo test lint test-slow test-page same-bits faults soak changing results docs notebook peers lock clean

help:
	@echo "make demo       set up, then the main job: train, evaluate, show"
	@echo "make test       lint, types and every quick test"
	@echo "make test-slow  the tests that take minutes"
	@echo "make test-page  the web page in a real browser (Debian packages chromium and chromium-driver)"
	@echo "make same-bits  whether this code computes what another revision did (BASE=REV), to the last bit"
	@echo "make faults     every fault, as often as docs/reliability.md says (at most an hour), and a table of it"
	@echo "make soak       a run of two hours, with its memory and speed"
	@echo "make changing   play the recorded policies in teams that change (ROSTERS=all: more of them)"
	@echo "make results    the report of results/, and its tables, sentences and films in README and docs anew"
	@echo "make docs       the documentation as a site, in site/"
	@echo "make notebook   run examples/tour.ipynb from its first cell to its last"
	@echo "make setup      make .venv with the locked versions"
	@echo "make peers      make .venv-peers with the learners that pc3d benchmark peers compares ours with (gigabytes)"
	@echo "make lock       resolve requirements.lock anew from pyproject.toml, and list the licences"

setup: $(VENV)/.ready

# The lock is installed first and by itself, so that no version is resolved on the user's machine.
$(VENV)/.ready: requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "pc3d needs $(PYTHON) (or: make PYTHON=python3)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-slow: setup
	XLA_FLAGS= $(BIN)/python -m pytest -m slow

test-page: setup
	$(BIN)/python -m pytest -m page -rs

# Half an hour on two cores, and as long again where the revision was not compared with before; for a part of it: make same-bits BASE=main ONLY="--tasks spread --methods pc3d".
same-bits: setup
	$(BIN)/python -m tests.same_bits $(or $(BASE),HEAD) $(ONLY)

# Tests of strangers' files that stand where their source stands.
STRANGERS := tests/system tests/runs/test_line_contract.py tests/jobs/test_study_options.py tests/report/test_record.py

faults: setup
	XLA_FLAGS= $(BIN)/python -m pytest tests/faults $(STRANGERS) -m 'not page' -n 2 --dist loadfile --full

soak: setup
	$(BIN)/python -m tests.faults.soak

# Their versions fit neither ours nor those of the next year: an environment of their own, from a lock of its own.
peers: .venv-peers/.ready

.venv-peers/.ready: peers.lock
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --requirement peers.lock
	@touch $@

demo: setup
	$(BIN)/pc3d demo

# No training: the policies that are there, in teams that change while they play. Then: make results.
ROSTERS ?= lose-half churns replace-half

changing: setup
	for roster in $(ROSTERS); do \
		$(BIN)/pc3d evaluate $(foreach method,pc3d pic mappo,results/spread/$(method)/seed-0) \
			--roster $$roster --team-sizes 8 --horizon 100 || exit; \
		$(BIN)/pc3d evaluate $(foreach method,pc3d pic mappo,results/lbf/$(method)/seed-0) \
			--roster $$roster --team-sizes 6 --horizon 100 --respawn True || exit; \
	done

# Every table, figure and sentence about results in README and docs, and the README's films, from the recorded runs:
# a new run changes no prose by hand.
results: setup
	rm -rf results/report
	$(BIN)/pc3d report results/spread results/lbf results/rware --out results/report
	$(BIN)/python -m docs.fill
	$(BIN)/pc3d watch results/spread/pc3d/seed-0 --team-size 9 --size 260 --out docs/pictures/spread.gif
	$(BIN)/pc3d watch results/lbf/pc3d/seed-0 --team-size 8 --size 260 --out docs/pictures/lbf.gif
	$(BIN)/pc3d watch results/rware/pc3d/seed-0 --team-size 10 --size 260 --out docs/pictures/rware.gif
	$(BIN)/pc3d watch results/rware/pc3d/seed-0 --team-size 64 --world scaled --size 360 --out docs/pictures/rware-64.gif

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "open site/index.html"

# Its outputs are not kept, and Jupyter is not in the lock: make test runs the same cells without it.
notebook: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable '.[notebook]'
	$(BIN)/jupyter-execute examples/tour.ipynb

# All extras but wandb, mlflow and notebook: what few use would bring everybody some sixty packages.
LOCKED := originals tensorboard cluster tune export pursuit docs dev

lock: setup
	$(BIN)/uv pip compile --quiet --upgrade --python-version 3.11 $(addprefix --extra ,$(LOCKED)) --no-header --no-annotate \
		--generate-hashes --output-file requirements.lock pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes --requirement requirements.lock
	$(BIN)/python -m docs.licences

clean:
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache
