package kubeapiserver_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestEmulatedFields creates objects with fields that came after 1.33, and without fields that have got defaults.
func TestEmulatedFields(t *testing.T) {
	name, zone, seconds, yes := "h.example", corev1.ServiceTrafficDistributionPreferSameZone, int64(60), true
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
		HostnameOverride: &name,
		Volumes:          []corev1.Volume{{Name: "i", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "r"}}}},
		Containers:       []corev1.Container{{Name: "c", Image: "i", VolumeMounts: []corev1.VolumeMount{{Name: "i", MountPath: "/i"}}}},
	}}
	driver := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: storagev1.CSIDriverSpec{
		NodeAllocatableUpdatePeriodSeconds: &seconds, ServiceAccountTokenInSecrets: &yes, TokenRequests: []storagev1.TokenRequest{{}},
	}}
	labels := map[string]string{"a": "b"}
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: appsv1.StatefulSetSpec{
		Selector:       &metav1.LabelSelector{MatchLabels: labels},
		UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{}},
		Template:       corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
	}}
	service := func(name string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	}
	for _, c := range []struct {
		version string
		has     bool
	}{{"1.33", false}, {"1.35", true}} {
		t.Run(c.version, func(t *testing.T) {
			root := start(t, "--emulated-version="+c.version, "--disable-admission-plugins=ServiceAccount")("root-token")
			p, err := root.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{FieldValidation: "Strict"})
			if err != nil {
				t.Fatal(err)
			}
			mounts := p.Spec.Containers[0].VolumeMounts
			if got := p.Spec.HostnameOverride != nil; got != c.has || len(p.Spec.Volumes) > 0 != c.has || len(mounts) > 0 != c.has {
				t.Errorf("the pod has hostnameOverride %t, %d volumes, %d mounts", got, len(p.Spec.Volumes), len(mounts))
			}
			d, err := root.StorageV1().CSIDrivers().Create(t.Context(), driver, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if period, secret := d.Spec.NodeAllocatableUpdatePeriodSeconds != nil, d.Spec.ServiceAccountTokenInSecrets != nil; period != c.has || secret != c.has {
				t.Errorf("the driver has nodeAllocatableUpdatePeriodSeconds %t, serviceAccountTokenInSecrets %t", period, secret)
			}
			s, err := root.AppsV1().StatefulSets("default").Create(t.Context(), set, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if s.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable != nil {
				t.Error("the StatefulSet has maxUnavailable, which is of 1.37")
			}
			near := service("near")
			near.Spec.TrafficDistribution = &zone
			if _, err = root.CoreV1().Services("default").Create(t.Context(), near, metav1.CreateOptions{}); apierrors.IsInvalid(err) == c.has {
				t.Errorf("a Service with trafficDistribution %s: %v", zone, err)
			}
			if _, err = root.CoreV1().Services("default").Create(t.Context(), service("1a"), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
				t.Errorf("a Service named 1a, as 1.36 allows: %v", err)
			}
			initial := true
			_, err = root.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{SendInitialEvents: &initial, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true})
			if apierrors.IsInvalid(err) == c.has {
				t.Errorf("a watch that asks for a list: %v", err)
			}
		})
	}
}

// TestEmulatedRules has values, changes and labels that 1.33 or 1.35 does not have and 1.36 has.
func TestEmulatedRules(t *testing.T) {
	for _, c := range []struct {
		version                string
		merged, topology, rest bool // selectors of spread constraints, labels of the node's zone, the others
	}{{"1.33", false, false, false}, {"1.35", true, true, false}, {"1.36", true, true, true}} {
		t.Run(c.version, func(t *testing.T) {
			root := start(t, "--emulated-version="+c.version, "--disable-admission-plugins=ServiceAccount")("root-token")
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{corev1.LabelTopologyZone: "z"}}}
			if _, err := root.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			pod, err := root.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"rev": "1"}},
				Spec: corev1.PodSpec{
					NodeName:   "n",
					Containers: []corev1.Container{{Name: "c", Image: "i"}},
					TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
						MaxSkew: 1, TopologyKey: "z", WhenUnsatisfiable: corev1.DoNotSchedule,
						LabelSelector: &metav1.LabelSelector{}, MatchLabelKeys: []string{"rev"},
					}},
				},
			}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if merged := len(pod.Spec.TopologySpreadConstraints[0].LabelSelector.MatchExpressions) > 0; merged != c.merged {
				t.Errorf("selectors merged %t", merged)
			}
			if labelled := pod.Labels[corev1.LabelTopologyZone] == "z"; labelled != c.topology {
				t.Errorf("labels %v", pod.Labels)
			}
			never := corev1.ContainerRestartPolicyNever
			_, err = root.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{Name: "c", Image: "i", RestartPolicy: &never, RestartPolicyRules: []corev1.ContainerRestartRule{{
					Action:    corev1.ContainerRestartRuleActionRestartAllContainers,
					ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{1}},
				}}}},
			}}, metav1.CreateOptions{})
			if want := c.rest || c.version == "1.33"; (err == nil) != want { // 1.33 drops all rules
				t.Errorf("a rule that restarts all containers: %v", err)
			}
			ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Name: "i"}, Spec: networkingv1.IngressSpec{DefaultBackend: &networkingv1.IngressBackend{
				Service: &networkingv1.IngressServiceBackend{Name: "1a", Port: networkingv1.ServiceBackendPort{Number: 80}},
			}}}
			if _, err := root.NetworkingV1().Ingresses("default").Create(t.Context(), ingress, metav1.CreateOptions{}); (err == nil) != c.rest {
				t.Errorf("an ingress to the Service 1a: %v", err)
			}
			old := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}, ExternalIPs: []string{"010.1.2.3"}}}
			if _, err := root.CoreV1().Services("default").Create(t.Context(), old, metav1.CreateOptions{}); (err != nil) != c.rest {
				t.Errorf("an address with a leading zero: %v", err)
			}
			yes := true
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j"}, Spec: batchv1.JobSpec{Suspend: &yes, Template: corev1.PodTemplateSpec{
				Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			}}}
			if job, err = root.BatchV1().Jobs("default").Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			job.Spec.Template.Spec.NodeSelector = map[string]string{"a": "b"}
			if job, err = root.BatchV1().Jobs("default").Update(t.Context(), job, metav1.UpdateOptions{}); err != nil {
				t.Fatal("a node selector of a suspended job: ", err)
			}
			job.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: apiresource.MustParse("1")}
			if _, err := root.BatchV1().Jobs("default").Update(t.Context(), job, metav1.UpdateOptions{}); (err == nil) != c.rest {
				t.Errorf("resources of a suspended job: %v", err)
			}
		})
	}
}
