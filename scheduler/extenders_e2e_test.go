package scheduler_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"fairlead.dev/client"
	"fairlead.dev/scheduler"
	"fairlead.dev/testenv"
)

// extender is an HTTP extender whose answers a test chooses. A verb without an answer fails.
type extender struct {
	*testing.T
	*httptest.Server
	mu     sync.Mutex
	filter func(*extenderv1.ExtenderArgs) *extenderv1.ExtenderFilterResult
	scores func(*extenderv1.ExtenderArgs) extenderv1.HostPriorityList
	rooms  func(*extenderv1.ExtenderPreemptionArgs) *extenderv1.ExtenderPreemptionResult
	bind   func(*extenderv1.ExtenderBindingArgs) *extenderv1.ExtenderBindingResult
	gone   chan struct{} // closed at the end, for calls that hang
}

func newExtender(t *testing.T) *extender {
	x := &extender{T: t, gone: make(chan struct{})}
	x.Server = httptest.NewServer(x)
	t.Cleanup(func() { close(x.gone); x.Close() })
	return x
}

// answer sets the answers while no call reads them.
func (x *extender) answer(set func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	set()
}

func (x *extender) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	filter, scores, rooms, bind := x.filter, x.scores, x.rooms, x.bind
	x.mu.Unlock()
	switch {
	case r.URL.Path == "/filter" && filter != nil:
		reply(x.T, w, r, filter)
	case r.URL.Path == "/prioritize" && scores != nil:
		reply(x.T, w, r, scores)
	case r.URL.Path == "/preempt" && rooms != nil:
		reply(x.T, w, r, rooms)
	case r.URL.Path == "/bind" && bind != nil:
		reply(x.T, w, r, bind)
	default:
		http.Error(w, "not now", http.StatusServiceUnavailable)
	}
}

func reply[Q, A any](t *testing.T, w http.ResponseWriter, r *http.Request, answer func(*Q) A) {
	var question Q
	if err := json.NewDecoder(r.Body).Decode(&question); err != nil {
		t.Error(err)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer(&question)) // an error is that the scheduler has given up
}

// extended starts a control plane whose scheduler has a configuration.
func extended(t *testing.T, nodes int, config string) (client.Resource[*corev1.Pod], *client.Client) {
	t.Helper()
	o, err := scheduler.LoadConfig([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + config))
	if err != nil {
		t.Fatal(err)
	}
	env := testenv.New(t, testenv.Options{Controllers: []string{"serviceaccount", "nodelifecycle"}, Nodes: nodes, Scheduling: o})
	c := env.Client(t)
	account(t, c)
	all := client.For[*corev1.Node](c)
	for i := range nodes {
		await(t, all, fmt.Sprintf("node-%d", i+1), "ready", func(n *corev1.Node) bool { return len(n.Spec.Taints) == 0 && len(n.Status.Conditions) > 0 })
	}
	return client.For[*corev1.Pod](c).Namespace("default"), c
}

const slots = "example.com/slots"

// wanting is a pod that requests a resource which only extenders look at.
func wanting(name string) *corev1.Pod {
	p := pod(name, "1")
	one := corev1.ResourceList{slots: resource.MustParse("1")}
	p.Spec.Containers[0].Resources.Requests[slots], p.Spec.Containers[0].Resources.Limits = one[slots], one
	return p
}

