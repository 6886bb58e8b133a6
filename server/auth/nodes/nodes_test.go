package nodes_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/server/auth"
	"fairlead.dev/server/auth/bootstrap"
	"fairlead.dev/server/auth/nodes"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"fairlead.dev/watchcache"
)

// pods returns what PodsIn finds of the pods in a store.
func pods(t *testing.T, list ...*corev1.Pod) func(context.Context, string) ([]*corev1.Pod, error) {
	t.Helper()
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	for _, p := range list {
		value, _ := json.Marshal(p)
		put := storage.Op{Type: storage.Put, Key: "/registry/pods/" + p.Namespace + "/" + p.Name, Value: value}
		if _, err := store.Commit(context.Background(), storage.Txn{Then: []storage.Op{put}}); err != nil {
			t.Fatal(err)
		}
	}
	hub, err := watchcache.NewHub(store, watchcache.HubOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return nodes.PodsIn(hub.Add(watchcache.Options{
		Prefix: "/registry/pods/", Namespaced: true, Resource: "pods", IndexFields: []string{"spec.nodeName"},
		Fields: []watchcache.Field{{Label: "spec.nodeName", Paths: [][]string{{"spec", "nodeName"}}}},
	}))
}

type lookup map[string]runtime.Object

func (l lookup) Get(_ context.Context, gr schema.GroupResource, _, name string) (runtime.Object, error) {
	if obj := l[gr.Resource+"/"+name]; obj != nil {
		return obj, nil
	}
	return nil, apierrors.NewNotFound(gr, name)
}

func (l lookup) List(context.Context, schema.GroupResource, string) ([]runtime.Object, error) {
	return nil, nil
}

func TestNodes(t *testing.T) {
	web := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: corev1.PodSpec{
		NodeName: "n1", ServiceAccountName: "till", ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}},
		Containers: []corev1.Container{{Env: []corev1.EnvVar{{ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "env"}}}}}}},
		Volumes: []corev1.Volume{
			{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "conf"}}}},
			{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
		},
	}}
	other := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "other"}, Spec: corev1.PodSpec{
		NodeName: "n2", ServiceAccountName: "robot", ImagePullSecrets: []corev1.LocalObjectReference{{Name: "hidden"}},
	}}
	z := nodes.New(nodes.Options{
		Rules: bootstrap.NodeRules(),
		Pods:  pods(t, web, other),
		Lookup: lookup{
			"persistentvolumeclaims/data": &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv1"}},
			"volumeattachments/va1":       &storagev1.VolumeAttachment{Spec: storagev1.VolumeAttachmentSpec{NodeName: "n1"}},
			"volumeattachments/va2":       &storagev1.VolumeAttachment{Spec: storagev1.VolumeAttachmentSpec{NodeName: "n2"}},
		},
	})
	n1 := &auth.User{Name: "system:node:n1", Groups: []string{auth.NodesGroup}}
	for _, c := range []struct {
		verb, group, resource, namespace, name string
		want                                   bool
	}{
		{"create", "", "nodes", "", "", true},
		{"patch", "", "nodes/status", "", "n1", true},
		{"delete", "", "nodes", "", "n1", false},
		{"watch", "", "pods", "", "", true},
		{"patch", "", "pods/status", "shop", "web", true},
		{"update", "", "pods", "shop", "web", false},
		{"get", "", "secrets", "shop", "pull", true},
		{"get", "", "secrets", "shop", "env", true},
		{"get", "", "secrets", "shop", "hidden", false},
		{"get", "", "secrets", "bank", "pull", false},
		{"list", "", "secrets", "shop", "", false},
		{"list", "", "secrets", "", "", false},
		{"update", "", "secrets", "shop", "pull", false},
		{"watch", "", "configmaps", "shop", "conf", true},
		{"get", "", "configmaps", "shop", "conf2", false},
		{"get", "", "persistentvolumeclaims", "shop", "data", true},
		{"get", "", "persistentvolumes", "", "pv1", true},
		{"get", "", "persistentvolumes", "", "pv2", false},
		{"create", "", "serviceaccounts/token", "shop", "till", true},
		{"create", "", "serviceaccounts/token", "shop", "robot", false},
		{"get", "storage.k8s.io", "volumeattachments", "", "va1", true},
		{"get", "storage.k8s.io", "volumeattachments", "", "va2", false},
		{"update", "coordination.k8s.io", "leases", "kube-node-lease", "n1", true},
		{"update", "coordination.k8s.io", "leases", "kube-node-lease", "n2", false},
		{"create", "coordination.k8s.io", "leases", "kube-node-lease", "", true},
		{"get", "coordination.k8s.io", "leases", "kube-system", "n1", false},
		{"delete", "storage.k8s.io", "csinodes", "", "n2", false},
		{"get", "apps", "deployments", "shop", "web", false},
	} {
		resource, sub, _ := strings.Cut(c.resource, "/")
		a := auth.Attributes{User: n1, Verb: c.verb, Group: c.group, Resource: resource, Subresource: sub, Namespace: c.namespace, Name: c.name, IsResource: true}
		got, reason, err := z.Authorize(context.Background(), a)
		if got != c.want || err != nil {
			t.Errorf("%s: %v %q %v", auth.ForbiddenMessage(a, ""), got, reason, err)
		}
		for _, u := range []*auth.User{{Name: "system:node:n1"}, {Name: "ann", Groups: []string{auth.NodesGroup}}, {Name: "system:node:", Groups: []string{auth.NodesGroup}}} {
			a.User = u
			if got, _, _ := z.Authorize(context.Background(), a); got {
				t.Errorf("%s %v is taken for a node", u.Name, u.Groups)
			}
		}
	}
}
