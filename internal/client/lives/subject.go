package lives

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"fairlead.dev/client"
	"fairlead.dev/internal/trace/show"
	"fairlead.dev/internal/trace/why"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
)

// gatherer reads the input of an explanation from a server.
type gatherer struct{ c *client.Client }

// Subject reads the input of why.Explain for an object. kind is any name that Resource
// accepts. The Subject of an object that neither exists nor has lives is Unknown.
func Subject(ctx context.Context, c *client.Client, kind, namespace, name string) (why.Subject, error) {
	for _, part := range []string{namespace, name} {
		if wrong := content.IsPathSegmentName(part); len(wrong) > 0 {
			return why.Subject{}, apierrors.NewBadRequest(fmt.Sprintf("%q %s", part, strings.Join(wrong, ", ")))
		}
	}
	return gatherer{c}.subject(ctx, kind, namespace, name)
}

// get makes a request and decodes its JSON response.
func (g gatherer) get(ctx context.Context, q client.Request, into any) error {
	res, err := g.c.REST().Do(ctx, q)
	if err != nil {
		return err
	}
	return json.Unmarshal(res.Body, into)
}

// ownedKinds maps a kind to the resource of the objects that it owns and waits for.
var ownedKinds = map[string]string{
	"Deployment": "replicasets.apps", "ReplicaSet": "pods", "StatefulSet": "pods", "DaemonSet": "pods",
	"ReplicationController": "pods", "Job": "pods", "CronJob": "jobs.batch",
}

// maxDepth limits the levels of owned objects that are read.
const maxDepth = 3

func (g gatherer) subject(ctx context.Context, kind, namespace, name string) (why.Subject, error) {
	r, err := Resource(ctx, g.c, kind)
	if err != nil {
		return why.Subject{}, err
	}
	object := map[string]any{}
	err = g.get(ctx, client.Request{Path: collection(r, namespace) + "/" + name}, &object)
	if apierrors.IsNotFound(err) {
		object, err = nil, nil
	}
	if err != nil {
		return why.Subject{}, err
	}
	return g.complete(ctx, r, namespace, name, object, maxDepth)
}

// subjectOf is a subject with only its object.
func subjectOf(r client.APIResource, namespace, name string, object map[string]any) why.Subject {
	if !r.Namespaced {
		namespace = ""
	}
	return why.Subject{Kind: r.Kind.Kind, Resource: r.GVR.GroupResource().String(), Namespace: namespace, Name: name, Object: object}
}

// complete makes a subject of an object, with its Events, lives and parts.
func (g gatherer) complete(ctx context.Context, r client.APIResource, namespace, name string, object map[string]any, depth int) (s why.Subject, err error) {
	s = subjectOf(r, namespace, name, object)
	namespace = s.Namespace
	if s.Lives, err = g.lives(ctx, s); err != nil {
		return s, err
	}
	if object == nil {
		return s, nil
	}
	uid := metadata(object, "uid")
	if s.Events, err = g.events(ctx, namespace, uid); err != nil || depth == 0 {
		return s, err
	}
	if s.Kind == "Pod" {
		s.Parts, err = g.claims(ctx, namespace, object)
		return s, err
	}
	switch s.Kind {
	case "Node":
		lease, err := g.subject(ctx, "leases.coordination.k8s.io", "kube-node-lease", name)
		if err == nil {
			s.Parts = []why.Subject{lease}
		} else if !apierrors.IsForbidden(err) {
			return s, err
		}
	case "Service":
		err = g.backends(ctx, &s)
		return s, err
	}
	if kind := ownedKinds[s.Kind]; kind != "" {
		s.Parts, err = g.owned(ctx, kind, namespace, uid, depth-1)
	}
	return s, err
}

// lives reads the lives of a subject's last changes; nil if the server does not trace.
func (g gatherer) lives(ctx context.Context, s why.Subject) (all []show.Event, err error) {
	q := url.Values{"resource": {s.Resource}, "namespace": {s.Namespace}, "name": {s.Name}, "limit": {"8"}}
	err = Each(ctx, g.c, q, func(_ []byte, e show.Event) error {
		all = append(all, e)
		return nil
	})
	if errors.Is(err, ErrNone) || apierrors.IsForbidden(err) {
		err = nil
	}
	return all, err
}

// events are the Events about an object, oldest first.
func (g gatherer) events(ctx context.Context, namespace, uid string) ([]why.Note, error) {
	if namespace == "" {
		namespace = "default" // the Events of cluster-scoped objects are there
	}
	var list corev1.EventList
	err := g.get(ctx, client.Request{Path: "/api/v1/namespaces/" + namespace + "/events", Query: url.Values{"fieldSelector": {"involvedObject.uid=" + uid}}}, &list)
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var notes []why.Note
	for _, e := range list.Items {
		n := why.Note{Time: e.LastTimestamp.Time, Type: e.Type, Reason: e.Reason, Message: e.Message, Source: e.Source.Component, Count: int64(e.Count)}
		if e.EventTime.After(n.Time) {
			n.Time = e.EventTime.Time
		}
		if n.Source == "" {
			n.Source = e.ReportingController
		}
		if e.Series != nil {
			n.Count, n.Time = int64(e.Series.Count), e.Series.LastObservedTime.Time
		}
		notes = append(notes, n)
	}
	slices.SortStableFunc(notes, func(a, b why.Note) int { return a.Time.Compare(b.Time) })
	return notes, nil
}

