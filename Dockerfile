# The checkout with its locked environment:
#   docker build --tag pc3d . && docker run --rm pc3d            (the demo)
#   docker run --rm pc3d make test                               (the tests)
FROM python:3.11-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /pc3d
COPY . .
RUN make setup
CMD ["make", "demo"]
