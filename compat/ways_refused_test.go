package compat

import (
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// refuse makes a policy refuse an operation on a resource in the place's namespace, returns
// once try fails, so that the policy is in effect, and returns the function that ends it.
func refuse(p *place, name string, operation admissionv1.OperationType, resource, message string, try func() error) (end func()) {
	p.Helper()
	full := p.ns + "-" + name
	policies, bindings := p.c.AdmissionregistrationV1().ValidatingAdmissionPolicies(), p.c.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	p.must(policies.Create(p.ctx, &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: named(full), Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: p.ns}},
			ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{operation},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{resource}},
			}}},
		},
		Validations: []admissionv1.Validation{{Expression: "false", Message: message}},
	}}, metav1.CreateOptions{}))
	p.must(bindings.Create(p.ctx, &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: named(full), Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: full, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}}}, metav1.CreateOptions{}))
	err := try()
	for end := time.Now().Add(patience); err == nil && time.Now().Before(end); err = try() {
		time.Sleep(100 * time.Millisecond) // upstream's server has not heard of the policy yet, and cannot be asked
	}
	if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
		p.Fatalf("a policy that refuses: %v", err)
	}
	return func() {
		p.Helper()
		p.must(nil, bindings.Delete(p.ctx, full, metav1.DeleteOptions{}))
	}
}

// refused: events of pods that may not be deleted, and of claims that may not be owned.
func refused(p *place) {
	deploy(p, 1, nil)
	complete(p, "created")
	p.must(p.c.AppsV1().StatefulSets(p.ns).Create(p.ctx, &appsv1.StatefulSet{ObjectMeta: named("db"), Spec: appsv1.StatefulSetSpec{
		Replicas: ptr.To[int32](1), ServiceName: "db", Selector: selecting("db"), Template: template("db", "db:1"),
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: named("data"), Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}},
	}}, metav1.CreateOptions{}))
	see(p, "persistentvolumeclaims", "data-db-0", "made", func(*corev1.PersistentVolumeClaim) bool { return true })
	p.must(p.c.AppsV1().DaemonSets(p.ns).Create(p.ctx, &appsv1.DaemonSet{ObjectMeta: named("agent"),
		Spec: appsv1.DaemonSetSpec{Selector: selecting("agent"), Template: template("agent", "agent:1")}}, metav1.CreateOptions{}))
	see(p, "daemonsets", "agent", "everywhere", func(d *appsv1.DaemonSet) bool { return d.Status.NumberAvailable == 3 })
	runJob(p, "long", "work:1", func(s *batchv1.JobSpec) {
		s.Template.Annotations = map[string]string{"fairlead.dev/run-for": "forever"}
	})
	see(p, "jobs", "long", "at work", func(j *batchv1.Job) bool { return ptr.Deref(j.Status.Ready, 0) == 1 })
	web := p.pods("web")[0].Name
	stay := refuse(p, "stay", admissionv1.Delete, "pods", "pods stay", func() error {
		return p.c.CoreV1().Pods(p.ns).Delete(p.ctx, web, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
	})
	change(p, `{"spec":{"replicas":0}}`)
	p.event("ReplicaSet", "web", "FailedDelete", "")
	for _, rs := range see(p, "deployments", "web", "the failure told", func(d *appsv1.Deployment) bool {
		for _, c := range d.Status.Conditions {
			if c.Type == appsv1.DeploymentReplicaFailure {
				return true
			}
		}
		return false
	}).Status.Conditions {
		if rs.Type == appsv1.DeploymentReplicaFailure {
			p.saw("%s", condition(rs.Type, rs.Status, rs.Reason, rs.Message))
		}
	}
	p.must(p.c.AppsV1().DaemonSets(p.ns).Patch(p.ctx, "agent", types.MergePatchType, []byte(`{"spec":{"template":{"spec":{"nodeSelector":{"no":"node"}}}}}`), metav1.PatchOptions{}))
	p.event("DaemonSet", "agent", "FailedDelete", "")
	p.must(p.c.BatchV1().Jobs(p.ns).Patch(p.ctx, "long", types.MergePatchType, []byte(`{"spec":{"parallelism":0}}`), metav1.PatchOptions{}))
	p.event("Job", "long", "FailedDelete", "")
	p.must(p.c.AppsV1().StatefulSets(p.ns).Patch(p.ctx, "db", types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), metav1.PatchOptions{}))
	p.event("StatefulSet", "db", "FailedDelete", "")
	stay()
	see(p, "deployments", "web", "empty", func(d *appsv1.Deployment) bool {
		for _, c := range d.Status.Conditions {
			if c.Type == appsv1.DeploymentReplicaFailure {
				return false
			}
		}
		return d.Status.Replicas == 0
	})
	p.away("pods", "db-0")

	own := refuse(p, "own", admissionv1.Update, "persistentvolumeclaims", "claims are nobody's", func() error {
		_, err := p.c.CoreV1().PersistentVolumeClaims(p.ns).Patch(p.ctx, "data-db-0", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
	p.must(p.c.AppsV1().StatefulSets(p.ns).Patch(p.ctx, "db", types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":1,"persistentVolumeClaimRetentionPolicy":{"whenDeleted":%q,"whenScaled":"Retain"}}}`, appsv1.DeletePersistentVolumeClaimRetentionPolicyType), metav1.PatchOptions{}))
	p.event("StatefulSet", "db", "FailedUpdate", "")
	own()
	see(p, "persistentvolumeclaims", "data-db-0", "owned", func(c *corev1.PersistentVolumeClaim) bool { return metav1.GetControllerOf(c) != nil })
}

// unwound: a Deployment goes back by the annotation of old API versions, and a CronJob has
// a day that never comes.
func unwound(p *place) {
	cronJob(p, "never", "1s", func(s *batchv1.CronJobSpec) { s.Schedule = "59 23 31 2 *" })
	deploy(p, 1, func(d *appsv1.Deployment) { d.Annotations = map[string]string{"note": "first"} })
	complete(p, "created")
	change(p, `{"metadata":{"annotations":{"note":"second"}},"spec":{"template":{"spec":{"containers":[{"name":"main","image":"web:2"}]}}}}`)
	complete(p, "updated")
	back := func(to, reason string) {
		p.Helper()
		change(p, `{"metadata":{"annotations":{"deprecated.deployment.rollback.to":%q}}}`, to)
		p.event("Deployment", "web", reason, "")
		d := see(p, "deployments", "web", "back", func(d *appsv1.Deployment) bool { return d.Annotations["deprecated.deployment.rollback.to"] == "" })
		p.saw("image %s note %s labels %v", d.Spec.Template.Spec.Containers[0].Image, d.Annotations["note"], d.Spec.Template.Labels)
		complete(p, "back")
		sets(p)
	}
	back("0", "DeploymentRollback")
	back("3", "DeploymentRollbackTemplateUnchanged")
	back("17", "DeploymentRollbackRevisionNotFound")
	p.event("CronJob", "never", "InvalidSchedule", "")
}
