# `make` lists what there is. Every target sets itself up first; that happens once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest
# Tests share the processors: one process each, and torch keeps to one thread in it.
PARALLEL := --numprocesses auto --maxprocesses 8 --dist worksteal
test test-all coverage: export OMP_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all coverage check lint format types spelling arrows docs bench bench-memory fix hooks clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## create .venv and install everything that the other targets need

demo: $(READY) ## resolve handwritten digits of which no label is told, and report
	$(BIN)/python -m tacit demo

test: $(READY) ## tests and doctests, without the slow ones
	$(PYTEST) $(PARALLEL)

test-all: $(READY) ## tests and doctests, the slow ones included
	$(PYTEST) $(PARALLEL) -m "not gpu"

coverage: $(READY) ## test-all, and which lines and branches it reaches
	$(PYTEST) $(PARALLEL) -m "not gpu" --cov --cov-report=term-missing:skip-covered

check: lint format types spelling arrows ## everything that can be checked without running the tests

lint: $(READY) ## mistakes and style, by ruff
	$(BIN)/ruff check --quiet

format: $(READY) ## formatting, by ruff
	$(BIN)/ruff format --check --quiet

types: $(READY) ## types, by mypy in its strict mode
	$(BIN)/mypy

spelling: $(READY) ## spelling, by codespell
	$(BIN)/codespell

arrows: $(READY) ## imports point towards the core, and heavy ones are lazy
	$(PYTEST) --quiet tests/test_imports.py

# The theme greets every build with a banner about its successor; it is no finding about this site.
docs: export NO_MKDOCS_2_WARNING := 1
docs: $(READY) ## the site, strictly, into site/
	$(BIN)/mkdocs build --strict --quiet
	@echo "The site is in site/: open site/index.html"

bench: $(READY) ## time and memory of objectives and of fitting, against plain torch
	$(BIN)/python benchmarks/objectives.py
	$(BIN)/python benchmarks/fitting.py

bench-memory: $(READY) ## memory of tacit resolve on 10 million rows; takes some minutes
	$(BIN)/python benchmarks/resolve_memory.py

fix: $(READY) ## let ruff mend and format what it can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

hooks: $(READY) ## run the checks before every commit
	$(BIN)/pre-commit install

clean: ## remove the set-up, caches and build output
	rm -rf $(VENV) site build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage

# The set-up: one environment and one call of pip, again only when what is asked for has changed.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "tacit needs Python 3.11 or newer, but '$(PYTHON)' is" \
			"$$($(PYTHON) --version 2>/dev/null || echo not there);" \
			"name another with: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "'$(PYTHON)' comes without the module venv; install it" \
			"(on Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@echo "Setting up $(VENV) (once, a minute or two) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[dev]'
	@touch $@
