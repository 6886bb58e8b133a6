//go:build !fairlead && !controllerruntime

package main

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

type clientGo struct{}

func init() { libraries["client-go"] = clientGo{} }

type clientGoCopy struct {
	pods  corelisters.PodLister
	index cache.Indexer
}

var byNode = cache.Indexers{"node": func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil }}

func (clientGo) informer(cfg *rest.Config, updates []func(*corev1.Pod)) copied {
	factory := informers.NewSharedInformerFactory(must(kubernetes.NewForConfig(cfg)), 0)
	pods := factory.Core().V1().Pods()
	if err := pods.Informer().AddIndexers(byNode); err != nil {
		panic(err)
	}
	synced := handle(pods.Informer(), updates)
	factory.Start(wait.NeverStop)
	if !cache.WaitForCacheSync(wait.NeverStop, synced...) {
		panic("not synced")
	}
	return clientGoCopy{pods.Lister(), pods.Informer().GetIndexer()}
}

func (c clientGoCopy) len() int { return len(c.index.ListKeys()) }

func (c clientGoCopy) get(namespace, name string) *corev1.Pod {
	p, _ := c.pods.Pods(namespace).Get(name)
	return p
}

func (c clientGoCopy) onNode(node string) int { return len(must(c.index.ByIndex("node", node))) }

func (c clientGoCopy) inNamespace(namespace string) int {
	return len(must(c.pods.Pods(namespace).List(labels.Everything())))
}

type clientGoQueue struct {
	workqueue.TypedRateLimitingInterface[key]
}

func (clientGo) queue() queue {
	return clientGoQueue{workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[key](delay, time.Second))}
}

func (q clientGoQueue) AddAfter(k key) { q.TypedRateLimitingInterface.AddAfter(k, delay) }
func (q clientGoQueue) Retry(k key)    { q.AddRateLimited(k) }
func (q clientGoQueue) Close()         { q.ShutDownWithDrain() }

func (q clientGoQueue) work(f func(key) bool) { gets(q, f) }

func (q clientGoQueue) Get() (key, bool) {
	k, down := q.TypedRateLimitingInterface.Get()
	return k, !down
}
