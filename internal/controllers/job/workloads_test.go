package job_test

import (
	"context"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/resource/gates"
	"fairlead.dev/internal/server/faults"
)

// workloadJobs is a control plane without nodes, whose Jobs have Workloads and PodGroups.
type workloadJobs struct {
	*testing.T
	cp        *controlplane.ControlPlane
	api       gates.API
	faults    *faults.Set
	jobs      client.Resource[*batchv1.Job]
	pods      client.Resource[*corev1.Pod]
	workloads client.Resource[*schedulingv1beta1.Workload]
	groups    client.Resource[*schedulingv1beta1.PodGroup]
	events    client.Resource[*corev1.Event]
}

func startWorkloadJobs(t *testing.T, controllers ...string) workloadJobs {
	t.Helper()
	all, err := gates.New(version.MustParse(gates.Newest))
	if err == nil {
		err = all.Set("GenericWorkload=true,WorkloadWithJob=true")
	}
	if err != nil {
		t.Fatal(err)
	}
	beta := schedulingv1beta1.SchemeGroupVersion
	api := gates.API{Gates: all, Asked: []schema.GroupVersionResource{beta.WithResource("podgroups"), beta.WithResource("workloads")}}
	f := workloadJobs{T: t, api: api, faults: faults.New()}
	f.cp = controlplanetest.Start(t, controlplane.Options{API: api, Faults: f.faults, Controllers: append(controllers, "serviceaccount")})
	c := controlplanetest.Client(t, f.cp)
	f.jobs, f.pods = client.For[*batchv1.Job](c).Namespace("default"), client.For[*corev1.Pod](c).Namespace("default")
	f.workloads = client.For[*schedulingv1beta1.Workload](c).Namespace("default")
	f.groups = client.For[*schedulingv1beta1.PodGroup](c).Namespace("default")
	f.events = client.For[*corev1.Event](c).Namespace("default")
	accounts := client.For[*corev1.ServiceAccount](c).Namespace("default")
	waittest.One(t, accounts, "default", "the account of pods", func(*corev1.ServiceAccount) bool { return true })
	return f
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// gangOf returns an edit that makes the pods of a Job a gang, of all pods for 0.
func gangOf(n int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) {
		gang := &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{}
		if n > 0 {
			gang.MinCount = &n
		}
		s.Scheduling = &batchv1.JobSchedulingConfiguration{SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{Gang: gang}}
	}
}

func (f workloadJobs) create(j *batchv1.Job) *batchv1.Job {
	f.Helper()
	return must[*batchv1.Job](f.T)(f.jobs.Create(f.Context(), j))
}

func (f workloadJobs) patch(job string, spec map[string]any) {
	f.Helper()
	must[*batchv1.Job](f.T)(f.jobs.Patch(f.Context(), job, client.MergePatch(map[string]any{"spec": spec})))
}

// podsOf waits for the pods of a Job, and requires that they are in a group; "" stands for no group. Their owner is the Job alone.
func (f workloadJobs) podsOf(job string, n int, group string) {
	f.Helper()
	have := waittest.For(f, f.pods, "pods", "batch.kubernetes.io/job-name="+job, func(have map[string]*corev1.Pod) bool { return len(have) == n })
	for name, p := range have {
		got := ""
		if p.Spec.SchedulingGroup != nil {
			got = ptr.Deref(p.Spec.SchedulingGroup.PodGroupName, "")
		}
		if got != group || len(p.OwnerReferences) != 1 {
			f.Errorf("the pod %s is in the group %q, want %q; its owners are %+v", name, got, group, p.OwnerReferences)
		}
	}
}

// workloadOf waits for the Workload that a Job controls.
func (f workloadJobs) workloadOf(j *batchv1.Job) *schedulingv1beta1.Workload {
	f.Helper()
	return controlled(f, f.workloads, j)
}

// groupOf waits for the PodGroup that a Job controls.
func (f workloadJobs) groupOf(j *batchv1.Job) *schedulingv1beta1.PodGroup {
	f.Helper()
	return controlled(f, f.groups, j)
}

