package controlplane

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"fairlead.dev/internal/server/barrier"
	"fairlead.dev/server"
)

// stage is how far the start has come.
type stage int32

const (
	assembled    stage = iota + 1 // the server's caches are loaded, its admission and definitions are in effect
	bootstrapped                  // the first objects of the cluster exist
	repaired                      // cluster IPs and IPAddresses agree
	working                       // the background work has been started
)

// stages derives the checks of kube-apiserver's post-start hooks from the stages here that
// do the hooks' work.
type stages struct{ reached atomic.Int32 }

func (s *stages) reach(to stage) { s.reached.Store(int32(to)) }

// versionsHook is the hook that ends when the StorageVersions of the server are registered.
const versionsHook = "built-in-resources-storage-version-updater"

var errNotFinished = errors.New("not finished")

// hooks are the parts of a server with hooks of their own.
type hooks struct {
	fairness, leased, elects bool
	// writes is nil if StorageVersions are not registered.
	writes *barrier.Barrier
	// registered returns why APIServices are not there yet.
	registered func() error
}

// hooks are the checks, in kube-apiserver's order, without the hooks that have no
// counterpart here: those of peer endpoints, and certificate refresh.
func (s *stages) hooks(of hooks) (list []server.Check) {
	type hook struct {
		name  string
		after stage
	}
	limits := []hook{{"max-in-flight-filter", assembled}}
	if of.fairness {
		limits = []hook{{"priority-and-fairness-config-consumer", bootstrapped}, {"priority-and-fairness-filter", assembled}}
	}
	var leases, elections, versions []hook
	if of.elects {
		elections = []hook{{"start-kube-apiserver-coordinated-leader-election-controller", working}}
	}
	if of.writes != nil {
		versions = []hook{{versionsHook, working}}
	}
	if of.leased {
		leases = []hook{{"start-kube-apiserver-identity-lease-controller", working}, {"start-kube-apiserver-identity-lease-garbage-collector", working}}
	}
	for _, h := range slices.Concat([]hook{
		{"start-apiserver-admission-initializer", assembled},
		{"generic-apiserver-start-informers", assembled},
	}, limits, []hook{
		{"storage-object-count-tracker-hook", assembled},
		{"start-apiextensions-informers", assembled},
		{"start-apiextensions-controllers", working},
		{"crd-informer-synced", assembled},
		{"start-system-namespaces-controller", bootstrapped},
	}, elections, []hook{
		{"start-cluster-authentication-info-controller", bootstrapped},
	}, leases, []hook{
		{"storage-readiness", assembled},
		{"start-legacy-token-tracking-controller", bootstrapped},
		{"start-service-ip-repair-controllers", repaired},
		{"rbac/bootstrap-roles", bootstrapped},
		{"scheduling/bootstrap-system-priority-classes", bootstrapped},
		{"priority-and-fairness-config-producer", bootstrapped},
		{"bootstrap-controller", bootstrapped},
		{"start-kubernetes-service-cidr-controller", bootstrapped},
		{"start-kube-aggregator-informers", assembled},
		{"apiservice-status-local-available-controller", working},
		{"apiservice-status-remote-available-controller", working},
		{"apiservice-registration-controller", bootstrapped},
		{"apiservice-discovery-controller", working},
	}, versions, []hook{
		{"kube-apiserver-autoregistration", bootstrapped},
		{"", 0}, // autoregister-completion
		{"apiservice-openapi-controller", working},
		{"apiservice-openapiv3-controller", working},
	}) {
		check := server.Check{Name: "poststarthook/" + h.name, Of: func(context.Context) error {
			if stage(s.reached.Load()) < h.after || h.name == versionsHook && !of.writes.Lifted() {
				return errNotFinished
			}
			return nil
		}}
		if h.name == "" {
			check = server.Check{Name: "autoregister-completion", Of: func(context.Context) error { return of.registered() }}
		}
		list = append(list, check)
	}
	return list
}
