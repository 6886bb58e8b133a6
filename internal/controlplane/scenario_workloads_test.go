package controlplane_test

import (
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
)

// waitPods waits until the app has n pods.
func waitPods(s *site, n int) {
	s.Helper()
	waittest.For(s, on[*corev1.Pod](s), strconv.Itoa(n)+" pods", "app=web", func(have map[string]*corev1.Pod) bool { return len(have) == n })
}

func deployed(s *site) {
	s.Helper()
	waittest.One(s, on[*appsv1.Deployment](s), "web", "the rollout complete", func(d *appsv1.Deployment) bool {
		n, at := *d.Spec.Replicas, &d.Status
		return at.ObservedGeneration == d.Generation && at.Replicas == n && at.UpdatedReplicas == n && at.AvailableReplicas == n
	})
}

var deployments = scenario{
	name:        "deployment",
	controllers: []string{"deployment", "replicaset"},
	caches:      []string{"pods", "replicasets", "deployments"},
	named:       []string{"ReplicaSet"},
	remove:      remove[*appsv1.Deployment]("web"),
	stages: []stage{{
		name: "create",
		ask: func(s *site, _ string) {
			create(s, &appsv1.Deployment{ObjectMeta: named("web"), Spec: appsv1.DeploymentSpec{
				Replicas: ptr.To[int32](3), Selector: selector, Template: webPods,
				Strategy: appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{
					MaxSurge: ptr.To(intstr.FromInt32(1)), MaxUnavailable: ptr.To(intstr.FromInt32(0))}},
			}})
		},
		done: deployed,
		made: map[string]int{"ReplicaSet": 1, "Pod": 3},
	}, {
		name: "update",
		ask: func(s *site, held string) {
			patch[*appsv1.Deployment](s, "web", `{"spec":{`+newImage+`}}`)
			if held == "pods" || held == "replicasets" {
				waittest.For(s, on[*appsv1.ReplicaSet](s), "the second ReplicaSet", "", func(have map[string]*appsv1.ReplicaSet) bool { return len(have) == 2 })
				touch[*appsv1.Deployment](s, "web")
			}
		},
		done: deployed,
		made: map[string]int{"ReplicaSet": 2, "Pod": 6},
	}, {
		name: "scale",
		ask: func(s *site, held string) {
			patch[*appsv1.Deployment](s, "web", `{"spec":{"replicas":5}}`)
			if held == "pods" {
				waitPods(s, 5) // the ReplicaSet controller does not see them yet
			}
			patch[*appsv1.Deployment](s, "web", `{"spec":{"replicas":6}}`)
		},
		done: deployed,
		made: map[string]int{"ReplicaSet": 2, "Pod": 9},
	}},
}

var aGigabyte = corev1.PersistentVolumeClaimSpec{
	AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
	Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
}

var statefulSets = scenario{
	name:        "statefulset",
	controllers: []string{"statefulset"},
	caches:      []string{"pods", "persistentvolumeclaims", "statefulsets", "controllerrevisions"},
	named:       []string{"Pod", "PersistentVolumeClaim", "ControllerRevision"},
	judge:       inOrder,
	remove:      remove[*appsv1.StatefulSet]("web"),
	stages: []stage{{
		name: "create",
		ask: func(s *site, _ string) {
			create(s, &appsv1.StatefulSet{ObjectMeta: named("web"), Spec: appsv1.StatefulSetSpec{
				Replicas: ptr.To[int32](3), ServiceName: "web", Selector: selector, Template: webPods,
				PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
					WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType, WhenScaled: appsv1.RetainPersistentVolumeClaimRetentionPolicyType},
				VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: named("data"), Spec: aGigabyte}},
			}})
		},
		done: func(s *site) { setUpdated(s, 3) },
		made: map[string]int{"Pod": 3, "PersistentVolumeClaim": 3, "ControllerRevision": 1},
	}, {
		name: "partition",
		ask: func(s *site, held string) {
			patch[*appsv1.StatefulSet](s, "web", `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":2}},`+newImage+`}}`)
			if held == "pods" || held == "persistentvolumeclaims" {
				waittest.For(s, on[*corev1.Pod](s), "the old web-2 away", "", func(have map[string]*corev1.Pod) bool {
					p := have["web-2"]
					return p == nil || p.DeletionTimestamp != nil || p.Spec.Containers[0].Image == "web:2"
				})
				touch[*appsv1.StatefulSet](s, "web")
			}
		},
		done: func(s *site) { setUpdated(s, 1) },
		made: map[string]int{"Pod": 4, "PersistentVolumeClaim": 3, "ControllerRevision": 2},
	}, {
		name: "rest",
		ask: func(s *site, _ string) {
			patch[*appsv1.StatefulSet](s, "web", `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`)
			touch[*appsv1.StatefulSet](s, "web")
		},
		done: func(s *site) { setUpdated(s, 3) },
		made: map[string]int{"Pod": 6, "PersistentVolumeClaim": 3, "ControllerRevision": 2},
	}},
}

