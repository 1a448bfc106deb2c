# make bench: a first benchmark, about three minutes; make tour: the default benchmarks of all problem kinds, half an hour;
# make test: the test suite without its slow cases; make slow: these; make known: these, more random cases and known optima of the literature; make conformance: random models on all backends;
# make wheel: a wheel with compiled kernels, in dist; make versions: the oldest and the newest versions of all packages, and the excluded ones,
# each set in an environment of its own in .cache/versions; PYTHON=python3.14 tries another Python;
# make cluster: runs in job arrays of a one-node SLURM cluster on this machine; needs root and Debian's slurmctld, slurmd, slurm-client, munge;
# make browser: installs headless Chromium (Debian; needs root), in which tests open the report; without a browser they are skipped;
# make minizinc: installs MiniZinc (Debian; needs root), which solves the texts that tests write; without it they are read again by the tests alone;
# make speed: ratios and times, with replays beside AccaSim, which is installed once into .cache (without a network the rest prints)
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NOON := --at 12:00 --first 100

.PHONY: bench tour test slow known cluster browser minizinc speed wheel versions conformance clean

bench: $(READY)
	$(BIN)/bench run instances/eurora_700 $(NOON) --time-limit 5 --methods first-solution:est,multi-search,cpsat:counts+warm
	$(BIN)/bench run instances/eurora_700 $(NOON) --time-limit 8 --methods cpsat:pool+warm,cpo:pool+warm,lns,highs:pool@600s..36000s-energy
	$(BIN)/bench simulate instances/eurora_700 --dispatchers fcfs,easy,conservative,hcp3@cpsat

tour: $(READY)
	$(BIN)/bench run instances/eurora_99 instances/eurora_700
	$(BIN)/bench run instances/theta_24
	$(BIN)/bench run instances/profit_medium
	$(BIN)/bench run instances/project_small

# byte code is written, also where the environment forbids it: the tests start many processes. worksteal: each of the two
# takes neighbouring tests, which share fixtures, and takes over from the other one at the end
test slow speed: export PYTHONDONTWRITEBYTECODE :=
test: $(READY)
	$(BIN)/pytest tests -q -n 2 --dist worksteal -m "not slow and not known"

slow: $(READY)
	$(BIN)/pytest tests -q -n 2 --dist worksteal -m "slow and not known"

known: slow
	$(BIN)/pytest tests -q -n 2 --dist worksteal -m known
	$(BIN)/pytest tests/known/*.py -q -rA --timeout 3600

cluster: $(READY)
	$(BIN)/pytest tests/cluster/*_cluster.py tests/cluster/slurm.py -q -rA

browser:
	apt-get install --yes --no-install-recommends chromium-headless-shell || apt-get install --yes --no-install-recommends chromium

minizinc:
	apt-get install --yes --no-install-recommends minizinc

conformance: $(READY)
	$(BIN)/python -m schedlab.backends.conformance --count 500 --seed 1

speed: $(READY)
	$(BIN)/python -m benchmarks.speed

wheel: $(READY)
	$(BIN)/python -m benchmarks.wheel --out dist

versions:
	$(PYTHON) tests/try_versions.py oldest
	$(PYTHON) tests/try_versions.py newest
	$(PYTHON) tests/try_versions.py excluded

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	PYTHONWARNINGS=ignore $(BIN)/pip install --quiet --disable-pip-version-check --upgrade "pip>=24"
	PYTHONWARNINGS=ignore $(BIN)/pip install --quiet --disable-pip-version-check --editable ".[cpoptimizer,test,wheel]"
	touch $(READY)

clean:
	rm -rf $(VENV) .cache build dist *.egg-info results