func controlled[T client.Object](f workloadJobs, in client.Resource[T], j *batchv1.Job) (found T) {
	f.Helper()
	waittest.For(f, in, "an object of the Job "+j.Name, "", func(have map[string]T) bool {
		for _, o := range have {
			if metav1.IsControlledBy(o, j) {
				found = o
				return true
			}
		}
		return false
	})
	return found
}

// noneOf requires that a Job controls no Workload and no PodGroup. They would have been made before its pods.
func (f workloadJobs) noneOf(j *batchv1.Job) {
	f.Helper()
	for _, w := range must[client.List[*schedulingv1beta1.Workload]](f.T)(f.workloads.List(f.Context())).Items {
		if metav1.IsControlledBy(w, j) {
			f.Errorf("the Job %s has the Workload %s", j.Name, w.Name)
		}
	}
	for _, g := range must[client.List[*schedulingv1beta1.PodGroup]](f.T)(f.groups.List(f.Context())).Items {
		if metav1.IsControlledBy(g, j) {
			f.Errorf("the Job %s has the PodGroup %s", j.Name, g.Name)
		}
	}
}

func (f workloadJobs) event(about, reason string) *corev1.Event {
	f.Helper()
	var found *corev1.Event
	waittest.For(f, f.events, "the event "+reason, "", func(have map[string]*corev1.Event) bool {
		for _, e := range have {
			if e.InvolvedObject.Name == about && e.Reason == reason {
				found = e
			}
		}
		return found != nil
	})
	return found
}

var superJob = metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "SuperJob", Name: "parent", UID: "u-parent", Controller: ptr.To(true)}

func childJob(name, template string) *batchv1.Job {
	j := newJob(name, 2, 2, nil)
	j.OwnerReferences = []metav1.OwnerReference{superJob}
	if template != "" {
		j.Annotations = map[string]string{"scheduling.k8s.io/group-template-name": template}
	}
	return j
}

