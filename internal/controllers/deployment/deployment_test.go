package deployment_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

func web(replicas int32, image string) *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &quarter, MaxUnavailable: &quarter},
			},
			ProgressDeadlineSeconds: &deadline,
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: image}}},
			},
		},
	}
}

var (
	quarter  = intstr.FromString("25%")
	deadline = int32(600)
)

func rolledOut(d *appsv1.Deployment) bool {
	s := d.Status
	return s.ObservedGeneration >= d.Generation && s.UpdatedReplicas == *d.Spec.Replicas &&
		s.Replicas == *d.Spec.Replicas && s.AvailableReplicas == *d.Spec.Replicas
}

func TestDeploymentLife(t *testing.T) {
	env := testenv.New(t, testenv.Options{})
	c := env.Client(t)
	deployments := client.For[*appsv1.Deployment](c).Namespace("default")
	sets := client.For[*appsv1.ReplicaSet](c).Namespace("default")
	pods := client.For[*corev1.Pod](c).Namespace("default")

	if _, err := deployments.Create(t.Context(), web(5, "web:1")); err != nil {
		t.Fatal(err)
	}
	d := waittest.One(t, deployments, "web", "the first rollout", rolledOut)
	if got := d.Annotations["deployment.kubernetes.io/revision"]; got != "1" {
		t.Errorf("revision %q", got)
	}

	update := func(edit func(*appsv1.Deployment)) {
		t.Helper()
		if err := client.RetryOnConflict(t.Context(), func() error {
			d, err := deployments.Get(t.Context(), "web")
			if err != nil {
				return err
			}
			edit(d)
			_, err = deployments.Update(t.Context(), d)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}

	update(func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "web:2" })
	waittest.One(t, deployments, "web", "the update", func(d *appsv1.Deployment) bool {
		return rolledOut(d) && d.Annotations["deployment.kubernetes.io/revision"] == "2"
	})
	waittest.For(t, pods, "only new pods", "app=web", func(have map[string]*corev1.Pod) bool {
		for _, p := range have {
			if p.Spec.Containers[0].Image != "web:2" {
				return false
			}
		}
		return len(have) == 5
	})
	have := waittest.For(t, sets, "two sets", "app=web", func(have map[string]*appsv1.ReplicaSet) bool { return len(have) == 2 })
	for _, rs := range have {
		if rs.Labels["pod-template-hash"] == "" || rs.Name != "web-"+rs.Labels["pod-template-hash"] {
			t.Errorf("set %s has labels %v", rs.Name, rs.Labels)
		}
	}

	update(func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "web:1" })
	waittest.One(t, deployments, "web", "the undo", func(d *appsv1.Deployment) bool {
		return rolledOut(d) && d.Annotations["deployment.kubernetes.io/revision"] == "3"
	})

	two := int32(2)
	update(func(d *appsv1.Deployment) { d.Spec.Replicas = &two })
	waittest.One(t, deployments, "web", "the scale-down", rolledOut)
	waittest.For(t, pods, "two pods", "app=web", func(have map[string]*corev1.Pod) bool { return len(have) == 2 })

	if err := deployments.Delete(t.Context(), "web"); err != nil {
		t.Fatal(err)
	}
	waittest.For(t, sets, "no sets", "app=web", func(have map[string]*appsv1.ReplicaSet) bool { return len(have) == 0 })
	waittest.For(t, pods, "no pods", "app=web", func(have map[string]*corev1.Pod) bool { return len(have) == 0 })
}
