package main

import (
	"context"
	"fmt"
	"io"

	"fairlead.dev/client"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// traceSubject is the subject of a trace: an object, a kind if it has no name, or everything if
// it has no kind.
type traceSubject struct {
	c               *client.Client
	r               client.APIResource
	namespace, name string
}

func (s traceSubject) String() string {
	name := s.name
	if s.namespace != "" {
		name = s.namespace + "/" + name
	}
	switch resource := s.r.GVR.GroupResource().String(); {
	case s.r.GVR.Resource == "":
		return "all objects"
	case s.name == "":
		return resource
	default:
		return fmt.Sprintf("%s %q", resource, name)
	}
}

// exists reports whether the object exists; true for any subject but a single object.
func (s traceSubject) exists(ctx context.Context) (bool, error) {
	if s.name == "" {
		return true, nil
	}
	found, err := client.Metadata(s.c, s.r.GVR, s.r.Namespaced).Namespace(s.namespace).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + s.name, Limit: 1})
	if err != nil {
		return false, err
	}
	return len(found.Items) > 0, nil
}

// announceWait tells people that a trace without output yet waits for events.
func (s traceSubject) announceWait(ctx context.Context, aside io.Writer) error {
	there, err := s.exists(ctx)
	if err != nil {
		return err
	}
	yet := ""
	if !there {
		yet = ", which does not exist yet"
	}
	_, err = fmt.Fprintf(aside, "Following %s%s; Ctrl-C stops\n", s, yet)
	return err
}

// reportNoEvents reports that no event was found, which is an error if the object does not exist.
func (s traceSubject) reportNoEvents(ctx context.Context, aside io.Writer) error {
	there, err := s.exists(ctx)
	if err != nil {
		return err
	}
	if !there {
		return fmt.Errorf("%s does not exist, and the trace has no event of it", s)
	}
	_, err = fmt.Fprintf(aside, "No event of %s that was asked for is kept\n", s)
	return err
}
