package deployment

import (
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/controllers/podcontrol"
)

// recreate does one step of a recreation: it scales down the old sets, waits until their pods are gone, then scales
// up the new one.
func (p *pass) recreate() error {
	emptied := false
	for _, rs := range active(p.old) {
		scaled, err := p.resize(rs, 0)
		if err != nil {
			return err
		}
		emptied = emptied || scaled
	}
	if emptied || p.oldPodsRun() {
		return nil
	}
	if err := p.ensureNew(); err != nil {
		return err
	}
	if size(p.new) != replicasOf(p.d) {
		if _, err := p.resize(p.new, replicasOf(p.d)); err != nil {
			return err
		}
	}
	if complete(p.d, &p.was) {
		return p.cleanup()
	}
	return nil
}

// oldPodsRun reports whether any pod of an old set may still run, including terminating ones.
func (p *pass) oldPodsRun() bool {
	if total(p.old, existing) > 0 {
		return true
	}
	for _, rs := range p.old {
		if p.podsRun(rs.UID) {
			return true
		}
	}
	return false
}

func (p *pass) podsRun(set types.UID) bool {
	for _, pod := range p.c.pods.By(set) {
		if !podcontrol.IsFinished(pod) {
			return true
		}
	}
	return false
}
