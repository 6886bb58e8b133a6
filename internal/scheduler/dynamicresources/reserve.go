package dynamicresources

import (
	"errors"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/devices"
	"fairlead.dev/internal/scheduler/framework"
)

// Reserve chooses the devices on the node and takes them.
func (pl Plugin) Reserve(c *cache.Cluster, p *cache.PodInfo, n *cache.NodeInfo) (framework.Reservation, framework.Status) {
	a, v := pl.attempt(c, p)
	if a == nil {
		return framework.Reservation{}, v
	}
	b := &binding{plugin: pl, writer: cache.DevicesOf(c).Writer, groups: cache.DevicesOf(c).HasGroupClaims(), pod: p.Pod, node: n.Name}
	for i := range a.allocated {
		claim := a.allocated[i].claim
		b.steps = append(b.steps, step{claim: claim, user: a.user(claim), allocation: a.allocated[i].shared})
	}
	if err := b.choose(a, n); err != nil {
		return framework.Reservation{}, framework.Failed(err)
	}
	for i := range b.steps {
		if s := &b.steps[i]; s.uses != nil {
			cache.DevicesOf(c).ReserveUnnamed(p.Pod.UID, s.allocation)
		} else if s.allocation != nil {
			cache.DevicesOf(c).Reserve(s.claim, s.allocation)
		}
	}
	if !b.writes() && !b.waits() {
		return framework.Reservation{}, success
	}
	return framework.Reservation{
		PreBind: b.preBind, Unreserve: b.unreserve,
		Release: func() { b.release(cache.DevicesOf(c)) },
	}, success
}

// choose adds the steps of the claims that have to be allocated on a node.
func (b *binding) choose(a *attempt, n *cache.NodeInfo) error {
	request := a.requestOn(n)
	if request == nil {
		return nil
	}
	results, err := request.Allocate(n.Node)
	if err == nil && results == nil {
		err = errors.New("claim allocation not found for node")
	}
	if err != nil {
		return err
	}
	for i, claim := range a.pending {
		b.steps = append(b.steps, step{claim: claim, user: a.user(claim), allocation: &results[i]})
	}
	if len(results) > len(a.pending) {
		v := a.variantOn(n)
		b.steps = append(b.steps, step{claim: v.claim, user: podUser(a.pod), allocation: &results[len(a.pending)], uses: v.uses})
	}
	return nil
}

// release ends that allocations are in flight.
func (b *binding) release(s *devices.State) {
	for i := range b.steps {
		if of := &b.steps[i]; of.uses != nil {
			s.ReleaseUnnamed(b.pod.UID)
		} else if of.allocation != nil {
			s.Release(of.claim)
		}
	}
}
