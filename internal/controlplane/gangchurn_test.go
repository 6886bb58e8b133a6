package controlplane_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/scheduler"
)

// A ledger follows the pods by a watch, and checks with each event that no node has more than it can hold.
type ledger struct {
	*testing.T
	events   watch.Interface
	capacity map[string]int64 // of nodes, in milli-CPUs
	used     map[string]int64
	pods     map[types.UID]*corev1.Pod
	broken   map[string]bool // groups that have lost a pod
}

func (l *ledger) next() bool {
	l.Helper()
	e, open := <-l.events.ResultChan()
	pod, ok := e.Object.(*corev1.Pod)
	if !open || !ok {
		return false
	}
	cpu := pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
	if old := l.pods[pod.UID]; old != nil && old.Spec.NodeName != "" {
		l.used[old.Spec.NodeName] -= cpu
		if pod.Spec.NodeName != old.Spec.NodeName {
			l.Errorf("%s has moved from %s to %s", pod.Name, old.Spec.NodeName, pod.Spec.NodeName)
		}
	}
	group := pod.Labels["group"]
	if pod.DeletionTimestamp != nil {
		l.broken[group] = true
	}
	if e.Type == watch.Deleted {
		delete(l.pods, pod.UID)
		l.broken[group] = true
		return true
	}
	l.pods[pod.UID] = pod
	if node := pod.Spec.NodeName; node != "" {
		if l.used[node] += cpu; l.used[node] > l.capacity[node] {
			l.Errorf("with %s %s has %d of %d milli-CPUs", pod.Name, node, l.used[node], l.capacity[node])
		}
	}
	return true
}

// until reads events until ok.
func (l *ledger) until(what string, ok func() string) {
	l.Helper()
	for why := ok(); why != ""; why = ok() {
		if !l.next() {
			l.Fatalf("never %s: %s", what, why)
		}
	}
}

// bound returns how many pods groups have, and how many of them have nodes.
func (l *ledger) bound() (all, on map[string]int) {
	all, on = map[string]int{}, map[string]int{}
	for _, p := range l.pods {
		group := p.Labels["group"]
		if all[group]++; p.Spec.NodeName != "" {
			on[group]++
		}
	}
	return all, on
}

