package compat

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// account: a default ServiceAccount that is deleted is there again.
func account(p *place) {
	before := see(p, "serviceaccounts", "default", "the account", func(*corev1.ServiceAccount) bool { return true })
	p.must(nil, p.c.CoreV1().ServiceAccounts(p.ns).Delete(p.ctx, "default", metav1.DeleteOptions{}))
	after := see(p, "serviceaccounts", "default", "the account anew", func(a *corev1.ServiceAccount) bool { return a.UID != before.UID })
	p.saw("labels %v, %d secrets", after.Labels, len(after.Secrets))
}

// garbage: the dependents of a deleted owner, by each way to delete it.
func garbage(p *place) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationOrphan, metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		deploy(p, 2, nil)
		complete(p, string(policy))
		list, err := p.c.AppsV1().ReplicaSets(p.ns).List(p.ctx, metav1.ListOptions{})
		p.must(list, err)
		set := list.Items[0].Name
		p.must(nil, p.c.AppsV1().Deployments(p.ns).Delete(p.ctx, "web", metav1.DeleteOptions{PropagationPolicy: &policy}))
		p.away("deployments", "web")
		if policy == metav1.DeletePropagationOrphan {
			rs := see(p, "replicasets", set, "an orphan", func(rs *appsv1.ReplicaSet) bool { return len(rs.OwnerReferences) == 0 })
			p.saw("left: %d replicas", *rs.Spec.Replicas)
			p.must(nil, p.c.AppsV1().ReplicaSets(p.ns).Delete(p.ctx, set, metav1.DeleteOptions{}))
		} else if policy == metav1.DeletePropagationForeground {
			_, err := p.c.AppsV1().ReplicaSets(p.ns).Get(p.ctx, set, metav1.GetOptions{})
			p.saw("the set when its Deployment was gone: %v", err)
		}
		p.away("replicasets", "")
		p.away("pods", "")
	}
	// A dependent with one of two owners left stays; one whose owner is in another
	// namespace, or never existed, is collected.
	owner := func(name string) metav1.OwnerReference {
		cm, err := p.c.CoreV1().ConfigMaps(p.ns).Create(p.ctx, &corev1.ConfigMap{ObjectMeta: named(name)}, metav1.CreateOptions{})
		p.must(cm, err)
		return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: cm.UID}
	}
	a, b := owner("a"), owner("b")
	never := a
	never.UID = "11111111-2222-3333-4444-555555555555"
	for name, owners := range map[string][]metav1.OwnerReference{"of-both": {a, b}, "of-none": {never}, "of-a": {a}} {
		p.must(p.c.CoreV1().Secrets(p.ns).Create(p.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners}}, metav1.CreateOptions{}))
	}
	p.away("secrets", "of-none")
	p.must(nil, p.c.CoreV1().ConfigMaps(p.ns).Delete(p.ctx, "a", metav1.DeleteOptions{}))
	p.away("secrets", "of-a")
	left := see(p, "secrets", "of-both", "one owner left", func(s *corev1.Secret) bool { return len(s.OwnerReferences) == 1 })
	p.saw("owner %s", left.OwnerReferences[0].Name)
	p.must(nil, p.c.CoreV1().ConfigMaps(p.ns).Delete(p.ctx, "b", metav1.DeleteOptions{}))
	p.away("secrets", "of-both")
}

