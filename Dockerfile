# streamnb as a container: `docker build --tag streamnb .`, then `docker run --rm streamnb --help`.
# State lives in the volume /state; `docker stop` ends a worker in order, after its last checkpoint.

FROM python:3.12-slim AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY pyproject.toml setup.py requirements.txt README.md LICENSE ./
COPY streamnb streamnb
# A kernel that does not compile fails the image; the pinned versions are those of the tests.
RUN STREAMNB_REQUIRE_KERNELS=1 pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .
RUN pip wheel --no-cache-dir --constraint requirements.txt --wheel-dir /wheels /wheels/streamnb-*.whl

FROM python:3.12-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels streamnb
RUN useradd --uid 10001 --create-home streamnb \
 && install --directory --owner streamnb --group streamnb /state
USER streamnb
WORKDIR /home/streamnb
VOLUME /state
ENV PYTHONUNBUFFERED=1
STOPSIGNAL SIGTERM
# Without a shell in between: the signal reaches Python.
ENTRYPOINT ["streamnb"]
CMD ["--help"]
