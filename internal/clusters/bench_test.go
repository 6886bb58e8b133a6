package clusters_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/internal/clusters"
	"fairlead.dev/internal/controlplane"
)

// BenchmarkFork measures the time from the request for a fork over https to the response to its first request, for a base
// with 1,000 ConfigMaps.
func BenchmarkFork(b *testing.B) {
	s := serve(b, controlplane.Options{})
	base := kubernetes.NewForConfigOrDie(s.create(b, "base", clusters.Spec{}))
	for i := range 1000 {
		if _, err := base.CoreV1().ConfigMaps("default").Create(b.Context(), configMap("map-"+strconv.Itoa(i)), metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	var ms []float64
	for b.Loop() {
		began := time.Now()
		fork := kubernetes.NewForConfigOrDie(s.create(b, "fork", forkOf("base")))
		if _, err := fork.CoreV1().ConfigMaps("default").Get(b.Context(), "map-1", metav1.GetOptions{}); err != nil {
			b.Fatal(err)
		}
		ms = append(ms, time.Since(began).Seconds()*1000)
		b.StopTimer()
		if err := s.clusters.Delete(b.Context(), "fork"); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	slices.Sort(ms)
	b.ReportMetric(ms[len(ms)/2], "ms/median")
}

// resident returns the resident memory of this process in MB.
func resident(b *testing.B) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("resident memory is read from /proc: ", err)
	}
	for line := range strings.Lines(string(text)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kb); n == 1 {
			return kb / 1000
		}
	}
	b.Fatal("no VmRSS")
	return 0
}

// sleeps waits until a number of control planes sleep, each of which then has at most 16 goroutines.
func sleeps(before, n int) {
	for runtime.NumGoroutine()-before > 16*n {
		time.Sleep(time.Second)
	}
}

// BenchmarkMany measures forks of which each has been given 20 ConfigMaps and lives on: the resident memory and goroutines
// of each when they are idle, and a create and a patch in one of them, beside one alone.
func BenchmarkMany(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("clusters=%d", n), func(b *testing.B) {
			s := serve(b, controlplane.Options{})
			alone := runtime.NumGoroutine()
			s.create(b, "base", clusters.Spec{})
			sleeps(alone, 1)
			debug.FreeOSMemory()
			before, goroutines := resident(b), runtime.NumGoroutine()
			var one *kubernetes.Clientset
			for i := range n {
				one = kubernetes.NewForConfigOrDie(s.create(b, "fork-"+strconv.Itoa(i), forkOf("base")))
				for j := range 20 {
					if _, err := one.CoreV1().ConfigMaps("default").Create(b.Context(), configMap("own-"+strconv.Itoa(j)), metav1.CreateOptions{}); err != nil {
						b.Fatal(err)
					}
				}
			}
			sleeps(goroutines, n)
			debug.FreeOSMemory()
			memory, goroutines := (resident(b)-before)/float64(n), (runtime.NumGoroutine()-goroutines)/n
			maps := one.CoreV1().ConfigMaps("default")
			var creates, patches time.Duration
			i := 0
			for b.Loop() {
				name := "x-" + strconv.Itoa(i)
				i++
				began := time.Now()
				if _, err := maps.Create(b.Context(), configMap(name), metav1.CreateOptions{}); err != nil {
					b.Fatal(err)
				}
				created := time.Now()
				if _, err := maps.Patch(b.Context(), name, types.MergePatchType, []byte(`{"data":{"a":"b"}}`), metav1.PatchOptions{}); err != nil {
					b.Fatal(err)
				}
				creates, patches = creates+created.Sub(began), patches+time.Since(created)
			}
			b.ReportMetric(memory, "MB/cluster")
			b.ReportMetric(float64(goroutines), "goroutines/cluster")
			b.ReportMetric(float64(creates.Microseconds())/float64(i), "us/create")
			b.ReportMetric(float64(patches.Microseconds())/float64(i), "us/patch")
		})
	}
}
