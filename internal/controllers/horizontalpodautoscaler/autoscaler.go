package horizontalpodautoscaler

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/served"
)

// Options configure the controller. Zero values stand for kube-controller-manager's defaults.
type Options struct {
	// Period is the interval between evaluations.
	Period time.Duration
	// Stabilization is the default window in which earlier recommendations prevent a scale-down.
	Stabilization time.Duration
	// Initialization is how long after a pod's start its CPU counts only while it is ready; InitialReadiness is how
	// long it may take to become ready for the first time.
	Initialization, InitialReadiness time.Duration
	// Tolerance is how much the usage ratio may differ from 1 without scaling.
	Tolerance float64
	// NoScaleToZero and NoGeneration leave out the condition ScaledToZero and the observed generation, as without the
	// feature gates HPAScaleToZero and HPAGeneration.
	NoScaleToZero, NoGeneration bool
}

func (o Options) complete() Options {
	return Options{
		Period:           cmp.Or(o.Period, 15*time.Second),
		Stabilization:    cmp.Or(o.Stabilization, 5*time.Minute),
		Initialization:   cmp.Or(o.Initialization, 5*time.Minute),
		InitialReadiness: cmp.Or(o.InitialReadiness, 30*time.Second),
		Tolerance:        cmp.Or(o.Tolerance, 0.1),
		NoScaleToZero:    o.NoScaleToZero,
		NoGeneration:     o.NoGeneration,
	}
}

type autoscalers struct {
	env     controller.Env
	options Options
	all     controller.Objects[*autoscalingv2.HorizontalPodAutoscaler]
	pods    controller.Objects[*corev1.Pod]
	metrics source
	rec     *client.Recorder

	mu struct {
		sync.Mutex
		past map[controller.Key]*past
	}
}

// New returns the controller.
func New(env controller.Env, o Options) controller.Runner {
	a := &autoscalers{
		env: env, options: o.complete(),
		all:     controller.ObjectsOf[*autoscalingv2.HorizontalPodAutoscaler](env),
		pods:    controller.ObjectsOf[*corev1.Pod](env),
		metrics: source{env.Client},
		rec:     env.Recorder.From("horizontal-pod-autoscaler", ""),
	}
	a.mu.past = map[controller.Key]*past{}
	return controller.New("horizontalpodautoscaler", controller.ByObject(a.all, a.reconcile, a.forget), controller.Options{}).Watch(
		controller.For(a.all).If(func(old, h *autoscalingv2.HorizontalPodAutoscaler) bool {
			return !apiequality.Semantic.DeepEqual(old.Spec, h.Spec)
		}),
		controller.Reads(a.pods),
	)
}

// pastOf returns the history of an autoscaler.
func (a *autoscalers) pastOf(k controller.Key) *past {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mu.past[k] == nil {
		a.mu.past[k] = &past{}
	}
	return a.mu.past[k]
}

func (a *autoscalers) forget(k controller.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.mu.past, k)
}

func (a *autoscalers) reconcile(ctx context.Context, shared *autoscalingv2.HorizontalPodAutoscaler) (controller.Result, error) {
	k := controller.KeyOf(shared)
	p := &pass{autoscalers: a, ctx: ctx, hpa: shared.DeepCopy(), past: a.pastOf(k)}
	failed := p.run()
	if failed != nil {
		a.env.Log.Debug("autoscaler did not scale", "object", k, "error", failed)
	}
	if !apiequality.Semantic.DeepEqual(shared.Status, p.hpa.Status) {
		written := shared.DeepCopy() // without the fields that the pass set
		written.Status = p.hpa.Status
		if _, err := a.all.API.Namespace(k.Namespace).UpdateStatus(ctx, written); err != nil {
			a.rec.Event(shared, corev1.EventTypeWarning, "FailedUpdateStatus", "%s", err.Error())
			return controller.Result{}, err
		}
	}
	return controller.Result{RequeueAfter: a.options.Period}, nil
}

// pass is one evaluation of an autoscaler.
type pass struct {
	*autoscalers
	ctx  context.Context
	hpa  *autoscalingv2.HorizontalPodAutoscaler
	past *past
	// the target
	target client.Resource[*unstructured.Unstructured]
	scale  *autoscalingv1.Scale
}

// find reads the size of the target.
func (p *pass) find() error {
	ref := p.hpa.Spec.ScaleTargetRef
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return err
	}
	m, err := p.env.Client.Mapping(p.ctx, gv.WithKind(ref.Kind))
	if meta.IsNoMatchError(err) {
		m, err = p.inGroup(schema.GroupKind{Group: gv.Group, Kind: ref.Kind})
	}
	if err != nil {
		return err
	}
	p.target = client.Dynamic(p.env.Client, m.GVR, true).Namespace(p.hpa.Namespace)
	p.scale, err = p.target.Scale(p.ctx, ref.Name)
	return err
}

