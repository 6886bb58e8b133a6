package lives

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/client"
	"fairlead.dev/internal/trace/why"
)

// surveyed are the built-in kinds whose state is more than that they exist. A survey reads these and custom kinds in full, and
// of all others the metadata, by which an object that is being deleted is seen.
var surveyed = []string{
	"nodes", "leases.coordination.k8s.io", "namespaces", "pods", "replicationcontrollers", "services", "endpointslices.discovery.k8s.io",
	"persistentvolumes", "persistentvolumeclaims", "storageclasses.storage.k8s.io", "resourcequotas",
	"deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps", "jobs.batch", "cronjobs.batch",
	"ingresses.networking.k8s.io", "ingressclasses.networking.k8s.io", "horizontalpodautoscalers.autoscaling", "poddisruptionbudgets.policy",
	"validatingwebhookconfigurations.admissionregistration.k8s.io", "mutatingwebhookconfigurations.admissionregistration.k8s.io",
	"customresourcedefinitions.apiextensions.k8s.io", "apiservices.apiregistration.k8s.io",
}

// unsurveyed are kinds that are records of other objects.
var unsurveyed = []string{"events", "events.events.k8s.io", "endpoints", "componentstatuses", "pods.metrics.k8s.io", "nodes.metrics.k8s.io"}

// pageSize is how many objects of a kind are read at once.
const pageSize = 500

// Survey explains everything in the cluster that is not in its desired state, as far as the user may list it.
func Survey(ctx context.Context, c *client.Client) (why.Survey, error) {
	g, err := gather(ctx, c)
	if err != nil {
		return why.Survey{}, err
	}
	m := &model{gatherer: g, kinds: map[string]*objects{}, owned: map[string][]*why.Subject{}, notes: map[string][]why.Note{}, usage: map[string]*usage{}}
	if err := m.read(ctx); err != nil {
		return why.Survey{}, err
	}
	s := why.Survey{Problems: []why.Problem{}, Objects: m.count, Forbidden: m.forbidden}
	for _, name := range m.order {
		for _, o := range m.kinds[name].all {
			if o.Controller() == "" && o.Kind != "Lease" && o.Kind != "EndpointSlice" {
				s.Add(why.Explain(m.complete(*o, maxDepth)))
			}
		}
	}
	s.Nodes = m.nodes()
	s.Sort()
	return s, nil
}

// model is the state of a cluster, as far as explanations need it.
type model struct {
	gatherer
	kinds     map[string]*objects // by resource: "pods", "deployments.apps"
	order     []string            // the resources, as they were read
	owned     map[string][]*why.Subject
	notes     map[string][]why.Note // Warnings by UID
	forbidden []string
	count     int
	usage     map[string]*usage // of nodes, by name
}

// objects are those of a kind.
type objects struct {
	all    []*why.Subject
	named  map[[2]string]*why.Subject
	within map[string][]*why.Subject // by namespace
}

