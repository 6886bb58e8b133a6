package job

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// verdict is the result of a Job's failure policy for a failed pod.
type verdict struct {
	counts    bool   // against the backoff limit
	failIndex bool   // its index has failed for good
	failJob   string // the reason why the whole Job has failed, if it has
}

// judge applies the first matching rule; without one, the failure counts.
func judge(j *batchv1.Job, p *corev1.Pod) verdict {
	if j.Spec.PodFailurePolicy == nil {
		return verdict{counts: true}
	}
	for i := range j.Spec.PodFailurePolicy.Rules {
		r := &j.Spec.PodFailurePolicy.Rules[i]
		why := ""
		switch {
		case r.OnExitCodes != nil:
			if s := exitMatch(&p.Status, r.OnExitCodes); s != nil {
				why = fmt.Sprintf("Container %s for pod %s/%s failed with exit code %v matching %v rule at index %d",
					s.Name, p.Namespace, p.Name, s.State.Terminated.ExitCode, r.Action, i)
			}
		default:
			if c := conditionMatch(&p.Status, r.OnPodConditions); c != nil {
				why = fmt.Sprintf("Pod %s/%s has condition %v matching %v rule at index %d", p.Namespace, p.Name, c.Type, r.Action, i)
			}
		}
		if why == "" {
			continue
		}
		switch r.Action {
		case batchv1.PodFailurePolicyActionIgnore:
			return verdict{}
		case batchv1.PodFailurePolicyActionFailIndex:
			return verdict{counts: true, failIndex: true}
		case batchv1.PodFailurePolicyActionFailJob:
			return verdict{counts: true, failJob: why}
		case batchv1.PodFailurePolicyActionCount:
			return verdict{counts: true}
		}
	}
	return verdict{counts: true}
}

func exitMatch(s *corev1.PodStatus, r *batchv1.PodFailurePolicyOnExitCodesRequirement) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{s.ContainerStatuses, s.InitContainerStatuses} {
		for i := range list {
			t := list[i].State.Terminated
			if t == nil || t.ExitCode == 0 || (r.ContainerName != nil && *r.ContainerName != list[i].Name) {
				continue
			}
			if slices.Contains(r.Values, t.ExitCode) == (r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn) {
				return &list[i]
			}
		}
	}
	return nil
}

func conditionMatch(s *corev1.PodStatus, patterns []batchv1.PodFailurePolicyOnPodConditionsPattern) *corev1.PodCondition {
	for i := range s.Conditions {
		for _, p := range patterns {
			if s.Conditions[i].Type == p.Type && s.Conditions[i].Status == p.Status {
				return &s.Conditions[i]
			}
		}
	}
	return nil
}

// enough reports whether the success policy is met, with the reason.
func enough(j *batchv1.Job, succeeded intervals) (string, bool) {
	if j.Spec.SuccessPolicy == nil || len(succeeded) == 0 {
		return "", false
	}
	for i, r := range j.Spec.SuccessPolicy.Rules {
		met := false
		if r.SucceededIndexes != nil {
			wanted := parseIntervals(*r.SucceededIndexes, int(ptr.Deref(j.Spec.Completions, 1)))
			has := wanted.common(succeeded)
			met = len(wanted) > 0 && (has == wanted.count() || r.SucceededCount != nil && has >= int(*r.SucceededCount))
		} else if r.SucceededCount != nil {
			met = succeeded.count() >= int(*r.SucceededCount)
		}
		if met {
			return fmt.Sprintf("Matched rules at index %d", i), true
		}
	}
	return "", false
}
