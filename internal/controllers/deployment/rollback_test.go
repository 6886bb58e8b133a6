package deployment_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// The annotation that replaced rollbacks of old API versions still works: template and annotations of the revision
// return, the annotation is removed, and an event is recorded.
func TestRollbackByAnnotation(t *testing.T) {
	c := testenv.New(t, testenv.Options{}).Client(t)
	deployments := client.For[*appsv1.Deployment](c).Namespace("default")
	events := client.For[*corev1.Event](c).Namespace("default")
	d := web(1, "web:1")
	d.Annotations = map[string]string{"kubernetes.io/change-cause": "first"}
	if _, err := deployments.Create(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	patch := func(p map[string]any) {
		t.Helper()
		if _, err := deployments.Patch(t.Context(), "web", client.MergePatch(p)); err != nil {
			t.Fatal(err)
		}
	}
	at := func(revision, image, cause string) {
		t.Helper()
		waittest.One(t, deployments, "web", "revision "+revision, func(d *appsv1.Deployment) bool {
			return rolledOut(d) && d.Annotations["deployment.kubernetes.io/revision"] == revision && d.Annotations["kubernetes.io/change-cause"] == cause &&
				d.Annotations[appsv1.DeprecatedRollbackTo] == "" && d.Spec.Template.Spec.Containers[0].Image == image && len(d.Spec.Template.Labels) == 1
		})
	}
	to := func(revision string) {
		t.Helper()
		patch(map[string]any{"metadata": map[string]any{"annotations": map[string]any{appsv1.DeprecatedRollbackTo: revision}}})
	}
	told := func(eventType, reason, message string) {
		t.Helper()
		waittest.For(t, events, reason, "", func(have map[string]*corev1.Event) bool {
			for _, e := range have {
				if e.Reason == reason && e.Message == message && e.Type == eventType && e.InvolvedObject.Name == "web" {
					return true
				}
			}
			return false
		})
	}

	at("1", "web:1", "first")
	to("0")
	told(corev1.EventTypeWarning, "DeploymentRollbackRevisionNotFound", "Unable to find last revision.")
	at("1", "web:1", "first")
	patch(map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"kubernetes.io/change-cause": "second"}},
		"spec":     map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "web", "image": "web:2"}}}}},
	})
	at("2", "web:2", "second")
	to("0")
	told(corev1.EventTypeNormal, "DeploymentRollback", `Rolled back deployment "web" to revision 1`)
	at("3", "web:1", "first")
	to("2")
	told(corev1.EventTypeNormal, "DeploymentRollback", `Rolled back deployment "web" to revision 2`)
	at("4", "web:2", "second")
	to("4")
	told(corev1.EventTypeWarning, "DeploymentRollbackTemplateUnchanged", `The rollback revision contains the same template as current deployment "web"`)
	to("17")
	told(corev1.EventTypeWarning, "DeploymentRollbackRevisionNotFound", "Unable to find the revision to rollback to.")
	at("4", "web:2", "second")
}
