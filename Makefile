.DEFAULT_GOAL := help
SHELL := /bin/bash
PY := .venv/bin/python
PYTEST_ARGS ?=
# Commands start several times faster from compiled modules.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

.PHONY: setup
setup: ## Make .venv with every console script and fetch the console's browser files
	@tools/setup.sh

.PHONY: format
format: setup ## Format the code
	.venv/bin/ruff format services tests tools benchmarks charts
	.venv/bin/ruff check --fix services tests tools benchmarks charts

.PHONY: lint
lint: setup ## Check format, style, types, layers, generated code and locks
	.venv/bin/ruff format --check services tests tools benchmarks charts
	.venv/bin/ruff check services tests tools benchmarks charts
	.venv/bin/mypy
	.venv/bin/lint-imports --no-cache
	tools/generate_protos.sh --check

.PHONY: test
test: setup ## Run every test, in random order on every core
	@tools/browser.sh --install >/dev/null || test -z "$$CI"
	$(PY) -m pytest -n auto --dist loadfile $(PYTEST_ARGS)

.PHONY: screenshot
screenshot: setup ## Make the README's pictures anew
	$(PY) tools/screenshots.py

.PHONY: proto
proto: setup ## Generate the Python code of every .proto
	tools/generate_protos.sh

.PHONY: lock
lock: setup ## Resolve requirements/*.txt anew
	tools/lock.sh

.PHONY: clean
clean: ## Remove what make made
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis services/web/src/fpga_web/static/vendor

.PHONY: demo
demo: setup ## Run the whole platform on this machine with simulated cards (ONCE=1: end after the story)
	@PYTHONPATH=tools $(PY) -m demo $(if $(ONCE),--once)

.PHONY: bench
bench: setup ## Measure start-up, allocation, memory, faults and loads
	@PYTHONPATH=benchmarks $(PY) -m bench
