package controlplane_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/scheduler"
)

// TestGangScenarios plays situations whose outcome kube-scheduler's integration tests of 1.37 state, by their names there.
func TestGangScenarios(t *testing.T) {
	playAll(t, slices.Concat(gangScenarios, preemptionScenarios, topologyScenarios))
}

// playAll plays scenarios with further feature gates, each on a control plane of its own.
func playAll(t *testing.T, scenarios []string, gates ...string) {
	for _, s := range scenarios {
		name, script, _ := strings.Cut(strings.TrimSpace(s), "\n")
		t.Run(name, func(t *testing.T) {
			g := startGangsWith(t, 0, controlplane.Options{
				API:         gangsAPI(t, gates...),
				Controllers: []string{"podgroupprotection"},
				Scheduling:  scheduler.Options{PodInitialBackoff: 10 * time.Millisecond, PodMaxBackoff: 100 * time.Millisecond},
			})
			p := &player{gangs: g, T: t, classes: map[string]bool{}}
			for line := range strings.Lines(script) {
				if fields := strings.Fields(line); len(fields) > 0 {
					p.play(fields[0], fields[1:])
				}
			}
		})
	}
}

// A player carries out the lines of a script:
//
//	node NAME CPU [LABEL=VALUE...]
//	group NAME MINCOUNT|basic [prio=N] [topology=LABEL] [all] [never] [preempts] [parent=NAME]
//	composite NAME MINGROUPCOUNT|basic [parent=NAME] [prio=N] [topology=LABEL] [all]
//	pod NAME [group=] [cpu=] [prio=] [on=NODE] [selector=NODE] [label=KEY] [claim=] [gate] [never] [apart] [port] [spread]
//	budget LABEL MINAVAILABLE     the pods with a label have a budget
//	volume NAME                   a claim and its volume, which is for one pod
//	mincount GROUP N; ungate POD; delete POD...
//	scheduled POD...; unschedulable POD...; removed POD...
//	waits POD...                  the pods have neither a node nor a condition
//	condition GROUP STATUS TEXT   the condition of the group begins with a text
//	event POD TEXT                an event of the pod has a text
//	of N M POD...                 N of the pods get nodes and M conditions
//	on NODE,NODE POD...           the pods are on these nodes
//	together LABEL POD...         the nodes of the pods have one value of the label
type player struct {
	*gangs
	*testing.T
	classes     map[string]bool
	probes      int
	noScheduler bool // yet
}

func (p *player) play(verb string, args []string) {
	p.Helper()
	pods := p.CoreV1().Pods("default")
	switch verb {
	case "node":
		p.node(args[0], args[1], args[2:])
	case "group":
		p.podGroup(args[0], args[1], options(args[2:]))
	case "composite":
		p.composite(args[0], args[1], options(args[2:]))
	case "condition":
		text := strings.Join(args[2:], " ")
		if os.Getenv(kubeScheduler) != "" {
			text = ""
		}
		p.condition(args[0], metav1.ConditionStatus(args[1]), text)
	case "event":
		if os.Getenv(kubeScheduler) == "" {
			p.event(args[0], strings.Join(args[1:], " "))
		}
	case "pod":
		p.member(args[0], options(args[1:]))
	case "budget":
		least := intstr.Parse(args[1])
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: args[0]}, Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &least, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": args[0]}},
		}}
		_, err := p.PolicyV1().PodDisruptionBudgets("default").Create(p.ctx, b, metav1.CreateOptions{})
		p.must(err)
	case "volume":
		p.onePodVolume(args[0])
	case "mincount":
		g, err := p.SchedulingV1beta1().PodGroups("default").Get(p.ctx, args[0], metav1.GetOptions{})
		p.must(err)
		g.Spec.SchedulingPolicy.Gang.MinCount = int32(p.number(args[1]))
		_, err = p.SchedulingV1beta1().PodGroups("default").Update(p.ctx, g, metav1.UpdateOptions{})
		p.must(err)
	case "ungate":
		pod, err := pods.Get(p.ctx, args[0], metav1.GetOptions{})
		p.must(err)
		pod.Spec.SchedulingGates = nil
		_, err = pods.Update(p.ctx, pod, metav1.UpdateOptions{})
		p.must(err)
	case "delete":
		for _, name := range args {
			p.must(pods.Delete(p.ctx, name, metav1.DeleteOptions{}))
		}
	case "scheduled":
		for _, name := range args {
			p.pod(p.T, name, "scheduled", hasNode)
		}
	case "unschedulable":
		for _, name := range args {
			p.pod(p.T, name, "unschedulable", isUnschedulable)
		}
	case "removed":
		for _, name := range args {
			p.removed(p.T, name)
		}
	case "waits":
		p.probe()
		for _, name := range args {
			if pod, err := pods.Get(p.ctx, name, metav1.GetOptions{}); err != nil || hasNode(pod) || isUnschedulable(pod) {
				p.Errorf("%s does not wait: %v %+v", name, err, pod.Status)
			}
		}
	case "of":
		p.counts(p.number(args[0]), p.number(args[1]), args[2:])
	case "on":
		for _, name := range args[1:] {
			if pod := p.pod(p.T, name, "scheduled", hasNode); !slices.Contains(strings.Split(args[0], ","), pod.Spec.NodeName) {
				p.Errorf("%s is on %s, want one of %s", name, pod.Spec.NodeName, args[0])
			}
		}
	case "together":
		p.together(args[0], args[1:])
	default:
		p.Fatalf("no such verb: %s", verb)
	}
}