func TestWorkloads(t *testing.T) {
	f := startWorkloadJobs(t, "job")

	t.Run("gang", func(t *testing.T) {
		f.T = t
		j := f.create(newJob("gang", 4, 4, gangOf(3)))
		w, g := f.workloadOf(j), f.groupOf(j)
		f.podsOf("gang", 4, g.Name)
		if ref := w.Spec.ControllerRef; ref == nil || *ref != (schedulingv1beta1.TypedLocalObjectReference{APIGroup: "batch", Kind: "Job", Name: "gang"}) || len(w.OwnerReferences) != 1 {
			t.Errorf("the workload: %+v, owners %+v", ref, w.OwnerReferences)
		}
		if ts := w.Spec.PodGroupTemplates; len(ts) != 1 || ts[0].Name != "gang-pgt-0" || ts[0].SchedulingPolicy.Gang == nil || ts[0].SchedulingPolicy.Gang.MinCount != 3 {
			t.Errorf("the templates of the workload: %+v", ts)
		}
		if !strings.HasPrefix(w.Name, "gang-") || !strings.HasPrefix(g.Name, w.Name+"-gang-pgt-0-") {
			t.Errorf("the workload %s and the group %s", w.Name, g.Name)
		}
		if ref := g.Spec.WorkloadRef; ref == nil || *ref != (schedulingv1beta1.WorkloadReference{WorkloadName: w.Name, TemplateName: "gang-pgt-0"}) || g.Spec.SchedulingPolicy.Gang == nil || g.Spec.SchedulingPolicy.Gang.MinCount != 3 {
			t.Errorf("the group: %+v", g.Spec)
		}
		other := metav1.OwnerReference{APIVersion: "scheduling.k8s.io/v1beta1", Kind: "Workload", Name: w.Name, UID: w.UID}
		if refs := g.OwnerReferences; len(refs) != 2 || refs[0].UID != j.UID || refs[1] != other {
			t.Errorf("the owners of the group: %+v", refs)
		}
		if got, want := f.event("gang", "WorkloadCreated").Message, "Created Workload "+w.Name+" for Job gang"; got != want {
			t.Errorf("the event is %q, want %q", got, want)
		}
		if got, want := f.event("gang", "PodGroupCreated").Message, "Created PodGroup "+g.Name+" for Job gang"; got != want {
			t.Errorf("the event is %q, want %q", got, want)
		}
	})

	t.Run("basic", func(t *testing.T) {
		f.T = t
		j := f.create(newJob("basic", 2, 5, nil))
		g := f.groupOf(j)
		f.podsOf("basic", 2, g.Name)
		if g.Spec.SchedulingPolicy.Basic == nil || f.workloadOf(j).Spec.PodGroupTemplates[0].SchedulingPolicy.Basic == nil {
			t.Errorf("the group: %+v", g.Spec)
		}
	})

	t.Run("resized", func(t *testing.T) {
		f.T = t
		j := f.create(newJob("elastic", 2, 2, func(s *batchv1.JobSpec) {
			gangOf(0)(s)
			s.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		}))
		g, w := f.groupOf(j), f.workloadOf(j)
		f.podsOf("elastic", 2, g.Name)
		f.patch("elastic", map[string]any{"parallelism": 3, "completions": 3})
		waittest.One(t, f.groups, g.Name, "three pods", func(g *schedulingv1beta1.PodGroup) bool { return g.Spec.SchedulingPolicy.Gang.MinCount == 3 })
		waittest.One(t, f.workloads, w.Name, "three pods", func(w *schedulingv1beta1.Workload) bool {
			return w.Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount == 3
		})
		f.podsOf("elastic", 3, g.Name)
	})

	t.Run("suspended", func(t *testing.T) {
		f.T = t
		j := f.create(newJob("sleeper", 2, 2, func(s *batchv1.JobSpec) {
			gangOf(0)(s)
			s.Suspend = ptr.To(true)
		}))
		w, g := f.workloadOf(j), f.groupOf(j)
		for range 2 {
			f.podsOf("sleeper", 0, g.Name)
			waittest.One(t, f.jobs, "sleeper", "suspension", func(j *batchv1.Job) bool { return has(j, batchv1.JobSuspended) })
			f.patch("sleeper", map[string]any{"suspend": false})
			f.podsOf("sleeper", 2, g.Name)
			f.patch("sleeper", map[string]any{"suspend": true})
		}
		f.podsOf("sleeper", 0, g.Name)
		if f.workloadOf(j).UID != w.UID || f.groupOf(j).UID != g.UID {
			t.Error("the workload or the group is another one")
		}
	})

	t.Run("group of the user", func(t *testing.T) {
		f.T = t
		j := f.create(newJob("own", 2, 2, func(s *batchv1.JobSpec) {
			s.Template.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To("mine")}
		}))
		f.podsOf("own", 2, "mine")
		f.noneOf(j)
	})

	t.Run("controlled", func(t *testing.T) {
		f.T = t
		j := f.create(childJob("child", ""))
		f.podsOf("child", 2, "")
		f.noneOf(j)
	})

	t.Run("delegated without a workload", func(t *testing.T) {
		f.T = t
		j := f.create(childJob("early", "workers"))
		f.podsOf("early", 2, "")
		f.noneOf(j)
	})

	for _, resource := range []string{"workloads", "podgroups"} {
		t.Run(resource+" fail", func(t *testing.T) {
			f.T = t
			_, err := f.faults.Add(t.Context(), faults.Fault{Action: faults.Fail, Resource: resource + ".scheduling.k8s.io", Verb: "create", Times: 2})
			if err != nil {
				t.Fatal(err)
			}
			j := f.create(newJob(resource, 2, 2, gangOf(0)))
			if resource == "workloads" {
				if got := f.event(resource, "FailedWorkloadCreate").Message; !strings.HasPrefix(got, "Failed to create Workload for Job workloads: ") {
					t.Errorf("the event is %q", got)
				}
			}
			f.podsOf(resource, 2, f.groupOf(j).Name)
			if w := f.workloadOf(j); f.groupOf(j).Spec.WorkloadRef.WorkloadName != w.Name {
				t.Errorf("the group is not of %s", w.Name)
			}
		})
	}
}

