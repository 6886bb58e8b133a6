package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// The common parts of the loads of a whole control plane: their Deployment, and the watch
// of its pods.

const deploymentName = "web"

func deploymentPath(namespace string) string {
	return "/apis/apps/v1/namespaces/" + namespace + "/deployments/" + deploymentName
}

// newDeployment is a Deployment as posted. Its pods are those of the other loads, without
// the fields that tell them apart.
func newDeployment(name string, replicas int) ([]byte, error) {
	text, err := newPod(0, 1, 1)
	if err != nil {
		return nil, err
	}
	var pod corev1.Pod
	if err := json.Unmarshal(text, &pod); err != nil {
		return nil, err
	}
	pod.Spec.NodeName = ""
	return json.Marshal(map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"replicas": replicas,
			"selector": map[string]any{"matchLabels": map[string]string{"app": name}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]string{"app": name}, "annotations": pod.Annotations},
				"spec":     pod.Spec,
			},
		},
	})
}

func (b *bench) deploy(ctx context.Context, namespace, name string, replicas int) error {
	body, err := newDeployment(name, replicas)
	if err != nil {
		return err
	}
	path := "/apis/apps/v1/namespaces/" + namespace + "/deployments"
	return b.conn(0).call(ctx, request{method: http.MethodPost, path: path, body: body, want: http.StatusCreated})
}

// lives counts the pods of a namespace by the events of a watch.
type lives struct {
	*following
	bound, running, gone map[string]bool
	boundAt, runningAt   time.Time // when the latest was seen to be so first
}

func (b *bench) watchLives(ctx context.Context, namespace string) (*lives, error) {
	w, err := b.follow(ctx, "/api/v1/namespaces/"+namespace+"/pods")
	return &lives{following: w, bound: map[string]bool{}, running: map[string]bool{}, gone: map[string]bool{}}, err
}

// until reads events until done. The number of events of a pod does not matter.
func (l *lives) until(done func() bool) error {
	for !done() {
		e, err := l.next()
		if err != nil {
			return fmt.Errorf("%w; %d pods bound, %d running, %d gone", err, len(l.bound), len(l.running), len(l.gone))
		}
		name := e.metadata("name")
		switch {
		case e.expect("DELETED") == nil:
			l.gone[name] = true
			delete(l.running, name)
		default:
			if !l.bound[name] && bytes.Contains(e, []byte(`"nodeName":"`)) {
				l.bound[name], l.boundAt = true, time.Now()
			}
			if !l.running[name] && bytes.Contains(e, []byte(`"phase":"Running"`)) {
				l.running[name], l.runningAt = true, time.Now()
			}
		}
	}
	return nil
}

// untilRunning reads until n pods have become Running and are not deleted.
func (l *lives) untilRunning(n int) error {
	return l.until(func() bool { return len(l.running) >= n })
}

// untilRolledOut waits until a Deployment's status is complete.
func (b *bench) untilRolledOut(ctx context.Context, namespace, name string) error {
	return untilOne(ctx, b, "/apis/apps/v1/namespaces/"+namespace+"/deployments", name, func(d *appsv1.Deployment) bool {
		n := *d.Spec.Replicas
		s := &d.Status
		return s.ObservedGeneration == d.Generation && s.Replicas == n && s.UpdatedReplicas == n && s.AvailableReplicas == n
	})
}

// untilOne watches an object until done returns true.
func untilOne[T any](ctx context.Context, b *bench, path, name string, done func(*T) bool) error {
	w, err := b.follow(ctx, path+"?fieldSelector=metadata.name%3D"+name)
	if err != nil {
		return err
	}
	defer w.close()
	for {
		e, err := w.next()
		if err != nil {
			return fmt.Errorf("%s %s: %w", path, name, err)
		}
		var got struct{ Object T }
		if err := json.Unmarshal(e, &got); err != nil {
			return err
		}
		if done(&got.Object) {
			return nil
		}
	}
}

// untilNodesReady waits until pods can go to every node.
func (b *bench) untilNodesReady(ctx context.Context) error {
	if b.nodes == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	w, err := b.follow(ctx, "/api/v1/nodes")
	if err != nil {
		return err
	}
	defer w.close()
	ready := map[string]bool{}
	for len(ready) < b.nodes {
		e, err := w.next()
		if err != nil {
			return fmt.Errorf("%d of %d nodes are ready: %w", len(ready), b.nodes, err)
		}
		var got struct{ Object corev1.Node }
		if err := json.Unmarshal(e, &got); err != nil {
			return err
		}
		n := &got.Object
		if len(n.Spec.Taints) > 0 || !strings.HasPrefix(n.Name, "node-") {
			continue
		}
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				ready[n.Name] = true
			}
		}
	}
	return nil
}