// inGroup finds a kind in any version of its group, because the version in the autoscaler may be outdated.
func (p *pass) inGroup(gk schema.GroupKind) (client.Mapping, error) {
	all, err := p.env.Client.ServerResources(p.ctx)
	for _, r := range served.Once(all) {
		if r.GVR.Group == gk.Group && r.Kind.Kind == gk.Kind {
			return client.Mapping{GVR: r.GVR, Namespaced: r.Namespaced}, nil
		}
	}
	if err != nil {
		return client.Mapping{}, err
	}
	return client.Mapping{}, &meta.NoKindMatchError{GroupKind: gk}
}

func (p *pass) run() error {
	if err := p.find(); err != nil {
		p.warn("FailedGetScale", err)
		p.set(autoscalingv2.AbleToScale, false, "FailedGetScale", fmt.Sprintf("the HPA controller was unable to get the target's current scale: %v", err))
		return err
	}
	p.set(autoscalingv2.AbleToScale, true, "SucceededGetScale", "the HPA controller was able to get the target's current scale")
	now, least := p.scale.Spec.Replicas, int32(1)
	if p.hpa.Spec.MinReplicas != nil {
		least = *p.hpa.Spec.MinReplicas
	}
	p.past.begin(now, time.Now())
	var desired int32
	var reason string
	var statuses []autoscalingv2.MetricStatus
	switch most := p.hpa.Spec.MaxReplicas; {
	case now == 0 && !p.leavesZero(least):
		p.set(autoscalingv2.ScalingActive, false, "ScalingDisabled", "scaling is disabled since the replica count of the target is zero")
		if p.options.NoScaleToZero {
			p.unset(autoscalingv2.ScaledToZero)
		}
	case now > most:
		desired, reason = most, "Current number of replicas above Spec.MaxReplicas"
	case now != 0 && now < least:
		desired, reason = least, belowLeast
	default:
		proposed, metric, seen, err := p.measure()
		statuses = seen
		if proposed < 0 {
			p.status(now, p.hpa.Status.DesiredReplicas, statuses)
			p.warn("FailedComputeMetricsReplicas", err)
			return err
		}
		if desired = proposed; desired > now {
			reason = metric + " above target"
		} else if desired < now {
			reason = "All metrics below target"
		}
		if desired = p.limit(now, desired, least); now == 0 && desired < least {
			desired, reason = least, cmp.Or(reason, belowLeast)
		}
	}
	if desired == now {
		p.status(now, now, statuses)
		return nil
	}
	return p.resize(now, desired, reason, statuses)
}

// resize writes the new size of the target.
func (p *pass) resize(now, desired int32, reason string, statuses []autoscalingv2.MetricStatus) error {
	err := client.RetryOnConflict(p.ctx, func() (err error) {
		p.scale.Spec.Replicas = desired
		if _, err = p.target.SetScale(p.ctx, p.scale); err != nil {
			if latest, e := p.target.Scale(p.ctx, p.scale.Name); e == nil {
				p.scale = latest
			}
		}
		return err
	})
	if err != nil {
		p.rec.Event(p.hpa, corev1.EventTypeWarning, "FailedRescale", "New size: %d; reason: %s; error: %v", desired, reason, err)
		p.set(autoscalingv2.AbleToScale, false, "FailedUpdateScale", fmt.Sprintf("the HPA controller was unable to update the target scale: %v", err))
		p.status(now, p.hpa.Status.DesiredReplicas, statuses)
		return err
	}
	p.set(autoscalingv2.AbleToScale, true, "SucceededRescale", fmt.Sprintf("the HPA controller was able to update the target scale to %d", desired))
	p.rec.Event(p.hpa, corev1.EventTypeNormal, "SuccessfulRescale", "New size: %d; reason: %s", desired, reason)
	p.setScaledToZero(desired)
	p.past.scaled(p.hpa.Spec.Behavior, now, desired, time.Now())
	p.status(now, desired, statuses)
	p.hpa.Status.LastScaleTime = &metav1.Time{Time: time.Now()}
	return nil
}

// status records the results of the pass.
func (p *pass) status(current, desired int32, metrics []autoscalingv2.MetricStatus) {
	s := &p.hpa.Status
	s.CurrentReplicas, s.DesiredReplicas, s.CurrentMetrics = current, desired, metrics
	if !p.options.NoGeneration {
		s.ObservedGeneration = new(p.hpa.Generation)
	}
}

func (p *pass) warn(reason string, err error) {
	p.rec.Event(p.hpa, corev1.EventTypeWarning, reason, "%s", err.Error())
}

// set sets a condition.
func (p *pass) set(t autoscalingv2.HorizontalPodAutoscalerConditionType, ok bool, reason, message string) {
	c := autoscalingv2.HorizontalPodAutoscalerCondition{
		Type: t, Status: corev1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(time.Now()),
	}
	if ok {
		c.Status = corev1.ConditionTrue
	}
	for i := range p.hpa.Status.Conditions {
		if old := &p.hpa.Status.Conditions[i]; old.Type == t {
			if old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
			*old = c
			return
		}
	}
	p.hpa.Status.Conditions = append(p.hpa.Status.Conditions, c)
}

// unset removes a condition.
func (p *pass) unset(t autoscalingv2.HorizontalPodAutoscalerConditionType) {
	s := &p.hpa.Status
	s.Conditions = slices.DeleteFunc(s.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool { return c.Type == t })
}
