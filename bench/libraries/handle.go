//go:build !fairlead

package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// handler accepts event handlers.
type handler interface {
	AddEventHandler(cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error)
	HasSynced() bool
}

func handle(i handler, updates []func(*corev1.Pod)) []cache.InformerSynced {
	synced := []cache.InformerSynced{i.HasSynced}
	for _, f := range updates {
		r := must(i.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, obj any) { f(obj.(*corev1.Pod)) }}))
		synced = append(synced, r.HasSynced)
	}
	return synced
}