func options(args []string) map[string]string {
	all := map[string]string{}
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		all[key] = value
	}
	return all
}

func (p *player) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *player) number(s string) int {
	n, err := strconv.Atoi(s)
	p.must(err)
	return n
}

func isUnschedulable(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable
	})
}

func (p *player) node(name, cpu string, labels []string) {
	has := corev1.ResourceList{"cpu": resource.MustParse(cpu), "pods": resource.MustParse("32")}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: options(labels)}, Status: corev1.NodeStatus{
		Capacity: has, Allocatable: has, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
	}}
	n.Labels[corev1.LabelHostname] = name
	made, err := p.CoreV1().Nodes().Create(p.ctx, n, metav1.CreateOptions{})
	p.must(err)
	made.Spec.Taints = nil // which admission has added
	_, err = p.CoreV1().Nodes().Update(p.ctx, made, metav1.UpdateOptions{})
	p.must(err)
	if p.noScheduler {
		return
	}
	// The scheduler knows the node when a pod runs on it.
	first := memberPod("on-"+name, "", "0")
	first.Spec.NodeSelector = map[string]string{corev1.LabelHostname: name}
	p.create(p.T, first)
	p.pod(p.T, first.Name, "bound", hasNode)
	p.must(p.CoreV1().Pods("default").Delete(p.ctx, first.Name, *metav1.NewDeleteOptions(0)))
}

// priority returns the name of the class of a priority.
func (p *player) priority(value string, policy corev1.PreemptionPolicy) string {
	value = cmp.Or(value, "100")
	name := strings.ToLower("prio-" + value + "-" + string(policy))
	if !p.classes[name] {
		p.classes[name] = true
		c := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: int32(p.number(value)), PreemptionPolicy: &policy}
		_, err := p.SchedulingV1().PriorityClasses().Create(p.ctx, c, metav1.CreateOptions{})
		p.must(err)
	}
	return name
}

func (p *player) podGroup(name, kind string, o map[string]string) {
	g := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name}}
	policy := corev1.PreemptLowerPriority
	if _, never := o["never"]; never {
		policy = corev1.PreemptNever
		g.Spec.PreemptionPolicy = ptr.To(schedulingv1beta1.PreemptNever)
	} else if _, preempts := o["preempts"]; preempts {
		g.Spec.PreemptionPolicy = ptr.To(schedulingv1beta1.PreemptLowerPriority)
	}
	g.Spec.PriorityClassName = p.priority(o["prio"], policy)
	if kind == "basic" {
		g.Spec.SchedulingPolicy.Basic = &schedulingv1beta1.BasicSchedulingPolicy{}
	} else {
		g.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: int32(p.number(kind))}
	}
	if key := o["topology"]; key != "" {
		g.Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{Topology: []schedulingv1beta1.TopologyConstraint{{Key: key}}}
	}
	if parent := o["parent"]; parent != "" {
		g.Spec.ParentCompositePodGroupName = &parent
		g.Spec.WorkloadRef = &schedulingv1beta1.WorkloadReference{WorkloadName: "w", TemplateName: "t"}
	}
	if _, all := o["all"]; all {
		g.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}
	}
	made, err := p.SchedulingV1beta1().PodGroups("default").Create(p.ctx, g, metav1.CreateOptions{})
	p.must(err)
	if g.Spec.SchedulingConstraints != nil && made.Spec.SchedulingConstraints == nil {
		p.Fatal("the group has lost its constraint")
	}
	if !p.noScheduler {
		p.seen()
	}
}

