package scheduler_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/scheduler"
	"fairlead.dev/testenv"
)

// Claims that wait for their first consumer get a volume where their pod goes: one that is
// there, or one that is made; and the pod goes where a volume is.
func TestLateBinding(t *testing.T) {
	env := testenv.New(t, testenv.Options{Controllers: []string{"serviceaccount", "nodelifecycle", "persistentvolume"}, Nodes: 3})
	ctx, c := t.Context(), env.Client(t)
	account(t, c)
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	for name, provisioner := range map[string]string{"local": "kubernetes.io/no-provisioner", "made": "simulated.fairlead.dev", "promised": "example.com/nobody"} {
		class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &wait}
		if name == "made" {
			class.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
				{Key: corev1.LabelHostname, Values: []string{"node-2", "node-3"}},
			}}}
		}
		if _, err := client.For[*storagev1.StorageClass](c).Create(ctx, class); err != nil {
			t.Fatal(err)
		}
	}
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	once := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	disk := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "disk"},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName: "local", Capacity: size, AccessModes: once,
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/disk"}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"node-2"}}},
			}}}},
		},
	}
	claims := client.For[*corev1.PersistentVolumeClaim](c).Namespace("default")
	pods := client.For[*corev1.Pod](c).Namespace("default")
	create := func(name, class string) {
		t.Helper()
		if _, err := claims.Create(ctx, &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: &class, AccessModes: once, Resources: corev1.VolumeResourceRequirements{Requests: size},
			},
		}); err != nil {
			t.Fatal(err)
		}
		p := pod(name, "1")
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}
		if _, err := pods.Create(ctx, p); err != nil {
			t.Fatal(err)
		}
	}

	create("early", "local")
	held(t, pods, "early", "0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")
	if _, err := client.For[*corev1.PersistentVolume](c).Create(ctx, disk); err != nil {
		t.Fatal(err)
	}
	early := await(t, pods, "early", "running", running)
	claim, err := claims.Get(ctx, "early")
	if err != nil || claim.Spec.VolumeName != "disk" || early.Spec.NodeName != "node-2" {
		t.Errorf("on %s, with volume %s, %v", early.Spec.NodeName, claim.Spec.VolumeName, err)
	}

	create("later", "made")
	later := await(t, pods, "later", "running", running)
	if later.Spec.NodeName == "node-1" {
		t.Error("on a node where no volume can be made")
	}
	if claim, err = claims.Get(ctx, "later"); err != nil || claim.Annotations["volume.kubernetes.io/selected-node"] != later.Spec.NodeName {
		t.Errorf("on %s; claim %+v, %v", later.Spec.NodeName, claim, err)
	}
	made, err := client.For[*corev1.PersistentVolume](c).Get(ctx, claim.Spec.VolumeName)
	if err != nil || made.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values[0] != later.Spec.NodeName {
		t.Errorf("the volume made: %+v, %v", made, err)
	}

	// A pod that waits for its volume shows its node in nominatedNodeName, until the wait fails.
	create("never", "promised")
	await(t, pods, "never", "expected on a node", func(p *corev1.Pod) bool { return p.Status.NominatedNodeName != "" })
	await(t, claims, "never", "told where", func(c *corev1.PersistentVolumeClaim) bool {
		return c.Annotations["volume.kubernetes.io/selected-node"] != ""
	})
	claim, err = claims.Patch(ctx, "never", client.MergePatch(map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{"volume.kubernetes.io/selected-node": nil}}}))
	if err != nil {
		t.Fatal(err)
	}
	w, err := pods.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=never", ResourceVersion: claim.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	bounded, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	ev, err := w.Next(bounded)
	if err != nil {
		t.Fatal(err)
	}
	const why = `SchedulerError: running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "never"`
	if s := ev.Object.Status; len(s.Conditions) != 1 || s.Conditions[0].Reason+": "+s.Conditions[0].Message != why || s.NominatedNodeName != "" {
		t.Errorf("nominated to %q; conditions %+v", s.NominatedNodeName, s.Conditions)
	}
}

// Each profile takes the pods of its name; pods of an unknown name stay.
func TestProfilesAgainstServer(t *testing.T) {
	racks := scheduler.DefaultProfile()
	racks.Name = "racks"
	racks.Filters = append(racks.Filters, oneRack{})
	racks.Scores = append(racks.Scores, scheduler.WeightedScore{Score: fewPods{}, Weight: 5})
	env := testenv.New(t, testenv.Options{
		Controllers: []string{"serviceaccount", "nodelifecycle"}, Nodes: 2,
		Scheduling: scheduler.Options{Profiles: []scheduler.Profile{scheduler.DefaultProfile(), racks}},
	})
	ctx, c := t.Context(), env.Client(t)
	account(t, c)
	pods := client.For[*corev1.Pod](c).Namespace("default")
	for _, node := range []string{"node-1", "node-2"} { // each pod here proves that its node is known: oneRack registers no NodeAdded event
		p := pod("on-"+node, "1")
		p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
		if _, err := pods.Create(ctx, p); err != nil {
			t.Fatal(err)
		}
		await(t, pods, p.Name, "running", running)
	}
	for name, scheduler := range map[string]string{"usual": "", "racked": "racks", "nobodys": "nobody"} {
		p := pod(name, "1")
		p.Spec.SchedulerName, p.Labels = scheduler, map[string]string{"team": "x"}
		if _, err := pods.Create(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	await(t, pods, "usual", "running", running)
	held(t, pods, "racked", "0/2 nodes are available: 2 node(s) were another team's. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")
	if _, err := client.For[*corev1.Node](c).Patch(ctx, "node-2", client.MergePatch(map[string]any{
		"metadata": map[string]any{"labels": map[string]string{"example.com/team": "x"}},
	})); err != nil {
		t.Fatal(err)
	}
	if racked := await(t, pods, "racked", "running", running); racked.Spec.NodeName != "node-2" {
		t.Errorf("on %s", racked.Spec.NodeName)
	}
	if p, err := pods.Get(ctx, "nobodys"); err != nil || p.Spec.NodeName != "" || len(p.Status.Conditions) > 0 {
		t.Errorf("nobody's pod: %+v, %v", p.Status, err)
	}
}