// setUpdated waits until the set's three pods are available and that many have the newest
// template.
func setUpdated(s *site, updated int32) {
	s.Helper()
	waittest.One(s, on[*appsv1.StatefulSet](s), "web", "three replicas", func(set *appsv1.StatefulSet) bool {
		at := &set.Status
		return at.ObservedGeneration == set.Generation && at.Replicas == 3 && at.AvailableReplicas == 3 && at.UpdatedReplicas == updated
	})
}

// inOrder checks that each pod of a set was created only after the pods with lower ordinals
// were ready.
func inOrder(s *site, life []client.Event[*corev1.Pod]) {
	ready := map[string]bool{}
	for _, e := range life {
		before, ordinal, ok := strings.Cut(e.Object.Name, "-")
		if n, err := strconv.Atoi(ordinal); ok && err == nil && e.Type == watch.Added {
			for i := range n {
				if front := before + "-" + strconv.Itoa(i); !ready[front] {
					s.Errorf("%s was made while %s was not ready", e.Object.Name, front)
				}
			}
		}
		ready[e.Object.Name] = e.Type != watch.Deleted && podcontrol.IsReady(e.Object)
	}
}

var daemonSets = scenario{
	name:        "daemonset",
	controllers: []string{"daemonset"},
	caches:      []string{"pods", "daemonsets", "controllerrevisions"},
	named:       []string{"ControllerRevision"},
	judge:       onePerNode,
	remove:      remove[*appsv1.DaemonSet]("web"),
	stages: []stage{{
		name: "create",
		ask: func(s *site, _ string) {
			create(s, &appsv1.DaemonSet{ObjectMeta: named("web"), Spec: appsv1.DaemonSetSpec{Selector: selector, Template: webPods}})
		},
		done: daemonsUpdated,
		made: map[string]int{"Pod": 3, "ControllerRevision": 1},
	}, {
		name: "update",
		ask: func(s *site, held string) {
			patch[*appsv1.DaemonSet](s, "web", `{"spec":{`+newImage+`}}`)
			if held == "pods" {
				waittest.For(s, on[*corev1.Pod](s), "a daemon on its way", "app=web", func(have map[string]*corev1.Pod) bool {
					for _, p := range have {
						if p.DeletionTimestamp != nil {
							return true
						}
					}
					return len(have) < 3
				})
			}
			touch[*appsv1.DaemonSet](s, "web")
		},
		done: daemonsUpdated,
		made: map[string]int{"Pod": 6, "ControllerRevision": 2},
	}},
}

func daemonsUpdated(s *site) {
	s.Helper()
	waittest.One(s, on[*appsv1.DaemonSet](s), "web", "a daemon on each node", func(ds *appsv1.DaemonSet) bool {
		at := &ds.Status
		return at.ObservedGeneration == ds.Generation && at.DesiredNumberScheduled == 3 && at.UpdatedNumberScheduled == 3 && at.NumberAvailable == 3
	})
}

// onePerNode checks that no second pod was created for a node while its first one ran.
func onePerNode(s *site, life []client.Event[*corev1.Pod]) {
	has := map[string]string{}
	for _, e := range life {
		a := e.Object.Spec.Affinity
		if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
			continue
		}
		node := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
		switch {
		case e.Type == watch.Added:
			if other := has[node]; other != "" {
				s.Errorf("%s was made for %s, which has %s", e.Object.Name, node, other)
			}
			has[node] = e.Object.Name
		case has[node] == e.Object.Name && (e.Type == watch.Deleted || e.Object.DeletionTimestamp != nil && podcontrol.IsFinished(e.Object)):
			has[node] = ""
		}
	}
}
