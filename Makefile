# `make help` lists what there is.
# TEST runs the tests, and VET checks the code; .ci/run has its own.
TEST = go test
VET = go vet
.DEFAULT_GOAL := help
.PHONY: help build test purego e2e race race-all bench bench-client attack soak clients languages page testcluster schedulerplugins intree compat realnode conformance integration suites autoscalers docs release cross types ci

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build fairlead and kubectl into bin/
	go build -tags=grpcnotrace -o bin/ ./cmd/fairlead
	cd cmd/kubectl && go build -o ../../bin/ .

test: ## what go test ./... tests
	$(TEST) ./...

purego: export GOFLAGS := $(GOFLAGS) -tags=purego
purego: ## test and e2e on upstream's code in place of our fast twins (internal/purego)
	$(TEST) -timeout=30m ./...
	cd e2e && $(TEST) -timeout=30m ./...

e2e: ## the built programs, and tests with etcd, kubectl and controller-runtime
	cd e2e && $(TEST) -timeout=12m ./...

testcluster: ## the module fairlead.dev/testcluster, with the built program
	cd testcluster && $(TEST) ./...

race race-all: export CGO_ENABLED = 1
race: ## the packages whose goroutines share data, under the race detector
	$(TEST) -race -timeout=15m ./internal/rawmem ./internal/codec/... ./storage/... ./internal/storage/... ./watchcache/... ./internal/watchcache/... ./workqueue/... ./informer/... ./controller/... ./client/... ./server/... ./internal/server/... ./scheduler/... ./internal/scheduler/... ./node/... ./internal/node/... ./internal/nodegroups/... ./internal/controlplane/...

race-all: race ## race, and each controller by itself, etcd and the plugins of kube-scheduler's framework
	$(TEST) -race -timeout=30m ./internal/controllers/...
	cd e2e && $(TEST) -race -timeout=30m ./etcd ./etcdserver ./controlplane
	cd schedulerplugins && $(TEST) -race ./...

bench: ## the benchmarks beside the code
	go test -run '^$$' -bench . -benchmem ./...

bench-client: ## the client library beside client-go and controller-runtime (ten minutes)
	cd bench && go run ./libraries

attack: ## what would take the server down, beside kube-apiserver (15 minutes; $$UPSTREAM_BIN or it alone)
	cd bench && go run ./attack $(if $(UPSTREAM_BIN),,-against fairlead)

soak: ## the long tests: hundreds of crashes, lost members, storms
	go test -tags soak -timeout 60m -count=1 ./storage/... ./server/... ./internal/server/... ./watchcache/... ./internal/clientsuite ./internal/controlplane
	cd e2e && go test -tags soak -timeout 60m -count=1 ./etcd ./etcdserver ./controlplane

clients: ## programs that people use, kubectl and Helm, against our server
	cd clients && $(VET) ./... && $(TEST) -count=1 ./...

schedulerplugins: ## the module fairlead.dev/schedulerplugins, and its example
	cd schedulerplugins && $(TEST) ./...
	cd examples/schedulerplugin && $(TEST) ./...

intree: ## kube-scheduler's own plugins in our scheduler (compiles them: minutes)
	cd schedulerplugins/intree && $(VET) ./... && $(TEST) -count=1 ./...

languages: ## the examples in other languages, with the built program
	go build -o bin/ ./cmd/fairlead
	cd examples/languages/python && FAIRLEAD_BINARY=$(CURDIR)/bin/fairlead python3 -m unittest -v
	cd examples/languages/node && npm ci --no-fund --no-audit && FAIRLEAD_BINARY=$(CURDIR)/bin/fairlead npm test

page: ## the page at /ui in headless Chromium
	cd clients/browser && npm ci --no-fund --no-audit && $(VET) -mod=mod ./... && $(TEST) -mod=mod -count=1 ./...

compat: ## our clients against upstream's kube-apiserver and etcd (builds both: minutes)
	cd compat && go test -count=1 -timeout 60m -parallel 48 -v ./...

realnode: ## clusters of real kubelets and containers on this machine (root; builds them: minutes)
	cd compat && go test -tags realnode -count=1 -timeout 90m -v ./realnode

conformance: ## Kubernetes' own conformance tests (builds them: minutes), as root on real nodes
	cd compat && go test -tags conformance -count=1 -timeout 90m -parallel 8 -v ./conformance

integration: ## Kubernetes' own integration tests of the scheduler and of devices, on the built program (builds them: minutes)
	cd compat && go test -tags integration -count=1 -timeout 90m -v ./integration

autoscalers: ## Karpenter, and the Cluster Autoscaler of $$CLUSTER_AUTOSCALER, on simulated nodes (builds Karpenter: minutes)
	cd compat && go test -tags autoscalers -count=1 -timeout 60m -v ./autoscalers

suites: SUITES ?= -rounds 3
suites: ## the own suites of projects that use envtest ($$ENVTEST_ASSETS runs them on kube-apiserver too; hours)
	cd compat && go test -tags suites -count=1 -timeout 0 -v ./suites -args $(SUITES)

docs: ## the documents as a static site in site/ (needs mkdocs); REPOSITORY_URL is the host of its links to sources
	mkdocs build --strict

RELEASE = --snapshot
release: export PATH := $(CURDIR)/bin:$(PATH)
release: export GITHUB_REPOSITORY_OWNER ?= OWNER
release: export HOMEBREW_TAP_TOKEN ?=
release: ## the files of a release in dist, tested; nothing is published (cross-builds: minutes)
	GOBIN=$(CURDIR)/bin go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
	GOBIN=$(CURDIR)/bin go install github.com/goreleaser/goreleaser/v2@v2.15.4
	goreleaser check
	goreleaser release --clean $(RELEASE)
	cd release && go run ./image -dist=../dist -version=$$(sed 's/.*"version":"\([^"]*\)".*/\1/' ../dist/metadata.json) -out=../dist/image
	cd release && $(TEST) -count=1 ./...

# PLATFORMS are compiled with the flags of the release, which reuses them; all of OTHERS are type-checked.
OTHERS = linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
PLATFORMS = $(OTHERS)
cross: types ## build for the other systems of a release (cold: 4 minutes for each on two cores)
	for platform in $(PLATFORMS); do \
		echo $$platform; \
		CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} go build -trimpath -tags=grpcnotrace -o /dev/null ./cmd/fairlead || exit 1; \
	done

types: ## type-check packages and tests for the other systems of a release, without compiling
	go -C release run ./typecheck -C .. $(OTHERS)
	go -C release run ./typecheck -C ../testcluster $(OTHERS)

ci: ## everything that must hold before a change lands
	.ci/run
