# make bench: a first benchmark; make test: the test suite; make known: the literature; make speed: the ratios,
# and replays beside AccaSim, which is installed once into .cache (without a network the rest still prints).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: bench test known speed conformance clean

bench: $(READY)
	$(BIN)/bench run instances/eurora_700
	$(BIN)/bench run instances/eurora_99

test: $(READY)
	$(BIN)/pytest tests -q -n 2

known: $(READY)
	$(BIN)/pytest tests/known/*.py -q -rA --timeout 3600

conformance: $(READY)
	$(BIN)/python -m schedlab.backends.conformance --count 500 --seed 1

speed: $(READY)
	$(BIN)/python -m schedlab.bench.speed

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	PYTHONWARNINGS=ignore $(BIN)/pip install --quiet --disable-pip-version-check --upgrade "pip>=24"
	PYTHONWARNINGS=ignore $(BIN)/pip install --quiet --disable-pip-version-check --editable ".[cpoptimizer,test]"
	touch $(READY)

clean:
	rm -rf $(VENV) .cache build *.egg-info results
