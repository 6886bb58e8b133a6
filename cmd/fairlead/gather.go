package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/client"
	"fairlead.dev/trace/show"
	"fairlead.dev/trace/why"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// gatherer reads from a server what an explanation takes.
type gatherer struct{ c *client.Client }

// below is what an object of a kind owns that it waits for.
var below = map[string]string{
	"Deployment": "replicasets.apps", "ReplicaSet": "pods", "StatefulSet": "pods", "DaemonSet": "pods",
	"ReplicationController": "pods", "Job": "pods", "CronJob": "jobs.batch",
}

// deep is how far down is looked.
const deep = 3

func (g *gatherer) subject(ctx context.Context, kind, namespace, name string) (why.Subject, error) {
	r, err := findResource(ctx, g.c, kind)
	if err != nil {
		return why.Subject{}, err
	}
	object := map[string]any{}
	err = ask(ctx, g.c, client.Request{Path: path(r, namespace) + "/" + name}, &object)
	if apierrors.IsNotFound(err) {
		object, err = nil, nil
	}
	if err != nil {
		return why.Subject{}, err
	}
	return g.known(ctx, r, namespace, name, object, deep)
}

// known adds to an object what is known of it.
func (g *gatherer) known(ctx context.Context, r client.APIResource, namespace, name string, object map[string]any, depth int) (s why.Subject, err error) {
	if !r.Namespaced {
		namespace = ""
	}
	s = why.Subject{Kind: r.Kind.Kind, Resource: r.GVR.GroupResource().String(), Namespace: namespace, Name: name, Object: object}
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
	if kind := below[s.Kind]; kind != "" {
		s.Parts, err = g.owned(ctx, kind, namespace, uid, depth-1)
	}
	return s, err
}

// lives are those of a subject's last changes; none if the server keeps none.
func (g *gatherer) lives(ctx context.Context, s why.Subject) (all []show.Event, err error) {
	q := query("resource", s.Resource, "namespace", s.Namespace, "name", s.Name, "limit", "8")
	err = lives(ctx, g.c, q, func(_ []byte, e show.Event) error {
		all = append(all, e)
		return nil
	})
	if err == errNoLives || apierrors.IsForbidden(err) {
		err = nil
	}
	return all, err
}

// events are what was noted about an object, oldest first.
func (g *gatherer) events(ctx context.Context, namespace, uid string) ([]why.Note, error) {
	if namespace == "" {
		namespace = "default" // where those of objects of no namespace are
	}
	var list corev1.EventList
	err := ask(ctx, g.c, client.Request{Path: "/api/v1/namespaces/" + namespace + "/events", Query: query("fieldSelector", "involvedObject.uid="+uid)}, &list)
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

// owned are the objects of a kind that another controls.
func (g *gatherer) owned(ctx context.Context, kind, namespace, uid string, depth int) (all []why.Subject, err error) {
	r, err := findResource(ctx, g.c, kind)
	if err != nil {
		return nil, err
	}
	var list struct{ Items []map[string]any }
	if err := ask(ctx, g.c, client.Request{Path: path(r, namespace)}, &list); err != nil {
		return nil, err
	}
	for _, o := range list.Items {
		if !ownedBy(o, uid) || r.Kind.Kind == "ReplicaSet" && idle(o) {
			continue
		}
		s, err := g.known(ctx, r, namespace, metadata(o, "name"), o, depth)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// claims are the claims that a pod's volumes name.
func (g *gatherer) claims(ctx context.Context, namespace string, pod map[string]any) (all []why.Subject, err error) {
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

// idle says of a ReplicaSet that it is an old one of a Deployment, with nothing left.
func idle(o map[string]any) bool {
	var rs struct {
		Spec   struct{ Replicas int }
		Status struct{ Replicas int }
	}
	text, err := json.Marshal(o)
	return err == nil && json.Unmarshal(text, &rs) == nil && rs.Spec.Replicas == 0 && rs.Status.Replicas == 0
}

// path is where a collection is.
func path(r client.APIResource, namespace string) string {
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
