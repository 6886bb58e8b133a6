package stage

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Choice is the stage that was chosen for a version of an object, and when it is due. The zero value is an
// object without a choice. Each version of the object, and each change of the stages, is a new choice with a delay of its own.
type Choice struct {
	version string
	stages  Stages // from which the stage was chosen
	object  *Object
	stage   *Stage    // nil if no stage selects this version, or it has been played
	due     time.Time // of the stage; without one, when to choose again, or zero
}

// Update chooses a stage unless one was chosen for this version of the object and these stages.
func (c *Choice) Update(o metav1.Object, stages Stages, now time.Time) error {
	again := c.stage == nil && !c.due.IsZero() && !now.Before(c.due)
	if c.version == o.GetResourceVersion() && slices.Equal(c.stages, stages) && !again {
		return nil
	}
	object, err := Of(o)
	if err != nil {
		return err
	}
	*c = Choice{version: o.GetResourceVersion(), stages: stages, object: object, stage: stages.Choose(object)}
	if c.stage != nil {
		c.due = now.Add(c.stage.Delay(object, now))
	}
	return nil
}

// Next reports whether there is a stage to be played, and when; without one, when to choose again: zero if only a
// change of the object is a reason to.
func (c *Choice) Next() (at time.Time, chosen bool) { return c.due, c.stage != nil }

// Actions returns the actions of the stage, for the version of the object for which it was chosen.
func (c *Choice) Actions(f Funcs) ([]Action, error) { return c.stage.Actions(c.object, f) }

// Done records that the stage has been played.
func (c *Choice) Done(now time.Time) {
	c.due = time.Time{}
	if c.stage.Immediate {
		c.due = now.Add(time.Second) // a stage that has no effect is not repeated without pause
	}
	c.stage = nil
}
