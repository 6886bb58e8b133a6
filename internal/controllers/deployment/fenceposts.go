package deployment

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// fenceposts resolves maxSurge and maxUnavailable, numbers or percentages, for a desired number of replicas: surge
// rounds up, unavailability down. If both were zero no replica could move, so then one may be unavailable. Invalid
// values, which validation rejects, count as zero.
func fenceposts(surge, unavailable *intstr.IntOrString, desired int32) (maxSurge, maxUnavailable int32) {
	maxSurge = resolve(surge, desired, true)
	maxUnavailable = resolve(unavailable, desired, false)
	if maxSurge == 0 && maxUnavailable == 0 {
		maxUnavailable = 1
	}
	return maxSurge, maxUnavailable
}

func resolve(v *intstr.IntOrString, of int32, up bool) int32 {
	if v == nil {
		return 0
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(v, int(of), up)
	if err != nil {
		return 0
	}
	return int32(n)
}

func isRolling(d *appsv1.Deployment) bool {
	return d.Spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType
}

// maxSurge returns how many replicas beyond the desired number a rolling Deployment may have.
func maxSurge(d *appsv1.Deployment) int32 {
	if !isRolling(d) || d.Spec.Strategy.RollingUpdate == nil {
		return 0
	}
	r := d.Spec.Strategy.RollingUpdate
	surge, _ := fenceposts(r.MaxSurge, r.MaxUnavailable, replicasOf(d))
	return surge
}

// maxUnavailable returns how many of the desired replicas may be unavailable.
func maxUnavailable(d *appsv1.Deployment) int32 {
	if !isRolling(d) || replicasOf(d) == 0 || d.Spec.Strategy.RollingUpdate == nil {
		return 0
	}
	r := d.Spec.Strategy.RollingUpdate
	_, n := fenceposts(r.MaxSurge, r.MaxUnavailable, replicasOf(d))
	return min(n, replicasOf(d))
}
