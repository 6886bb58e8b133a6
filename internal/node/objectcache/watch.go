package objectcache

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
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/dependencies"
)

// watch follows the object of a key until ctx ends; user is its first user. It is the goroutine of an object.
func (c *Cache) watch(ctx context.Context, key dependencies.Key, o *object, user *corev1.Pod) {
	switch key.Kind {
	case dependencies.ConfigMap:
		watchOne(ctx, c, key, o, client.For[*corev1.ConfigMap](c.Client), func(m *corev1.ConfigMap) bool { return m.Immutable != nil && *m.Immutable })
	case dependencies.Secret:
		watchOne(ctx, c, key, o, client.For[*corev1.Secret](c.Client), func(s *corev1.Secret) bool { return s.Immutable != nil && *s.Immutable })
	case dependencies.Claim:
		watchOne(ctx, c, key, o, client.For[*corev1.PersistentVolumeClaim](c.Client), nil)
	case dependencies.Volume:
		watchOne(ctx, c, key, o, client.For[*corev1.PersistentVolume](c.Client), nil)
	case dependencies.Driver:
		watchOne(ctx, c, key, o, client.For[*storagev1.CSIDriver](c.Client), nil)
	case dependencies.NodeDrivers:
		watchOne(ctx, c, key, o, client.For[*storagev1.CSINode](c.Client), nil)
	case dependencies.Attachment:
		watchOne(ctx, c, key, o, client.For[*storagev1.VolumeAttachment](c.Client), nil)
	case dependencies.Bundle:
		watchOne(ctx, c, key, o, client.For[*certificatesv1.ClusterTrustBundle](c.Client), nil)
	case dependencies.ResourceClaim:
		watchOne(ctx, c, key, o, client.For[*resourcev1.ResourceClaim](c.Client), isSettled)
	case dependencies.Certificate:
		c.watchCertificate(ctx, key, o, user)
	case dependencies.Signer:
		bundles := client.For[*certificatesv1.ClusterTrustBundle](c.Client)
		have := map[string]*certificatesv1.ClusterTrustBundle{}
		watchAll(ctx, c, key, bundles, "spec.signerName="+key.Name, have, func(err error) bool {
			c.changed(o, slices.Collect(maps.Values(have)), err)
			return false
		})
	}
}

// isSettled reports whether a ResourceClaim that was made for one pod, or one group, is allocated and reserved for it. It
// stays so as long as the pod, or one of the group, is on a node.
func isSettled(r *resourcev1.ResourceClaim) bool {
	ref := metav1.GetControllerOfNoCopy(r)
	return ref != nil && r.Status.Allocation != nil && slices.ContainsFunc(r.Status.ReservedFor, func(by resourcev1.ResourceClaimConsumerReference) bool {
		return by.UID == ref.UID
	})
}

// watchOne follows the object of a key. It also ends when final returns true for a version.
func watchOne[T client.Object](ctx context.Context, c *Cache, key dependencies.Key, o *object, r client.Resource[T], final func(T) bool) {
	if key.Namespace != "" {
		r = r.Namespace(key.Namespace)
	}
	have := map[string]T{}
	watchAll(ctx, c, key, r, "metadata.name="+key.Name, have, func(err error) bool {
		obj, there := have[key.Name]
		if !there {
			c.changed(o, nil, err)
			return false
		}
		c.changed(o, obj, err)
		return final != nil && final(obj)
	})
}

// watchAll keeps the objects of a field selector in have, by name, and calls heard after each change, until that
// returns true or ctx ends. heard gets an error while the objects are not known.
func watchAll[T client.Object](ctx context.Context, c *Cache, key dependencies.Key, r client.Resource[T], fields string, have map[string]T, heard func(error) bool) {
	revision := ""
	for ctx.Err() == nil {
		began := time.Now()
		done, err := readAll(ctx, c, key, r, fields, &revision, have, heard)
		switch {
		case done || ctx.Err() != nil:
			return
		case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
			revision = ""
		case !errors.Is(err, io.EOF) || time.Since(began) < time.Second:
			c.Log.Debug("watch of an object ended", "node", c.Node, "object", key.Kind.String()+" "+key.Namespace+"/"+key.Name, "err", err)
			pause := time.NewTimer(time.Second)
			select {
			case <-pause.C:
			case <-ctx.Done():
			}
			pause.Stop()
		}
	}
}

// readAll reads the objects and their watch until it ends, and returns why; revision advances with it.
func readAll[T client.Object](ctx context.Context, c *Cache, key dependencies.Key, r client.Resource[T], fields string, revision *string, have map[string]T, heard func(error) bool) (done bool, err error) {
	options := metav1.ListOptions{FieldSelector: fields}
	if *revision == "" {
		list, err := listOne(ctx, c, r, options)
		if err != nil {
			if ctx.Err() == nil {
				clear(have)
				heard(fmt.Errorf("failed to sync %s cache: timed out waiting for the condition", key.Kind))
			}
			return false, err
		}
		clear(have)
		for _, item := range list.Items {
			have[item.GetName()] = item
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
func listOne[T client.Object](ctx context.Context, c *Cache, r client.Resource[T], options metav1.ListOptions) (list client.List[T], err error) {
	select {
	case c.Lists <- struct{}{}:
		defer func() { <-c.Lists }()
	case <-ctx.Done():
		return list, ctx.Err()
	}
	return r.List(ctx, options)
}
