# Everything happens in .venv, where the package is installed as a user would install it.
# `make test PYTHON=python3.12` chooses the interpreter; a different one than last time rebuilds .venv.
PYTHON ?= python3
ARGS ?=
SECONDS ?= 300
DATA ?= ../shared/data

bin := .venv/bin
pip := $(bin)/python -m pip --disable-pip-version-check install -qq

# Stamps lie in .venv and go with it. Directories count as sources because their times tell of removed files.
version := $(shell $(PYTHON) -c "import platform; print(platform.python_version())")
venv := .venv/.stamp-python-$(version)
group := .venv/.stamp-group
package := .venv/.stamp-package
sources := pyproject.toml CMakeLists.txt $(shell find native src -name __pycache__ -prune -o -print)

.PHONY: help demo test test-deep check fix docs picture bench experiments profile sanitize fuzz mutants develop tools browser clean
.DELETE_ON_ERROR:
.NOTPARALLEL: # one pip at a time in one .venv

help: ## list what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

demo: $(package) ## train on the bundled catalogue, evaluate, show a few predictions
	@$(bin)/labeltree demo $(ARGS)

test: $(package) $(group)-test browser ## run all tests but those of neural networks; ARGS="-k name" for some of them
	@$(bin)/python -m pytest --ignore=tests/deep -n auto --dist loadfile $(ARGS)

test-deep: $(package) $(group)-test $(group)-deep ## run the tests of neural networks, which need torch
	@$(bin)/python -m pytest tests/deep -n auto --dist loadfile $(ARGS)

check: ## format, lint, types, stub and tests: what a change must pass
	@scripts/check

fix: ## format the code and repair what the linter can
	@scripts/check --fix

docs: $(group)-docs ## build the documentation site in build/site; ARGS=serve shows it and follows edits
	@NO_MKDOCS_2_WARNING=1 $(bin)/mkdocs $(or $(ARGS),build)

picture: ## draw the picture of the architecture from its text, by Graphviz
	@scripts/picture

bench: $(package) $(group)-bench ## measure speed and quality beside other packages, on the data sets in DATA=../shared/data
	@LABELTREE_DATA="$(DATA)" $(bin)/python -m benchmarks $(ARGS)

experiments: $(package) $(group)-bench ## run the paper's tables on real data; ARGS="--list" tells which, ARGS="--all --dry-run" how long
	@LABELTREE_DATA="$(DATA)" $(bin)/python -m experiments $(ARGS)

profile: $(package) $(group)-bench ## where the time goes, phase by phase, and how many instructions kernels take (valgrind)
	@LABELTREE_DATA="$(DATA)" $(bin)/python -m benchmarks.profile $(ARGS)

sanitize: ## run the native tests under the address, undefined behaviour and thread sanitizers
	@scripts/sanitize

fuzz: ## try random input under the sanitizers for SECONDS=300; ARGS="--target model-files" for one target
	@scripts/sanitize address -m tests.fuzz --seconds $(SECONDS) $(ARGS)

mutants: ## make small wrong changes to the code and print those that no test notices; ARGS="--help" lists options
	@scripts/mutants $(ARGS)

develop: tools ## install in place: edits count at once, C++ is built again on import
	@$(pip) --no-build-isolation --editable . -Ceditable.rebuild=true -Ceditable.verbose=false -Cbuild-dir=build/editable
	@rm $(package) # so that the next `make test` installs the real thing

tools: $(package) $(group)-test $(group)-dev
	@:

browser: # for the tests of the page
	@scripts/browser

clean: ## remove .venv and all that was built
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(venv):
	@test -n "$(version)" || { echo "$(PYTHON) does not run: say make PYTHON=... for a Python 3.10 or newer" >&2; exit 1; }
	@echo "making .venv with Python $(version)"
	@$(PYTHON) -m venv --clear .venv
	@$(pip) --upgrade "pip>=25.1" # the first that knows dependency groups
	@touch $@

$(group)-%: $(venv) pyproject.toml
	@echo "installing the dependency group $*"
	@$(pip) --group $*
	@touch $@

# Without build isolation, so that only what changed is compiled again.
$(package): $(venv) $(group)-build $(sources)
	@echo "building and installing labeltree"
	@$(pip) --no-build-isolation .
	@touch $@
