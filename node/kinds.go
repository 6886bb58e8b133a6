package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/internal/node/kwok"
)

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// followKinds installs the definitions of Options.Kinds at the server and follows their objects until ctx ends;
// running counts its goroutines, one for each kind. It returns when the present objects have been read. It fails
// if the server cannot have the kinds.
func (ns *Nodes) followKinds(ctx context.Context, running *sync.WaitGroup) error {
	var read []<-chan struct{}
	for _, def := range ns.options.Kinds {
		if err := ns.install(ctx, def); err != nil {
			return fmt.Errorf("node: %s: %w", def.CRD.GetName(), err)
		}
		objects := informer.New(client.Dynamic(ns.env.Client, def.Resource, def.Namespaced), informer.Options[*unstructured.Unstructured]{
			OnError: func(err error) { ns.env.Log.Debug("cannot follow a kind yet", "kind", def.Kind, "err", err) },
		})
		put := func(o *unstructured.Unstructured) { ns.define(def.Kind, o) }
		told := objects.Handle(informer.Handler[*unstructured.Unstructured]{
			Add:    func(o *unstructured.Unstructured, _ bool) { put(o) },
			Update: func(_, o *unstructured.Unstructured) { put(o) },
			Delete: func(o *unstructured.Unstructured) {
				ns.options.Definitions.Remove(kwok.Object{Kind: def.Kind, Namespace: o.GetNamespace(), Name: o.GetName()})
				ns.redefined(def.Kind)
			},
		})
		running.Go(func() { _ = objects.Run(ctx) })
		read = append(read, told.Synced())
	}
	for _, done := range read {
		select {
		case <-done:
		case <-ctx.Done():
		}
	}
	return nil
}

// install creates the definition of a kind unless the server has one.
func (ns *Nodes) install(ctx context.Context, def kwok.Definition) error {
	crds := client.Dynamic(ns.env.Client, crdResource, false)
	for {
		_, err := crds.Create(ctx, def.CRD)
		switch {
		case err == nil || apierrors.IsAlreadyExists(err) || ctx.Err() != nil:
			return nil
		case apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsNotFound(err):
			return err
		}
		ns.env.Log.Warn("cannot install a kind yet", "kind", def.Kind, "err", err)
		pause(ctx, time.Second)
	}
}

// define adds an object to the definitions. An invalid one gets an event.
func (ns *Nodes) define(kind string, o *unstructured.Unstructured) {
	text, err := o.MarshalJSON()
	if err == nil {
		err = ns.options.Definitions.Put(kwok.Object{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}, text)
	}
	if err != nil {
		why := err
		if inner := errors.Unwrap(err); inner != nil {
			why = inner
		}
		ns.env.Log.Warn("an object defines nothing", "kind", kind, "namespace", o.GetNamespace(), "name", o.GetName(), "err", why)
		ns.env.Recorder.Event(o, corev1.EventTypeWarning, "Invalid", "%v", why)
	}
	ns.redefined(kind)
}

// redefined queues all pods and nodes, since their stages or their usage may have changed.
func (ns *Nodes) redefined(kind string) {
	usage := kind == "ResourceUsage" || kind == "ClusterResourceUsage"
	if kind != "Stage" && !usage {
		return
	}
	for _, k := range ns.roster.all() {
		k.mu.Lock()
		for uid, p := range k.mu.pods {
			k.work.Add(podKey{k, uid})
			p.plays = ns.options.Definitions.Plays(p.latest)
		}
		if usage && len(k.mu.pods) > 0 {
			k.watchUsage()
		}
		if k.mu.node != nil {
			k.stageQueue.Add(k)
		}
		k.mu.Unlock()
	}
}

// stagesNodes reports whether there are, or may later be, stages for nodes.
func (ns *Nodes) stagesNodes() bool {
	for _, def := range ns.options.Kinds {
		if def.Kind == "Stage" {
			return true
		}
	}
	return len(ns.options.Definitions.Stages("Node")) > 0
}
