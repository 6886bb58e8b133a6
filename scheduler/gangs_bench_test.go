package scheduler

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/scheduler/cache"
	st "fairlead.dev/internal/scheduler/schedulertest"
)

// BenchmarkGangs places the same pods alone and in gangs on 1,000 nodes, from the informer's handler to the hand-over to a
// binder, without a server. One op is one pod.
func BenchmarkGangs(b *testing.B) {
	const perCluster = 2048 // pods, until the nodes are emptied
	for _, size := range []int{1, 8, 64} {
		name := "plain"
		if size > 1 {
			name = fmt.Sprint("gangs-of-", size)
		}
		b.Run(name, func(b *testing.B) {
			var s *loop
			ctx := b.Context()
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; i < b.N; i += size {
				if i%perCluster == 0 {
					b.StopTimer()
					s = withoutServer(ctx, b, 1000)
					b.StartTimer()
				}
				var group *string
				if size > 1 {
					group = new(fmt.Sprint("g", i))
					s.setGroup(&schedulingv1beta1.PodGroup{
						ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: *group, UID: types.UID(*group)},
						Spec:       schedulingv1beta1.PodGroupSpec{SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: int32(size)}}},
					}, "PodGroupAdd")
				}
				for k := range size {
					pod := st.Pod(fmt.Sprintf("p%d", i+k), st.WithLabels("app", "web"), st.Requesting("cpu", "100m", "memory", "64Mi"))
					if group != nil {
						pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: group}
					}
					s.addPending(cache.NewPodInfo(pod))
				}
				w, _ := s.queue.Pop(time.Now())
				if w.Group != nil {
					s.scheduleGroup(ctx, w)
				} else {
					s.schedule(ctx, w)
				}
				if again, _ := s.queue.Pop(time.Now()); again != nil {
					b.Fatalf("%s is tried again", again.PodInfo.Pod.Name)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
		})
	}
}

// BenchmarkGangPreempts looks for the victims of a gang of 64 pods among 4,000 pods on 1,000 full nodes. One op is one search.
func BenchmarkGangPreempts(b *testing.B) {
	s := withoutServer(b.Context(), b, 1000)
	for i := range 4000 {
		pod := st.Pod(fmt.Sprintf("low%d", i), st.WithLabels("app", "web"), st.Requesting("cpu", "16"), st.Priority(1))
		s.cluster.AddPod(cache.NewPodInfo(pod), fmt.Sprintf("n%d", i%1000))
	}
	group := "high"
	s.setGroup(&schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: group, UID: "high"}, Spec: schedulingv1beta1.PodGroupSpec{
		Priority:         new(int32(100)),
		SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 64}},
	}}, "PodGroupAdd")
	for i := range 64 {
		pod := st.Pod(fmt.Sprintf("high%d", i), st.Requesting("cpu", "16"), st.Priority(100))
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group}
		s.addPending(cache.NewPodInfo(pod))
	}
	w, _ := s.queue.Pop(time.Now())
	h := s.groups.hierarchyOf(w.Group)
	b.ReportAllocs()
	for b.Loop() {
		victims, o := s.victimsForGroup(s.profileOf(w.Group.Members[0]), w.Group.Members, h)
		if len(victims) != 64 {
			b.Fatalf("%d victims: %s", len(victims), o.message)
		}
	}
}

// withoutServer returns a scheduler with nodes whose loop is the caller, and which drops its bindings until ctx ends.
func withoutServer(ctx context.Context, tb testing.TB, nodes int) *loop {
	c, err := client.New(&rest.Config{Host: "http://unused.invalid", Transport: http.NewFileTransport(http.Dir(tb.TempDir()))}, client.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	s := newLoop(controller.Env{Client: c, Informers: informer.NewSet(c), Recorder: client.NewRecorder(c, "test")}, Options{FeatureGates: map[string]bool{"GenericWorkload": true}})
	go func() {
		for {
			select {
			case <-s.writes:
			case <-ctx.Done():
				return
			}
		}
	}()
	for i := range nodes {
		s.addNode(st.Node(fmt.Sprintf("n%d", i), st.InZone(fmt.Sprintf("z%d", i%3)), st.Allocatable("cpu", "64", "memory", "256Gi", "pods", "1000")))
	}
	return s
}
