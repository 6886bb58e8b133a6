package compat

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// seLinux: pods that use a volume with different SELinux labels, or with different policies of changing them; and a pod
// whose own containers differ.
func seLinux(p *place) {
	pod := func(name string, disk int32, level string, with func(*corev1.PodSpec)) {
		spec := podSpec("web:1")
		spec.AutomountServiceAccountToken = ptr.To(false) // its volume would differ as well
		spec.SecurityContext = &corev1.PodSecurityContext{SELinuxOptions: &corev1.SELinuxOptions{Level: level}}
		spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{
			TargetPortal: "10.0.0.1:3260", IQN: "iqn.2000-01.com.example:disk", Lun: disk, ReadOnly: true}}}}
		spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
		if with != nil {
			with(&spec)
		}
		p.must(p.c.CoreV1().Pods(p.ns).Create(p.ctx, &corev1.Pod{ObjectMeta: named(name), Spec: spec}, metav1.CreateOptions{}))
	}
	pod("one", 1, "s0:c1,c2", nil)
	pod("other", 1, "s0:c3,c4", nil)
	p.events("SELinuxLabelConflict", 2)
	pod("mounts", 2, "s0:c1,c2", nil)
	pod("relabels", 2, "s0:c1,c2", func(s *corev1.PodSpec) {
		s.SecurityContext.SELinuxChangePolicy = ptr.To(corev1.SELinuxChangePolicyRecursive)
	})
	p.events("SELinuxChangePolicyConflict", 2)
	pod("torn", 3, "s0:c1,c2", func(s *corev1.PodSpec) {
		second := *s.Containers[0].DeepCopy()
		second.Name, second.SecurityContext = "second", &corev1.SecurityContext{SELinuxOptions: &corev1.SELinuxOptions{Level: "s0:c3,c4"}}
		s.Containers = append(s.Containers, second)
	})
	p.event("Pod", "torn", "MultipleSELinuxLabels", "")
}
