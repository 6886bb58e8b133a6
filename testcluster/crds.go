package testcluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

const (
	crdKind = "CustomResourceDefinition"
	crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

var crdKinds = kinds{"apiextensions.k8s.io/v1", []string{crdKind}}

// createCRDs creates definitions, and returns when all their kinds are served.
func (e *Env) createCRDs(ctx context.Context, crds []manifest) error {
	for _, m := range crds {
		if err := e.api.do(ctx, http.MethodPost, crdPath, m.data, nil); err != nil {
			return fmt.Errorf("%s: %s %q: %w", m.from, crdKind, m.name(), err)
		}
	}
	for _, m := range crds {
		problem := ""
		err := e.follow(ctx, crdPath, m.name(), func(data []byte) bool {
			var crd definition
			if json.Unmarshal(data, &crd) != nil {
				return false
			}
			problem = crd.problem()
			return problem != "" || crd.is("Established", "True") != ""
		})
		if err != nil {
			return fmt.Errorf("%s: %s %q is not established: %w", m.from, crdKind, m.name(), err)
		}
		if problem != "" {
			return fmt.Errorf("%s: %s %q: %s", m.from, crdKind, m.name(), problem)
		}
	}
	return nil
}

// definition is the status of a CustomResourceDefinition, which is Established once fairlead serves the kind.
type definition struct {
	Status struct {
		Conditions []struct{ Type, Status, Reason, Message string }
	}
}

// is returns the reason of a condition with this status, or "".
func (d *definition) is(condition, status string) string {
	for _, c := range d.Status.Conditions {
		if c.Type == condition && c.Status == status {
			return c.Reason + ": " + c.Message
		}
	}
	return ""
}

// problem returns the reason that the kind cannot be served, or "".
func (d *definition) problem() string { return d.is("NamesAccepted", "False") }