// read reads all kinds.
func (m *model) read(ctx context.Context) error {
	var definitions struct {
		Items []struct {
			Spec struct {
				Group string
				Names struct{ Plural string }
			}
		}
	}
	err := m.get(ctx, client.Request{Path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"}, &definitions)
	if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return err
	}
	full := slices.Clone(surveyed)
	for _, d := range definitions.Items {
		full = append(full, d.Spec.Names.Plural+"."+d.Spec.Group)
	}
	if err := m.readNotes(ctx); err != nil {
		return err
	}
	for _, r := range m.gatherer.kinds {
		name := r.GVR.GroupResource().String()
		if m.kinds[name] != nil || !r.Can("list") || slices.Contains(unsurveyed, name) {
			continue
		}
		if err := m.readKind(ctx, r, name, slices.Contains(full, name)); err != nil {
			return err
		}
	}
	return nil
}

// readKind reads the objects of a kind, or, if full is unset, those that are being deleted.
func (m *model) readKind(ctx context.Context, r client.APIResource, name string, full bool) error {
	kind := &objects{named: map[[2]string]*why.Subject{}, within: map[string][]*why.Subject{}}
	m.kinds[name], m.order = kind, append(m.order, name)
	err := m.pages(ctx, r, "", full, func(o map[string]any) {
		m.count++
		if full || metadata(o, "deletionTimestamp") != "" {
			m.add(kind, subjectOf(r, metadata(o, "namespace"), metadata(o, "name"), o))
		}
	})
	switch {
	case apierrors.IsForbidden(err):
		m.forbidden = append(m.forbidden, name)
	case err != nil && !silent(err):
		return err
	}
	return nil
}

func (m *model) add(kind *objects, s why.Subject) {
	if s.Kind == "Pod" {
		m.use(s.Object)
	}
	if s.Kind == "Pod" && !s.Waits() {
		s.Object = slim(s.Object)
	} else {
		delete(s.Object["metadata"].(map[string]any), "managedFields")
	}
	kind.all = append(kind.all, &s)
	kind.named[[2]string{s.Namespace, s.Name}] = &s
	kind.within[s.Namespace] = append(kind.within[s.Namespace], &s)
	if owner := s.Controller(); owner != "" {
		m.owned[owner] = append(m.owned[owner], &s)
	}
}

// slim returns the parts of a pod that runs by which others find and count it: a cluster has many of them.
func slim(pod map[string]any) map[string]any {
	meta := map[string]any{}
	for _, field := range []string{"name", "namespace", "uid", "labels", "ownerReferences"} {
		if v, ok := pod["metadata"].(map[string]any)[field]; ok {
			meta[field] = v
		}
	}
	return map[string]any{"metadata": meta, "status": map[string]any{"phase": "Running"}}
}

// readNotes reads the Warnings.
func (m *model) readNotes(ctx context.Context) error {
	var list corev1.EventList
	err := m.get(ctx, client.Request{Path: "/api/v1/events", Query: url.Values{"fieldSelector": {"type=Warning"}}}, &list)
	if apierrors.IsForbidden(err) {
		m.forbidden = append(m.forbidden, "events")
		return nil
	}
	for _, e := range list.Items {
		uid := string(e.InvolvedObject.UID)
		m.notes[uid] = append(m.notes[uid], noteOf(e))
	}
	for _, notes := range m.notes {
		inOrder(notes)
	}
	return err
}

// complete adds to a subject its Warnings and its parts.
func (m *model) complete(s why.Subject, depth int) why.Subject {
	uid := metadata(s.Object, "uid")
	s.Events = m.notes[uid]
	if depth == 0 {
		return s
	}
	for _, l := range s.Links() {
		parts, err := m.linked(l, uid)
		if err != nil {
			s.Forbidden = append(s.Forbidden, l.Resource)
		}
		for i := range parts {
			if parts[i].Object != nil {
				alike := parts[i].Alike
				parts[i] = m.complete(parts[i], depth-1)
				parts[i].Alike = alike
			}
		}
		s.Parts = append(s.Parts, parts...)
	}
	return s
}

var errUnread = errors.New("the kind was not read")

// linked returns the objects of a link of the object with uid.
func (m *model) linked(l why.Link, uid string) (all []why.Subject, err error) {
	r, err := Find(m.gatherer.kinds, l.Resource)
	if err != nil && l.Name == "" {
		return nil, err
	}
	name := r.GVR.GroupResource().String()
	kind := m.kinds[name]
	if kind == nil && err == nil || slices.Contains(m.forbidden, name) {
		return nil, errUnread
	}
	if l.Name != "" {
		if kind != nil {
			if s := kind.named[[2]string{l.Namespace, l.Name}]; s != nil && !l.Ignores(s) {
				return []why.Subject{*s}, nil
			} else if s != nil {
				return nil, nil
			}
		}
		return []why.Subject{{Kind: cmp.Or(r.Kind.Kind, l.Resource), Resource: cmp.Or(name, l.Resource), Namespace: l.Namespace, Name: l.Name}}, nil
	}
	among := m.owned[uid]
	matches := func(s *why.Subject) bool { return s.OwnedBy(uid) && s.Resource == name }
	if l.Selector != "" {
		selector, err := labels.Parse(l.Selector)
		if err != nil {
			return nil, err
		}
		among = kind.within[l.Namespace]
		matches = func(s *why.Subject) bool { return selector.Matches(labelsOf(s.Object)) }
	}
	for _, s := range among {
		if matches(s) {
			all = append(all, *s)
		}
	}
	return why.Arrange(all), nil
}

func labelsOf(o map[string]any) labels.Set {
	set := labels.Set{}
	meta, _ := o["metadata"].(map[string]any)
	have, _ := meta["labels"].(map[string]any)
	for k, v := range have {
		set[k], _ = v.(string)
	}
	return set
}
