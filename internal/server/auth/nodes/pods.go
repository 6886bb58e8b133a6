package nodes

import (
	"bytes"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"

	"fairlead.dev/internal/poduses"
	"fairlead.dev/watchcache"
)

// refs is the encoding under which a pod in the watch cache keeps its references: a line for each object in its
// namespace, with the sort and the name.
const refs watchcache.Encoding = "fairlead.dev/node-references"

// Sorts of objects to which a pod refers.
const (
	secretRef        = "secret"
	configMapRef     = "configmap"
	claimRef         = "claim"
	accountRef       = "account"
	resourceClaimRef = "resourceclaim"
)

func line(sort, name string) string { return "\n" + sort + " " + name + "\n" }

// references builds that encoding. A mirror pod has no references: a node must not gain access to an object by
// creating a pod.
func references(o *watchcache.Object) ([]byte, error) {
	p := &corev1.Pod{}
	if err := json.Unmarshal(o.Value(), p); err != nil {
		return nil, err
	}
	if _, mirror := p.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return nil, nil
	}
	var b []byte
	add := func(sort string, names []string) {
		for _, name := range names {
			if name != "" {
				b = append(b, line(sort, name)...)
			}
		}
	}
	add(accountRef, []string{p.Spec.ServiceAccountName})
	add(secretRef, poduses.Secrets(p))
	add(configMapRef, poduses.ConfigMaps(p))
	add(claimRef, poduses.Claims(p))
	add(resourceClaimRef, poduses.ResourceClaims(p))
	return b, nil
}

// referred returns a function that reports whether a pod of the node refers to the object.
func (q question) referred(sort string) func() (bool, error) {
	return func() (bool, error) { return q.refers(sort) }
}

func (q question) refers(sort string) (bool, error) { return q.refersTo(sort, q.a.Namespace, q.a.Name) }

func (q question) refersTo(sort, namespace, name string) (bool, error) {
	want := []byte(line(sort, name))
	return q.anyPod(namespace, func(o *watchcache.Object) (bool, error) {
		list, err := o.Encoding(refs, references)
		return bytes.Contains(list, want), err
	})
}

// anyPod reports whether the condition holds for a pod bound to the node. It asks the cache in its present state
// first, and waits for the store's state only if no such pod is found.
func (q question) anyPod(namespace string, is func(*watchcache.Object) (bool, error)) (bool, error) {
	for _, match := range []watchcache.Match{watchcache.Any, watchcache.Latest} {
		s, err := q.z.Pods.Snapshot(q.ctx, watchcache.ReadAt{Match: match})
		if err != nil {
			return false, err
		}
		pods, err := s.List(q.pods(namespace), "", 0)
		if err != nil {
			return false, err
		}
		for o := range pods {
			if ok, err := is(o); ok || err != nil {
				return ok, err
			}
		}
	}
	return false, nil
}

// pods selects the node's pods. Unreadable ones give no access.
func (q question) pods(namespace string) watchcache.Selection {
	return watchcache.Selection{Namespace: namespace, Fields: fields.OneTermEqualSelector("spec.nodeName", q.node), Readable: true}
}

// hasPod reports whether the pod is bound to the node.
func (q question) hasPod() (bool, error) {
	for _, match := range []watchcache.Match{watchcache.Any, watchcache.Latest} {
		o, _, err := q.z.Pods.Get(q.ctx, q.a.Namespace, q.a.Name, watchcache.ReadAt{Match: match})
		if err != nil {
			return false, err
		}
		if o != nil && o.Fields().Get("spec.nodeName") == q.node {
			return true, nil
		}
	}
	return false, nil
}
