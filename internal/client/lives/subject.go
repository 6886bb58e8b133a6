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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
)

// gatherer reads the input of an explanation from a server.
type gatherer struct {
	c     *client.Client
	kinds []client.APIResource // the server's
}

func gather(ctx context.Context, c *client.Client) (gatherer, error) {
	kinds, err := c.ServerResources(ctx)
	if len(kinds) > 0 {
		err = nil // the kinds of an API service that does not answer are missing
	}
	return gatherer{c, kinds}, err
}

// Subject reads the input of why.Explain for an object. kind is any name that Resource
// accepts. The Subject of an object that neither exists nor has lives is Unknown.
func Subject(ctx context.Context, c *client.Client, kind, namespace, name string) (why.Subject, error) {
	if err := segments(namespace, name); err != nil {
		return why.Subject{}, err
	}
	g, err := gather(ctx, c)
	if err != nil {
		return why.Subject{}, err
	}
	return g.subject(ctx, kind, namespace, name)
}

// segments checks that texts can be segments of a path.
func segments(parts ...string) error {
	for _, part := range parts {
		if wrong := content.IsPathSegmentName(part); len(wrong) > 0 {
			return apierrors.NewBadRequest(fmt.Sprintf("%q %s", part, strings.Join(wrong, ", ")))
		}
	}
	return nil
}

// get makes a request and decodes its JSON response.
func (g gatherer) get(ctx context.Context, q client.Request, into any) error {
	res, err := g.c.REST().Do(ctx, q)
	if err != nil {
		return err
	}
	return json.Unmarshal(res.Body, into)
}

// maxDepth limits the levels of owned objects that are read.
const maxDepth = 3

func (g gatherer) subject(ctx context.Context, kind, namespace, name string) (why.Subject, error) {
	r, err := Find(g.kinds, kind)
	if err != nil {
		return why.Subject{}, err
	}
	object := map[string]any{}
	err = g.get(ctx, client.Request{Path: Collection(r, namespace) + "/" + name}, &object)
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
	for _, l := range s.Links() {
		parts, err := g.linked(ctx, l, uid, depth-1)
		switch {
		case apierrors.IsForbidden(err):
			s.Forbidden = append(s.Forbidden, l.Resource)
		case err != nil:
			return s, err
		}
		s.Parts = append(s.Parts, parts...)
	}
	return s, nil
}

// linked reads the objects of a link of the object with uid. There may be thousands: only the parts that the explanation has
// in full are completed.
func (g gatherer) linked(ctx context.Context, l why.Link, uid string, depth int) ([]why.Subject, error) {
	r, err := Find(g.kinds, l.Resource)
	if errors.Is(err, ErrNoKind) && l.Name != "" {
		return []why.Subject{{Kind: l.Resource, Resource: l.Resource, Namespace: l.Namespace, Name: l.Name}}, nil
	}
	if err != nil {
		return nil, err
	}
	var all []why.Subject
	if l.Name != "" {
		object := map[string]any{}
		err := g.get(ctx, client.Request{Path: Collection(r, l.Namespace) + "/" + l.Name}, &object)
		switch {
		case apierrors.IsNotFound(err):
			object = nil
		case err != nil:
			return nil, err
		}
		if s := subjectOf(r, l.Namespace, l.Name, object); object == nil || !l.Ignores(&s) {
			all = []why.Subject{s}
		}
	} else {
		var list struct{ Items []map[string]any }
		if err := g.get(ctx, client.Request{Path: Collection(r, l.Namespace), Query: url.Values{"labelSelector": {l.Selector}}}, &list); err != nil {
			return nil, err
		}
		for _, o := range list.Items {
			if s := subjectOf(r, l.Namespace, metadata(o, "name"), o); l.Selector != "" || s.OwnedBy(uid) {
				all = append(all, s)
			}
		}
		all = why.Arrange(all)
	}
	for i := range min(len(all), why.MaxParts) {
		alike := all[i].Alike
		if all[i], err = g.complete(ctx, r, l.Namespace, all[i].Name, all[i].Object, depth); err != nil {
			return nil, err
		}
		all[i].Alike = alike
	}
	return all, nil
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

// Notes reads the Events about an object, oldest first; an empty list if the user may not read them.
func Notes(ctx context.Context, c *client.Client, namespace, uid string) ([]why.Note, error) {
	return gatherer{c: c}.events(ctx, namespace, uid)
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
		notes = append(notes, noteOf(e))
	}
	inOrder(notes)
	return notes, nil
}

// inOrder sorts notes, the oldest first.
func inOrder(notes []why.Note) {
	slices.SortStableFunc(notes, func(a, b why.Note) int { return a.Time.Compare(b.Time) })
}

func noteOf(e corev1.Event) why.Note {
	n := why.Note{Time: e.LastTimestamp.Time, Type: e.Type, Reason: e.Reason, Message: strings.TrimSpace(e.Message), Source: e.Source.Component, Count: int64(e.Count)}
	if e.EventTime.After(n.Time) {
		n.Time = e.EventTime.Time
	}
	if n.Source == "" {
		n.Source = e.ReportingController
	}
	if e.Series != nil {
		n.Count, n.Time = int64(e.Series.Count), e.Series.LastObservedTime.Time
	}
	return n
}

func metadata(o map[string]any, field string) string {
	m, _ := o["metadata"].(map[string]any)
	text, _ := m[field].(string)
	return text
}

// Collection is the path of a resource's objects in a namespace, or in all if it is "".
func Collection(r client.APIResource, namespace string) string {
	p := "/apis/" + r.GVR.Group
	if r.GVR.Group == "" {
		p = "/api"
	}
	p += "/" + r.GVR.Version
	if r.Namespaced && namespace != "" {
		p += "/namespaces/" + namespace
	}
	return p + "/" + r.GVR.Resource
}
