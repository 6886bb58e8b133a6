package statefulset

import (
	"context"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol"
	"fairlead.dev/internal/controllers/podcontrol/history"
)

// pass is one reconciliation of one StatefulSet. It runs on one goroutine, except for the steps that a set with
// Parallel management takes for several pods at once: those use only their own slot.
type pass struct {
	c   *sets
	ctx context.Context
	now time.Time
	set *appsv1.StatefulSet // the informer's, read only

	current, update                 *appsv1.ControllerRevision
	currentTemplate, updateTemplate *corev1.PodTemplateSpec

	replicas  []*corev1.Pod // by index from the first ordinal; nil if missing
	condemned []member      // pods out of range, the highest ordinal first
	owned     []*corev1.Pod // all of them
	status    appsv1.StatefulSetStatus
}

// member is a pod and its ordinal.
type member struct {
	*corev1.Pod
	ordinal int
}

func newPass(ctx context.Context, c *sets, set *appsv1.StatefulSet, pods []*corev1.Pod, revisions []*appsv1.ControllerRevision, update *appsv1.ControllerRevision) (*pass, error) {
	p := &pass{c: c, ctx: ctx, now: time.Now(), set: set, current: update, update: update, owned: pods}
	if i := slices.IndexFunc(revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == set.Status.CurrentRevision }); i >= 0 {
		p.current = revisions[i]
	}
	var err error
	if p.currentTemplate, err = history.Template(p.current); err != nil {
		return nil, err
	}
	p.updateTemplate = &set.Spec.Template
	p.replicas = make([]*corev1.Pod, replicasOf(set))
	for _, pod := range pods {
		switch n, ok := ordinalOf(set, pod); {
		case !ok:
		case p.inRange(n):
			p.replicas[n-firstOrdinal(set)] = pod
		default:
			p.condemned = append(p.condemned, member{pod, n})
		}
	}
	slices.SortFunc(p.condemned, func(a, b member) int { return b.ordinal - a.ordinal })
	p.count()
	return p, nil
}

func (p *pass) inRange(ordinal int) bool {
	first := firstOrdinal(p.set)
	return ordinal >= first && ordinal < first+replicasOf(p.set)
}

// inOrder reports whether the set's pods come and go one after the other.
func (p *pass) inOrder() bool { return p.set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement }

// step does the work that can be done now. The status is computed from the result.
func (p *pass) step() error {
	if p.set.DeletionTimestamp != nil {
		return nil
	}
	weakest := p.weakest()
	proceed, err := p.forAll(len(p.replicas), p.keep)
	p.count()
	if err != nil || !proceed {
		return err
	}
	proceed, err = p.forAll(len(p.condemned), func(i int) (bool, error) {
		return true, p.retain(p.condemned[i].Pod, p.condemned[i].ordinal)
	})
	if err != nil || !proceed {
		return err
	}
	proceed, err = p.forAll(len(p.condemned), func(i int) (bool, error) { return p.dismiss(p.condemned[i], weakest) })
	p.count()
	if err != nil || !proceed {
		return err
	}
	return p.rollOut()
}

// forAll calls f for 0..n-1: in order until one returns proceed false, or for all at once, ignoring proceed.
func (p *pass) forAll(n int, f func(i int) (proceed bool, err error)) (bool, error) {
	if !p.inOrder() {
		_, err := podcontrol.SlowStart(n, func(i int) error {
			_, err := f(i)
			return err
		})
		return true, err
	}
	for i := range n {
		if proceed, err := f(i); err != nil || !proceed {
			return false, err
		}
	}
	return true, nil
}

// weakest returns a pod that is not available: the lowest such replica or else the lowest such condemned pod. It may be deleted whatever the others wait for. It
// returns nil if all are available, or if the pod does not exist yet.
func (p *pass) weakest() *corev1.Pod {
	for _, pod := range p.replicas {
		if pod == nil || pod.DeletionTimestamp != nil || !p.isAvailable(pod) {
			return pod
		}
	}
	for _, m := range slices.Backward(p.condemned) {
		if m.DeletionTimestamp != nil || !p.isAvailable(m.Pod) {
			return m.Pod
		}
	}
	return nil
}

// keep creates the pod of an ordinal, replaces it when it has finished, and restores its identity. proceed reports
// whether the next ordinal may be processed.
func (p *pass) keep(i int) (proceed bool, err error) {
	ordinal, pod := firstOrdinal(p.set)+i, p.replicas[i]
	if pod != nil && podcontrol.IsFinished(pod) {
		if pod.DeletionTimestamp == nil {
			err = p.delete(pod)
		}
		return false, err // the next one is created when this one is gone
	}
	if pod == nil {
		wanted := p.built(ordinal)
		if p.waitsForClaims(wanted, ordinal) {
			return false, nil
		}
		made, err := p.create(wanted, ordinal)
		if err != nil {
			return false, err
		}
		p.replicas[i] = made
		return false, nil
	}
	if pod.Status.Phase == corev1.PodPending {
		if err := p.makeClaims(ordinal); err != nil {
			return false, err
		}
		if err := p.retain(pod, ordinal); err != nil {
			return false, err
		}
	}
	if p.inOrder() && (pod.DeletionTimestamp != nil || !isRunningAndReady(pod) || !p.isAvailable(pod)) {
		return false, nil
	}
	return true, p.hold(pod, ordinal)
}

// dismiss deletes a pod out of range: in order, when all others are available, or when it is itself the unavailable
// one.
func (p *pass) dismiss(m member, weakest *corev1.Pod) (proceed bool, err error) {
	if m.DeletionTimestamp != nil {
		return !p.inOrder(), nil
	}
	if p.inOrder() && m.Pod != weakest && (!isRunningAndReady(m.Pod) || !p.isAvailable(m.Pod)) {
		return false, nil
	}
	return false, p.delete(m.Pod)
}

// built returns the pod for an ordinal, with the template it should have during a rolling update.
func (p *pass) built(ordinal int) *corev1.Pod {
	if s := p.set.Spec.UpdateStrategy; s.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		old := int(p.set.Status.CurrentReplicas)
		if s.RollingUpdate != nil && s.RollingUpdate.Partition != nil {
			old = int(*s.RollingUpdate.Partition)
		}
		if ordinal < firstOrdinal(p.set)+old {
			return build(p.set, p.currentTemplate, p.current.Name, ordinal)
		}
	}
	return build(p.set, p.updateTemplate, p.update.Name, ordinal)
}

func (p *pass) key() controller.Key { return controller.KeyOf(p.set) }
