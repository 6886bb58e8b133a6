package controlplane

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	internalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/gates"
	"fairlead.dev/internal/server/barrier"
	"fairlead.dev/internal/storageversion"
)

// storageVersions are the StorageVersions, in which API servers report the versions that they store.
var storageVersions = internalv1alpha1.SchemeGroupVersion.WithResource("storageversions")

// hasStorageVersions reports whether the API server registers StorageVersions.
func hasStorageVersions(api gates.API) bool {
	return api.Enabled(gateStorageVersions) && api.Enabled(serverLeaseGate)
}

const (
	// registrationAttempts are made for each StorageVersion in a round, registrationPause apart. Conflicts with other servers do
	// not count.
	registrationAttempts = 3
	registrationPause    = time.Second
	// registrationEvery is the time between two rounds, which repair StorageVersions that others have changed.
	registrationEvery = 10 * time.Minute
)

// newBarrier returns the barrier for writes of the resources, nil if the API has no StorageVersions.
func newBarrier(api gates.API, rows []*resource.Resource) *barrier.Barrier {
	if !hasStorageVersions(api) {
		return nil
	}
	return barrier.New(rows)
}

// A registration writes what the API server stores to StorageVersions, over the wire in memory. The rounds and attempts are
// kube-apiserver's.
type registration struct {
	c       *client.Client
	barrier *barrier.Barrier
	lease   *serverLease
	log     *slog.Logger
	// settled is closed after the first round, or the first failure before.
	settled chan struct{}

	stop context.CancelFunc
	done chan struct{}
}

// registerVersions starts to register the server's StorageVersions, if the API has them, and waits for the first round. If
// something fails in it, later rounds go on.
func (cp *ControlPlane) registerVersions(ctx context.Context) error {
	if cp.barrier == nil {
		return nil
	}
	c, err := ownClient(cp.server)
	if err != nil {
		return err
	}
	r := &registration{
		c: c, barrier: cp.barrier, lease: cp.lease, log: cp.options.Log,
		settled: make(chan struct{}), done: make(chan struct{}),
	}
	running, stop := context.WithCancel(context.Background())
	r.stop = stop
	cp.registration = r
	if !asked(storageVersions)(cp.options.API) {
		r.log.Warn("writes are refused: StorageVersionAPI is on, and StorageVersions are not served", "missing", "--runtime-config="+storageVersions.GroupVersion().String()+"=true")
	}
	go r.run(running)
	select {
	case <-r.settled:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close ends the rounds.
func (r *registration) close() {
	if r == nil {
		return
	}
	r.stop()
	<-r.done
}

// run registers the StorageVersions until ctx ends. The Lease is there before, because the report of a server
// without one is removed.
func (r *registration) run(ctx context.Context) {
	defer close(r.done)
	r.awaitLease(ctx)
	for ctx.Err() == nil {
		if r.round(ctx) {
			r.barrier.Lift()
		}
		r.settle()
		wait(ctx, registrationEvery)
	}
	r.settle()
}

func (r *registration) awaitLease(ctx context.Context) {
	select {
	case <-r.lease.there:
		return
	case <-r.lease.failed:
		r.settle()
	case <-ctx.Done():
	}
	select {
	case <-r.lease.there:
	case <-ctx.Done():
	}
}

// settle lets the start go on.
func (r *registration) settle() {
	select {
	case <-r.settled:
	default:
		close(r.settled)
	}
}

// round registers all StorageVersions and returns whether it could.
func (r *registration) round(ctx context.Context) (complete bool) {
	complete = true
	for _, report := range r.barrier.Reports() {
		if err := r.register(ctx, report); ctx.Err() != nil {
			return false
		} else if err != nil {
			r.log.Warn("a StorageVersion was not registered", "name", report.Name(), "err", err)
			complete = false
		}
	}
	return complete
}

// register registers a StorageVersion, after a failure several times.
func (r *registration) register(ctx context.Context, report *barrier.Report) (err error) {
	for failures := 0; failures < registrationAttempts && ctx.Err() == nil; wait(ctx, registrationPause) {
		if err = r.write(ctx, report); apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			continue
		}
		if r.barrier.Done(report, err); err == nil {
			return nil
		}
		failures++
		r.settle()
	}
	return err
}

// write writes the report of the server to a StorageVersion.
func (r *registration) write(ctx context.Context, report *barrier.Report) error {
	versions := client.For[*internalv1alpha1.StorageVersion](r.c)
	v, err := versions.Get(ctx, report.Name())
	if apierrors.IsNotFound(err) {
		v, err = versions.Create(ctx, &internalv1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{Name: report.Name()}})
	}
	if meta.IsNoMatchError(err) {
		return apierrors.NewGenericServerResponse(http.StatusNotFound, "post", storageVersions.GroupResource(), "", "", 0, true)
	}
	if err != nil {
		return err
	}
	v = v.DeepCopy()
	entry := internalv1alpha1.ServerStorageVersion{
		APIServerID: r.lease.name, EncodingVersion: report.Encoding, DecodableVersions: report.Decodable, ServedVersions: report.Served,
	}
	servers := &v.Status.StorageVersions
	if i := slices.IndexFunc(*servers, func(s internalv1alpha1.ServerStorageVersion) bool { return s.APIServerID == entry.APIServerID }); i >= 0 {
		(*servers)[i] = entry
	} else {
		*servers = append(*servers, entry)
	}
	storageversion.Summarize(v, time.Now())
	_, err = versions.UpdateStatus(ctx, v)
	return err
}
