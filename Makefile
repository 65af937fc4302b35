.PHONY: help up test fast nightly timings check lint docs typescript snapshots coverage wheel format lock

PARALLEL = -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

help: ## list the targets
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 12

up: ## start the server
	python3 manage.py up

test: ## run all tests
	python3 manage.py test

fast: ## run the quick tests
	python3 manage.py test -m "not slow" $(PARALLEL)

nightly: ## run the tests that draw their cases, with eighty times as many
	python3 manage.py test --hypothesis-profile thorough -m nightly $(PARALLEL)

timings: ## run all tests and list those that are slow, which `make fast` leaves out
	python3 manage.py test -p tests.timings $(PARALLEL)

check: ## run everything that CI runs
	.ci/run

lint: ## run the linters and Django's checks
	.ci/run lint

docs: ## write the OpenAPI file, the fields of the command line, the schema and the clients anew, and test the guides
	python3 manage.py write_fields
	python3 manage.py write_schema
	python3 manage.py spectacular --file docs/openapi.yaml
	.venv/bin/python -m clients.generate_python
	.venv/bin/python -m clients.generate_typescript
	python3 manage.py test tests/test_docs.py

typescript: ## check and test the TypeScript client, with a server of this checkout
	cd clients/typescript && npm ci --no-audit --no-fund && npm run check && npm test

snapshots: ## write anew what outsiders see, in tests/snapshots
	DAY1_WRITE_SNAPSHOTS=1 python3 manage.py test tests/snapshots

coverage: ## run all tests and list the lines that none of them reached
	python3 manage.py test -p pytest_cov.plugin --cov --cov-report=term-missing:skip-covered $(PARALLEL)

wheel: ## build dist/day1_django-*.whl and the source that makes the same wheel
	.venv/bin/python -m hatchling build -t sdist -t wheel

format: ## format code and templates
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
	.venv/bin/djlint --reformat templates

lock: ## after a change of the dependencies in pyproject.toml
	uv lock
	uv export --quiet --no-dev --format requirements-txt --output-file requirements.lock
	uv export --quiet --no-dev --extra matrixone --format requirements-txt --output-file requirements-matrixone.lock
	uv export --quiet --no-dev --extra multilingual --format requirements-txt --output-file requirements-multilingual.lock
	uv export --quiet --group dev --format requirements-txt --output-file requirements-dev.lock
