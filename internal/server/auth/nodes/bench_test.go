package nodes_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/bootstrap"
	"fairlead.dev/internal/server/auth/nodes"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"fairlead.dev/watchcache"
)

// caches is an auth.Lookup over watch caches by resource. Like the server's, it keeps decoded objects.
type caches struct {
	of      map[string]*watchcache.Cache
	decoded map[string]runtime.Object
}

func (l caches) Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (runtime.Object, error) {
	o, _, err := l.of[gr.Resource].Get(ctx, namespace, name, watchcache.ReadAt{})
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, apierrors.NewNotFound(gr, name)
	}
	if obj := l.decoded[o.Key()]; obj != nil {
		return obj, nil
	}
	var obj runtime.Object = &corev1.PersistentVolume{}
	if gr.Resource == "persistentvolumeclaims" {
		obj = &corev1.PersistentVolumeClaim{}
	}
	l.decoded[o.Key()] = obj
	return obj, json.Unmarshal(o.Value(), obj)
}

func (l caches) List(context.Context, schema.GroupResource, string) ([]runtime.Object, error) {
	return nil, nil
}

// crowd returns an Authorizer of nodes with a hundred pods each. Pod i runs on node i%count and has Secret, ConfigMap, claim,
// volume and account i.
func crowd(b *testing.B, count int) auth.Authorizer {
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	var ops []storage.Op
	commit := func() {
		if _, err := store.Commit(b.Context(), storage.Txn{Then: ops}); err != nil {
			b.Fatal(err)
		}
		ops = nil
	}
	put := func(key string, obj any) {
		value, err := json.Marshal(obj)
		if err != nil {
			b.Fatal(err)
		}
		ops = append(ops, storage.Op{Type: storage.Put, Key: "/registry/" + key, Value: value})
	}
	for i := range count * 100 {
		name := fmt.Sprint("o", i)
		meta := metav1.ObjectMeta{Namespace: "shop", Name: name}
		put("pods/shop/"+name, &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{
			NodeName: fmt.Sprint("n", i%count), ServiceAccountName: name, ImagePullSecrets: []corev1.LocalObjectReference{{Name: name}},
			Volumes: []corev1.Volume{
				{Name: "c", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}},
				{Name: "d", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}},
			},
		}})
		put("persistentvolumeclaims/shop/"+name, &corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: name}})
		put("persistentvolumes/"+name, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
			ClaimRef: &corev1.ObjectReference{Namespace: "shop", Name: name},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: "d", NodeStageSecretRef: &corev1.SecretReference{Namespace: "vault", Name: name}}},
		}})
		if len(ops) >= 300 {
			commit()
		}
	}
	commit()
	hub, err := watchcache.NewHub(store, watchcache.HubOptions{})
	if err != nil {
		b.Fatal(err)
	}
	add := func(resource string, namespaced bool, fields ...watchcache.Field) *watchcache.Cache {
		o := watchcache.Options{Prefix: "/registry/" + resource + "/", Namespaced: namespaced, Resource: resource, Fields: fields}
		for _, f := range fields {
			o.IndexFields = append(o.IndexFields, f.Label)
		}
		return hub.Add(o)
	}
	return nodes.New(nodes.Options{
		Rules: bootstrap.NodeRules(), Pods: add("pods", true, watchcache.Field{Label: "spec.nodeName", Paths: [][]string{{"spec", "nodeName"}}}),
		Lookup: caches{map[string]*watchcache.Cache{
			"persistentvolumeclaims": add("persistentvolumeclaims", true), "persistentvolumes": add("persistentvolumes", false),
		}, map[string]runtime.Object{}},
	})
}

// BenchmarkAuthorize measures what it costs to authorize a request of a node that runs a hundred pods, alone and among a
// thousand such nodes.
func BenchmarkAuthorize(b *testing.B) {
	for _, count := range []int{1, 1000} {
		z := crowd(b, count)
		user := &auth.User{Name: "system:node:n0", Groups: []string{auth.NodesGroup}}
		mine := fmt.Sprint("o", 50*count) // one of n0's pods
		for _, c := range []struct {
			what string
			a    auth.Attributes
			want bool
		}{
			{"pod", auth.Attributes{Resource: "pods", Namespace: "shop", Name: mine}, true},
			{"secret", auth.Attributes{Resource: "secrets", Namespace: "shop", Name: mine}, true},
			{"secret-of-volume", auth.Attributes{Resource: "secrets", Namespace: "vault", Name: mine}, true},
			{"secret-unused", auth.Attributes{Resource: "secrets", Namespace: "shop", Name: "unused"}, false},
			{"configmap-unused", auth.Attributes{Resource: "configmaps", Namespace: "shop", Name: "unused"}, false},
			{"claim", auth.Attributes{Resource: "persistentvolumeclaims", Namespace: "shop", Name: mine}, true},
			{"volume", auth.Attributes{Resource: "persistentvolumes", Name: mine}, true},
		} {
			b.Run(fmt.Sprintf("pods=%d/%s", count*100, c.what), func(b *testing.B) {
				c.a.User, c.a.Verb, c.a.IsResource = user, "get", true
				b.ReportAllocs()
				for b.Loop() {
					if d, reason, err := z.Authorize(b.Context(), c.a); (d == auth.Allow) != c.want || err != nil {
						b.Fatal(d, reason, err)
					}
				}
			})
		}
	}
}
