package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/dependencies"
)

// watch follows the object of a key until ctx ends. It is the goroutine of a usedObject.
func (k *kubelet) watch(ctx context.Context, key dependencies.Key, u *usedObject) {
	switch c := k.env.Client; key.Kind {
	case dependencies.ConfigMap:
		watchOne(ctx, k, key, u, client.For[*corev1.ConfigMap](c), func(m *corev1.ConfigMap) bool { return m.Immutable != nil && *m.Immutable })
	case dependencies.Secret:
		watchOne(ctx, k, key, u, client.For[*corev1.Secret](c), func(s *corev1.Secret) bool { return s.Immutable != nil && *s.Immutable })
	case dependencies.Claim:
		watchOne(ctx, k, key, u, client.For[*corev1.PersistentVolumeClaim](c), nil)
	case dependencies.Volume:
		watchOne(ctx, k, key, u, client.For[*corev1.PersistentVolume](c), nil)
	case dependencies.Driver:
		watchOne(ctx, k, key, u, client.For[*storagev1.CSIDriver](c), nil)
	case dependencies.NodeDrivers:
		watchOne(ctx, k, key, u, client.For[*storagev1.CSINode](c), nil)
	case dependencies.Attachment:
		watchOne(ctx, k, key, u, client.For[*storagev1.VolumeAttachment](c), nil)
	case dependencies.Bundle:
		watchOne(ctx, k, key, u, client.For[*certificatesv1.ClusterTrustBundle](c), nil)
	case dependencies.Signer:
		bundles := client.For[*certificatesv1.ClusterTrustBundle](c)
		have := map[string]*certificatesv1.ClusterTrustBundle{}
		watchAll(ctx, k, key, bundles, "spec.signerName="+key.Name, have, func(err error) bool {
			k.objectChanged(u, slices.Collect(maps.Values(have)), err)
			return false
		})
	}
}

// watchOne follows the object of a key. It also ends when final returns true for a version.
func watchOne[T client.Object](ctx context.Context, k *kubelet, key dependencies.Key, u *usedObject, r client.Resource[T], final func(T) bool) {
	if key.Namespace != "" {
		r = r.Namespace(key.Namespace)
	}
	have := map[string]T{}
	watchAll(ctx, k, key, r, "metadata.name="+key.Name, have, func(err error) bool {
		obj, there := have[key.Name]
		if !there {
			k.objectChanged(u, nil, err)
			return false
		}
		k.objectChanged(u, obj, err)
		return final != nil && final(obj)
	})
}

// watchAll keeps the objects of a field selector in have, by name, and calls heard after each change, until that
// returns true or ctx ends. heard gets an error while the objects are not known.
func watchAll[T client.Object](ctx context.Context, k *kubelet, key dependencies.Key, r client.Resource[T], fields string, have map[string]T, heard func(error) bool) {
	revision := ""
	for ctx.Err() == nil {
		began := time.Now()
		done, err := readAll(ctx, k, key, r, fields, &revision, have, heard)
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

// readAll reads the objects and their watch until it ends, and returns why; revision advances with it.
func readAll[T client.Object](ctx context.Context, k *kubelet, key dependencies.Key, r client.Resource[T], fields string, revision *string, have map[string]T, heard func(error) bool) (done bool, err error) {
	options := metav1.ListOptions{FieldSelector: fields}
	if *revision == "" {
		list, err := listOne(ctx, k, r, options)
		if err != nil {
			if ctx.Err() == nil {
				clear(have)
				heard(fmt.Errorf("failed to sync %s cache: timed out waiting for the condition", key.Kind))
			}
			return false, err
		}
		clear(have)
		for _, o := range list.Items {
			have[o.GetName()] = o
		}
		if heard(nil) {
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
			have[ev.Object.GetName()] = ev.Object
		case watch.Deleted:
			delete(have, ev.Object.GetName())
		default:
			continue
		}
		if heard(nil) {
			return true, nil
		}
	}
}

// listOne lists, with bounded concurrency.
func listOne[T client.Object](ctx context.Context, k *kubelet, r client.Resource[T], options metav1.ListOptions) (list client.List[T], err error) {
	select {
	case k.joining <- struct{}{}:
		defer func() { <-k.joining }()
	case <-ctx.Done():
		return list, ctx.Err()
	}
	return r.List(ctx, options)
}
