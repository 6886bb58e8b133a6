package node

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/stage"
)

// turn is which stage is to be played on a version of an object, and when.
type turn struct {
	revision string
	among    stage.Stages // which were to choose from
	object   *stage.Object
	stage    *stage.Stage // nil if none is for this version, or it has been played
	due      time.Time
}

// again makes sure that a turn is that of an object as it is now.
func (t *turn) again(o metav1.Object, stages stage.Stages, now time.Time) error {
	if t.revision == o.GetResourceVersion() && slices.Equal(t.among, stages) {
		return nil
	}
	object, err := stage.Of(o)
	if err != nil {
		return err
	}
	*t = turn{revision: o.GetResourceVersion(), among: stages, object: object, stage: stages.Choose(object)}
	if t.stage != nil {
		t.due = now.Add(t.stage.Delay(object, now))
	}
	return nil
}

// over ends a turn that was played; the object's revision is now that. It returns when to
// look at it again, zero if that takes a change.
func (t *turn) over(revision string, now time.Time) time.Time {
	changed, immediate := revision != t.revision, t.stage.Immediate
	t.stage = nil
	switch {
	case changed:
		return now
	case immediate:
		t.revision = ""
		return now.Add(time.Second) // a stage that changes nothing must not be played without end
	}
	return time.Time{}
}

// selected says whether a stage is for an object in this state.
func selected(stages stage.Stages, o metav1.Object) (bool, error) {
	if len(stages) == 0 {
		return false, nil
	}
	object, err := stage.Of(o)
	if err != nil {
		return false, err
	}
	for _, s := range stages {
		if s.Selects(object) {
			return true, nil
		}
	}
	return false, nil
}

// patched sends a patch of a stage.
func patched[T client.Object](ctx context.Context, ns *Nodes, namespace, name string, p *stage.Patch) (T, error) {
	c := ns.env.Client
	if p.As != "" {
		c = c.As(p.As)
	}
	r := client.For[T](c).WithoutManagedFields()
	if namespace != "" {
		r = r.Namespace(namespace)
	}
	return r.Patch(ctx, name, client.Patch{Type: p.Type, Data: p.Data}.On(p.Subresource))
}

// sooner is the earlier of two moments, of which zero is none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
