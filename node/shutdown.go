package node

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/node/kubeletconfig"
	"fairlead.dev/internal/node/lifecycle"
)

// ShutdownAnnotation of a Node shuts its machine down when it becomes "true": the kubelet ends the pods within the times of
// its configuration, and then there is an outage until the annotation is removed, which starts the machine again.
const ShutdownAnnotation = "fairlead.dev/shutdown"

// The reason and the messages of a kubelet that shuts down.
const (
	terminated      = "Terminated"
	shutdownMessage = "Pod was terminated in response to imminent node shutdown."
	shutdownEvent   = "NodeShutdown"
)

// powerOffDelay is the most that a machine takes to be off when its pods have had their time: enough to write what has become
// of them, and that the node is not ready.
const powerOffDelay = 5 * time.Second

// shutdown is the state of a machine that shuts down.
type shutdown struct {
	asked  bool
	graded bool            // groups is set
	groups []shutdownGroup // that have not ended, the lowest priority first
	off    bool            // the machine is off
	ended  time.Time       // when the time of the last group was over
	next   time.Time       // when to look again
}

// shutdownGroup are the pods that end together.
type shutdownGroup struct {
	priority int32
	grace    time.Duration
	since    time.Time // zero until the group ends
	pods     []types.UID
}

// ends reports whether a kubelet ends its pods now, and takes no more.
func (s *shutdown) ends() bool { return s.asked && !s.off }

// askShutdown takes over whether a Node asks for a shutdown. Without a grace period in the configuration the machine is
// off at once. mu is held; so below.
func (k *kubelet) askShutdown(n *corev1.Node, asked bool) {
	s := &k.mu.shutdown
	if s.asked == asked {
		return
	}
	wasOff := s.off
	*s = shutdown{asked: asked}
	switch graceful := len(shutdownGroups(k.mu.settings.kubelet())) > 0; {
	case asked && !graceful:
		s.off = true
		return
	case asked:
		k.recordAbout(n, corev1.EventTypeNormal, shutdownEvent, "Shutdown manager detected shutdown event")
		k.watchUsage()
	case wasOff:
		k.mu.boots++
	default:
		k.recordAbout(n, corev1.EventTypeNormal, shutdownEvent, "Shutdown manager detected shutdown cancellation")
	}
	k.mu.news = true
	k.beat()
}

// shutdownGroups returns the groups of a configuration, without pods, the lowest priority first.
func shutdownGroups(c *kubeletconfig.Config) (all []shutdownGroup) {
	for _, p := range c.ShutdownGracePeriodByPodPriority {
		all = append(all, shutdownGroup{priority: p.Priority, grace: time.Duration(p.ShutdownGracePeriodSeconds) * time.Second})
	}
	if total, critical := c.ShutdownGracePeriod.Duration, c.ShutdownGracePeriodCriticalPods.Duration; all == nil && total > 0 {
		const systemCritical = 2_000_000_000
		all = []shutdownGroup{{grace: (total - critical).Truncate(time.Second)}, {priority: systemCritical, grace: critical.Truncate(time.Second)}}
	}
	slices.SortFunc(all, func(a, b shutdownGroup) int { return cmp.Compare(a.priority, b.priority) })
	return all
}

// group adds the pods of the node to the groups: each to the one with the highest priority that is not above its own, or
// to the lowest.
func (k *kubelet) group() []shutdownGroup {
	all := shutdownGroups(k.mu.settings.kubelet())
	for uid, p := range k.mu.pods {
		if lifecycle.IsOver(&p.latest.Status) || !p.admitted && p.latest.Status.StartTime == nil {
			continue
		}
		of := 0
		for i := range all {
			if all[i].priority <= ptr.Deref(p.latest.Spec.Priority, 0) {
				of = i
			}
		}
		all[of].pods = append(all[of].pods, uid)
	}
	return all
}

// shutDown takes the next step of a shutdown, and reports whether there is one. A group ends when all of its pods have
// ended, or at the end of its time.
func (k *kubelet) shutDown(now time.Time) bool {
	s := &k.mu.shutdown
	if !s.ends() {
		return false
	}
	if !s.graded {
		s.groups, s.graded = k.group(), true
	}
	for len(s.groups) > 0 {
		g := &s.groups[0]
		if g.since.IsZero() {
			g.since = now
			k.endGroup(g, now)
		}
		if end := g.since.Add(g.grace); now.Before(end) && slices.ContainsFunc(g.pods, k.runsStill) {
			s.next = end
			return true
		}
		s.groups = s.groups[1:]
	}
	if s.ended.IsZero() {
		s.ended = now
	}
	if now.Sub(s.ended) < powerOffDelay && (k.mu.news || k.endsPods()) {
		s.next = now.Add(powerOffDelay / 10)
		return true
	}
	s.off, s.next = true, time.Time{}
	k.setOutage(true)
	return true
}

func (k *kubelet) endGroup(g *shutdownGroup, now time.Time) {
	for _, uid := range g.pods {
		if p := k.mu.pods[uid]; p != nil && p.ending == nil && p.latest.DeletionTimestamp == nil {
			k.end(p, &lifecycle.Ending{Since: now, Grace: g.grace, Reason: terminated, Message: shutdownMessage, Target: shutdownMessage}, "")
		}
	}
}

// endsPods reports whether pods that the node ends have not ended.
func (k *kubelet) endsPods() bool {
	for _, p := range k.mu.pods {
		if p.ending != nil && !lifecycle.IsOver(&p.latest.Status) {
			return true
		}
	}
	return false
}

func (k *kubelet) runsStill(uid types.UID) bool {
	p := k.mu.pods[uid]
	return p != nil && !lifecycle.IsOver(&p.latest.Status)
}
