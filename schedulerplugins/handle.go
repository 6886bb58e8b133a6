package schedulerplugins

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// handle is the Handle of the plugins of a profile.
type handle struct{ *profile }

var _ fwk.Handle = &handle{}

func (h *handle) SnapshotSharedLister() fwk.SharedLister { return h.lister }
func (h *handle) MutableSnapshotSharedLister() fwk.MutableSnapshotSharedLister {
	return readOnly{h.lister}
}
func (h *handle) ClientSet() kubernetes.Interface                        { return h.clients }
func (h *handle) KubeConfig() *rest.Config                               { return h.config }
func (h *handle) EventRecorder() events.EventRecorderLogger              { return h.recorder }
func (h *handle) SharedInformerFactory() informers.SharedInformerFactory { return h.informers }
func (h *handle) ProfileName() string                                    { return h.name }
func (h *handle) Parallelizer() fwk.Parallelizer                         { return inTurn{} }
func (h *handle) SharedCSIManager() fwk.CSIManager                       { return csi{h.registry} }

// APIDispatcher, APICacher and SignPod return nil, as with kube-scheduler's feature gates off.
func (h *handle) APIDispatcher() fwk.APIDispatcher                      { return nil }
func (h *handle) APICacher() fwk.APICacher                              { return nil }
func (h *handle) SignPod(context.Context, *corev1.Pod) fwk.PodSignature { return nil }

func (h *handle) SharedDRAManager() fwk.SharedDRAManager { panic(missing("SharedDRAManager")) }

// PodGroupManager has the pod groups on any goroutine. It is empty until the scheduler runs.
func (h *handle) PodGroupManager() fwk.PodGroupManager { return groupManager{h.groups} }

// Extenders returns nil without extenders. Configured ones do not have the framework's interface.
func (h *handle) Extenders() []fwk.Extender {
	if h.hasExtenders {
		panic(missing("Extenders"))
	}
	return nil
}

func (h *handle) IterateOverWaitingPods(f func(fwk.WaitingPod)) {
	for _, p := range h.waiting.all() {
		f(p)
	}
}

func (h *handle) GetWaitingPod(uid types.UID) fwk.WaitingPod {
	if p := h.waiting.get(uid); p != nil {
		return p
	}
	return nil
}

func (h *handle) RejectWaitingPod(uid types.UID) bool {
	if p := h.waiting.get(uid); p != nil {
		p.Reject("", "removed")
		return true
	}
	return false
}

func (h *handle) AddPodInPreBind(uid types.UID, cancel context.CancelCauseFunc) {
	h.preBinding.set(uid, &podInPreBind{cancel: cancel})
}
func (h *handle) RemovePodInPreBind(uid types.UID) { h.preBinding.remove(uid) }
func (h *handle) GetPodInPreBind(uid types.UID) fwk.PodInPreBind {
	if p := h.preBinding.get(uid); p != nil {
		return p
	}
	return nil
}

// Activate makes waiting pods active.
func (h *handle) Activate(_ klog.Logger, pods map[string]*corev1.Pod) {
	a := h.attachment()
	if a == nil {
		return
	}
	var uids []types.UID
	for p := range maps.Values(pods) {
		uids = append(uids, p.UID)
	}
	// The loop reads its mail, so it must not wait for room in it.
	go a.Activate(uids...)
}

// AddNominatedPod holds room for a pod on a node.
func (h *handle) AddNominatedPod(_ klog.Logger, p fwk.PodInfo, n *fwk.NominatingInfo) {
	node := p.GetPod().Status.NominatedNodeName
	if n.Mode() == fwk.ModeOverride {
		node = n.NominatedNodeName
	}
	if c := h.lister.cluster; c != nil && node != "" {
		c.Nominate(ourPod(p), node)
	}
}

func (h *handle) DeleteNominatedPodIfExists(pod *corev1.Pod) {
	if c := h.lister.cluster; c != nil {
		c.Withdraw(pod.UID)
	}
}

func (h *handle) UpdateNominatedPod(_ klog.Logger, old *corev1.Pod, p fwk.PodInfo) {
	c := h.lister.cluster
	if c == nil {
		return
	}
	if n := c.NominatedNode(old.UID); n != nil {
		c.Withdraw(old.UID)
		c.Nominate(ourPod(p), n.Name)
	}
}

func (h *handle) NominatedPodsForNode(name string) (list []fwk.PodInfo) {
	c := h.lister.cluster
	if c == nil {
		return nil
	}
	if n := c.Node(name); n != nil {
		for _, p := range n.Pods {
			if p.Nominee != nil {
				list = append(list, podInfo{p.Nominee})
			}
		}
	}
	return list
}

// inTurn runs pieces of work one after the other, since the cluster has no lock.
type inTurn struct{}

func (inTurn) Until(ctx context.Context, pieces int, do workqueue.DoWorkPieceFunc, _ string) {
	for i := 0; i < pieces && ctx.Err() == nil; i++ {
		do(i)
	}
}
