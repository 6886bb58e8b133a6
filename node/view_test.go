package node_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/node"
)

// onStatus calls a function before a status of a pod leaves the nodes.
type onStatus struct {
	next http.RoundTripper
	call func(namespace, name string)
}

func (o onStatus) RoundTrip(req *http.Request) (*http.Response, error) {
	if parts := strings.Split(req.URL.Path, "/"); req.Method == http.MethodPut && len(parts) == 8 && parts[5] == "pods" && parts[7] == "status" {
		o.call(parts[4], parts[6])
	}
	return o.next.RoundTrip(req)
}

// TestViewIsNotBehind: a node shows a status before the server does.
func TestViewIsNotBehind(t *testing.T) {
	env, config := servedAt(t)
	var nodes atomic.Pointer[node.Nodes]
	var behind atomic.Int32
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return onStatus{next, func(namespace, name string) {
			if p, _ := nodes.Load().Pod(namespace, name); p == nil || len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].State.Running == nil {
				behind.Add(1)
			}
		}}
	})
	mine, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := env
	all.Client = mine
	run := node.New(all, node.Options{Count: 1})
	nodes.Store(run)
	startNodes(t, run)
	pods := client.For[*corev1.Pod](env.Client).Namespace("default")
	if _, err := pods.Create(t.Context(), boundPod("a", "node-1", "")); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "a", "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	if n := behind.Load(); n > 0 {
		t.Errorf("%d statuses were written before they could be seen at the node", n)
	}
}
