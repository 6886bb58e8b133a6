package clusters

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/memnet"
	"fairlead.dev/internal/resource/gates"
	"fairlead.dev/internal/virtualclock"
	"fairlead.dev/watchcache"
	"fairlead.dev/workqueue"
)

// Namespace has a Secret of the name of each cluster, and KubeconfigKey is its key with the kubeconfig.
const (
	Namespace     = "fairlead-clusters"
	KubeconfigKey = "kubeconfig"
)

// Options configure a Host.
type Options struct {
	// API is the version of the Kubernetes API of new control planes.
	API gates.API
	// Clock, if not nil, is the clock of the process, and Network replaces the machine's network, as those of the server.
	Clock   *virtualclock.Clock
	Network *memnet.Network
	// Faults allows fault injection in them.
	Faults bool
	// Log is the operator's log.
	Log *slog.Logger
}

// Host implements controlplane.Host. Make it with New; it has one server.
type Host struct {
	options Options
	// start is controlplane.Start; tests replace it.
	start func(context.Context, controlplane.Options) (*controlplane.ControlPlane, error)
	// server is the control plane whose server hosts the others.
	server *controlplane.ControlPlane

	mu sync.RWMutex
	// clusters has the running clusters by name, and with the name "" the server itself, as the origin of forks.
	clusters map[string]*cluster
}

// New returns a Host for the server whose controlplane.Options have it.
func New(o Options) *Host {
	return &Host{options: o, start: controlplane.Start, clusters: map[string]*cluster{}}
}

//go:embed definition.yaml
var definition []byte

// Prepare implements controlplane.Host: it makes the server serve Clusters, and deletes those of an earlier process, whose
// control planes have ended with it.
func (h *Host) Prepare(ctx context.Context, cp *controlplane.ControlPlane) error {
	h.server = cp
	self := &cluster{host: h}
	self.running.Store(cp)
	h.set("", self)
	c, err := client.New(cp.InProcess(controlplane.HostUser), client.Options{Scheme: Scheme, UserAgent: "fairlead"})
	if err != nil {
		return err
	}
	_, err = c.REST().Do(ctx, client.Request{
		Method: "PATCH", Path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusters.fairlead.dev",
		Query: url.Values{"fieldManager": {"fairlead"}, "force": {"true"}}, ContentType: "application/apply-patch+yaml", Body: definition,
	})
	if err != nil {
		return fmt.Errorf("clusters: %w", err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}
	if _, err := client.For[*corev1.Namespace](c).Create(ctx, namespace); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("clusters: %w", err)
	}
	if err := client.For[*corev1.Secret](c).Namespace(Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("clusters: %w", err)
	}
	return h.forgetEarlier(ctx, client.For[*Cluster](c))
}

// forgetEarlier deletes the Clusters of an earlier process.
func (h *Host) forgetEarlier(ctx context.Context, clusters client.Resource[*Cluster]) error {
	for page, err := range clusters.Pages(ctx, metav1.ListOptions{}) {
		if err != nil {
			return fmt.Errorf("clusters: %w", err)
		}
		for _, object := range page.Items {
			h.options.Log.Warn("a hosted cluster has ended with the server's last process", "cluster", object.Name)
			if err := release(ctx, clusters, object); err != nil {
				return err
			}
			if err := clusters.Delete(ctx, object.Name); err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("clusters: %w", err)
			}
		}
	}
	return nil
}

// Prefixes implements controlplane.Host: a fork of the server has neither Clusters nor their kubeconfigs.
func (h *Host) Prefixes() []string {
	return []string{watchcache.Root + "fairlead.dev/clusters/", watchcache.Root + "secrets/" + Namespace + "/"}
}

// Run implements controlplane.Host: it keeps the control planes as the Clusters describe them.
func (h *Host) Run(ctx context.Context, cp *controlplane.ControlPlane) error {
	m, err := controller.NewManager(cp.InProcess(controlplane.HostUser), "clusters", controller.ManagerOptions{
		Client: client.Options{Scheme: Scheme, Trace: cp.Trace()}, Log: h.options.Log,
	})
	if err != nil {
		return err
	}
	objects := controller.ObjectsOf[*Cluster](m.Env)
	r := &reconciler{host: h, clusters: objects, secrets: client.For[*corev1.Secret](m.Client).Namespace(Namespace)}
	retries := workqueue.Options[controller.Key]{MaxDelay: time.Minute}
	c := m.New("clusters", r.reconcile, controller.Options{Queue: retries}).Watch(controller.For(objects).If(changed))
	r.failed = func(name string) { c.Enqueue(controller.Key{Name: name}) }
	err = m.Run(ctx)
	h.stopAll()
	return err
}

// find returns the cluster of a name, or nil.
func (h *Host) find(name string) *cluster {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.clusters[name]
}

// set makes c the cluster of a name; nil removes it.
func (h *Host) set(name string, c *cluster) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c == nil {
		delete(h.clusters, name)
		return
	}
	h.clusters[name] = c
}

// stopAll ends all control planes.
func (h *Host) stopAll() {
	h.mu.Lock()
	all := h.clusters
	h.clusters = map[string]*cluster{}
	h.mu.Unlock()
	var wait sync.WaitGroup
	for name, c := range all {
		wait.Go(func() {
			if err := c.stop(); err != nil {
				h.options.Log.Warn("a hosted cluster has ended with an error", "cluster", name, "error", err)
			}
		})
	}
	wait.Wait()
}