// TestExtenders: an extender filters, scores and binds the pods that request its resource, and only these.
func TestExtenders(t *testing.T) {
	for name, caches := range map[string]bool{"with nodes": false, "with names": true} {
		t.Run(name, func(t *testing.T) {
			x := newExtender(t)
			pods, c := extended(t, 3, fmt.Sprintf(`extenders: [{urlPrefix: %q, filterVerb: filter, prioritizeVerb: prioritize, bindVerb: bind, weight: 5, nodeCacheCapable: %t,
				managedResources: [{name: %s, ignoredByScheduler: true}]}]`, x.URL, caches, slots))
			except := func(q *extenderv1.ExtenderArgs, failed extenderv1.FailedNodesMap) *extenderv1.ExtenderFilterResult {
				a := &extenderv1.ExtenderFilterResult{FailedNodes: failed}
				if caches != (q.Nodes == nil) || caches != (q.NodeNames != nil) {
					t.Errorf("asked about %v and %v", q.Nodes, q.NodeNames)
				}
				if caches {
					a.NodeNames = &[]string{}
					for _, n := range *q.NodeNames {
						if _, is := failed[n]; !is {
							*a.NodeNames = append(*a.NodeNames, n)
						}
					}
					return a
				}
				a.Nodes = &corev1.NodeList{}
				for _, n := range q.Nodes.Items {
					if _, is := failed[n.Name]; !is {
						a.Nodes.Items = append(a.Nodes.Items, n)
					}
				}
				return a
			}
			bound := make(chan string, 1)
			x.answer(func() {
				x.filter = func(q *extenderv1.ExtenderArgs) *extenderv1.ExtenderFilterResult {
					return except(q, extenderv1.FailedNodesMap{"node-1": "no slot"})
				}
				x.scores = func(*extenderv1.ExtenderArgs) extenderv1.HostPriorityList {
					return extenderv1.HostPriorityList{{Host: "node-2", Score: 1}, {Host: "node-3", Score: 10}}
				}
				x.bind = func(q *extenderv1.ExtenderBindingArgs) *extenderv1.ExtenderBindingResult {
					err := pods.CreateSubresource(t.Context(), q.PodName, "binding", &corev1.Binding{
						ObjectMeta: metav1.ObjectMeta{Namespace: q.PodNamespace, Name: q.PodName, UID: q.PodUID},
						Target:     corev1.ObjectReference{Kind: "Node", Name: q.Node},
					}, nil)
					if err != nil {
						t.Error(err)
					}
					bound <- q.PodName
					return &extenderv1.ExtenderBindingResult{}
				}
			})
			create(t, pods, wanting("wanting"))
			if p := await(t, pods, "wanting", "running", running); p.Spec.NodeName != "node-3" {
				t.Errorf("on %s", p.Spec.NodeName)
			}
			if name := <-bound; name != "wanting" {
				t.Errorf("the extender has bound %s", name)
			}

			x.answer(func() {
				x.filter = func(q *extenderv1.ExtenderArgs) *extenderv1.ExtenderFilterResult {
					return except(q, extenderv1.FailedNodesMap{"node-1": "no slot", "node-2": "no slot", "node-3": "old slots"})
				}
			})
			create(t, pods, wanting("rejected"))
			held(t, pods, "rejected", "0/3 nodes are available: 1 old slots, 2 no slot. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.")
			create(t, pods, pod("plain", "1"))
			await(t, pods, "plain", "running", running)

			// An event of a node makes the scheduler ask again.
			x.answer(func() {
				x.filter = func(q *extenderv1.ExtenderArgs) *extenderv1.ExtenderFilterResult {
					return except(q, extenderv1.FailedNodesMap{"node-2": "no slot", "node-3": "no slot"})
				}
			})
			if _, err := client.For[*corev1.Node](c).Patch(t.Context(), "node-1", client.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"slots": "new"}}})); err != nil {
				t.Fatal(err)
			}
			if p := await(t, pods, "rejected", "running", running); p.Spec.NodeName != "node-1" {
				t.Errorf("on %s", p.Spec.NodeName)
			}
			if name := <-bound; name != "rejected" {
				t.Errorf("the extender has bound %s", name)
			}
		})
	}
}

// TestEventWhileAsked: a pod that an extender rejects is asked about again because of an event that came during the call.
func TestEventWhileAsked(t *testing.T) {
	x := newExtender(t)
	pods, c := extended(t, 2, fmt.Sprintf(`extenders: [{urlPrefix: %q, filterVerb: filter, nodeCacheCapable: true, managedResources: [{name: %s, ignoredByScheduler: true}]}]`, x.URL, slots))
	asked, reject := make(chan struct{}, 1), make(chan struct{})
	x.answer(func() {
		x.filter = func(q *extenderv1.ExtenderArgs) *extenderv1.ExtenderFilterResult {
			asked <- struct{}{}
			select {
			case <-reject:
			case <-x.gone:
			}
			return &extenderv1.ExtenderFilterResult{NodeNames: &[]string{}, FailedNodes: extenderv1.FailedNodesMap{"node-1": "no slot", "node-2": "no slot"}}
		}
	})
	create(t, pods, wanting("web"))
	<-asked
	x.answer(func() {
		x.filter = func(q *extenderv1.ExtenderArgs) *extenderv1.ExtenderFilterResult {
			return &extenderv1.ExtenderFilterResult{NodeNames: q.NodeNames}
		}
	})
	if _, err := client.For[*corev1.Node](c).Patch(t.Context(), "node-1", client.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"slots": "new"}}})); err != nil {
		t.Fatal(err)
	}
	probe := pod("probe", "1") // which fits once the scheduler knows of the event
	probe.Spec.NodeSelector = map[string]string{"slots": "new"}
	create(t, pods, probe)
	await(t, pods, "probe", "running", running)
	close(reject)
	await(t, pods, "web", "running", running)
}

