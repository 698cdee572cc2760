# make without a target lists what there is.
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

SETUP := scripts/setup.sh
# Runtime images that setup and test make sure of: core, full or both.
IMAGES ?= core
# Packages and flags for go test.
PKG ?= ./...
TESTFLAGS ?=
PROGRAMS := $(patsubst cmd/%/main.go,%,$(wildcard cmd/*/main.go))
TOOL := go tool -modfile=tools/go.mod
SCRIPTS = $(shell git ls-files --cached --others --exclude-standard '*.sh' .ci/run ':!attacks')
# Outside a repository there is no revision to stamp.
VCS := $(shell git rev-parse HEAD >/dev/null 2>&1 && echo auto || echo false)

.PHONY: help
help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## A Docker daemon, redis-server and the runtime image (IMAGES="core full")
	@$(SETUP) docker redis $(foreach image,$(IMAGES),image $(image))

.PHONY: setup-gvisor
setup-gvisor: ## gVisor's runsc, registered with the Docker daemon
	@$(SETUP) gvisor

.PHONY: build
build: $(PROGRAMS:%=bin/%) ## The programs, in bin/

# go itself knows what is up to date. Built without -trimpath, since with it nothing that the tests and the linters have
# compiled could be used again, and the agent's libraries take minutes.
.PHONY: $(PROGRAMS:%=bin/%)
$(filter-out bin/sandbox-init bin/egress-proxy,$(PROGRAMS:%=bin/%)):
	@go build -buildvcs=$(VCS) -ldflags '-s -w' -o $@ ./cmd/$(@F)

# They run in any image. Not stamped with the revision: the same source gives the same bytes, and so the same volume.
bin/sandbox-init bin/egress-proxy:
	@CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -o $@ ./cmd/$(@F)

.PHONY: demo
demo: setup bin/worker bin/enqueue bin/sandbox-init ## Programs in five languages through queue, workers and containers
	@scripts/demo.sh

.PHONY: demo-agent
demo-agent: IMAGES = full
demo-agent: setup build ## An agent that writes, fails, repairs and plots; needs no key
	@scripts/demo-agent.sh

.PHONY: demo-compose
demo-compose: setup ## docker-compose.yml with three workers, built here; one of them dies (DEMO=--hardened: with the hardened file)
	@scripts/compose-demo.sh $(DEMO)

.PHONY: test
test: ## Set up, build, and run every test (PKG=./internal/jobs TESTFLAGS='-run Await')
	@IMAGES='$(IMAGES)' scripts/test.sh $(TESTFLAGS) $(PKG)

.PHONY: test-vm
test-vm: ## The container tests in a virtual machine with cgroup v2
	@scripts/test-vm.sh

.PHONY: test-faults
test-faults: ## Breaks workers, Redis and Docker under jobs (FAULTS=short TESTFLAGS='-run TestFaults/redis')
	@SANDLOOP_FAULTS='$(FAULTS)' scripts/test-faults.sh $(TESTFLAGS)

.PHONY: attack
attack: ## Attacks the sandbox in every mode there is here (ATTACK=short TESTFLAGS='-run TestAttacks/docker/memory')
	@SANDLOOP_ATTACK='$(ATTACK)' scripts/attack.sh $(TESTFLAGS)

.PHONY: soak
soak: ## Half an hour of every fault at random times, then a check of its history (SOAK_SEED, SOAK_MINUTES)
	@scripts/soak.sh $(TESTFLAGS)

.PHONY: bench
bench: setup build ## Medians and ratios against docker run and a bare process
	@scripts/bench.sh

.PHONY: bench-grade
bench-grade: setup build ## Grading: throw-away, reuse, bare processes (GO_JUDGE=URL of a go-judge)
	@scripts/bench-grade.sh $(if $(GO_JUDGE),--go-judge '$(GO_JUDGE)')

.PHONY: scaling
scaling: ## How queue and workers scale, into docs/ (SCALING='--jobs 100000 queue'); ten minutes
	@scripts/scaling.sh $(SCALING)

.PHONY: lint
lint: ## golangci-lint, gofumpt, shellcheck and check-deploy
	@$(TOOL) golangci-lint run ./...
	@unformatted=$$($(TOOL) gofumpt -l .); [ -z "$$unformatted" ] || \
		{ echo "not formatted (run make format):"; echo "$$unformatted"; exit 1; }
	@if command -v shellcheck >/dev/null; then shellcheck -x $(SCRIPTS); \
		else echo "lint: shellcheck is not installed, scripts are not checked (run $(SETUP) tools)"; fi
	@scripts/check-deploy.sh

.PHONY: check-deploy
check-deploy: ## deploy/ against the schemas of Kubernetes, KEDA and Swarm, and the alerts against their tests
	@scripts/check-deploy.sh

.PHONY: format
format: ## Formats the Go code with gofumpt
	@$(TOOL) gofumpt -w .

.PHONY: vuln
vuln: ## Known vulnerabilities in what is used; needs the network
	@$(TOOL) govulncheck ./... || { code=$$?; [ $$code -eq 3 ] || \
		echo "vuln: govulncheck could not do its work; is its database reachable from here?" >&2; exit $$code; }

.PHONY: fuzz
fuzz: ## Every fuzz target for 30 s, one after the other (FUZZTIME=5m FUZZ='wire|jobs')
	@scripts/fuzz.sh '$(FUZZ)'

.PHONY: sbom
sbom: ## What programs and images are made of, into bin/sbom/
	@scripts/sbom.sh

.PHONY: stop
stop: ## Stops the Docker daemon, if setup started it
	@$(SETUP) stop

.PHONY: clean
clean: ## Removes bin/
	rm -rf bin

.PHONY: clean-images
clean-images: ## Removes every runtime image that setup built
	@docker image ls --quiet --filter label=dev.sandloop.recipe | sort -u | xargs -r docker image rm --force
