package kubeapiserver_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// TestEmulatedBefore137 has the defaults and rules that are of 1.37.
func TestEmulatedBefore137(t *testing.T) {
	one := apiresource.MustParse("1")
	labels := map[string]string{"a": "b"}
	pod := corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	scaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "h"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d"},
		MaxReplicas:    3,
		Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: "m"},
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: &one},
		}}},
	}}
	for _, c := range []struct {
		version string
		has     bool
	}{{"1.36", false}, {"1.37", true}} {
		t.Run(c.version, func(t *testing.T) {
			root := start(t, "--emulated-version="+c.version, "--disable-admission-plugins=ServiceAccount")("root-token")
			set, err := root.AppsV1().StatefulSets("default").Create(t.Context(), &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: appsv1.StatefulSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
			}}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable; (got != nil) != c.has || c.has && got.IntValue() != 1 {
				t.Errorf("maxUnavailable of the StatefulSet: %v", got)
			}
			driver, err := root.StorageV1().CSIDrivers().Create(t.Context(), &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "d"}}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := driver.Spec.PreventPodSchedulingIfMissing; (got != nil) != c.has || c.has && *got {
				t.Errorf("preventPodSchedulingIfMissing: %v", got)
			}
			scalers := root.AutoscalingV2().HorizontalPodAutoscalers("default")
			zero := scaler.DeepCopy()
			zero.Name, zero.Spec.MinReplicas = "zero", ptr.To[int32](0)
			if _, err := scalers.Create(t.Context(), zero, metav1.CreateOptions{}); c.has != (err == nil) || !c.has && !apierrors.IsInvalid(err) {
				t.Errorf("an autoscaler to zero: %v", err)
			}
			h, err := scalers.Create(t.Context(), scaler, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			h.Spec.MaxReplicas++
			changed, err := scalers.Update(t.Context(), h, metav1.UpdateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if before, after := h.Generation == 1, changed.Generation == 2; before != c.has || after != c.has {
				t.Errorf("generations of the autoscaler: %d, %d", h.Generation, changed.Generation)
			}
			whole := corev1.PodSpec{
				Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: one}},
				Containers: []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{
					Limits: corev1.ResourceList{corev1.ResourceCPU: one, corev1.ResourceMemory: one},
				}}},
			}
			made, err := root.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "whole"}, Spec: whole}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if r := made.Spec.Resources; (len(r.Requests) == 2) != c.has || (len(r.Limits) == 2) != c.has || (made.Status.QOSClass == corev1.PodQOSGuaranteed) != c.has {
				t.Errorf("pod-level resources %v, class %s", r, made.Status.QOSClass)
			}
			policy := corev1.SELinuxChangePolicyMountOption
			mounted := *pod.DeepCopy()
			mounted.SecurityContext = &corev1.PodSecurityContext{SELinuxChangePolicy: &policy}
			_, err = root.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: mounted}, metav1.CreateOptions{})
			if c.has != (err == nil) || !c.has && !apierrors.IsInvalid(err) {
				t.Errorf("a pod with seLinuxChangePolicy MountOption: %v", err)
			}
			_, err = root.AppsV1().Deployments("default").Create(t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: mounted},
			}}, metav1.CreateOptions{})
			if c.has != (err == nil) || !c.has && !apierrors.IsInvalid(err) {
				t.Errorf("a Deployment with seLinuxChangePolicy MountOption: %v", err)
			}
		})
	}
}
