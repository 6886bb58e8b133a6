package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// DeviceAdminAccess allows admin access in device claims only in namespaces labelled for it (KEP-5018). It adds
// faults, as kube-apiserver's strategies of these kinds do, and does not reject by itself.
type DeviceAdminAccess struct{ Lookup Lookup }

var (
	deviceClaims         = schema.GroupResource{Group: resourcev1.GroupName, Resource: "resourceclaims"}
	deviceClaimTemplates = schema.GroupResource{Group: resourcev1.GroupName, Resource: "resourceclaimtemplates"}
)

// Name implements Plugin.
func (DeviceAdminAccess) Name() string { return "DeviceAdminAccess" }

// Complete implements Completer.
func (p DeviceAdminAccess) Complete(ctx context.Context, r *Request) error {
	path := adminAccess(r)
	if path == nil {
		return nil
	}
	obj, err := p.Lookup.Get(ctx, core("namespaces"), "", r.Namespace)
	if err != nil {
		r.Faults = append(r.Faults, field.InternalError(path, fmt.Errorf("could not retrieve namespace to verify admin access: %w", err)))
	} else if obj.(*corev1.Namespace).Labels[resourcev1.DRAAdminNamespaceLabelKey] != "true" {
		r.Faults = append(r.Faults, field.Forbidden(path, fmt.Sprintf("admin access to devices requires the `%s: true` label on the containing namespace", resourcev1.DRAAdminNamespaceLabelKey)))
	}
	return nil
}

// adminAccess returns the field in which a write newly asks for admin access, nil if it does not. The spec of a
// claim does not change after its creation.
func adminAccess(r *Request) *field.Path {
	switch {
	case r.on(Create, deviceClaims):
		return adminAsked(r.Object.(*resourcev1.ResourceClaim).Spec.Devices.Requests)
	case r.on(Create, deviceClaimTemplates):
		return adminAsked(r.Object.(*resourcev1.ResourceClaimTemplate).Spec.Spec.Devices.Requests)
	case r.GroupResource() == deviceClaims && r.Verb == Update && r.Subresource == "status":
		if adminGranted(r.Old.(*resourcev1.ResourceClaim)) != nil {
			return nil
		}
		return adminGranted(r.Object.(*resourcev1.ResourceClaim))
	}
	return nil
}

// adminAsked returns the first field that asks for admin access, in kube-apiserver's spelling: it leaves out
// "exactly", and names the requests of templates like those of claims.
func adminAsked(requests []resourcev1.DeviceRequest) *field.Path {
	for i, q := range requests {
		if q.Exactly != nil && q.Exactly.AdminAccess != nil && *q.Exactly.AdminAccess {
			return field.NewPath("spec", "devices", "requests").Index(i).Child("adminAccess")
		}
	}
	return nil
}

func adminGranted(c *resourcev1.ResourceClaim) *field.Path {
	if c.Status.Allocation == nil {
		return nil
	}
	for i, result := range c.Status.Allocation.Devices.Results {
		if result.AdminAccess != nil && *result.AdminAccess {
			return field.NewPath("status", "allocation", "devices", "results").Index(i).Child("adminAccess")
		}
	}
	return nil
}
