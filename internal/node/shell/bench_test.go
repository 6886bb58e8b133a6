package shell_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/shell"
)

// BenchmarkPredict predicts commands, which a node does several times for each status of a pod.
func BenchmarkPredict(b *testing.B) {
	for name, command := range map[string][]string{
		"program": {"sleep", "300"},
		"list":    {"sh", "-c", "sleep 5; exit 3"},
		"loop":    {"sh", "-c", "while true; do echo tick; sleep 5; done"},
		"count":   {"sh", "-c", "i=0; while [ $i -lt 100 ]; do i=$((i+1)); sleep 1; done"},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := shell.Predict(&corev1.Pod{}, &corev1.Container{Command: command}, nil); !ok {
					b.Fatal("not understood")
				}
			}
		})
	}
}
