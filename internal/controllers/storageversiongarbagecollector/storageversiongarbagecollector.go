// Package storageversiongarbagecollector takes the reports of API servers that have ended out of StorageVersions, and deletes
// a StorageVersion in which no report is left. A server has ended when its Lease is gone.
//
// Before a report is removed, the server is asked for the Lease, because the informers may be behind. Nothing is removed from
// a StorageVersion that has changed meanwhile.
package storageversiongarbagecollector

import (
	"context"
	"time"

	internalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/storageversion"
)

type collector struct {
	versions controller.Objects[*internalv1alpha1.StorageVersion]
	leases   controller.Objects[*coordinationv1.Lease]
}

// byServer is the index of StorageVersions by the servers that report to them.
const byServer = "API server"

// New returns the controller.
func New(env controller.Env) controller.Runner {
	c := &collector{controller.ObjectsOf[*internalv1alpha1.StorageVersion](env), controller.ObjectsOf[*coordinationv1.Lease](env)}
	c.versions.Index(byServer, func(v *internalv1alpha1.StorageVersion) (names []string) {
		for _, s := range v.Status.StorageVersions {
			names = append(names, s.APIServerID)
		}
		return names
	})
	return controller.New("storageversiongarbagecollector", controller.ByObject(c.versions, c.reconcile), controller.Options{}).Watch(
		controller.For(c.versions).On(controller.Added, controller.Updated),
		controller.Watches(c.leases, c.reported).On(controller.Deleted),
	)
}

// reported returns the StorageVersions with a report of the API server that had a Lease.
func (c *collector) reported(l *coordinationv1.Lease) (keys []controller.Key) {
	if !ofServer(l) {
		return nil
	}
	for _, v := range c.versions.Store().ByIndex(byServer, l.Name) {
		keys = append(keys, controller.KeyOf(v))
	}
	return keys
}

// ofServer reports whether a Lease is that of an API server.
func ofServer(l *coordinationv1.Lease) bool {
	return l.Namespace == metav1.NamespaceSystem && l.Labels[storageversion.ServerLabel] == storageversion.Server
}

func (c *collector) reconcile(ctx context.Context, v *internalv1alpha1.StorageVersion) (controller.Result, error) {
	var left []internalv1alpha1.ServerStorageVersion
	for _, s := range v.Status.StorageVersions {
		runs, err := c.runs(ctx, s.APIServerID)
		if err != nil {
			return controller.Result{}, err
		}
		if runs {
			left = append(left, s)
		}
	}
	switch len(left) {
	case len(v.Status.StorageVersions):
		return controller.Result{}, nil
	case 0:
		same := metav1.Preconditions{UID: &v.UID, ResourceVersion: &v.ResourceVersion}
		return controller.Result{}, client.IgnoreNotFound(c.versions.API.Delete(ctx, v.Name, metav1.DeleteOptions{Preconditions: &same}))
	}
	v = v.DeepCopy()
	v.Status.StorageVersions = left
	storageversion.Summarize(v, time.Now())
	_, err := c.versions.API.UpdateStatus(ctx, v)
	return controller.Result{}, client.IgnoreNotFound(err)
}

// runs reports whether an API server has its Lease.
func (c *collector) runs(ctx context.Context, name string) (bool, error) {
	if l, ok := c.leases.Store().Get(metav1.NamespaceSystem, name); ok && ofServer(l) {
		return true, nil
	}
	l, err := c.leases.API.Namespace(metav1.NamespaceSystem).Get(ctx, name)
	if err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return ofServer(l), nil
}
