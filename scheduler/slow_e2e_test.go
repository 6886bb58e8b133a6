package scheduler_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/scheduler"
	"fairlead.dev/testenv"
)

// slowStatus holds back the patches of pods' statuses, once it is shut, until it is opened.
type slowStatus struct {
	next http.RoundTripper
	shut atomic.Bool
	held chan string // the paths of those that are held back
	open chan struct{}
}

func (s *slowStatus) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.shut.Load() && r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/status") {
		s.held <- r.URL.Path
		select {
		case <-s.open:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return s.next.RoundTrip(r)
}

// A server that does not answer patches of statuses holds up no other pod: neither the conditions of pods that fit no node nor
// the evictions of a preemption take the loop's time, or the only binder's.
func TestSlowStatus(t *testing.T) {
	env := testenv.New(t, testenv.Options{Controllers: []string{"serviceaccount", "nodelifecycle"}, Nodes: 2, NoScheduler: true})
	c := env.Client(t)
	account(t, c)
	slow := &slowStatus{held: make(chan string, 100), open: make(chan struct{})}
	config := rest.CopyConfig(env.Config())
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { slow.next = rt; return slow })
	slowly, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	informers := informer.NewSet(slowly)
	recorder := client.NewRecorder(slowly, "slow")
	defer recorder.Close()
	s := scheduler.New(controller.Env{Client: slowly, Informers: informers, Recorder: recorder}, scheduler.Options{BindWorkers: 1, ReportWorkers: 1})
	ctx, cancel := context.WithCancel(t.Context())
	informers.Start(ctx)
	defer informers.Stop()
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()

	bound := func(p *corev1.Pod) bool { return p.Spec.NodeName != "" }
	pods := client.For[*corev1.Pod](c).Namespace("default")
	create(t, client.For[*schedulingv1.PriorityClass](c), &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000})
	node := await(t, client.For[*corev1.Node](c), "node-1", "there", func(*corev1.Node) bool { return true })
	most := fmt.Sprint(node.Status.Allocatable.Cpu().Value() - 1)
	victim := pod("victim", most)
	onNode("node-1")(victim)
	create(t, pods, victim)
	await(t, pods, "victim", "bound", bound)

	slow.shut.Store(true)
	urgent := pod("urgent", most)
	urgent.Spec.PriorityClassName = "urgent"
	onNode("node-1")(urgent)
	create(t, pods, urgent)
	held := map[string]bool{}
	for len(held) < 2 { // the condition of one, and the eviction of the other
		held[<-slow.held] = true
	}
	for i := range 5 {
		create(t, pods, pod(fmt.Sprintf("huge-%d", i), "1000"))
		name := fmt.Sprintf("small-%d", i)
		create(t, pods, pod(name, "1m"))
		await(t, pods, name, "bound", bound)
	}
	close(slow.open)
	await(t, pods, "urgent", "bound", bound)
}
