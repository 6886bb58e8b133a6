package ephemeralvolume_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "c", Image: "i", VolumeMounts: []corev1.VolumeMount{{Name: "scratch", MountPath: "/scratch"}}}},
			Volumes: []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
				VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
					ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
					Spec: corev1.PersistentVolumeClaimSpec{
						AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
						Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
					},
				},
			}}}},
		},
	}
}

// A pod gets its claim, runs with it, and its claim is deleted with it.
func TestTheClaimComesAndGoesWithThePod(t *testing.T) {
	c := testenv.New(t, testenv.Options{}).Client(t)
	pods, claims := client.For[*corev1.Pod](c).Namespace("default"), client.For[*corev1.PersistentVolumeClaim](c).Namespace("default")
	if _, err := pods.Create(t.Context(), pod("a")); err != nil {
		t.Fatal(err)
	}
	p := waittest.One(t, pods, "a", "Running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	claim, err := claims.Get(t.Context(), "a-scratch")
	if err != nil {
		t.Fatal(err)
	}
	if !metav1.IsControlledBy(claim, p) || claim.Labels["app"] != "a" || claim.Status.Phase != corev1.ClaimBound {
		t.Errorf("the claim: %+v", claim)
	}
	if err := pods.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	waittest.Gone(t, claims, "a-scratch")
}

// A foreign claim is not taken over, and a deleted one is created again.
func TestOnlyItsOwnClaim(t *testing.T) {
	c := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true}).Client(t)
	ctx := t.Context()
	pods, claims := client.For[*corev1.Pod](c).Namespace("default"), client.For[*corev1.PersistentVolumeClaim](c).Namespace("default")
	foreign := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a-scratch"},
		Spec:       pod("a").Spec.Volumes[0].Ephemeral.VolumeClaimTemplate.Spec,
	}
	if _, err := claims.Create(ctx, foreign); err != nil {
		t.Fatal(err)
	}
	if _, err := pods.Create(ctx, pod("a")); err != nil {
		t.Fatal(err)
	}
	events := client.For[*corev1.Event](c).Namespace("default")
	waittest.For(t, events, "the pod's event", "", func(all map[string]*corev1.Event) bool {
		for _, e := range all {
			if e.Reason == "FailedBinding" && e.InvolvedObject.Kind == "Pod" && e.Source.Component == "ephemeral_volume" &&
				strings.HasPrefix(e.Message, "ephemeral volume scratch: PVC default/a-scratch was not created for pod default/a (pod is not owner)") {
				return true
			}
		}
		return false
	})
	if err := claims.Delete(ctx, "a-scratch"); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, claims, "a-scratch", "the pod's own", func(c *corev1.PersistentVolumeClaim) bool {
		return len(c.OwnerReferences) == 1 && c.OwnerReferences[0].Name == "a" && c.DeletionTimestamp == nil
	})
}
