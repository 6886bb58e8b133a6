package job

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	indexEnv = "JOB_COMPLETION_INDEX"
	// maxGenerated is how much of a generateName the server keeps.
	maxGenerated = 58
)

// template returns the Job's template for its pods, except for the index.
func (p *pass) template() *corev1.PodTemplateSpec {
	t := p.job.Spec.Template.DeepCopy()
	if !slices.Contains(t.Finalizers, batchv1.JobTrackingFinalizer) {
		t.Finalizers = append(t.Finalizers, batchv1.JobTrackingFinalizer)
	}
	if isIndexed(p.job) {
		for i := range t.Spec.InitContainers {
			tellIndex(&t.Spec.InitContainers[i])
		}
		for i := range t.Spec.Containers {
			tellIndex(&t.Spec.Containers[i])
		}
	}
	if p.group != "" { // kube-controller-manager's pods have no owner reference to the group either
		t.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &p.group}
	}
	return t
}

// tellIndex adds the index to a container's environment.
func tellIndex(c *corev1.Container) {
	if slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == indexEnv }) {
		return
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: indexEnv, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: fmt.Sprintf("metadata.labels['%s']", batchv1.JobCompletionIndexAnnotation)},
	}})
}

// index makes a pod the one of an index. Parts shared with the template are copied.
func (p *pass) index(pod *corev1.Pod, n int) {
	s := strconv.Itoa(n)
	pod.Labels = added(pod.Labels, batchv1.JobCompletionIndexAnnotation, s)
	pod.Annotations = added(pod.Annotations, batchv1.JobCompletionIndexAnnotation, s)
	pod.Spec.Hostname = p.job.Name + "-" + s
	tail := "-" + s + "-"
	pod.GenerateName = p.job.Name[:min(len(p.job.Name), maxGenerated-len(tail))] + tail
	if !limitPerIndex(p.job) {
		return
	}
	counted, ignored := int32(0), int32(0)
	if last := p.delayed[n]; last != nil {
		counted = countOf(last, batchv1.JobIndexFailureCountAnnotation)
		ignored = countOf(last, batchv1.JobIndexIgnoredFailureCountAnnotation)
		if judge(p.job, last).counts {
			counted++
		} else {
			ignored++
		}
	}
	pod.Annotations[batchv1.JobIndexFailureCountAnnotation] = strconv.Itoa(int(counted))
	if ignored > 0 {
		pod.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation] = strconv.Itoa(int(ignored))
	}
}

func added(m map[string]string, k, v string) map[string]string {
	out := make(map[string]string, len(m)+2)
	maps.Copy(out, m)
	out[k] = v
	return out
}
