//go:build !clientgo && !controllerruntime

package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/workqueue"
)

type fairlead struct{}

func init() { libraries["fairlead"] = fairlead{} }

type fairleadCopy struct{ *informer.Store[*corev1.Pod] }

func (fairlead) informer(cfg *rest.Config, updates []func(*corev1.Pod)) copied {
	c := must(client.New(cfg, client.Options{ContentType: cfg.ContentType}))
	i := informer.New(client.For[*corev1.Pod](c), informer.Options[*corev1.Pod]{
		Indexes: map[string]func(*corev1.Pod) []string{"node": func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} }},
		Log:     1 << 17, // the others' handlers get every step, so this one must too
	})
	for _, f := range updates {
		i.Handle(informer.Handler[*corev1.Pod]{Update: func(_, p *corev1.Pod) { f(p) }})
	}
	go i.Run(context.Background())
	<-i.Synced()
	return fairleadCopy{i.Store()}
}

func (c fairleadCopy) len() int { return c.Len() }

func (c fairleadCopy) get(namespace, name string) *corev1.Pod {
	p, _ := c.Get(namespace, name)
	return p
}

func (c fairleadCopy) onNode(node string) int           { return len(c.ByIndex("node", node)) }
func (c fairleadCopy) inNamespace(namespace string) int { return len(c.List(namespace)) }

type fairleadQueue struct{ *workqueue.Queue[key] }

func (fairlead) queue() queue {
	return fairleadQueue{workqueue.New(workqueue.Options[key]{BaseDelay: delay, MaxDelay: time.Second})}
}

func (q fairleadQueue) AddAfter(k key) { q.Queue.AddAfter(k, delay) }

func (q fairleadQueue) work(f func(key) bool) {
	for k := range q.Work(context.Background()) {
		if !f(k) {
			return
		}
	}
}
