// Package horizontalpodautoscaler scales the targets of HorizontalPodAutoscalers by the usage of their pods.
//
// Every fifteen seconds, and when the autoscaler changes, the size is computed for each metric as Kubernetes
// documents it: the ratio of usage to target, times the ready pods; pods that are not ready or without metrics
// count so as to dampen the change. The largest size is used, limited by the bounds, smoothed by recent
// recommendations (five minutes of them when scaling down) and limited by the policies of spec.behavior. There are
// no events for usage, so this controller polls.
//
// Resource metrics come from metrics.k8s.io. Metrics of pods and objects, and external ones, come from
// custom.metrics.k8s.io and external.metrics.k8s.io if these are served; otherwise the condition ScalingActive
// reports that. A target of size 0 is left alone.
package horizontalpodautoscaler
