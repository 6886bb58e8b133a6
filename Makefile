# `make help` lists what there is.
.DEFAULT_GOAL := help
.PHONY: help build test race bench compat ci

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build fairlead and kubectl into bin/
	go build -o bin/ ./cmd/...

test: ## what go test ./... tests
	go test ./...

race: ## the concurrent packages under the race detector
	go test -race ./storage/... ./watchcache/... ./workqueue/... ./informer/... ./controller/... ./client/... ./server/... ./scheduler/... ./node/... ./controlplane/...

bench: ## the benchmarks beside the code
	go test -run '^$$' -bench . -benchmem ./...

compat: ## our clients against upstream's kube-apiserver and etcd (builds both: minutes)
	cd compat && go test -count=1 -v ./...

ci: ## everything that must hold before a change lands
	.ci/run
