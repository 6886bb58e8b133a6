package policy

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"fairlead.dev/internal/server/audit"
)

// The limits of what one request adds to its audit event, which are upstream's.
const (
	maxFailures = 50
	maxNote     = 10 << 10 // in bytes, of an audit annotation of a policy
)

// notes are what the policies add to the audit event of a request.
type notes struct {
	// policies has the distinct values of the audit annotations by policy and key.
	policies map[string]map[string][]string
	failures []failureNote
}

// failureNote is a failed validation of a binding with the action Audit, in upstream's form.
type failureNote struct {
	Message           string                         `json:"message"`
	Policy            string                         `json:"policy"`
	Binding           string                         `json:"binding"`
	ExpressionIndex   int                            `json:"expressionIndex"`
	ValidationActions []admissionv1.ValidationAction `json:"validationActions"`
}

func (n *notes) failed(policy string, b *binding, d *denial) {
	if len(n.failures) < maxFailures {
		n.failures = append(n.failures, failureNote{d.err.Error(), policy, b.name, d.rule, b.actions})
	}
}

// add adds a value of an audit annotation, unless it is empty.
func (n *notes) add(policy, key, value string) {
	if value == "" {
		return
	}
	if n.policies[policy] == nil {
		n.policies[policy] = map[string][]string{}
	}
	value = value[:min(len(value), maxNote)]
	if values := n.policies[policy][key]; !slices.Contains(values, value) {
		n.policies[policy][key] = append(values, value)
	}
}

// publish adds the notes to the event.
func (n *notes) publish(ctx context.Context) {
	for policy, keys := range n.policies {
		for key, values := range keys {
			audit.Annotate(ctx, policy+"/"+key, strings.Join(values, ", "))
		}
	}
	if len(n.failures) == 0 {
		return
	}
	if text, err := json.Marshal(n.failures); err == nil {
		audit.Annotate(ctx, "validation.policy.admission.k8s.io/validation_failure", string(text))
	}
}