// run runs the controller until the returned function is called.
func (f workloadJobs) run() (stop func()) {
	ctx, cancel := context.WithCancel(f.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- controlplane.RunControllers(ctx, f.cp.Config(), controlplane.ControllerOptions{List: []string{"job"}}, controlplane.Apart{API: f.api})
	}()
	return func() {
		f.Helper()
		cancel()
		if err := <-ended; err != nil {
			f.Error(err)
		}
	}
}

// workload creates a Workload with templates for gangs of two pods.
func (f workloadJobs) workload(name string, of schedulingv1beta1.TypedLocalObjectReference, owner *batchv1.Job, templates ...string) *schedulingv1beta1.Workload {
	f.Helper()
	w := &schedulingv1beta1.Workload{ObjectMeta: ownedBy(name, owner), Spec: schedulingv1beta1.WorkloadSpec{ControllerRef: &of}}
	for _, t := range templates {
		w.Spec.PodGroupTemplates = append(w.Spec.PodGroupTemplates, schedulingv1beta1.PodGroupTemplate{Name: t, SchedulingPolicy: gangOfTwo})
	}
	return must[*schedulingv1beta1.Workload](f.T)(f.workloads.Create(f.Context(), w))
}

// ofJob creates a Workload that refers to a Job.
func (f workloadJobs) ofJob(name string, j, owner *batchv1.Job, templates ...string) *schedulingv1beta1.Workload {
	f.Helper()
	return f.workload(name, schedulingv1beta1.TypedLocalObjectReference{APIGroup: "batch", Kind: "Job", Name: j.Name}, owner, templates...)
}

// group creates a PodGroup of the first template of a Workload.
func (f workloadJobs) group(name string, w *schedulingv1beta1.Workload, owner *batchv1.Job) {
	f.Helper()
	must[*schedulingv1beta1.PodGroup](f.T)(f.groups.Create(f.Context(), &schedulingv1beta1.PodGroup{ObjectMeta: ownedBy(name, owner), Spec: schedulingv1beta1.PodGroupSpec{
		WorkloadRef:      &schedulingv1beta1.WorkloadReference{WorkloadName: w.Name, TemplateName: w.Spec.PodGroupTemplates[0].Name},
		SchedulingPolicy: gangOfTwo,
	}}))
}

var gangOfTwo = schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2}}

func ownedBy(name string, owner *batchv1.Job) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Name: name}
	if owner != nil {
		m.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, batchv1.SchemeGroupVersion.WithKind("Job"))}
	}
	return m
}

