package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
	"fairlead.dev/node/needs"
)

// watch follows one object that pods use until ctx ends. It is the goroutine of a used.
func (k *kubelet) watch(ctx context.Context, key needs.Key, u *used) {
	switch c := k.env.Client; key.Kind {
	case needs.ConfigMap:
		watchOne(ctx, k, key, u, client.For[*corev1.ConfigMap](c), func(m *corev1.ConfigMap) bool { return m.Immutable != nil && *m.Immutable })
	case needs.Secret:
		watchOne(ctx, k, key, u, client.For[*corev1.Secret](c), func(s *corev1.Secret) bool { return s.Immutable != nil && *s.Immutable })
	case needs.Claim:
		watchOne(ctx, k, key, u, client.For[*corev1.PersistentVolumeClaim](c), func(*corev1.PersistentVolumeClaim) bool { return false })
	}
}

// watchOne ends as well when it has seen a version that is for good.
func watchOne[T client.Object](ctx context.Context, k *kubelet, key needs.Key, u *used, r client.Resource[T], final func(T) bool) {
	r = r.Namespace(key.Namespace)
	revision := ""
	for ctx.Err() == nil {
		began := time.Now()
		done, err := readOne(ctx, k, key, u, r, &revision, final)
		switch {
		case done || ctx.Err() != nil:
			return
		case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
			revision = ""
		case !errors.Is(err, io.EOF) || time.Since(began) < time.Second:
			k.env.Log.Debug("watch of an object ended", "node", k.name, "object", key.Kind.String()+" "+key.Namespace+"/"+key.Name, "err", err)
			pause(ctx, time.Second)
		}
	}
}

// readOne reads the object and its watch until that ends, and says why; revision moves with it.
func readOne[T client.Object](ctx context.Context, k *kubelet, key needs.Key, u *used, r client.Resource[T], revision *string, final func(T) bool) (done bool, err error) {
	options := metav1.ListOptions{FieldSelector: "metadata.name=" + key.Name}
	if *revision == "" {
		list, err := listOne(ctx, k, r, options)
		if err != nil {
			if ctx.Err() == nil {
				k.hear(u, nil, fmt.Errorf("failed to sync %s cache: timed out waiting for the condition", key.Kind))
			}
			return false, err
		}
		var obj any
		if len(list.Items) > 0 {
			obj = list.Items[0]
		}
		k.hear(u, obj, nil)
		if obj != nil && final(list.Items[0]) {
			return true, nil
		}
		*revision = list.ResourceVersion
	}
	options.ResourceVersion, options.AllowWatchBookmarks = *revision, true
	w, err := r.Watch(ctx, options)
	if err != nil {
		return false, err
	}
	defer w.Stop()
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			return false, err
		}
		*revision = ev.Object.GetResourceVersion()
		switch ev.Type {
		case watch.Added, watch.Modified:
			if k.hear(u, ev.Object, nil); final(ev.Object) {
				return true, nil
			}
		case watch.Deleted:
			k.hear(u, nil, nil)
		}
	}
}

// listOne lists, not too many at once.
func listOne[T client.Object](ctx context.Context, k *kubelet, r client.Resource[T], options metav1.ListOptions) (list client.List[T], err error) {
	select {
	case k.joining <- struct{}{}:
		defer func() { <-k.joining }()
	case <-ctx.Done():
		return list, ctx.Err()
	}
	return r.List(ctx, options)
}
