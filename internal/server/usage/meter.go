package usage

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/internal/nodekind"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/reach"
	"fairlead.dev/watchcache"
)

const (
	// Period is the time between two scrapes of a kubelet.
	Period = 15 * time.Second
	// Timeout bounds a scrape.
	Timeout = 10 * time.Second
	// Concurrent is how many scrapes run at a time.
	Concurrent = 64
)

// others selects the nodes that Fairlead does not simulate, so that heartbeats of simulated ones cause no work.
var others = func() watchcache.Selection {
	s, err := labels.Parse(corev1.LabelInstanceTypeStable + "!=fairlead-simulated")
	if err != nil {
		panic(err)
	}
	return watchcache.Selection{Labels: s, Readable: true}
}()

// Meter measures the nodes of kubelets, and their pods.
type Meter struct {
	nodes   *watchcache.Cache
	objects auth.Lookup
	network *reach.Network
	log     *slog.Logger
	mu      struct {
		sync.Mutex
		histories map[string]history // by node
	}
}

// New returns a Meter of the nodes in a cache, which l has too.
func New(nodes *watchcache.Cache, l auth.Lookup, n *reach.Network, log *slog.Logger) *Meter {
	return &Meter{nodes: nodes, objects: l, network: n, log: log}
}

// Node returns the usage of a node.
func (m *Meter) Node(name string) (Usage, bool) {
	return m.history(name).usage(object{}, "")
}

// Pod returns the usage of the containers of a pod on a node, by their names.
func (m *Meter) Pod(node, namespace, name string) (map[string]Usage, bool) {
	return m.history(node).pod(object{namespace, name})
}

func (m *Meter) history(node string) history {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.histories[node]
}

// Run scrapes until ctx ends.
func (m *Meter) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := m.follow(ctx); err != nil && ctx.Err() == nil {
			m.log.Warn("the watch of nodes failed, retrying", "error", err)
			pause(ctx, Period, nil)
		}
	}
	return nil
}

// follow scrapes while there are kubelets, and otherwise waits for one.
func (m *Meter) follow(ctx context.Context) error {
	w, err := m.nodes.Watch(ctx, others, 0)
	if err != nil {
		return err
	}
	defer w.Close()
	for ctx.Err() == nil {
		began := time.Now()
		all, err := m.kubelets(ctx)
		if err != nil {
			return err
		}
		m.scrapeAll(ctx, all)
		if len(all) > 0 {
			pause(ctx, Period-time.Since(began), nil)
		} else {
			pause(ctx, 0, w.Bell())
		}
		for {
			events, _, err := w.Next()
			if err != nil {
				return err
			}
			if len(events) == 0 {
				break
			}
		}
	}
	return nil
}

// pause waits for a time, or without one for a bell, and no longer than ctx.
func pause(ctx context.Context, d time.Duration, bell <-chan struct{}) {
	var after <-chan time.Time
	if bell == nil {
		t := time.NewTimer(d)
		defer t.Stop()
		after = t.C
	}
	select {
	case <-ctx.Done():
	case <-after:
	case <-bell:
	}
}

// kubelets returns the nodes to scrape.
func (m *Meter) kubelets(ctx context.Context) (list []*corev1.Node, err error) {
	snap, err := m.nodes.Snapshot(ctx, watchcache.ReadAt{})
	if err != nil {
		return nil, err
	}
	all, err := snap.List(others, "", 0)
	if err != nil {
		return nil, err
	}
	for o := range all {
		obj, err := m.objects.Get(ctx, corev1.Resource("nodes"), "", o.Name())
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if node := obj.(*corev1.Node); scraped(node) {
			list = append(list, node)
		}
	}
	return list, nil
}

// scraped reports whether a node has a kubelet that is alive.
func scraped(n *corev1.Node) bool {
	if nodekind.IsSimulated(n) || n.Status.DaemonEndpoints.KubeletEndpoint.Port == 0 {
		return false
	}
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status != corev1.ConditionUnknown
	})
}

// scrapeAll scrapes nodes and replaces the histories.
func (m *Meter) scrapeAll(ctx context.Context, nodes []*corev1.Node) {
	m.mu.Lock()
	before := m.mu.histories
	m.mu.Unlock()
	failed := func(n *corev1.Node) int {
		if before[n.Name].last == nil {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(nodes, func(a, b *corev1.Node) int { return cmp.Compare(failed(a), failed(b)) })
	found := make([]samples, len(nodes))
	var group errgroup.Group
	group.SetLimit(Concurrent)
	for i, n := range nodes {
		group.Go(func() (err error) {
			if found[i], err = m.scrape(ctx, n); err != nil {
				m.log.Debug("a kubelet cannot be scraped", "node", n.Name, "error", err)
			}
			return nil
		})
	}
	group.Wait()
	after := map[string]history{}
	for i, n := range nodes {
		if found[i] != nil {
			after[n.Name] = before[n.Name].with(found[i])
		}
	}
	m.mu.Lock()
	m.mu.histories = after
	m.mu.Unlock()
}