// TestGangChurn creates and deletes gangs of several priorities in a cluster that is too small for all. No node ever holds
// more than it can, no gang that has all its pods runs with a part of them, and no pod is forgotten.
func TestGangChurn(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { churn(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func churn(t *testing.T, random *rand.Rand) {
	g := startGangsWith(t, 0, controlplane.Options{
		Controllers: []string{"podgroupprotection"},
		Scheduling:  scheduler.Options{PodInitialBackoff: 10 * time.Millisecond, PodMaxBackoff: 100 * time.Millisecond},
	})
	p := &player{gangs: g, T: t, classes: map[string]bool{}}
	w, err := g.CoreV1().Pods("default").Watch(g.ctx, metav1.ListOptions{})
	p.must(err)
	defer w.Stop()
	l := &ledger{T: t, events: w, capacity: map[string]int64{}, used: map[string]int64{}, pods: map[types.UID]*corev1.Pod{}, broken: map[string]bool{}}
	node := func(name, cpu string, milli int64) {
		p.node(name, cpu, nil)
		l.capacity[name] = milli
	}
	for i := range 4 {
		node(fmt.Sprint("n", i), "8", 8000)
	}
	least := map[string]int{}
	var living []string
	const steps = 60
	for step := range steps {
		if len(living) > 8 || len(living) > 0 && random.IntN(3) == 0 {
			i := random.IntN(len(living))
			name := living[i]
			living = append(living[:i], living[i+1:]...)
			l.broken[name] = true
			p.must(g.CoreV1().Pods("default").DeleteCollection(g.ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "group=" + name}))
		} else {
			name, size := fmt.Sprint("g", step), 1+random.IntN(8)
			least[name] = 1 + random.IntN(size)
			o := map[string]string{"group": name, "prio": fmt.Sprint(10 * random.IntN(3)), "cpu": fmt.Sprint(1 + random.IntN(3))}
			if random.IntN(2) == 0 {
				o["all"] = ""
			}
			first := random.IntN(2) == 0
			if first {
				p.podGroup(name, fmt.Sprint(least[name]), o)
			}
			for i := range size {
				p.member(fmt.Sprint(name, "-", i), o)
			}
			if !first {
				p.podGroup(name, fmt.Sprint(least[name]), o)
			}
			living = append(living, name)
		}
		if step%10 == 9 {
			p.probe()
			l.until("whole", func() string {
				all, on := l.bound()
				for name, n := range on {
					if !l.broken[name] && all[name] >= least[name] && n < least[name] {
						return fmt.Sprintf("%s has nodes for %d pods and needs %d", name, n, least[name])
					}
				}
				return ""
			})
		}
	}
	for i := range 4 { // room for all
		node(fmt.Sprint("large", i), "100", 100_000)
	}
	last := memberPod("last", "", "1")
	g.create(t, last)
	l.until("bound", func() string {
		all, on := l.bound()
		if on[""] == 0 {
			return "the last pod has no node"
		}
		for name, n := range all {
			if name != "" && n >= least[name] && on[name] < n {
				return fmt.Sprintf("%s has nodes for %d of %d pods", name, on[name], n)
			}
		}
		return ""
	})
}

// lossy is a transport that loses bindings: of the first ones some requests, and some answers, and all from then on.
type lossy struct {
	to       http.RoundTripper
	bindings atomic.Int64
	first    sync.WaitGroup // the first three, which reach the server
	gone     chan struct{}  // closed at the first binding that is lost for good
}

var errLost = errors.New("connection lost")

func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/binding") {
		return l.to.RoundTrip(r)
	}
	switch n := l.bindings.Add(1); {
	case n == 2: // the server binds the pod
		defer l.first.Done()
		if answer, err := l.to.RoundTrip(r); err == nil {
			answer.Body.Close()
		}
		return nil, errLost
	case n <= 3:
		defer l.first.Done()
		return l.to.RoundTrip(r)
	case n == 4:
		l.first.Wait()
		close(l.gone)
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestSchedulerDiesWhileBindingGang: the next scheduler binds the other pods of a gang, of which the one before has bound some
// when it dies; and if another pod has taken their room meanwhile, when that is gone.
func TestSchedulerDiesWhileBindingGang(t *testing.T) {
	for _, taken := range []bool{false, true} {
		t.Run(fmt.Sprint("room is taken: ", taken), func(t *testing.T) {
			g := startGangsWith(t, 0, controlplane.Options{Scheduling: scheduler.Options{Profiles: []scheduler.Profile{otherProfile()}}})
			p := &player{gangs: g, T: t, classes: map[string]bool{}, noScheduler: true}
			p.node("n1", "4", nil)
			p.node("n2", "4", nil)
			lost := &lossy{gone: make(chan struct{})}
			lost.first.Add(3)
			stop := runScheduler(t, g, func(to http.RoundTripper) http.RoundTripper {
				lost.to = to
				return lost
			})
			p.podGroup("g", "8", nil)
			for i := range 8 {
				p.member(fmt.Sprint("m", i), map[string]string{"group": "g"})
			}
			select {
			case <-lost.gone:
			case <-g.ctx.Done():
				t.Fatal("no binding is lost")
			}
			stop()
			list, err := g.CoreV1().Pods("default").List(g.ctx, metav1.ListOptions{LabelSelector: "group=g"})
			p.must(err)
			var left *corev1.Pod
			n := 0
			for i := range list.Items {
				if pod := &list.Items[i]; hasNode(pod) {
					n++
				} else {
					left = pod
				}
			}
			if n == 0 || n == 8 {
				t.Fatalf("the scheduler died with %d bindings", n)
			}
			if taken {
				thief := memberPod("thief", "", "1")
				thief.Spec.NodeName = freeNode(list.Items)
				g.create(t, thief)
			}
			runScheduler(t, g, nil)
			if taken {
				p.pod(t, left.Name, "bound or rejected", func(pod *corev1.Pod) bool { return hasNode(pod) || isUnschedulable(pod) })
				p.must(g.CoreV1().Pods("default").Delete(g.ctx, "thief", *metav1.NewDeleteOptions(0)))
			}
			for i := range 8 {
				p.pod(t, fmt.Sprint("m", i), "bound", hasNode)
			}
			g.group(t, "g", metav1.ConditionTrue, "Scheduled")
		})
	}
}

// otherProfile is that of a scheduler that leaves the pods to others.
func otherProfile() scheduler.Profile {
	p := scheduler.DefaultProfile()
	p.Name = "another"
	return p
}

// freeNode returns the node with the fewer of the pods.
func freeNode(pods []corev1.Pod) string {
	on := map[string]int{}
	for i := range pods {
		on[pods[i].Spec.NodeName]++
	}
	if on["n1"] < on["n2"] {
		return "n1"
	}
	return "n2"
}

// runScheduler runs a scheduler of its own until stop is called, or the test ends.
func runScheduler(t *testing.T, g *gangs, wrap func(http.RoundTripper) http.RoundTripper) (stop func()) {
	t.Helper()
	config := rest.CopyConfig(g.config)
	if wrap != nil {
		config.Wrap(wrap)
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set, recorder := informer.NewSet(c), client.NewRecorder(c, "scheduler")
	s := scheduler.New(controller.Env{Client: c, Informers: set, Recorder: recorder}, scheduler.Options{
		FeatureGates: map[string]bool{"GenericWorkload": true}, PodInitialBackoff: 10 * time.Millisecond, PodMaxBackoff: 100 * time.Millisecond,
	})
	ctx, cancel := context.WithCancel(t.Context())
	set.Start(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	stop = func() {
		cancel()
		<-ended
		set.Stop()
		recorder.Close()
	}
	t.Cleanup(stop)
	return stop
}
