package webhook

import (
	"encoding/json"
	"fmt"
	"strconv"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	utilwebhook "k8s.io/apiserver/pkg/util/webhook"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/admission/dynamic"
	"fairlead.dev/internal/server/admission/expr"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/reach"
	"fairlead.dev/watchcache"
)

// Options configure the plugins.
type Options struct {
	// Mutating and Validating are the caches of the configurations.
	Mutating, Validating *watchcache.Cache
	Lookup               admission.Lookup
	Network              *reach.Network  // resolves and dials the webhooks
	Authorizer           auth.Authorizer // for matchConditions
	Rows                 dynamic.Table
	// Metrics, if set, counts the calls.
	Metrics *Metrics
	// MutatingCredentials and ValidatingCredentials are kubeconfig files whose users are the server's for webhooks, by the
	// hosts of these, or "".
	MutatingCredentials, ValidatingCredentials string
}

// New returns the two plugins.
func New(o Options) (admission.Mutator, admission.Validator, error) {
	c := common{lookup: o.Lookup, authorizer: o.Authorizer, rows: o.Rows, metrics: o.Metrics}
	mutate, check := &mutating{c, dynamic.NewConfigured(o.Mutating, compileMutating)}, &validating{c, dynamic.NewConfigured(o.Validating, compileValidating)}
	for plugin, file := range map[*common]string{&mutate.common: o.MutatingCredentials, &check.common: o.ValidatingCredentials} {
		credentials, err := utilwebhook.NewDefaultAuthenticationInfoResolver(file)
		if err != nil {
			return nil, nil, fmt.Errorf("credentials for webhooks: %w", err)
		}
		plugin.clients = newClients(o.Network, credentials)
	}
	return mutate, check, nil
}

// common is the common part of both plugins.
type common struct {
	lookup     admission.Lookup
	authorizer auth.Authorizer
	rows       dynamic.Table
	clients    *clients
	metrics    *Metrics
}

// hook is one compiled webhook.
type hook struct {
	// id is unique among all webhooks; configuration is the name of the object that has it.
	id, configuration string
	admissionv1.ValidatingWebhook
	rules      dynamic.Rules
	selectors  dynamic.Selectors
	conditions []condition
	reinvoke   bool
}

// condition is a match condition.
type condition struct {
	name string
	*expr.Program
}

func compileMutating(value []byte) ([]*hook, error) {
	c := &admissionv1.MutatingWebhookConfiguration{}
	if err := json.Unmarshal(value, c); err != nil {
		return nil, err
	}
	var list []*hook
	for i, m := range c.Webhooks {
		h := compile(c.Name, i, admissionv1.ValidatingWebhook{
			Name: m.Name, ClientConfig: m.ClientConfig, Rules: m.Rules, FailurePolicy: m.FailurePolicy, MatchPolicy: m.MatchPolicy,
			NamespaceSelector: m.NamespaceSelector, ObjectSelector: m.ObjectSelector, SideEffects: m.SideEffects,
			TimeoutSeconds: m.TimeoutSeconds, AdmissionReviewVersions: m.AdmissionReviewVersions, MatchConditions: m.MatchConditions,
		})
		h.reinvoke = m.ReinvocationPolicy != nil && *m.ReinvocationPolicy == admissionv1.IfNeededReinvocationPolicy
		list = append(list, h)
	}
	return list, nil
}

func compileValidating(value []byte) ([]*hook, error) {
	c := &admissionv1.ValidatingWebhookConfiguration{}
	if err := json.Unmarshal(value, c); err != nil {
		return nil, err
	}
	var list []*hook
	for i, w := range c.Webhooks {
		list = append(list, compile(c.Name, i, w))
	}
	return list, nil
}

func compile(configuration string, i int, w admissionv1.ValidatingWebhook) *hook {
	h := &hook{
		id:                configuration + "/" + w.Name + "/" + strconv.Itoa(i),
		configuration:     configuration,
		ValidatingWebhook: w,
		rules:             dynamic.Rules{List: dynamic.Named(w.Rules), Policy: w.MatchPolicy},
		selectors:         dynamic.NewSelectors(w.NamespaceSelector, w.ObjectSelector),
	}
	for _, c := range w.MatchConditions {
		h.conditions = append(h.conditions, condition{c.Name, expr.Plain(expr.Stored).Compile(c.Expression, conditionOptions, expr.Bool)})
	}
	return h
}

var conditionOptions = expr.Options{Authorizer: true}

// ignores reports whether failures of the webhook are ignored.
func (h *hook) ignores() bool {
	return h.FailurePolicy != nil && *h.FailurePolicy == admissionv1.Ignore
}
