package controlplane_test

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

const gateJobWorkloads = "WorkloadWithJob"

// gangJob returns an Indexed Job whose pods, all of a gang, need so many CPUs each.
func gangJob(name string, n int32, cpu string) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{
		Parallelism: &n, Completions: &n, CompletionMode: ptr.To(batchv1.IndexedCompletion),
		Scheduling: &batchv1.JobSchedulingConfiguration{SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{
			Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{},
		}},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"group": name}}, Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: ptr.To(false),
			Containers: []corev1.Container{{Name: "main", Image: "train", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)},
			}}},
		}},
	}}
}

func (g *gangs) job(t *testing.T, j *batchv1.Job) *batchv1.Job {
	t.Helper()
	made, err := g.BatchV1().Jobs("default").Create(g.ctx, j, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (g *gangs) patchJob(t *testing.T, name, patch string) {
	t.Helper()
	if _, err := g.BatchV1().Jobs("default").Patch(g.ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// jobGroup waits for the PodGroup that a Job controls, and returns its name.
func (g *gangs) jobGroup(t *testing.T, j *batchv1.Job) string {
	t.Helper()
	w, err := g.SchedulingV1beta1().PodGroups("default").Watch(g.ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if pg, ok := e.Object.(*schedulingv1beta1.PodGroup); ok && metav1.IsControlledBy(pg, j) {
			return pg.Name
		}
	}
	t.Fatalf("the Job %s has no group", j.Name)
	return ""
}

// jobPods waits until the pods of a Job are so many, all on nodes.
func (g *gangs) jobPods(t *testing.T, name string, n int) {
	t.Helper()
	w, err := g.CoreV1().Pods("default").Watch(g.ctx, metav1.ListOptions{LabelSelector: "group=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	have := map[types.UID]bool{}
	list, err := g.CoreV1().Pods("default").List(g.ctx, metav1.ListOptions{LabelSelector: "group=" + name})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Items {
		have[p.UID] = p.Spec.NodeName != ""
	}
	on := func() (on int) {
		for _, placed := range have {
			if placed {
				on++
			}
		}
		return on
	}
	for len(have) != n || on() != n {
		e, ok := <-w.ResultChan()
		if !ok {
			t.Fatalf("the Job %s has %d pods, of which %d have nodes, want %d", name, len(have), on(), n)
		}
		if p, ok := e.Object.(*corev1.Pod); ok && e.Type == "DELETED" {
			delete(have, p.UID)
		} else if ok {
			have[p.UID] = p.Spec.NodeName != ""
		}
	}
}

// TestGangJob: the pods of an Indexed Job get their nodes together or not at all, wait whole while it is suspended, and its objects
// go with it.
func TestGangJob(t *testing.T) {
	g := startGangsWith(t, 2, controlplane.Options{API: gangsAPI(t, gateJobWorkloads),
		Controllers: []string{"nodelifecycle", "podgroupprotection", "job", "garbagecollector"}})
	j := g.job(t, gangJob("train", 5, "16")) // two nodes have room for four
	group := g.jobGroup(t, j)
	c := g.group(t, group, metav1.ConditionFalse, "Unschedulable")
	if !strings.HasPrefix(c.Message, "minCount (5) cannot be satisfied: 4 scheduled") {
		t.Errorf("the condition is %q", c.Message)
	}
	if n := g.on(t, "train"); n != 0 {
		t.Errorf("%d pods of the gang have nodes", n)
	}
	g.patchJob(t, "train", `{"spec":{"parallelism":4,"completions":4}}`) // which makes the gang smaller
	g.group(t, group, metav1.ConditionTrue, "Scheduled")
	g.jobPods(t, "train", 4)

	g.patchJob(t, "train", `{"spec":{"suspend":true}}`)
	g.jobPods(t, "train", 0)
	g.patchJob(t, "train", `{"spec":{"suspend":false}}`)
	g.jobPods(t, "train", 4)

	background := metav1.DeletePropagationBackground
	if err := g.BatchV1().Jobs("default").Delete(g.ctx, "train", metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		t.Fatal(err)
	}
	g.jobPods(t, "train", 0)
	groups, workloads := g.SchedulingV1beta1().PodGroups("default"), g.SchedulingV1beta1().Workloads("default")
	of, _, _ := strings.Cut(group, "-train-pgt-0-")
	for what, get := range map[string]func() error{
		"group":    func() error { _, err := groups.Get(g.ctx, group, metav1.GetOptions{}); return err },
		"workload": func() error { _, err := workloads.Get(g.ctx, of, metav1.GetOptions{}); return err },
	} {
		groupEvents, err := groups.Watch(g.ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		workloadEvents, err := workloads.Watch(g.ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for err := get(); !apierrors.IsNotFound(err); err = get() {
			select {
			case <-groupEvents.ResultChan():
			case <-workloadEvents.ResultChan():
			case <-g.ctx.Done():
				t.Fatalf("the %s of the Job stays", what)
			}
		}
		groupEvents.Stop()
		workloadEvents.Stop()
	}
}

// TestJobWorkloadsGate: without the gate spec.scheduling is dropped, the Job's pods are in no group, and the controller has no
// rights to Workloads.
func TestJobWorkloadsGate(t *testing.T) {
	for _, on := range []bool{false, true} {
		var more []string
		if on {
			more = []string{gateJobWorkloads}
		}
		g := startGangsWith(t, 1, controlplane.Options{API: gangsAPI(t, more...), Controllers: []string{"nodelifecycle", "job"}})
		if made := g.job(t, gangJob("train", 2, "1")); (made.Spec.Scheduling != nil) != on {
			t.Errorf("gate %t: scheduling is %+v", on, made.Spec.Scheduling)
		}
		g.jobPods(t, "train", 2)
		list, err := g.SchedulingV1beta1().Workloads("default").List(g.ctx, metav1.ListOptions{})
		if err != nil || (len(list.Items) == 1) != on {
			t.Errorf("gate %t: %v, the workloads are %+v", on, err, list.Items)
		}
		role, err := g.RbacV1().ClusterRoles().Get(g.ctx, "system:controller:job-controller", metav1.GetOptions{})
		if err != nil || strings.Contains(fmt.Sprint(role.Rules), "workloads") != on {
			t.Errorf("gate %t: %v %+v", on, err, role.Rules)
		}
	}
}

// TestJobWorkloadsGateSwitchedOff: a Job keeps its configuration when the gate is switched off, and it cannot be changed.
func TestJobWorkloadsGateSwitchedOff(t *testing.T) {
	dir := t.TempDir()
	first, err := controlplane.Start(t.Context(), controlplane.Options{DataDir: dir, Listen: "127.0.0.1:0", API: gangsAPI(t, gateJobWorkloads)})
	if err != nil {
		t.Fatal(err)
	}
	before := &gangs{Clientset: controlplanetest.Clientset(t, first), ctx: t.Context()}
	j := before.job(t, gangJob("train", 2, "1"))
	cron := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "nightly"}, Spec: batchv1.CronJobSpec{Schedule: "0 3 * * *"}}
	cron.Spec.JobTemplate.Spec = gangJob("train", 2, "1").Spec
	if _, err := before.BatchV1().CronJobs("default").Create(t.Context(), cron, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	g := startGangsWith(t, 0, controlplane.Options{DataDir: dir, API: gangsAPI(t), Controllers: []string{"nodelifecycle"}})
	g.patchJob(t, "train", `{"metadata":{"labels":{"a":"b"}}}`)
	const size = `{"schedulingPolicy":{"gang":{"minCount":1}}}`
	jobs, crons := g.BatchV1().Jobs("default"), g.BatchV1().CronJobs("default")
	_, err = jobs.Patch(g.ctx, j.Name, types.MergePatchType, []byte(`{"spec":{"scheduling":`+size+`}}`), metav1.PatchOptions{})
	wantCauses(t, err, "spec.scheduling: Forbidden")
	_, err = crons.Patch(g.ctx, "nightly", types.MergePatchType, []byte(`{"spec":{"jobTemplate":{"spec":{"scheduling":`+size+`}}}}`), metav1.PatchOptions{})
	wantCauses(t, err, "spec.jobTemplate.spec.scheduling: Forbidden")
	if kept, err := jobs.Get(g.ctx, j.Name, metav1.GetOptions{}); err != nil || kept.Spec.Scheduling == nil || kept.Labels["a"] != "b" {
		t.Errorf("%v, the Job is %+v", err, kept)
	}
}
