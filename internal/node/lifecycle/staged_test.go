package lifecycle

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/node/stage"
)

// otherStep is when the lifecycle that stages override looks again.
const otherStep = time.Minute

// other is a lifecycle of which a step is an event.
type other struct{}

func (other) Next(_ context.Context, _ *corev1.Pod, _ Facts, now time.Time) (Step, error) {
	return Step{Actions: []stage.Action{{Event: &stage.Event{Reason: "Other"}}}, Next: now.Add(otherStep)}, nil
}

func stages(t *testing.T, specs ...string) func() stage.Stages {
	t.Helper()
	var all stage.Stages
	for _, spec := range specs {
		s, err := stage.Parse([]byte("kind: Stage\nmetadata: {name: s}\nspec: {resourceRef: {kind: Pod}, " + spec + "}"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return func() stage.Stages { return all }
}

// TestStaged: a due stage is the next step. Else a pod waits if a stage selects it as it was bound or, once it is
// deleted, as it is; any other pod takes a step of the other lifecycle.
func TestStaged(t *testing.T) {
	const (
		event   = "next: {event: {type: Normal, reason: Stage, message: m}}"
		remove  = "next: {delete: true}"
		later   = ", delay: {durationMilliseconds: 5000}"
		pending = "selector: {matchExpressions: [{key: .status.phase, operator: In, values: [Pending]}]}, "
		running = "selector: {matchExpressions: [{key: .status.phase, operator: In, values: [Running]}]}, "
		deleted = "selector: {matchExpressions: [{key: .metadata.deletionTimestamp, operator: Exists}]}, "
	)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name               string
		stages             []string
		deleted, preempted bool
		reason             string // of the event: Stage, Other, or "" if the pod waits
		next               time.Duration
	}{
		{name: "no stage", reason: "Other", next: otherStep},
		{name: "a due stage", stages: []string{running + event}, reason: "Stage"},
		{name: "a later stage", stages: []string{running + event + later}, reason: "Other", next: 5 * time.Second},
		{name: "a stage of new pods", stages: []string{pending + event}, next: -1},
		{name: "a later stage of a pod that began with stages", stages: []string{pending + event, running + event + later}, next: 5 * time.Second},
		{name: "a deleted pod that began with stages", stages: []string{pending + event}, deleted: true, reason: "Other", next: otherStep},
		{name: "a later stage of a deleted pod", stages: []string{deleted + remove + later}, deleted: true, next: 5 * time.Second},
		{name: "a preempted pod", stages: []string{running + event}, preempted: true, reason: "Other", next: otherStep},
	} {
		pod := testPod(corev1.RestartPolicyAlways)
		pod.ResourceVersion, pod.Status.Phase = "1", corev1.PodRunning
		f := Facts{Choice: &stage.Choice{}}
		if tc.deleted {
			pod.DeletionTimestamp = &metav1.Time{Time: now}
		}
		if tc.preempted {
			f.Ending = &Ending{Since: now}
		}
		life := Staged{Stages: stages(t, tc.stages...), Other: other{}}
		step, err := life.Next(t.Context(), pod, f, now)
		reason := ""
		if len(step.Actions) > 0 {
			reason = step.Actions[0].Event.Reason
		}
		if err != nil || reason != tc.reason || (step.Played != nil) != (reason == "Stage") {
			t.Errorf("%s: %+v, %v", tc.name, step, err)
		}
		if tc.next < 0 && !step.Next.IsZero() || tc.next >= 0 && !step.Next.Equal(now.Add(tc.next)) {
			t.Errorf("%s: the next look is at %v", tc.name, step.Next)
		}
	}
}

// writes is a lifecycle whose step writes a status.
type writes struct{}

func (writes) Next(context.Context, *corev1.Pod, Facts, time.Time) (Step, error) {
	return Step{Status: &corev1.PodStatus{Phase: corev1.PodRunning}}, nil
}

// TestStageAfterWrite: a stage may select the version that a step of the other lifecycle makes, and the node does not see that
// version again as a change.
func TestStageAfterWrite(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	life := Staged{Stages: stages(t, "selector: {matchExpressions: [{key: .status.phase, operator: In, values: [Running]}]}, next: {delete: true}"), Other: writes{}}
	step, err := life.Next(t.Context(), testPod(corev1.RestartPolicyAlways), Facts{Choice: &stage.Choice{}}, now)
	if err != nil || step.Status == nil || !step.Next.Equal(now) {
		t.Errorf("%+v, %v", step, err)
	}
}

// TestStageIsPlayedOnce: a stage that changes nothing is due until it has been carried out, and an immediate one
// again a second after that. One that deletes the pod is the last.
func TestStageIsPlayedOnce(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const event = "selector: {}, next: {event: {type: Normal, reason: Stage, message: m}}"
	for spec, want := range map[string]time.Duration{event: -1, event + ", immediateNextStage: true": time.Second} {
		pod := testPod(corev1.RestartPolicyAlways)
		pod.ResourceVersion = "1"
		f := Facts{Choice: &stage.Choice{}}
		life := Staged{Stages: stages(t, spec), Other: other{}}
		for range 2 { // the first is not carried out
			if step, err := life.Next(t.Context(), pod, f, now); err != nil || step.Played == nil {
				t.Fatalf("%s: %+v, %v", spec, step, err)
			}
		}
		f.Choice.Done(now)
		step, err := life.Next(t.Context(), pod, f, now)
		if err != nil || step.Actions != nil || want < 0 && !step.Next.IsZero() || want >= 0 && !step.Next.Equal(now.Add(want)) {
			t.Errorf("%s: %+v, %v", spec, step, err)
		}
		step, err = life.Next(t.Context(), pod, f, now.Add(time.Second))
		if err != nil || (step.Played != nil) != (want >= 0) {
			t.Errorf("%s: %+v, %v", spec, step, err)
		}
	}
	pod := testPod(corev1.RestartPolicyAlways)
	life := Staged{Stages: stages(t, "selector: {}, next: {delete: true}"), Other: other{}}
	if step, err := life.Next(t.Context(), pod, Facts{Choice: &stage.Choice{}}, now); err != nil || !step.Actions[0].Delete || !step.Next.IsZero() {
		t.Errorf("%+v, %v", step, err)
	}
}

// TestStageThatCannotBePlayed: the error of a template is the answer, and the stage stays due.
func TestStageThatCannotBePlayed(t *testing.T) {
	pod := testPod(corev1.RestartPolicyAlways)
	life := Staged{Stages: stages(t, "selector: {}, next: {statusTemplate: 'x: {{ index .spec.containers 9 }}'}"), Other: other{}}
	for range 2 {
		if step, err := life.Next(t.Context(), pod, Facts{Choice: &stage.Choice{}}, time.Now()); err == nil || errors.Unwrap(err) == nil || step.Actions != nil {
			t.Errorf("%+v, %v", step, err)
		}
	}
}
