package scheduler

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkPlace places 2,000 pods, logic only: compile the pod, choose its node, assume
// it there. One op is one pod.
func BenchmarkPlace(b *testing.B) {
	web, isWeb := with("app", "web", "pod-template-hash", "x"), selecting("app", "web")
	kinds := map[string][]podOption{
		"plain":    {web, asking("cpu", "100m", "memory", "64Mi")},
		"replicas": {web, asking("cpu", "100m", "memory", "64Mi"), owned("ReplicaSet", "web")},
		"spread":   {web, asking("cpu", "100m"), spread(corev1.LabelTopologyZone, 1, corev1.DoNotSchedule, isWeb)},
		"affinity": {web, asking("cpu", "100m"), rather(-100, corev1.LabelHostname, isWeb)},
	}
	for _, size := range []int{100, 1000, 5000} {
		for _, kind := range []string{"plain", "replicas", "spread", "affinity"} {
			b.Run(fmt.Sprintf("%s/%d", kind, size), func(b *testing.B) {
				objects := &fakeObjects{owners: map[string]*metav1.LabelSelector{"web": selecting("app", "web", "pod-template-hash", "x")}}
				var all []*corev1.Node
				for i := range size {
					all = append(all, newNode(fmt.Sprintf("n%d", i), zone(fmt.Sprintf("z%d", i%3)), allocatable("cpu", "64", "memory", "256Gi", "pods", "1000")))
				}
				pods := make([]*corev1.Pod, 2000)
				for i := range pods {
					pods[i] = newPod(fmt.Sprintf("p%d", i), kinds[kind]...)
				}
				c, pl := newCluster(objects, all), placer{Profile: DefaultProfile()}
				b.ReportAllocs()
				b.ResetTimer()
				for i := range b.N {
					k := i % len(pods)
					if k == 0 && i > 0 {
						b.StopTimer()
						c = newCluster(objects, all)
						b.StartTimer()
					}
					p := NewPodInfo(pods[k])
					n, err := pl.place(c, p)
					if err != nil {
						b.Fatal(err)
					}
					c.AddPod(p, n.name)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
			})
		}
	}
}
