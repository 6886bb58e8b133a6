package podgc

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSurplusFinished(t *testing.T) {
	pod := func(name string, born int64, reason string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(born, 0)},
			Status:     corev1.PodStatus{Phase: corev1.PodFailed, Reason: reason},
		}
	}
	pods := []*corev1.Pod{pod("young", 9, ""), pod("old", 1, ""), pod("evicted", 8, "Evicted"), pod("mid", 5, "")}
	got := surplusFinished(pods, 2)
	if len(got) != 2 || got[0].Name != "evicted" || got[1].Name != "old" {
		t.Errorf("got %v", got)
	}
	if surplusFinished(pods, 4) != nil {
		t.Error("something to remove within the limit")
	}
}
