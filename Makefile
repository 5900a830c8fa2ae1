# One command per task. Everything is set up on first use, in .venv, with the pinned constraints.

PYTHON ?= python3
BIN := .venv/bin
UV := $(shell command -v uv 2>/dev/null)
PAPER := two-known two-unknown ten-known ten-unknown crossing concentration boundary ratio

.PHONY: help setup run serve test check bench fix docs screenshot constraints clean

help:            ## list the tasks
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.venv/ready: pyproject.toml constraints.txt
ifdef UV
	$(UV) venv --quiet --allow-existing --python $(PYTHON) .venv
	$(UV) pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[dev]'
else
	$(PYTHON) -m venv .venv
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
.venv/browser: .venv/ready
	$(call installed,command -v chromium >/dev/null && command -v curl >/dev/null,chromium curl)

# The tests run the unit tests of the page's scripts.
.venv/node: .venv/ready
	$(call installed,command -v node >/dev/null,nodejs)

# The tests inject faults into file I/O with a library in C.
.venv/compiler: .venv/ready
	$(call installed,cc -E -include dlfcn.h -x c /dev/null >/dev/null 2>&1,gcc libc6-dev)

setup: .venv/ready ## set everything up in .venv, and do nothing else
	@echo "run source .venv/bin/activate to have almoner in this terminal"

run: .venv/ready ## reproduce the paper's experiments in quick form, into results/
	$(BIN)/almoner reproduce $(PAPER) --quick --out results

serve: .venv/ready ## the service with its page and a demonstration campaign, on 127.0.0.1:8000
	$(BIN)/almoner serve --store sqlite:///almoner-demo.db --demo

test: .venv/ready .venv/browser .venv/node .venv/compiler ## run all tests
	$(BIN)/python -m pytest

check: .venv/ready ## formatting, lint, types, import arrows
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: .venv/ready ## format and apply safe lint fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/ready ## measure speed against what one would use instead
	$(BIN)/python -m benchmarks.speed

docs: .venv/ready ## generate the command reference
	$(BIN)/python -m almoner.cli.reference > docs/commands.md

screenshot: .venv/ready .venv/browser ## draw the picture of the page in README.md
	cd tests && ../$(BIN)/python -m support.screenshot ../docs/figures/page.png

constraints:     ## pin the newest versions that fit (needs uv)
	$(UV) pip compile --quiet --universal --no-emit-index-url --no-header --no-annotate --all-extras --python-version 3.11 pyproject.toml --output-file constraints.txt

clean:           ## forget everything that can be made again
	rm -rf .venv build dist results almoner-demo.db* .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
