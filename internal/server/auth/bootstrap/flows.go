package bootstrap

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/auth"
)

const flowAutoupdate = "apf.kubernetes.io/autoupdate-spec"

// level is a priority level. Without queues, requests over its limit are rejected.
type level struct {
	name                     string
	shares, lendable         int32
	queues, hand, queueLimit int32
}

var levels = []level{
	{"catch-all", 5, 0, 0, 0, 0},
	{"system", 30, 33, 64, 6, 50},
	{"node-high", 40, 25, 64, 6, 50},
	{"leader-election", 10, 0, 16, 4, 50},
	{"workload-high", 40, 50, 128, 6, 50},
	{"workload-low", 100, 90, 128, 6, 50},
	{"global-default", 20, 50, 128, 6, 50},
}

func flowMeta(kind, name string) (metav1.TypeMeta, metav1.ObjectMeta) {
	return metav1.TypeMeta{APIVersion: "flowcontrol.apiserver.k8s.io/v1", Kind: kind},
		metav1.ObjectMeta{Name: name, Annotations: map[string]string{flowAutoupdate: "true"}}
}

func (l level) object() runtime.Object {
	o := &flowcontrolv1.PriorityLevelConfiguration{}
	o.TypeMeta, o.ObjectMeta = flowMeta("PriorityLevelConfiguration", l.name)
	o.Spec.Type = flowcontrolv1.PriorityLevelEnablementLimited
	o.Spec.Limited = &flowcontrolv1.LimitedPriorityLevelConfiguration{
		NominalConcurrencyShares: &l.shares, LendablePercent: &l.lendable,
		LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject},
	}
	if l.queues > 0 {
		o.Spec.Limited.LimitResponse = flowcontrolv1.LimitResponse{
			Type:    flowcontrolv1.LimitResponseTypeQueue,
			Queuing: &flowcontrolv1.QueuingConfiguration{Queues: l.queues, HandSize: l.hand, QueueLengthLimit: l.queueLimit},
		}
	}
	return o
}

// flow is a flow schema. Without rules of its own it matches everything.
type flow struct {
	name, level string
	precedence  int32
	by          flowcontrolv1.FlowDistinguisherMethodType
	subjects    []flowcontrolv1.Subject
	resources   []flowcontrolv1.ResourcePolicyRule
	paths       []flowcontrolv1.NonResourcePolicyRule
}

func flowGroups(names ...string) (s []flowcontrolv1.Subject) {
	for _, n := range names {
		s = append(s, flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindGroup, Group: &flowcontrolv1.GroupSubject{Name: n}})
	}
	return s
}

func flowUsers(names ...string) (s []flowcontrolv1.Subject) {
	for _, n := range names {
		s = append(s, flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindUser, User: &flowcontrolv1.UserSubject{Name: n}})
	}
	return s
}

func flowResources(clusterScope bool, group string, resources []string, verbs ...string) flowcontrolv1.ResourcePolicyRule {
	return flowcontrolv1.ResourcePolicyRule{
		Verbs: verbs, APIGroups: []string{group}, Resources: resources,
		Namespaces: []string{"*"}, ClusterScope: clusterScope,
	}
}

func schemas() []flow {
	const user, namespace = flowcontrolv1.FlowDistinguisherMethodByUserType, flowcontrolv1.FlowDistinguisherMethodByNamespaceType
	const manager, scheduler, coordination = "system:kube-controller-manager", "system:kube-scheduler", "coordination.k8s.io"
	everybody := flowGroups(auth.AllUnauthenticated, auth.AllAuthenticated)
	systemAccounts := []flowcontrolv1.Subject{{
		Kind:           flowcontrolv1.SubjectKindServiceAccount,
		ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Name: "*", Namespace: "kube-system"},
	}}
	leases := []string{"leases"}
	return []flow{
		{name: "exempt", level: "exempt", precedence: 1, subjects: flowGroups(auth.MastersGroup)},
		{name: "catch-all", level: "catch-all", precedence: 10000, by: user, subjects: everybody},
		{name: "system-nodes", level: "system", precedence: 500, by: user, subjects: flowGroups(auth.NodesGroup)},
		{name: "system-node-high", level: "node-high", precedence: 400, by: user, subjects: flowGroups(auth.NodesGroup),
			resources: []flowcontrolv1.ResourcePolicyRule{
				flowResources(true, "", []string{"nodes", "nodes/status"}, "*"),
				flowResources(false, coordination, leases, "*"),
			}},
		{name: "probes", level: "exempt", precedence: 2, subjects: everybody,
			paths: []flowcontrolv1.NonResourcePolicyRule{{
				Verbs: []string{"get"}, NonResourceURLs: []string{"/healthz", "/readyz", "/livez"},
			}}},
		{name: "system-leader-election", level: "leader-election", precedence: 100, by: user,
			subjects:  append(flowUsers(manager, scheduler), systemAccounts...),
			resources: []flowcontrolv1.ResourcePolicyRule{flowResources(false, coordination, leases, "get", "create", "update")}},
		{name: "kube-controller-manager", level: "workload-high", precedence: 800, by: namespace, subjects: flowUsers(manager)},
		{name: "kube-scheduler", level: "workload-high", precedence: 800, by: namespace, subjects: flowUsers(scheduler)},
		{name: "kube-system-service-accounts", level: "workload-high", precedence: 900, by: namespace, subjects: systemAccounts},
		{name: "service-accounts", level: "workload-low", precedence: 9000, by: user, subjects: flowGroups(auth.ServiceAccountsGroup)},
		{name: "global-default", level: "global-default", precedence: 9900, by: user, subjects: everybody},
	}
}

func (f flow) object() runtime.Object {
	o := &flowcontrolv1.FlowSchema{}
	o.TypeMeta, o.ObjectMeta = flowMeta("FlowSchema", f.name)
	if f.resources == nil && f.paths == nil {
		f.resources = []flowcontrolv1.ResourcePolicyRule{flowResources(true, "*", []string{"*"}, "*")}
		f.paths = []flowcontrolv1.NonResourcePolicyRule{{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}}
	}
	o.Spec = flowcontrolv1.FlowSchemaSpec{
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: f.level},
		MatchingPrecedence:         f.precedence,
		Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
			Subjects: f.subjects, ResourceRules: f.resources, NonResourceRules: f.paths,
		}},
	}
	if f.by != "" {
		o.Spec.DistinguisherMethod = &flowcontrolv1.FlowDistinguisherMethod{Type: f.by}
	}
	return o
}

// flows returns the levels, followed by the schemas that refer to them.
func flows() []runtime.Object {
	exempt := &flowcontrolv1.PriorityLevelConfiguration{}
	exempt.TypeMeta, exempt.ObjectMeta = flowMeta("PriorityLevelConfiguration", "exempt")
	exempt.Spec.Type = flowcontrolv1.PriorityLevelEnablementExempt
	exempt.Spec.Exempt = &flowcontrolv1.ExemptPriorityLevelConfiguration{
		NominalConcurrencyShares: new(int32), LendablePercent: new(int32),
	}
	list := []runtime.Object{exempt}
	for _, l := range levels {
		list = append(list, l.object())
	}
	for _, f := range schemas() {
		list = append(list, f.object())
	}
	return list
}
