# What a developer runs; CI runs the same. `make` alone builds.
.PHONY: build demo test lint vet-all unit interop bench soak generate cross fmt

VERSION ?= $(shell git describe --tags --always 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)

build: ## the binary, static, and the bridge alone
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/grapnel ./cmd/grapnel-acp-bridge

demo: build ## the whole path, offline, nothing configured
	./bin/grapnel demo

test: lint unit interop ## everything

lint: ## format, vet on three systems, staticcheck
	./scripts/lint

unit: ## all Go tests, with the race detector
	GORACE=atexit_sleep_ms=10 go test -race -timeout 20m ./... # else every process that a test starts takes a second to exit

interop: build ## other people's clients against the binary
	./scripts/interop

bench: ## the table of docs/benchmarks.md
	./scripts/bench

soak: build ## the long tests in full; results in docs/soak.md
	./scripts/soak

generate: ## ACP types from the official schema, reference pages from the code
	./scripts/generate

cross: ## all six release binaries in dist/
	./scripts/cross

fmt:
	./scripts/tool gofumpt -w $$(git ls-files '*.go')