// namespace: a namespace with an object with a finalizer reports it, and is deleted with
// it.
func namespace(p *place) {
	const name = "namespace-held"
	p.must(p.c.CoreV1().Namespaces().Create(p.ctx, &corev1.Namespace{ObjectMeta: named(name)}, metav1.CreateOptions{}))
	p.must(p.c.CoreV1().ConfigMaps(name).Create(p.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/hold"}}}, metav1.CreateOptions{}))
	p.must(p.c.CoreV1().Secrets(name).Create(p.ctx, &corev1.Secret{ObjectMeta: named("free")}, metav1.CreateOptions{}))
	p.must(nil, p.c.CoreV1().Namespaces().Delete(p.ctx, name, metav1.DeleteOptions{}))
	inCluster := *p
	inCluster.ns = ""
	ns := see(&inCluster, "namespaces", name, "what holds the namespace", func(ns *corev1.Namespace) bool {
		return slices.ContainsFunc(ns.Status.Conditions, func(c corev1.NamespaceCondition) bool {
			return c.Type == corev1.NamespaceFinalizersRemaining && c.Status == corev1.ConditionTrue
		})
	})
	p.saw("phase %s", ns.Status.Phase)
	for _, c := range sortedBy(ns.Status.Conditions, func(c corev1.NamespaceCondition) string { return string(c.Type) }) {
		p.saw("%s", condition(c.Type, c.Status, c.Reason, c.Message))
	}
	p.must(p.c.CoreV1().ConfigMaps(name).Patch(p.ctx, "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))
	inCluster.away("namespaces", name)
}

// quota: it counts, refuses, and lets go on when there is more.
func quota(p *place) {
	hard := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2"), "count/configmaps": resource.MustParse("5")}
	p.must(p.c.CoreV1().ResourceQuotas(p.ns).Create(p.ctx, &corev1.ResourceQuota{ObjectMeta: named("few"), Spec: corev1.ResourceQuotaSpec{Hard: hard}}, metav1.CreateOptions{}))
	see(p, "resourcequotas", "few", "counted", func(q *corev1.ResourceQuota) bool { return len(q.Status.Used) == 2 })
	deploy(p, 3, nil)
	d := see(p, "deployments", "web", "the third refused", func(d *appsv1.Deployment) bool {
		return d.Status.AvailableReplicas == 2 && slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == appsv1.DeploymentReplicaFailure })
	})
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure {
			p.saw("%s", condition(c.Type, c.Status, c.Reason, c.Message))
		}
	}
	q := see(p, "resourcequotas", "few", "used up", func(q *corev1.ResourceQuota) bool { return q.Status.Used.Pods().Value() == 2 })
	p.saw("used %v of %v", q.Status.Used.Pods(), q.Status.Hard.Pods())
	p.must(p.c.CoreV1().ResourceQuotas(p.ns).Patch(p.ctx, "few", types.MergePatchType, []byte(`{"spec":{"hard":{"pods":"3"}}}`), metav1.PatchOptions{}))
	see(p, "resourcequotas", "few", "more allowed", func(q *corev1.ResourceQuota) bool { return q.Status.Hard.Pods().Value() == 3 })
	see(p, "deployments", "web", "all three", func(d *appsv1.Deployment) bool { return d.Status.AvailableReplicas == 3 })
	p.event("ReplicaSet", "web", "FailedCreate", "Error creating: pods")
}

// disruption: a budget counts, allows one eviction, and refuses others.
func disruption(p *place) {
	least := intstr.FromInt32(2)
	p.must(p.c.PolicyV1().PodDisruptionBudgets(p.ns).Create(p.ctx, &policyv1.PodDisruptionBudget{ObjectMeta: named("web"),
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &least, Selector: selecting("web")}}, metav1.CreateOptions{}))
	deploy(p, 3, nil)
	await := func(what string, want func(*policyv1.PodDisruptionBudget) bool) {
		p.Helper()
		b := see(p, "poddisruptionbudgets", "web", what, func(b *policyv1.PodDisruptionBudget) bool {
			return b.Status.ObservedGeneration == b.Generation && want(b)
		})
		p.saw("%s: allowed %d, healthy %d of %d, expected %d", what, b.Status.DisruptionsAllowed, b.Status.CurrentHealthy, b.Status.DesiredHealthy, b.Status.ExpectedPods)
		for _, c := range b.Status.Conditions {
			p.saw("%s", condition(c.Type, c.Status, c.Reason, c.Message))
		}
	}
	await("one to spare", func(b *policyv1.PodDisruptionBudget) bool {
		return b.Status.DisruptionsAllowed == 1 && b.Status.ExpectedPods == 3
	})
	evict := func(name string) error {
		return p.c.PolicyV1().Evictions(p.ns).Evict(p.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: p.ns}})
	}
	victim := p.pods("web")[0].Name
	p.must(nil, evict(victim))
	p.away("pods", victim)
	await("one to spare again", func(b *policyv1.PodDisruptionBudget) bool {
		return b.Status.DisruptionsAllowed == 1 && b.Status.CurrentHealthy == 3 && b.Status.ExpectedPods == 3
	})
	p.must(p.c.PolicyV1().PodDisruptionBudgets(p.ns).Patch(p.ctx, "web", types.MergePatchType, []byte(`{"spec":{"minAvailable":"100%"}}`), metav1.PatchOptions{}))
	await("none to spare", func(b *policyv1.PodDisruptionBudget) bool { return b.Status.DisruptionsAllowed == 0 })
	p.saw("refused: %v", strings.TrimSpace(fmt.Sprint(evict(p.pods("web")[0].Name))))
}