// TestBadExtenders: an extender that fails, lies or hangs holds back the pods that concern it, with the reason, and no others.
func TestBadExtenders(t *testing.T) {
	x := newExtender(t)
	pods, _ := extended(t, 2, fmt.Sprintf(`extenders: [{urlPrefix: %q, filterVerb: filter, httpTimeout: 1h, nodeCacheCapable: true, managedResources: [{name: %s, ignoredByScheduler: true}]}]`, x.URL, slots))
	failed := func(name, message string) {
		t.Helper()
		create(t, pods, wanting(name))
		await(t, pods, name, message, func(p *corev1.Pod) bool {
			return len(p.Status.Conditions) > 0 && p.Status.Conditions[0].Reason == corev1.PodReasonSchedulerError && strings.Contains(p.Status.Conditions[0].Message, message)
		})
		if err := pods.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	failed("failing", "failed filter with extender at URL "+x.URL+"/filter, code 503")
	x.answer(func() {
		x.filter = func(*extenderv1.ExtenderArgs) *extenderv1.ExtenderFilterResult {
			return &extenderv1.ExtenderFilterResult{NodeNames: &[]string{"moon"}}
		}
	})
	failed("lied-to", fmt.Sprintf("extender %q claims a filtered node \"moon\" which is not found in the input node list", x.URL))
	x.answer(func() {
		x.filter = func(*extenderv1.ExtenderArgs) *extenderv1.ExtenderFilterResult {
			return &extenderv1.ExtenderFilterResult{Error: "no database"}
		}
	})
	failed("refused", "no database")

	asked := make(chan struct{}, 10)
	x.answer(func() {
		x.filter = func(q *extenderv1.ExtenderArgs) *extenderv1.ExtenderFilterResult {
			asked <- struct{}{}
			if q.Pod.Name == "hanging" {
				<-x.gone
			}
			return &extenderv1.ExtenderFilterResult{NodeNames: q.NodeNames}
		}
	})
	create(t, pods, wanting("hanging"))
	<-asked
	create(t, pods, pod("plain", "1"))
	await(t, pods, "plain", "running", running)
	create(t, pods, wanting("waiting"))
	create(t, pods, pod("later", "1")) // the scheduler has seen the pod before
	await(t, pods, "later", "running", running)
	if p, err := pods.Get(t.Context(), "waiting"); err != nil || p.Spec.NodeName != "" {
		t.Fatalf("%v, %v", p, err)
	}
	if err := pods.Delete(t.Context(), "hanging"); err != nil { // ends the call
		t.Fatal(err)
	}
	await(t, pods, "waiting", "running", running)
}

// TestExtendersUnderChurn: pods that are deleted while extenders are asked about them do not take others with them.
func TestExtendersUnderChurn(t *testing.T) {
	x := newExtender(t)
	pods, _ := extended(t, 2, fmt.Sprintf(`extenders: [{urlPrefix: %q, filterVerb: filter, nodeCacheCapable: true, managedResources: [{name: %s, ignoredByScheduler: true}]}]`, x.URL, slots))
	x.answer(func() {
		x.filter = func(q *extenderv1.ExtenderArgs) *extenderv1.ExtenderFilterResult {
			return &extenderv1.ExtenderFilterResult{NodeNames: q.NodeNames}
		}
	})
	const many = 60
	for i := range many {
		create(t, pods, wanting(fmt.Sprintf("pod-%d", i)))
		if i%3 == 2 {
			if err := pods.Delete(t.Context(), fmt.Sprintf("pod-%d", i-1), metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range many {
		if i%3 != 1 {
			await(t, pods, fmt.Sprintf("pod-%d", i), "running", running)
		}
	}
}

// TestIgnorableExtender: pods are placed without an extender that fails and is ignorable.
func TestIgnorableExtender(t *testing.T) {
	x := newExtender(t)
	pods, _ := extended(t, 1, fmt.Sprintf(`extenders: [{urlPrefix: %q, filterVerb: filter, bindVerb: bind, ignorable: true}]`, x.URL))
	create(t, pods, pod("web", "1"))
	await(t, pods, "web", "running", running)
}

// TestExtenderPreempts: an extender chooses the node of a preemption.
func TestExtenderPreempts(t *testing.T) {
	x := newExtender(t)
	pods, _ := extended(t, 3, fmt.Sprintf(`extenders: [{urlPrefix: %q, preemptVerb: preempt, nodeCacheCapable: true}]`, x.URL))
	for _, node := range []string{"node-1", "node-2", "node-3"} {
		p := pod("on-"+node, "30")
		p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
		create(t, pods, p)
		await(t, pods, p.Name, "running", running)
	}
	x.answer(func() {
		x.rooms = func(q *extenderv1.ExtenderPreemptionArgs) *extenderv1.ExtenderPreemptionResult {
			if len(q.NodeNameToMetaVictims) != 3 {
				t.Errorf("asked about %v", q.NodeNameToMetaVictims)
			}
			return &extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: map[string]*extenderv1.MetaVictims{"node-2": q.NodeNameToMetaVictims["node-2"]}}
		}
	})
	important := pod("important", "30")
	important.Spec.PriorityClassName = "system-cluster-critical"
	create(t, pods, important)
	if p := await(t, pods, "important", "running", running); p.Spec.NodeName != "node-2" {
		t.Errorf("on %s", p.Spec.NodeName)
	}
	for _, name := range []string{"on-node-1", "on-node-3"} {
		if p, err := pods.Get(t.Context(), name); err != nil || p.DeletionTimestamp != nil {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}

// TestExtenderRefusesNominatedNode: a pod whose nominated node an extender refuses runs on another node that has become free.
func TestExtenderRefusesNominatedNode(t *testing.T) {
	x := newExtender(t)
	pods, _ := extended(t, 2, fmt.Sprintf(`extenders: [{urlPrefix: %q, filterVerb: filter, nodeCacheCapable: true, httpTimeout: 1h, managedResources: [{name: %s, ignoredByScheduler: true}]}]`, x.URL, slots))
	for i, class := range []string{"", "system-node-critical"} {
		p := pod(fmt.Sprintf("on-node-%d", i+1), "30")
		p.Spec.NodeSelector, p.Spec.PriorityClassName = map[string]string{corev1.LabelHostname: fmt.Sprintf("node-%d", i+1)}, class
		create(t, pods, p)
		await(t, pods, p.Name, "running", running)
	}
	asked, refuse := make(chan struct{}, 1), make(chan struct{})
	x.answer(func() {
		x.filter = func(q *extenderv1.ExtenderArgs) *extenderv1.ExtenderFilterResult {
			select {
			case asked <- struct{}{}:
			default:
			}
			select {
			case <-refuse:
			case <-x.gone:
			}
			a := &extenderv1.ExtenderFilterResult{NodeNames: &[]string{}, FailedNodes: extenderv1.FailedNodesMap{}}
			for _, n := range *q.NodeNames {
				if n == "node-1" {
					a.FailedNodes[n] = "no slot"
				} else {
					*a.NodeNames = append(*a.NodeNames, n)
				}
			}
			return a
		}
	})
	important := wanting("important")
	important.Spec.PriorityClassName = "system-cluster-critical"
	important.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("20")
	create(t, pods, important)
	<-asked // about node-1, which the first pod has left

	if err := pods.Delete(t.Context(), "on-node-2", metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
		t.Fatal(err)
	}
	probe := pod("probe", "5") // which fits once the scheduler knows that the second pod has left, too
	probe.Spec.NodeSelector = map[string]string{corev1.LabelHostname: "node-2"}
	create(t, pods, probe)
	await(t, pods, "probe", "running", running)
	close(refuse)
	if p := await(t, pods, "important", "running", running); p.Spec.NodeName != "node-2" {
		t.Errorf("on %s", p.Spec.NodeName)
	}
}

// TestExtenderRefusesManyNodes: an extender that refuses all of more nodes than one question is about is asked about each node once, and
// the pod tells why it waits.
func TestExtenderRefusesManyNodes(t *testing.T) {
	x := newExtender(t)
	const many = 130
	pods, _ := extended(t, many, fmt.Sprintf(`extenders: [{urlPrefix: %q, filterVerb: filter, nodeCacheCapable: true, managedResources: [{name: %s, ignoredByScheduler: true}]}]`, x.URL, slots))
	var asked []string
	x.answer(func() {
		x.filter = func(q *extenderv1.ExtenderArgs) *extenderv1.ExtenderFilterResult {
			x.mu.Lock()
			defer x.mu.Unlock()
			asked = append(asked, *q.NodeNames...)
			failed := extenderv1.FailedNodesMap{}
			for _, n := range *q.NodeNames {
				failed[n] = "no slot"
			}
			return &extenderv1.ExtenderFilterResult{NodeNames: &[]string{}, FailedNodes: failed}
		}
	})
	create(t, pods, wanting("web"))
	refused := fmt.Sprintf("0/%d nodes are available: %d no slot. preemption: 0/%d nodes are available: %d No preemption victims found for incoming pod.", many, many, many, many)
	held(t, pods, "web", refused)
	x.mu.Lock()
	defer x.mu.Unlock()
	first := slices.Sorted(slices.Values(asked[:min(len(asked), many)])) // an event may have led to a second attempt
	if n := len(slices.Compact(first)); n != many {
		t.Errorf("the first %d names in the questions are those of %d nodes", many, n)
	}
}
