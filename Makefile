# Every target makes what it needs on first use: a virtual environment in .venv, with the extra
# it names installed. `make test ARGS="-k contraction"` passes ARGS on to pytest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
BASE ?= HEAD
OLDEST ?= test-core

# Numba does not notice an edit in a kernel that another file's kernel calls; a cache folder named
# after all kernel sources does.
KERNELS := $(wildcard src/hyperboxes/_kernels/*.py)
export NUMBA_CACHE_DIR := $(CURDIR)/.numba_cache/$(shell cat $(KERNELS) | cksum | cut -d' ' -f1)

PYTEST := -m pytest --numprocesses logical --dist loadfile
BENCHMARKS := $(addprefix bench-, defaults decision peers scale large order hidden probabilities imbalance ensembles mixed readable boosted streams dask family faults matrix)
ON_KERNELS := $(foreach name,adaptive agglomerative bitmaps boosting ensembles fences geometry box_index all_class_tree mixed online nearest simd blocking saving saving_additive wrong_files,tests/test_$(name).py)
ON_PAPER_SETS := $(addprefix bench-, missing labels merging membership pruning)

.PHONY: demo test test-bounds test-oldest dist lint format docs pictures $(BENCHMARKS) $(ON_PAPER_SETS) bench-gate reproduce reproduce-quick clean

# Compiles into the default cache, for the commands that the demo prints to try.
demo: export NUMBA_CACHE_DIR :=
demo: $(VENV)/.demo
	$(BIN)/hyperboxes demo

test: lint
	$(BIN)/python $(PYTEST) $(ARGS)
	$(MAKE) docs ARGS=

# The lower bounds of pyproject.toml, in an environment and a kernel cache of their own: those of the
# core, or with OLDEST=test also those of Dask, river and skrub, which need newer packages.
test-oldest: export NUMBA_CACHE_DIR := $(NUMBA_CACHE_DIR)-oldest
test-oldest: $(VENV)-oldest/.$(OLDEST)
	$(VENV)-oldest/bin/python $(PYTEST) $(ARGS)

# The tests of kernels, with every index checked where it is used, in a kernel cache of their own.
test-bounds: export HYPERBOXES_CHECK_BOUNDS := 1
test-bounds: $(VENV)/.dev
	$(BIN)/python $(PYTEST) $(ON_KERNELS) $(ARGS)

# Wheel and sdist, checked, and tested without the checkout; ARGS replaces the suite.
dist: $(VENV)/.release
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tools/check_dist.py dist $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/check_prose.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.docs
	$(BIN)/sphinx-build --fail-on-warning --keep-going --fresh-env docs docs/_build $(ARGS)

# Draws the images in docs/ that examples/ has scripts for; benchmarks draw the others.
pictures: $(VENV)/.docs
	for script in examples/*.py; do $(BIN)/python $$script --output docs || exit; done

$(BENCHMARKS): bench-%: $(VENV)/.bench
	$(BIN)/python -m benchmarks.$* $(ARGS)

$(ON_PAPER_SETS): bench-%: $(VENV)/.bench
	$(BIN)/python -m benchmarks.paper_sets $* $(ARGS)

# The time of fit and predict as a ratio of that at another commit.
bench-gate: $(VENV)/.dev
	$(BIN)/python -m benchmarks.gate $(BASE) $(ARGS)

reproduce: $(VENV)/.bench
	$(BIN)/python -m benchmarks.reproduce $(ARGS)

reproduce-quick: $(VENV)/.bench
	$(BIN)/python -m benchmarks.reproduce --quick $(ARGS)

clean:
	rm -rf $(VENV) $(VENV)-oldest .numba_cache .pytest_cache .mypy_cache .ruff_cache .hypothesis dist docs/_build docs/gallery docs/generated

# $(VENV)/.dev stands for "the extra dev is installed".
$(VENV)/.%: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	touch $@

$(VENV)-oldest/.$(OLDEST): pyproject.toml tools/oldest.py
	$(PYTHON) -m venv --clear $(VENV)-oldest
	$(PYTHON) tools/oldest.py $(OLDEST) > $(VENV)-oldest/constraints.txt
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint $(VENV)-oldest/constraints.txt --editable ".[$(OLDEST)]"
	touch $@
