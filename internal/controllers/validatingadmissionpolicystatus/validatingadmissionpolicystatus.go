// Package validatingadmissionpolicystatus checks the expressions of each ValidatingAdmissionPolicy against the
// types of the objects that it matches, and writes the result to status.typeChecking. They are warnings: the policy
// works all the same, on any object.
//
// The types are those of the resources in the policy's rules, without wildcards, ten at most, according to the
// server's OpenAPI documents, and that of the policy's parameters. A policy is checked once per generation.
package validatingadmissionpolicystatus

import (
	"context"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/celcheck"
)

// manager is the field manager of the status.
const manager = "validatingadmissionpolicy-status"

type checker struct {
	client   *client.Client
	policies controller.Objects[*admissionv1.ValidatingAdmissionPolicy]
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	c := &checker{env.Client, controller.ObjectsOf[*admissionv1.ValidatingAdmissionPolicy](env)}
	return controller.New("validatingadmissionpolicystatus", controller.ByObject(c.policies, c.reconcile), controller.Options{}).Watch(
		controller.For(c.policies))
}

func (c *checker) reconcile(ctx context.Context, p *admissionv1.ValidatingAdmissionPolicy) (controller.Result, error) {
	if p.Generation <= p.Status.ObservedGeneration {
		return controller.Result{}, nil
	}
	warnings, err := c.check(ctx, p)
	if err != nil {
		return controller.Result{}, err
	}
	checked := map[string]any{}
	if len(warnings) > 0 {
		checked["expressionWarnings"] = warnings
	}
	_, err = c.policies.API.Patch(ctx, p.Name, client.ApplyPatch(map[string]any{
		"apiVersion": admissionv1.SchemeGroupVersion.String(), "kind": "ValidatingAdmissionPolicy",
		"metadata": map[string]any{"name": p.Name, "uid": p.UID},
		"status":   map[string]any{"observedGeneration": p.Generation, "typeChecking": checked},
	}).On("status"), metav1.PatchOptions{FieldManager: manager, Force: new(true)})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // it is gone, or replaced by another of its name
		err = nil
	}
	return controller.Result{}, err
}

// target is a kind that a policy matches, with its checker.
type target struct {
	kind schema.GroupVersionKind
	*celcheck.Checker
}

func (c *checker) check(ctx context.Context, p *admissionv1.ValidatingAdmissionPolicy) ([]admissionv1.ExpressionWarning, error) {
	targets, err := c.targets(ctx, p)
	if err != nil {
		return nil, err
	}
	var warnings []admissionv1.ExpressionWarning
	check := func(at *field.Path, expression string) {
		var found []string
		for _, t := range targets {
			if err := t.Check(expression); err != nil {
				found = append(found, fmt.Sprintf("%v: %v\n", t.kind, err))
			}
		}
		if len(found) > 0 {
			warnings = append(warnings, admissionv1.ExpressionWarning{FieldRef: at.String(), Warning: strings.Join(found, "\n")})
		}
	}
	for i, v := range p.Spec.Validations {
		at := field.NewPath("spec", "validations").Index(i)
		check(at.Child("expression"), v.Expression)
		if v.MessageExpression != "" {
			check(at.Child("messageExpression"), v.MessageExpression)
		}
	}
	return warnings, nil
}

// targets returns the kinds that the policy is checked against: those in its rules that the server describes.
func (c *checker) targets(ctx context.Context, p *admissionv1.ValidatingAdmissionPolicy) ([]target, error) {
	rules := named(p.Spec.MatchConstraints)
	if len(rules) == 0 {
		return nil, nil
	}
	served, err := c.client.ServerResources(ctx)
	if len(served) == 0 && err != nil { // a failing aggregated group does not block the check
		return nil, err
	}
	docs := documents{client: c.client}
	var params *spec.Schema
	if k := p.Spec.ParamKind; k != nil {
		if params, err = docs.schema(ctx, schema.FromAPIVersionAndKind(k.APIVersion, k.Kind)); err != nil {
			return nil, err
		}
	}
	var variables []celcheck.Variable
	for _, v := range p.Spec.Variables {
		variables = append(variables, celcheck.Variable{Name: v.Name, Expression: v.Expression})
	}
	var targets []target
	for _, kind := range kinds(rules, served) {
		object, err := docs.schema(ctx, kind)
		if err != nil {
			return nil, err
		}
		if object == nil {
			continue
		}
		e, err := celcheck.NewChecker(object, p.Spec.ParamKind != nil, params, variables)
		if err != nil {
			return nil, err
		}
		targets = append(targets, target{kind, e})
	}
	return targets, nil
}
