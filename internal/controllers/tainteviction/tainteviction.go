package tainteviction

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/podcontrol"
)

// evictor deletes pods that don't tolerate their node's NoExecute taints.
type evictor struct {
	nodes controller.Objects[*corev1.Node]
	pods  controller.Objects[*corev1.Pod]
	rec   *client.Recorder
	loop  *controller.Controller

	mu struct {
		sync.Mutex
		plans map[controller.Key]plan // pods to be evicted
	}
}

type plan struct {
	uid   types.UID
	since time.Time // when the eviction was decided
}

// byNode is the index of pods by the name of their node.
const byNode = "node"

// New returns the controller.
func New(env controller.Env) controller.Runner {
	e := &evictor{
		nodes: controller.ObjectsOf[*corev1.Node](env),
		pods:  controller.ObjectsOf[*corev1.Pod](env),
		rec:   env.Recorder.From("taint-eviction-controller", ""),
	}
	e.pods.Index(byNode, func(p *corev1.Pod) []string {
		if p.Spec.NodeName == "" {
			return nil
		}
		return []string{p.Spec.NodeName}
	})
	e.mu.plans = map[controller.Key]plan{}
	e.loop = controller.New("tainteviction", e.reconcile, controller.Options{Workers: 8, Volatile: true}) // see plan
	return e.loop.Watch(controller.Handles(e.nodes, informer.Handler[*corev1.Node]{
		Add: func(n *corev1.Node, _ bool) {
			if len(executing(n)) > 0 {
				e.wakePods(n)
			}
		},
		Update: func(old, n *corev1.Node) {
			if !equality.Semantic.DeepEqual(executing(old), executing(n)) {
				e.wakePods(n)
			}
		},
	}), controller.Handles(e.pods, informer.Handler[*corev1.Pod]{
		Add: func(p *corev1.Pod, _ bool) { e.podSeen(p) },
		Update: func(old, p *corev1.Pod) {
			if old.Spec.NodeName != p.Spec.NodeName || !equality.Semantic.DeepEqual(old.Spec.Tolerations, p.Spec.Tolerations) {
				e.podSeen(p)
			}
		},
		Delete: func(p *corev1.Pod) {
			if e.planned(controller.KeyOf(p)) {
				e.loop.EnqueueFor(controller.KeyOf(p), p)
			}
		},
	}))
}

func (e *evictor) wakePods(n *corev1.Node) {
	for _, p := range e.pods.Store().ByIndex(byNode, n.Name) {
		e.loop.EnqueueFor(controller.KeyOf(p), n)
	}
}

func (e *evictor) podSeen(p *corev1.Pod) {
	if n, ok := e.nodes.Store().Get("", p.Spec.NodeName); ok && len(executing(n)) > 0 {
		e.loop.EnqueueFor(controller.KeyOf(p), p)
	}
}

func (e *evictor) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	p, ok := e.pods.Store().Get(k.Namespace, k.Name)
	var taints []corev1.Taint
	if ok {
		if n, ok := e.nodes.Store().Get("", p.Spec.NodeName); ok {
			taints = executing(n)
		}
	}
	stay, forever := time.Duration(0), true
	if ok {
		stay, forever = tolerates(p.Spec.Tolerations, taints)
	}
	if forever {
		if uid, ok := e.cancel(k); ok {
			gone := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name, UID: uid}}
			e.rec.Event(gone, corev1.EventTypeNormal, "TaintManagerEviction", "Cancelling deletion of Pod %s", k.String())
		}
		return controller.Result{}, nil
	}
	if p.DeletionTimestamp != nil {
		e.cancel(k) // it is being deleted anyway
		return controller.Result{}, nil
	}
	if left := stay - time.Since(e.plan(k, p.UID)); left > 0 {
		return controller.Result{RequeueAfter: left}, nil
	}
	if err := e.evict(ctx, p); err != nil {
		return controller.Result{}, err
	}
	e.cancel(k)
	return controller.Result{}, nil
}

// evict deletes a pod.
func (e *evictor) evict(ctx context.Context, p *corev1.Pod) error {
	_, err := podcontrol.Disrupt(ctx, e.pods.API, p, "DeletionByTaintManager", func(live *corev1.Pod) corev1.PodCondition {
		e.rec.Event(p, corev1.EventTypeNormal, "TaintManagerEviction", "Marking for deletion Pod %s", controller.KeyOf(p).String())
		return corev1.PodCondition{ObservedGeneration: live.Generation, Message: "Taint manager: deleting due to NoExecute taint"}
	})
	return err
}

// plan records that a pod is to be evicted, and returns since when.
func (e *evictor) plan(k controller.Key, uid types.UID) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	was, ok := e.mu.plans[k]
	if !ok || was.uid != uid {
		was = plan{uid, time.Now()}
		e.mu.plans[k] = was
	}
	return was.since
}

func (e *evictor) planned(k controller.Key) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.mu.plans[k]
	return ok
}

func (e *evictor) cancel(k controller.Key) (types.UID, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, ok := e.mu.plans[k]
	delete(e.mu.plans, k)
	return p.uid, ok
}
