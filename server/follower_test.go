package server_test

import (
	"context"
	"fmt"
	gomaps "maps"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
)

// follower is a client-go informer on some of the config maps. It checks the calls of its
// handlers against the possible histories.
type follower struct {
	t                         *testing.T
	name, media               string
	namespace, labels, fields string
	// slow handlers take their time; pages splits lists into many pages.
	slow, pages bool

	informer cache.SharedIndexInformer
	mu       struct {
		sync.Mutex
		// known has the revision that the handlers were last called with, by key.
		known         map[string]string
		events, lists int
	}
}

func (f *follower) follow(ctx context.Context, k kubernetes.Interface) {
	f.mu.known = map[string]string{}
	narrow := func(o *metav1.ListOptions) {
		o.LabelSelector, o.FieldSelector = f.labels, f.fields
		if f.pages && o.ResourceVersion != "" && o.ResourceVersion != "0" {
			o.ResourceVersion = ""
		}
	}
	in := k.CoreV1().ConfigMaps(f.namespace)
	f.informer = cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			f.mu.Lock()
			f.mu.lists++
			f.mu.Unlock()
			narrow(&o)
			if !f.pages {
				return in.List(ctx, o)
			}
			p := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return in.List(ctx, o) })
			p.PageSize = 50
			list, _, err := p.List(ctx, o)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.LabelSelector, o.FieldSelector = f.labels, f.fields
			if f.pages && o.SendInitialEvents != nil {
				return nil, apierrors.NewInvalid(schema.GroupKind{}, "this one lists", nil)
			}
			return in.Watch(ctx, o)
		},
	}, &corev1.ConfigMap{}, 0, cache.Indexers{})
	f.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { f.heard("added", nil, o.(*corev1.ConfigMap)) },
		UpdateFunc: func(old, o any) { f.heard("updated", old.(*corev1.ConfigMap), o.(*corev1.ConfigMap)) },
		DeleteFunc: func(o any) {
			if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			f.heard("deleted", o.(*corev1.ConfigMap), nil)
		},
	})
	go f.informer.RunWithContext(ctx)
}

// heard checks one call of a handler against those before it.
func (f *follower) heard(what string, old, now *corev1.ConfigMap) {
	if f.slow {
		time.Sleep(time.Millisecond)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.events++
	o := now
	if o == nil {
		o = old
	}
	key := o.Namespace + "/" + o.Name
	was, there := f.mu.known[key]
	switch {
	case !f.selects(labels.Set(o.Labels), o.Namespace, o.Name):
		f.t.Errorf("%s: %s %s %v is not in the selection", f.name, what, key, o.Labels)
	case there == (what == "added"):
		f.t.Errorf("%s: %s %s at %s, and it was known: %v", f.name, what, key, o.ResourceVersion, there)
	case what == "updated" && old.ResourceVersion != was:
		f.t.Errorf("%s: %s updated from %s, it was at %s", f.name, key, old.ResourceVersion, was)
	case what == "updated" && number(now) < number(old):
		f.t.Errorf("%s: %s goes back from %s to %s", f.name, key, old.ResourceVersion, now.ResourceVersion)
	}
	if now == nil {
		delete(f.mu.known, key)
	} else {
		f.mu.known[key] = now.ResourceVersion
	}
}

func number(o *corev1.ConfigMap) uint64 {
	n, _ := strconv.ParseUint(o.ResourceVersion, 10, 64)
	return n
}

func (f *follower) selects(l labels.Set, namespace, name string) bool {
	ls, _ := labels.Parse(f.labels)
	fs, _ := fields.ParseSelector(f.fields)
	return ls.Matches(l) && fs.Matches(fields.Set{"metadata.name": name}) && (f.namespace == "" || f.namespace == namespace)
}

// settle waits until the store and the handlers have the same objects, as long as the handlers
// are called. Client-go's pause before it lists again may grow to 30 seconds.
func (f *follower) settle(want map[string]string) {
	f.t.Helper()
	var stored map[string]string
	heard, at := 0, time.Now()
	err := wait.PollUntilContextCancel(context.Background(), 10*time.Millisecond, true, func(context.Context) (bool, error) {
		stored = map[string]string{}
		for _, o := range f.informer.GetStore().List() {
			m := o.(*corev1.ConfigMap)
			stored[m.Namespace+"/"+m.Name] = m.ResourceVersion
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if gomaps.Equal(stored, want) && gomaps.Equal(f.mu.known, want) {
			return true, nil
		}
		if f.mu.events != heard {
			heard, at = f.mu.events, time.Now()
		}
		if time.Since(at) > 90*time.Second {
			return false, context.DeadlineExceeded
		}
		return false, nil
	})
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.t.Errorf("%s: the store has %d objects and the handlers %d, the server %d:\n%s", f.name, len(stored), len(f.mu.known), len(want), difference(stored, want))
	}
}

// difference describes some entries that two maps do not share.
func difference(a, b map[string]string) (text string) {
	n := 0
	for k := range b {
		if a[k] != b[k] && n < 10 {
			text += fmt.Sprintf("%s is at %q, want %q\n", k, a[k], b[k])
			n++
		}
	}
	for k := range a {
		if _, ok := b[k]; !ok && n < 20 {
			text += fmt.Sprintf("%s is at %q, and there is none\n", k, a[k])
			n++
		}
	}
	return text
}

func heard(list []*follower) (n int) {
	for _, f := range list {
		f.mu.Lock()
		n += f.mu.events
		f.mu.Unlock()
	}
	return n
}

func lists(list []*follower) (n int) {
	for _, f := range list {
		f.mu.Lock()
		n += f.mu.lists
		f.mu.Unlock()
	}
	return n
}
