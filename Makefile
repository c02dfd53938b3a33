# Everything sets itself up: a virtual environment in .venv, the pinned dependencies, the compiled
# kernels, and Apache Kafka's jars in the user's cache (STREAMNB_CACHE moves them).
# A second run finds the stamps in .venv, installs nothing and downloads nothing.

PYTHON := .venv/bin/python
ARGS   :=
# A kernel that does not compile is an error here; `pip install .` would go on without it.
STRICT := STREAMNB_REQUIRE_KERNELS=1

KERNELS := $(wildcard streamnb/_kernels/*.py streamnb/_kernels/*.pxd streamnb/_kernels/*.h streamnb/_kernels/*.c)

.PHONY: demo test test-full lint bench build lock clean

demo: build .venv/stamp-jars
	.venv/bin/streamnb demo

# For one folder or test: make test ARGS="tests/core -k merge". SHARE is the part of what the quick
# run leaves out that runs as well (0 to 1), SEED chooses it.
test: build .venv/stamp-jars
	$(PYTHON) -m pytest -n 2 --dist loadgroup \
	  $(if $(SHARE),--share $(SHARE)) $(if $(SEED),--seed $(SEED)) $(ARGS)

test-full: SHARE := 1
test-full: test

lint: build
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy --strict streamnb

bench: build .venv/stamp-jars
	@for script in benchmarks/bench_*.py; do $(PYTHON) $$script || exit 1; done

# Compiles the kernels that changed, in place.
build: .venv/stamp-kernels

.venv/stamp-environment: requirements.txt
	.ci/python -m venv --clear .venv
	$(PYTHON) -m pip install --quiet --no-compile --disable-pip-version-check -r requirements.txt
	@touch $@

.venv/stamp-install: .venv/stamp-environment pyproject.toml setup.py
	$(STRICT) $(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
	  --config-settings editable_mode=compat --editable .
	@touch $@

.venv/stamp-kernels: .venv/stamp-install $(KERNELS)
	$(STRICT) $(PYTHON) setup.py --quiet build_ext --inplace
	@touch $@

# Where there is no Java or Maven the tests that need a broker say so themselves.
.venv/stamp-jars: .venv/stamp-install streamnb/testing/kafka/pom.xml
	-$(PYTHON) -m streamnb.testing && touch $@

# Writes the newest versions that pyproject.toml allows.
lock:
	.ci/python -m venv --clear build/lock
	build/lock/bin/python -m pip install --quiet "streamnb[dev] @ file://$(CURDIR)"
	(echo "# The exact versions that make test, lint and demo run with; written by make lock."; \
	 build/lock/bin/python -m pip freeze --all --exclude pip --exclude streamnb) > requirements.txt
	rm -rf build/lock

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find streamnb -name '*.so' -delete
	find streamnb tests -name __pycache__ -type d -prune -exec rm -rf {} +
