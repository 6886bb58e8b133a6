package core

import (
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/resource"
)

var serviceAccountTable = resource.TableOf(func(s *corev1.ServiceAccount) []any {
	return []any{s.Name, resource.AgeOf(s)}
}, resource.NameColumn, resource.AgeColumn)

var serviceAccountStrategy = resource.Rules[*corev1.ServiceAccount]{
	PrepareForCreate: keepSecretNames,
	PrepareForUpdate: func(s, _ *corev1.ServiceAccount) { keepSecretNames(s) },
}.Strategy()

// keepSecretNames reduces references to secrets to their names, the only part with an effect.
func keepSecretNames(s *corev1.ServiceAccount) {
	for i := range s.Secrets {
		s.Secrets[i] = corev1.ObjectReference{Name: s.Secrets[i].Name}
	}
}

var componentStatusTable = resource.TableOf(func(c *corev1.ComponentStatus) []any {
	status, message, fault := "Unknown", "", ""
	for _, cond := range c.Conditions {
		if cond.Type == corev1.ComponentHealthy {
			status = "Unhealthy"
			if cond.Status == corev1.ConditionTrue {
				status = "Healthy"
			}
			message, fault = cond.Message, cond.Error
			break
		}
	}
	return []any{c.Name, status, message, fault}
},
	resource.NameColumn,
	resource.Text("Status", "Whether the component is healthy."),
	resource.Text("Message", "What the component says of itself."),
	resource.Text("Error", "Why it is not healthy."),
)
