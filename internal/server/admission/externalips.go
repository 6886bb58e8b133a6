package admission

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// DenyServiceExternalIPs rejects external IPs of services, except for those that a service has already.
type DenyServiceExternalIPs struct{}

// Name implements Plugin.
func (DenyServiceExternalIPs) Name() string { return "DenyServiceExternalIPs" }

// Validate implements Validator.
func (DenyServiceExternalIPs) Validate(_ context.Context, r *Request) error {
	if !r.on(Create, core("services")) && !r.on(Update, core("services")) {
		return nil
	}
	var had []string
	if old, ok := r.Old.(*corev1.Service); ok {
		had = old.Spec.ExternalIPs
	}
	for _, ip := range r.Object.(*corev1.Service).Spec.ExternalIPs {
		if !slices.Contains(had, ip) {
			return forbid(r, errors.New("Use of external IPs is denied by admission control"))
		}
	}
	return nil
}
