// Package horizontalpodautoscaler sets the size of what HorizontalPodAutoscalers target
// by what its pods use.
//
// Every fifteen seconds, and when the autoscaler changes, the size is computed for each
// metric as Kubernetes documents it: the ratio of what is used to what is wanted, times
// the pods that are ready; pods that are not, or of which nothing is known, count so
// that they damp the change. The largest size counts. It is held between the bounds,
// smoothed by recent recommendations (five minutes of them when shrinking) and limited by
// the policies of spec.behavior. Usage has no events, so this controller has to ask.
//
// Resource metrics come from metrics.k8s.io. Those of pods and objects, and external
// ones, come from custom.metrics.k8s.io and external.metrics.k8s.io, where somebody serves
// them; where nobody does, the condition ScalingActive says so. A target of size 0 is left alone.
package horizontalpodautoscaler
