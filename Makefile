# One command per task. Everything is set up on first use, in .venv, with the pinned constraints.

PYTHON ?= python3
PYTHONS := 3.11 3.12 3.13 3.14
VENV ?= .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
PAPER := two-known two-unknown ten-known ten-unknown crossing concentration boundary ratio

.PHONY: help setup run serve test test-fast test-all check bench learner fix docs reference notebook screenshot dist constraints clean benchmarks

help:            ## list the tasks
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(VENV)/ready: pyproject.toml constraints.txt
ifdef UV
	$(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
	$(UV) pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[dev]'
else
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
endif
	@touch $@

# Install packages $(2) unless the command $(1) finds them there.
define installed
	@$(1) || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null; } || \
	{ echo "the tests need $(2): install them, or run make as root where apt-get is" >&2; exit 1; }
	@$(1) || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(2) >/dev/null; }
	@touch $@
endef

# The tests click through the page in a real browser, and follow the guide's curl commands.
$(VENV)/browser: $(VENV)/ready
	$(call installed,command -v chromium >/dev/null && command -v curl >/dev/null,chromium curl)

# The tests run the unit tests of the page's scripts.
$(VENV)/node: $(VENV)/ready
	$(call installed,command -v node >/dev/null,nodejs)

# The tests inject faults into file I/O with a library in C.
$(VENV)/compiler: $(VENV)/ready
	$(call installed,cc -E -include dlfcn.h -x c /dev/null >/dev/null 2>&1,gcc libc6-dev)

# Tests run on all cores, each file on one of them, in order: the many short files come last.
PARALLEL := --numprocesses auto --dist loadfile --no-loadscope-reorder

setup: $(VENV)/ready ## set everything up in .venv, and do nothing else
	@echo "run source $(BIN)/activate to have almoner in this terminal"

run: $(VENV)/ready ## reproduce the paper's experiments in quick form, into results/
	$(BIN)/almoner reproduce $(PAPER) --quick --out results

serve: $(VENV)/ready ## the service with its page and a demonstration campaign, on 127.0.0.1:8000
	$(BIN)/almoner serve --store sqlite:///almoner-demo.db --demo

test: $(VENV)/ready $(VENV)/browser $(VENV)/node $(VENV)/compiler ## run all tests
	$(BIN)/python -m pytest $(PARALLEL)

# Without plugins that only slow tests use, and with a URL that refuses tests not marked postgres.
test-fast: $(VENV)/ready ## run the tests without browser, PostgreSQL, processes to kill and other slow ones
	TEST_DATABASE_URL=excluded $(BIN)/python -m pytest $(PARALLEL) -p no:schemathesis -p no:playwright -p no:faker \
	  --hypothesis-profile fast -m "not browser and not postgres and not crash and not slow"

test-all:        ## run all tests on every Python that is installed, each in an environment of its own
	@for version in $(PYTHONS); do \
	  if python$$version -c '' 2>/dev/null; then found="$$found $$version"; else missing="$$missing $$version"; fi; \
	done; echo "Pythons found:$${found:- none}; not found:$${missing:- none}"; \
	for version in $$found; do \
	  echo "Python $$version"; \
	  $(MAKE) --no-print-directory test VENV=build/python$$version PYTHON=python$$version || exit 1; \
	done

check: $(VENV)/ready ## formatting, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(VENV)/ready ## format and apply safe lint fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/ready ## measure speed against what one would use instead, and rewrite docs/speed.md (eight minutes)
	$(BIN)/python -m benchmarks.speed

learner: $(VENV)/ready ## compare the default policy with the one before it, and rewrite docs/learner.md (half an hour)
	for part in compare frontier router late alternatives speed page; do $(BIN)/python -m benchmarks.learner.$$part || exit 1; done

# Peers are installed apart: the package needs none of them. One that does not install is left out.
# Versions of obp from 0.4 on need PyTorch; budgetCB does not say that it needs scipy and joblib.
build/peers-venv/ready:
	$(PYTHON) -m venv build/peers-venv
	for peer in river mabwiser vowpalwabbit 'obp<0.4' contextualbandits 'budget-constrained-CB scipy joblib'; do \
	  build/peers-venv/bin/python -m pip install --quiet --disable-pip-version-check $$peer || echo "$$peer does not install"; \
	done
	@touch $@

benchmarks: $(VENV)/ready build/peers-venv/ready ## compare quality and speed with others, and rewrite docs/benchmarks.md (ten minutes)
	for part in routing learners logs speed page; do nice $(BIN)/python -m benchmarks.comparison.$$part || exit 1; done

docs: reference  ## build the documentation as a site, into build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "open build/site/index.html"

reference: $(VENV)/ready ## generate the page of commands
	$(BIN)/python -m almoner.cli.reference > docs/commands.md

notebook: $(VENV)/ready ## execute the notebook and store its outputs
	$(BIN)/python docs/execute_notebook.py

# Built without isolation, by the hatchling of the dev extra; the wheel is tried outside this folder.
dist: $(VENV)/ready ## build wheel and sdist, and try the wheel in a clean environment
	rm -rf dist build/clean
	$(BIN)/python -m hatchling build -d dist
	$(PYTHON) -m venv build/clean
	build/clean/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "$$(ls dist/*.whl)[serve]"
	cd build/clean && bin/python -I ../../tests/smoke.py

screenshot: $(VENV)/ready $(VENV)/browser ## draw the picture of the page in README.md
	cd tests && ../$(BIN)/python -m support.screenshot ../docs/figures/page.png

constraints:     ## pin the newest versions that fit (needs uv)
	$(UV) pip compile --quiet --universal --no-emit-index-url --no-header --no-annotate --all-extras --python-version 3.11 pyproject.toml --output-file constraints.txt

clean:           ## forget everything that can be made again
	rm -rf .venv build dist results almoner-demo.db* .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
