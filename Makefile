.PHONY: up test check format lock

up: ## start the server
	python3 manage.py up

test: ## run all tests
	python3 manage.py test

check: ## everything that must be green
	.ci/run

format: ## put the code into its form
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
	.venv/bin/djlint --reformat templates

lock: ## after a change of the dependencies in pyproject.toml
	uv lock
	uv export --quiet --no-dev --format requirements-txt --output-file requirements.lock
	uv export --quiet --no-dev --extra matrixone --format requirements-txt --output-file requirements-matrixone.lock
	uv export --quiet --group dev --format requirements-txt --output-file requirements-dev.lock
