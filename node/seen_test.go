package node

import (
	"log/slog"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

// TestSeenIsNotOlder has the watch bring a version that the node's own writes have overtaken.
func TestSeenIsNotOlder(t *testing.T) {
	ns := &Nodes{options: Options{Count: 1}.complete(), env: controller.Env{Log: slog.New(slog.DiscardHandler), Recorder: new(client.Recorder)}}
	k, err := ns.kubelet(0)
	if err != nil {
		t.Fatal(err)
	}
	at := func(revision string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "u"}}
		p.ResourceVersion = revision
		return p
	}
	for _, c := range []struct {
		revision string
		news     bool
	}{{"9", true}, {"9", false}, {"8", false}, {"10", true}, {"11", true}, {"x", true}, {"x", false}} {
		if got := k.seen(at(c.revision)); got != c.news {
			t.Errorf("%s is news: %v", c.revision, got)
		}
	}
}