// TestWorkloadsAtTheStart: the controller, in a process of its own, comes to Jobs with Workloads and PodGroups in different
// states, is stopped, and comes to them again.
func TestWorkloadsAtTheStart(t *testing.T) {
	f := startWorkloadJobs(t)
	parent := f.workload("parent", schedulingv1beta1.TypedLocalObjectReference{APIGroup: "example.com", Kind: "SuperJob", Name: "parent"}, nil, "leader", "workers")
	workers, first, unknown := f.create(childJob("workers", "workers")), f.create(childJob("first", "")), f.create(childJob("unknown", "none"))
	must[*batchv1.Job](t)(f.jobs.Patch(t.Context(), "first", client.MergePatch(map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"scheduling.k8s.io/group-template-name": ""}},
	})))
	plain := func(name string) *batchv1.Job { return f.create(newJob(name, 2, 4, gangOf(0))) }

	users := plain("users")
	f.ofJob("users", users, nil, "a")
	usersGroup := plain("users-group")
	f.group("users-group", f.ofJob("users-group", usersGroup, usersGroup, "a"), nil)
	half := plain("half")
	halfWorkload := f.ofJob("half", half, half, "a")
	whole := plain("whole")
	f.group("whole", f.ofJob("whole", whole, whole, "a"), whole)
	twice := plain("twice")
	f.ofJob("twice", twice, twice, "a")
	f.ofJob("twice-again", twice, twice, "a")
	twoGroups := plain("two-groups")
	ofTwoGroups := f.ofJob("two-groups", twoGroups, twoGroups, "a")
	f.group("two-groups", ofTwoGroups, twoGroups)
	f.group("two-groups-again", ofTwoGroups, twoGroups)
	unusable := plain("unusable")
	f.ofJob("unusable", unusable, unusable, "a", "b")
	started := plain("started")
	started.Status.StartTime = ptr.To(metav1.Now())
	must[*batchv1.Job](t)(f.jobs.UpdateStatus(t.Context(), started))

	stop := f.run()
	g := f.groupOf(workers)
	if ref := g.Spec.WorkloadRef; ref == nil || *ref != (schedulingv1beta1.WorkloadReference{WorkloadName: "parent", TemplateName: "workers"}) || g.Spec.SchedulingPolicy.Gang.MinCount != 2 {
		t.Errorf("the delegated group: %+v", g.Spec)
	}
	if len(g.OwnerReferences) != 1 {
		t.Errorf("the owners of the delegated group: %+v", g.OwnerReferences)
	}
	f.podsOf("workers", 2, g.Name)
	if ref := f.groupOf(first).Spec.WorkloadRef; ref.TemplateName != "leader" {
		t.Errorf("the group of an unnamed template: %+v", ref)
	}
	f.podsOf("unknown", 2, "")
	f.noneOf(unknown)
	if w := f.workloadOf(users); w.Name == "users" {
		t.Error("the user's workload is the Job's")
	}
	f.podsOf("users", 2, f.groupOf(users).Name)
	if g := f.groupOf(usersGroup); g.Name == "users-group" {
		t.Error("the user's group is the Job's")
	} else {
		f.podsOf("users-group", 2, g.Name)
	}
	halfGroup := f.groupOf(half)
	if halfGroup.Spec.WorkloadRef.WorkloadName != "half" {
		t.Errorf("the group is of %+v", halfGroup.Spec.WorkloadRef)
	}
	f.podsOf("half", 2, halfGroup.Name)
	f.podsOf("whole", 2, "whole")
	f.podsOf("twice", 2, "")
	f.podsOf("two-groups", 2, "")
	f.podsOf("started", 2, "")
	f.noneOf(started)
	f.podsOf("unusable", 0, "")
	stop()

	parent.Spec.PodGroupTemplates[1].SchedulingPolicy.Gang.MinCount = 1
	must[*schedulingv1beta1.Workload](t)(f.workloads.Update(t.Context(), parent))
	for _, name := range []string{"unusable", "whole"} {
		if _, err := f.workloads.Get(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if err := f.workloads.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"half", "whole"} {
		f.patch(name, map[string]any{"parallelism": 4})
	}

	defer f.run()()
	waittest.One(t, f.groups, g.Name, "the size that its workload has now", func(g *schedulingv1beta1.PodGroup) bool { return g.Spec.SchedulingPolicy.Gang.MinCount == 1 })
	f.podsOf("unusable", 2, f.groupOf(unusable).Name)
	if f.workloadOf(half).UID != halfWorkload.UID || f.groupOf(half).UID != halfGroup.UID {
		t.Error("after a restart the workload or the group is another one")
	}
	f.podsOf("half", 4, halfGroup.Name)
	// The Job that has lost its Workload makes no other one, and its further pods are in no group.
	groups := map[string]int{}
	for _, p := range waittest.For(t, f.pods, "more pods", "batch.kubernetes.io/job-name=whole", func(have map[string]*corev1.Pod) bool { return len(have) == 4 }) {
		if g := p.Spec.SchedulingGroup; g == nil {
			groups[""]++
		} else {
			groups[*g.PodGroupName]++
		}
	}
	if groups["whole"] != 2 || groups[""] != 2 {
		t.Errorf("the pods of the Job without its workload, by their groups: %v", groups)
	}
}
