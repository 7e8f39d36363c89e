# `make demo` and `make test` need Python 3.11 or newer with its venv module, and nothing else.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test lint docs bench fuzz clean

help:
	@echo "make demo   set up a virtual environment and parse some English sentences"
	@echo "make test   set up a virtual environment and run all tests"
	@echo "make lint   check style and types"
	@echo "make docs   build the documentation into site/"
	@echo "make bench  measure against the peers"
	@echo "make fuzz   attack it with new seeds, for SECONDS=600; SEED= ATTACK= ROUND= repeat a fault"
	@echo "make clean  remove the virtual environment and everything built"

demo: $(VENV)/.demo
	$(BIN)/arborescence demo

test: $(VENV)/.test
	$(BIN)/python -m pytest $(OPTIONS)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.bench
	$(BIN)/python benchmarks

SECONDS ?= 60

fuzz: $(VENV)/.test
	$(BIN)/python fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) \
	  $(if $(ATTACK),--attack $(ATTACK)) $(if $(ROUND),--round $(ROUND))

clean:
	rm -rf $(VENV) build dist site .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks fuzz -name __pycache__ -prune -exec rm -rf {} +

# Each mark stands for what is installed, so that a second run installs nothing.

$(VENV)/.venv:
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade "pip>=25.1"
	@touch $@

$(VENV)/.demo: $(VENV)/.venv pyproject.toml
	$(PIP) --editable ".[cli]"
	@touch $@

$(VENV)/.test: $(VENV)/.venv pyproject.toml
	$(PIP) --editable ".[cli]" --group test
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	$(PIP) --group lint
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	$(PIP) --group docs
	@touch $@

$(VENV)/.bench: $(VENV)/.test
	$(PIP) --group bench
	@touch $@
