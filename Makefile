# Needs Python 3.11 or newer and a network (or mirror) that pip can install from. PYTHON=... names the interpreter.
NOTEBOOK ?= notebooks/logistic.md
LAB_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo lab test check clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-6s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## run the logistic map notebook in a real kernel, print its report, write build/logistic.html
	@tools/env.sh demo
	@.venv/bin/python tools/demo.py $(NOTEBOOK)

lab: ## open the notebook in JupyterLab (LAB_ARGS="..." are passed on)
	@tools/env.sh lab
	@.venv/bin/jupytext --quiet --sync $(NOTEBOOK)
	@.venv/bin/jupyter lab $(LAB_ARGS) $(NOTEBOOK:.md=.ipynb)

check: ## format, lint, types, import direction, tests
	@tools/test.sh check

test: ## everything that CI runs: make check, and the wheel installed alone
	@tools/test.sh all

clean: ## remove .venv, builds and caches
	rm -rf .venv build dist .pytest_cache .hypothesis .ruff_cache .import_linter_cache notebooks/*.ipynb
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