// owned reads the objects of a kind whose controller is the object with uid. There may be
// thousands: only the parts that the explanation has in full are completed.
func (g gatherer) owned(ctx context.Context, kind, namespace, uid string, depth int) (all []why.Subject, err error) {
	r, err := Resource(ctx, g.c, kind)
	if err != nil {
		return nil, err
	}
	var list struct{ Items []map[string]any }
	err = g.get(ctx, client.Request{Path: collection(r, namespace)}, &list)
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, o := range list.Items {
		if ownedBy(o, uid) && !(r.Kind.Kind == "ReplicaSet" && idle(o)) {
			all = append(all, subjectOf(r, namespace, metadata(o, "name"), o))
		}
	}
	all = why.WaitingFirst(all)
	for i := range min(len(all), why.MaxParts) {
		if all[i], err = g.complete(ctx, r, namespace, all[i].Name, all[i].Object, depth); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// backends adds to a service its EndpointSlices and the pods that its selector matches.
func (g gatherer) backends(ctx context.Context, s *why.Subject) error {
	spec, _ := s.Object["spec"].(map[string]any)
	selector, _ := spec["selector"].(map[string]any)
	if err := g.selected(ctx, s, "endpointslices.discovery.k8s.io", discoveryv1.LabelServiceName+"="+s.Name); err != nil || len(selector) == 0 {
		return err
	}
	return g.selected(ctx, s, "pods", why.Selector(selector))
}

// selected adds to a subject the objects of a kind and its namespace that have the labels.
func (g gatherer) selected(ctx context.Context, s *why.Subject, kind, labels string) error {
	r, err := Resource(ctx, g.c, kind)
	if err != nil {
		return err
	}
	var list struct{ Items []map[string]any }
	err = g.get(ctx, client.Request{Path: collection(r, s.Namespace), Query: url.Values{"labelSelector": {labels}}}, &list)
	if apierrors.IsForbidden(err) {
		s.Forbidden = append(s.Forbidden, kind)
		return nil
	}
	if err != nil {
		return err
	}
	var all []why.Subject
	for _, o := range list.Items {
		all = append(all, subjectOf(r, s.Namespace, metadata(o, "name"), o))
	}
	all = why.WaitingFirst(all)
	for i := range min(len(all), why.MaxParts) {
		if all[i], err = g.complete(ctx, r, s.Namespace, all[i].Name, all[i].Object, 1); err != nil {
			return err
		}
	}
	s.Parts = append(s.Parts, all...)
	return nil
}

// claims reads the PersistentVolumeClaims of a pod's volumes.
func (g gatherer) claims(ctx context.Context, namespace string, pod map[string]any) (all []why.Subject, err error) {
	spec, _ := pod["spec"].(map[string]any)
	volumes, _ := spec["volumes"].([]any)
	for _, v := range volumes {
		volume, _ := v.(map[string]any)
		claim, _ := volume["persistentVolumeClaim"].(map[string]any)
		name, _ := claim["claimName"].(string)
		if _, own := volume["ephemeral"]; own {
			of, _ := volume["name"].(string)
			name = metadata(pod, "name") + "-" + of
		}
		if name == "" {
			continue
		}
		s, err := g.subject(ctx, "persistentvolumeclaims", namespace, name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func metadata(o map[string]any, field string) string {
	m, _ := o["metadata"].(map[string]any)
	text, _ := m[field].(string)
	return text
}

func ownedBy(o map[string]any, uid string) bool {
	m, _ := o["metadata"].(map[string]any)
	refs, _ := m["ownerReferences"].([]any)
	return slices.ContainsFunc(refs, func(ref any) bool {
		r, _ := ref.(map[string]any)
		return r["uid"] == uid && r["controller"] == true
	})
}

// idle reports whether a ReplicaSet has no replicas, as the old ones of a Deployment.
func idle(o map[string]any) bool {
	var rs struct {
		Spec   struct{ Replicas int }
		Status struct{ Replicas int }
	}
	text, err := json.Marshal(o)
	return err == nil && json.Unmarshal(text, &rs) == nil && rs.Spec.Replicas == 0 && rs.Status.Replicas == 0
}

// collection is the path of a resource's objects.
func collection(r client.APIResource, namespace string) string {
	p := "/apis/" + r.GVR.Group
	if r.GVR.Group == "" {
		p = "/api"
	}
	p += "/" + r.GVR.Version
	if r.Namespaced {
		p += fmt.Sprintf("/namespaces/%s", namespace)
	}
	return strings.TrimSuffix(p+"/"+r.GVR.Resource, "/")
}