// seen waits until the scheduler knows all groups that were created: it places a pod of a later one. Pods come by another
// watch, so without that the order of groups would be that in which they become known.
func (p *player) seen() {
	p.Helper()
	p.probes++
	name := fmt.Sprint("seen-", p.probes)
	p.gang(p.T, name, 0, "", false)
	p.create(p.T, memberPod(name, name, "0"))
	p.pod(p.T, name, "bound", hasNode)
	p.must(p.CoreV1().Pods("default").Delete(p.ctx, name, *metav1.NewDeleteOptions(0)))
}

func (p *player) member(name string, o map[string]string) {
	pod := memberPod(name, o["group"], cmp.Or(o["cpu"], "1"))
	pod.Spec.TerminationGracePeriodSeconds = ptr.To(int64(0))
	policy := corev1.PreemptLowerPriority
	if _, never := o["never"]; never {
		policy = corev1.PreemptNever
	}
	pod.Spec.PriorityClassName = p.priority(o["prio"], policy)
	pod.Spec.NodeName = o["on"]
	pod.Labels["app"] = o["label"]
	if node := o["selector"]; node != "" {
		pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
	}
	if claim := o["claim"]; claim != "" {
		pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
	}
	app := &metav1.LabelSelector{MatchLabels: map[string]string{"app": o["label"]}}
	for option := range o {
		switch option {
		case "gate":
			pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
		case "apart":
			pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{LabelSelector: app, TopologyKey: corev1.LabelHostname},
			}}}
		case "port":
			pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080, HostPort: 8080}}
		case "spread":
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
				MaxSkew: 2, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: app, MinDomains: ptr.To(int32(10)),
			}}
		}
	}
	p.create(p.T, pod)
}

// onePodVolume creates a bound claim with the access mode ReadWriteOncePod.
func (p *player) onePodVolume(name string) {
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}
	_, err := p.CoreV1().PersistentVolumes().Create(p.ctx, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		AccessModes: modes, Capacity: size, PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/mnt"}},
	}}, metav1.CreateOptions{})
	p.must(err)
	_, err = p.CoreV1().PersistentVolumeClaims("default").Create(p.ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "true"}},
		Spec:       corev1.PersistentVolumeClaimSpec{AccessModes: modes, VolumeName: name, Resources: corev1.VolumeResourceRequirements{Requests: size}},
	}, metav1.CreateOptions{})
	p.must(err)
}

// probe waits until the scheduler has answered about a pod that came later than all others.
func (p *player) probe() {
	p.Helper()
	p.probes++
	name := fmt.Sprint("probe-", p.probes)
	p.create(p.T, memberPod(name, "", "1000"))
	p.pod(p.T, name, "unschedulable", isUnschedulable)
}

// counts waits until so many pods have nodes and so many conditions.
func (p *player) counts(nodes, conditions int, names []string) {
	p.Helper()
	w, err := p.CoreV1().Pods("default").Watch(p.ctx, metav1.ListOptions{})
	p.must(err)
	defer w.Stop()
	on, rejected := map[string]bool{}, map[string]bool{}
	for e := range w.ResultChan() {
		pod, ok := e.Object.(*corev1.Pod)
		if !ok || !slices.Contains(names, pod.Name) {
			continue
		}
		on[pod.Name], rejected[pod.Name] = hasNode(pod), !hasNode(pod) && isUnschedulable(pod)
		if count(on) == nodes && count(rejected) == conditions {
			return
		}
	}
	p.Fatalf("nodes: %v, conditions: %v", on, rejected)
}

func count(of map[string]bool) (n int) {
	for _, is := range of {
		if is {
			n++
		}
	}
	return n
}

func (p *player) together(label string, names []string) {
	p.Helper()
	first := ""
	for _, name := range names {
		pod := p.pod(p.T, name, "scheduled", hasNode)
		n, err := p.CoreV1().Nodes().Get(p.ctx, pod.Spec.NodeName, metav1.GetOptions{})
		p.must(err)
		if value := n.Labels[label]; first == "" {
			first = value
		} else if value != first {
			p.Errorf("%s is in %s, others in %s", name, value, first)
		}
	}
}
