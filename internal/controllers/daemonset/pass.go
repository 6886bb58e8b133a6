package daemonset

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol"
)

// pass is one reconciliation of one DaemonSet, on one goroutine.
type pass struct {
	c          *daemons
	ctx        context.Context
	k          controller.Key
	now        time.Time
	ds         *appsv1.DaemonSet // the informer's, read only
	fit        fit
	hash       string // of the present template
	generation string
	surge      int // the number of nodes that may have a second, new pod
	missing    int // the number of nodes that may be without an available pod

	nodes []site // all nodes, by name
	owned []*corev1.Pod

	create []string      // nodes to make a pod for
	remove []*corev1.Pod // pods to delete
	again  time.Duration // when to requeue without an event; zero for never
}

// site is a node with the set's pods on it or meant for it, the oldest first.
type site struct {
	node *corev1.Node // nil if it is gone
	name string
	verdict
	pods []*corev1.Pod
}

func newPass(ctx context.Context, c *daemons, ds *appsv1.DaemonSet, pods []*corev1.Pod, current *appsv1.ControllerRevision) (*pass, error) {
	p := &pass{
		c: c, ctx: ctx, k: controller.KeyOf(ds), now: time.Now(), ds: ds, owned: pods,
		fit: newFit(ds), hash: current.Labels[appsv1.DefaultDaemonSetUniqueLabelKey], generation: generationOf(ds),
	}
	on := make(map[string][]*corev1.Pod)
	for _, pod := range pods {
		if podcontrol.IsFinished(pod) && pod.DeletionTimestamp != nil {
			continue // terminating
		}
		if n := nodeOf(pod); n != "" {
			on[n] = append(on[n], pod)
		}
	}
	wanted := 0
	for _, node := range c.nodes.Store().List("") {
		s := site{node: node, name: node.Name, verdict: p.fit.on(node), pods: on[node.Name]}
		delete(on, node.Name)
		if s.run {
			wanted++
		}
		p.nodes = append(p.nodes, s)
	}
	for name, pods := range on {
		p.nodes = append(p.nodes, site{name: name, pods: pods})
	}
	slices.SortFunc(p.nodes, func(a, b site) int { return strings.Compare(a.name, b.name) })
	for _, s := range p.nodes {
		slices.SortFunc(s.pods, byAge)
	}
	return p, p.limits(wanted)
}

// byAge puts pods that have a node first, then older ones.
func byAge(a, b *corev1.Pod) int {
	if x, y := a.Spec.NodeName != "", b.Spec.NodeName != ""; x != y {
		if x {
			return -1
		}
		return 1
	}
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
}

// limits computes surge and missing for a rolling update, both rounded up.
func (p *pass) limits(wanted int) (err error) {
	r := p.ds.Spec.UpdateStrategy.RollingUpdate
	if p.ds.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType || r == nil {
		return nil
	}
	if r.MaxSurge != nil {
		if p.surge, err = intstr.GetScaledValueFromIntOrPercent(r.MaxSurge, wanted, true); err != nil {
			return err
		}
	}
	if r.MaxUnavailable != nil {
		if p.missing, err = intstr.GetScaledValueFromIntOrPercent(r.MaxUnavailable, wanted, true); err != nil {
			return err
		}
	}
	if wanted > 0 && p.surge == 0 && p.missing == 0 {
		p.missing = 1
	}
	return nil
}

// step creates and deletes pods until every node has its number; after that it advances the rolling update.
func (p *pass) step() error {
	for i := range p.nodes {
		p.tend(&p.nodes[i])
	}
	if len(p.create)+len(p.remove) == 0 && p.ds.Spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType {
		p.rollOut()
	}
	return p.apply()
}

// apply creates and deletes as decided.
func (p *pass) apply() error {
	create, remove := p.create[:min(len(p.create), perPass)], p.remove[:min(len(p.remove), perPass)]
	p.c.expected.ExpectCreates(p.k, len(create))
	p.c.expected.ExpectDeletes(p.k, uids(remove)...)
	made, createErr := podcontrol.SlowStart(len(create), func(i int) error {
		return p.c.control.Create(p.ctx, p.ds, p.build(create[i]))
	})
	for range len(create) - made { // failed and skipped creates will not be seen
		p.c.expected.Created(p.k)
	}
	if podcontrol.NamespaceGoing(createErr) {
		createErr = nil
	}
	_, removeErr := podcontrol.Parallel(len(remove), func(i int) error {
		err := p.c.control.Delete(p.ctx, p.ds, remove[i])
		if err != nil {
			p.c.expected.Deleted(p.k, remove[i].UID)
		}
		return client.IgnoreNotFound(err)
	})
	return errors.Join(createErr, removeErr)
}

func uids(pods []*corev1.Pod) []types.UID {
	ids := make([]types.UID, len(pods))
	for i, p := range pods {
		ids[i] = p.UID
	}
	return ids
}

// wake requeues the set after d at the latest.
func (p *pass) wake(d time.Duration) {
	if d > 0 && (p.again == 0 || d < p.again) {
		p.again = d
	}
}

func (p *pass) isAvailable(pod *corev1.Pod) bool {
	wait, ok := podcontrol.AvailableIn(pod, time.Duration(p.ds.Spec.MinReadySeconds)*time.Second, p.now)
	if ok {
		p.wake(wait)
	}
	return ok && wait == 0
}
