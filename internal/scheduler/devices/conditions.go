package devices

import (
	"errors"
	"fmt"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
)

// The reasons why devices are not bound.
var (
	ErrBindingFailed  = errors.New("device binding failed")
	ErrBindingTimeout = errors.New("device binding timeout")
)

// HasConditions reports whether devices of an allocation, which may be nil, must meet conditions before the pod is
// bound.
func HasConditions(a *resourcev1.AllocationResult) bool {
	if a == nil {
		return false
	}
	for i := range a.Devices.Results {
		if len(a.Devices.Results[i].BindingConditions) > 0 {
			return true
		}
	}
	return false
}

// IsReady reports whether all devices of a claim meet their conditions. The error is an ErrBindingFailed: a driver has
// given up.
func IsReady(c *resourcev1.ResourceClaim) (bool, error) {
	if c.Status.Allocation == nil {
		return false, nil
	}
	for i := range c.Status.Allocation.Devices.Results {
		r := &c.Status.Allocation.Devices.Results[i]
		if len(r.BindingConditions) == 0 {
			continue
		}
		status := statusOf(c, r)
		if status == nil {
			return false, nil
		}
		for _, name := range r.BindingFailureConditions {
			if apimeta.IsStatusConditionTrue(status.Conditions, name) {
				failed := apimeta.FindStatusCondition(status.Conditions, name)
				return false, fmt.Errorf("%w: claim=%s, reason=%s, message=%q", ErrBindingFailed, c.Name, failed.Reason, failed.Message)
			}
		}
		for _, name := range r.BindingConditions {
			if !apimeta.IsStatusConditionTrue(status.Conditions, name) {
				return false, nil
			}
		}
	}
	return true, nil
}

func statusOf(c *resourcev1.ResourceClaim, r *resourcev1.DeviceRequestAllocationResult) *resourcev1.AllocatedDeviceStatus {
	for i := range c.Status.Devices {
		if d := &c.Status.Devices[i]; d.Driver == r.Driver && d.Pool == r.Pool && d.Device == r.Device {
			return d
		}
	}
	return nil
}

// IsLate reports whether the time that a claim's devices had to meet their conditions is over.
func IsLate(c *resourcev1.ResourceClaim, timeout time.Duration) bool {
	return HasConditions(c.Status.Allocation) && c.Status.Allocation.AllocationTimestamp != nil &&
		c.Status.Allocation.AllocationTimestamp.Add(timeout).Before(time.Now())
}
