package node

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/stage"
)

// pendingStage is the stage that was chosen for a version of an object, and when it is due.
type pendingStage struct {
	revision   string
	candidates stage.Stages // the stages from which it was chosen
	object     *stage.Object
	stage      *stage.Stage // nil if no stage selects this version, or it has been played
	due        time.Time
}

// choose chooses a stage unless one was chosen for this version of the object and these stages.
func (t *pendingStage) choose(o metav1.Object, stages stage.Stages, now time.Time) error {
	if t.revision == o.GetResourceVersion() && slices.Equal(t.candidates, stages) {
		return nil
	}
	object, err := stage.Of(o)
	if err != nil {
		return err
	}
	*t = pendingStage{revision: o.GetResourceVersion(), candidates: stages, object: object, stage: stages.Choose(object)}
	if t.stage != nil {
		t.due = now.Add(t.stage.Delay(object, now))
	}
	return nil
}

// played records that the stage has been played, with the object's revision after that. It returns when to choose
// again; zero if only a change of the object is a reason to.
func (t *pendingStage) played(revision string, now time.Time) time.Time {
	changed, immediate := revision != t.revision, t.stage.Immediate
	t.stage = nil
	switch {
	case changed:
		return now
	case immediate:
		t.revision = ""
		return now.Add(time.Second) // a stage that has no effect is not repeated without pause
	}
	return time.Time{}
}

// selected reports whether a stage selects an object.
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

// earlier returns the earlier of two times; zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
