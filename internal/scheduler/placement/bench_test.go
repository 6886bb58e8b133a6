package placement

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/config"
	st "fairlead.dev/internal/scheduler/schedulertest"
)

// BenchmarkPlace places 2,000 pods, logic only: compile the pod, choose its node, assume
// it there. One op is one pod.
func BenchmarkPlace(b *testing.B) {
	web, isWeb := st.WithLabels("app", "web", "pod-template-hash", "x"), st.Selecting("app", "web")
	kinds := map[string][]st.PodOption{
		"plain":    {web, st.Requesting("cpu", "100m", "memory", "64Mi")},
		"replicas": {web, st.Requesting("cpu", "100m", "memory", "64Mi"), st.OwnedBy("ReplicaSet", "web")},
		"spread":   {web, st.Requesting("cpu", "100m"), st.Spread(corev1.LabelTopologyZone, 1, corev1.DoNotSchedule, isWeb)},
		"affinity": {web, st.Requesting("cpu", "100m"), st.Preferring(-100, corev1.LabelHostname, isWeb)},
	}
	for _, size := range []int{100, 1000, 5000} {
		for _, kind := range []string{"plain", "replicas", "spread", "affinity"} {
			b.Run(fmt.Sprintf("%s/%d", kind, size), func(b *testing.B) {
				objects := &st.Objects{OwnerSelectors: map[string]*metav1.LabelSelector{"web": st.Selecting("app", "web", "pod-template-hash", "x")}}
				var all []*corev1.Node
				for i := range size {
					all = append(all, st.Node(fmt.Sprintf("n%d", i), st.InZone(fmt.Sprintf("z%d", i%3)), st.Allocatable("cpu", "64", "memory", "256Gi", "pods", "1000")))
				}
				pods := make([]*corev1.Pod, 2000)
				for i := range pods {
					pods[i] = st.Pod(fmt.Sprintf("p%d", i), kinds[kind]...)
				}
				c, pl := st.NewCluster(objects, all), Placer{Profile: config.DefaultProfile()}
				b.ReportAllocs()
				b.ResetTimer()
				for i := range b.N {
					k := i % len(pods)
					if k == 0 && i > 0 {
						b.StopTimer()
						c = st.NewCluster(objects, all)
						b.StartTimer()
					}
					p := cache.NewPodInfo(pods[k])
					n, err := pl.Place(c, p)
					if err != nil {
						b.Fatal(err)
					}
					c.AddPod(p, n.Name)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
			})
		}
	}
}
