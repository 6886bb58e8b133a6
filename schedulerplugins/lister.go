package schedulerplugins

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/scheduler"
)

// lister is the SharedLister: it reads the cluster, which does not change during a scheduling cycle.
type lister struct {
	registry *registry
	cluster  *scheduler.Cluster // nil before the scheduler runs
	nodes    []fwk.NodeInfo     // of the cluster's, in their order
	byName   map[string]*nodeInfo
}

var _ fwk.SharedLister = &lister{}

func (l *lister) NodeInfos() fwk.NodeInfoLister       { return nodeLister{l} }
func (l *lister) StorageInfos() fwk.StorageInfoLister { return storageLister{l} }
func (l *lister) PodGroupStates() fwk.PodGroupStateLister {
	return podGroupStates{l.registry.groupsInAttempt}
}
func (l *lister) PodGroups() fwk.PodGroupLister { return podGroups{l.registry.groupsInAttempt} }
func (l *lister) CompositePodGroupStates() fwk.CompositePodGroupStateLister {
	return compositeStates{l.registry.groupsInAttempt}
}
func (l *lister) CompositePodGroups() fwk.CompositePodGroupLister {
	return compositeGroups{l.registry.groupsInAttempt}
}

// refresh updates the list of nodes if nodes came or went.
func (l *lister) refresh() []fwk.NodeInfo {
	if l.cluster == nil {
		return nil
	}
	same := len(l.nodes) == len(l.cluster.NodeInfos)
	for i := 0; same && i < len(l.nodes); i++ {
		same = l.nodes[i].(*nodeInfo).live == l.cluster.NodeInfos[i]
	}
	if same {
		return l.nodes
	}
	l.nodes, l.byName = make([]fwk.NodeInfo, len(l.cluster.NodeInfos)), map[string]*nodeInfo{}
	for i, n := range l.cluster.NodeInfos {
		of := &nodeInfo{live: n}
		l.nodes[i], l.byName[n.Name] = of, of
	}
	return l.nodes
}

// of returns a node as plugins see it.
func (l *lister) of(n *scheduler.NodeInfo) *nodeInfo {
	if found := l.byName[n.Name]; found != nil && found.live == n {
		return found
	}
	return &nodeInfo{live: n}
}

type nodeLister struct{ *lister }

// List returns the nodes. The slice is the plugin's own; a node that it changes is a copy.
func (l nodeLister) List() ([]fwk.NodeInfo, error) { return l.filtered(nil) }

func (l nodeLister) filtered(is func(*scheduler.PodInfo) bool) ([]fwk.NodeInfo, error) {
	list := []fwk.NodeInfo{}
	if l.cluster == nil {
		return list, nil
	}
	for _, n := range l.cluster.NodeInfos {
		of := &nodeInfo{live: n}
		if is == nil || of.has(is) {
			list = append(list, of)
		}
	}
	return list, nil
}

func (l nodeLister) HavePodsWithAffinityList() ([]fwk.NodeInfo, error) {
	return l.filtered(hasAffinity)
}

func (l nodeLister) HavePodsWithRequiredAntiAffinityList() ([]fwk.NodeInfo, error) {
	return l.filtered(hasRequiredAntiAffinity)
}

func (l nodeLister) HavePodsWithRequiredNonHostScopedAntiAffinityList() ([]fwk.NodeInfo, error) {
	return l.filtered(hasWideAntiAffinity)
}

func (l nodeLister) Get(name string) (fwk.NodeInfo, error) {
	if l.cluster != nil {
		if n := l.cluster.Node(name); n != nil {
			return &nodeInfo{live: n}, nil
		}
	}
	return nil, fmt.Errorf("nodeinfo not found for node name %q", name)
}

type storageLister struct{ *lister }

func (l storageLister) IsPVCUsedByPods(key string) bool {
	namespace, name, _ := strings.Cut(key, "/")
	return l.cluster != nil && l.cluster.ClaimUses[types.NamespacedName{Namespace: namespace, Name: name}] > 0
}

// readOnly is the MutableSnapshotSharedLister. PodGroupPostFilter plugins alone may change it, and a configuration that enables
// one is refused; preemption of pods by kube-scheduler's Evaluator only reads it.
type readOnly struct{ *lister }

var _ fwk.MutableSnapshotSharedLister = readOnly{}

var errReadOnly = errors.New("the snapshot of MutableSnapshotSharedLister may be changed by PodGroupPostFilter plugins only, which this scheduler does not run")

func (readOnly) StartMutations() error                            { return errReadOnly }
func (readOnly) EndMutations() error                              { return errReadOnly }
func (readOnly) AddPod(fwk.PodInfo, string) error                 { return errReadOnly }
func (readOnly) RemovePod(klog.Logger, *corev1.Pod, string) error { return errReadOnly }
