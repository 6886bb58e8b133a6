package controlplane

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	"fairlead.dev/client/leader"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/leaderelection"
	"fairlead.dev/internal/resource/gates"
)

// electionsLease is the Lease, in kube-system, of the API server that elects the holders of other Leases.
const electionsLease = "leader-election-controller"

// holdElections elects the holders of Leases whenever no other API server does, until ctx ends.
func (cp *ControlPlane) holdElections(ctx context.Context) error {
	c, err := ownClient(cp.server)
	if err != nil {
		return err
	}
	log := cp.options.Log.With("component", electionsLease)
	who := leader.Candidate{
		Namespace: metav1.NamespaceSystem, Name: electionsLease, Identity: hostname() + "_" + uuid.NewString(),
		Timing: cp.options.Elections, Log: log,
	}
	record, closed := cp.record(types.NamespacedName{Namespace: who.Namespace, Name: who.Name}, who.Identity)
	defer closed()
	who.Record = record
	return leader.Run(ctx, c, who, func(ctx context.Context) error {
		informers := informer.NewSet(c).WithWatchTimeout(cp.options.pace().watches)
		run := leaderelection.New(controller.Env{Client: c, Informers: informers, Log: log})
		informers.Start(ctx)
		defer informers.Stop()
		return run.Run(ctx)
	})
}

// candidateVersions are the versions by which a part of an API's version is a candidate.
func candidateVersions(api gates.API) *leader.Coordinated {
	v := effectiveVersion(api)
	return &leader.Coordinated{BinaryVersion: semantic(v.BinaryVersion()), EmulationVersion: semantic(v.EmulationVersion())}
}

// semantic returns a version with a patch and without a pre-release.
func semantic(v *utilversion.Version) string {
	return fmt.Sprintf("%d.%d.%d", v.Major(), v.Minor(), v.Patch())
}
