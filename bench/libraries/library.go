package main

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// library is one of those that are compared.
type library interface {
	// informer starts an informer of all pods with an index by node, and returns when it
	// and its handlers have the server's state. Each of updates is called for each update.
	informer(cfg *rest.Config, updates []func(*corev1.Pod)) copied
	// queue makes a queue whose Retry waits a millisecond at first.
	queue() queue
}

// copied is an informer's copy.
type copied interface {
	len() int
	get(namespace, name string) *corev1.Pod // nil if there is no such pod
	onNode(node string) int
	inNamespace(namespace string) int
}

// key is a queue's key, as controllers use it.
type key struct{ Namespace, Name string }

// queue has the methods of all queues.
type queue interface {
	Add(key)
	AddAfter(key) // a millisecond
	Retry(key)
	Forget(key)
	// work calls f for one key after the other, in the loop that the library's users write,
	// until f returns false, or the queue is closed and empty.
	work(f func(key) bool)
	Close() // after the added keys
}

// gets is the loop around a queue that gives keys and takes them back.
func gets(q interface {
	Get() (k key, ok bool)
	Done(key)
}, f func(key) bool) {
	for k, ok := q.Get(); ok; k, ok = q.Get() {
		more := f(k)
		q.Done(k)
		if !more {
			return
		}
	}
}

const delay = time.Millisecond

// libraries are those that this program was built with: all, or the one of its build tag.
var libraries = map[string]library{}

// order is the order of comparison: the first with each of the others.
var order = []string{"fairlead", "client-go", "controller-runtime"}

func (j job) config() *rest.Config {
	cfg := &rest.Config{Host: j.URL}
	if j.Config != "" {
		cfg = must(clientcmd.RESTConfigFromKubeConfig([]byte(j.Config)))
	}
	cfg.QPS = -1
	cfg.ContentType = "application/json"
	if j.Proto {
		cfg.ContentType = "application/vnd.kubernetes.protobuf"
		cfg.AcceptContentTypes = cfg.ContentType + ",application/json"
	}
	return cfg
}
