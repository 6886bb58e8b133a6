//go:build linux

package realnode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// patience is how long one thing may take on a machine that is busy with other work.
const patience = 4 * time.Minute

// UntilNode waits until a node is as wanted.
func (c *Cluster) UntilNode(ctx context.Context, name, what string, wanted func(*corev1.Node) bool) error {
	return until(ctx, c.Client.CoreV1().RESTClient(), "nodes", "", name, what, wanted)
}

// UntilPod waits until a pod is as wanted.
func (c *Cluster) UntilPod(ctx context.Context, namespace, name, what string, wanted func(*corev1.Pod) bool) error {
	return until(ctx, c.Client.CoreV1().RESTClient(), "pods", namespace, name, what, wanted)
}

// UntilDeployment waits until a deployment has all its replicas.
func (c *Cluster) UntilDeployment(ctx context.Context, namespace, name string) error {
	return until(ctx, c.Client.AppsV1().RESTClient(), "deployments", namespace, name, "available", func(d *appsv1.Deployment) bool {
		return d.Status.ObservedGeneration >= d.Generation && d.Status.UpdatedReplicas == *d.Spec.Replicas && d.Status.AvailableReplicas == *d.Spec.Replicas
	})
}

// until watches one object until it is as wanted. The watch outlives a server that goes away.
func until[T any, P interface {
	*T
	runtime.Object
}](ctx context.Context, client rest.Interface, resource, namespace, name, what string, wanted func(P) bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list := cache.NewListWatchFromClient(client, resource, namespace, fields.OneTermEqualSelector("metadata.name", name))
	_, err := watchtools.UntilWithSync(ctx, list, P(new(T)), nil, func(event watch.Event) (bool, error) {
		object, ok := event.Object.(P)
		return ok && event.Type != watch.Deleted && wanted(object), nil
	})
	if err != nil {
		return fmt.Errorf("%s %s was not %s: %w", resource, name, what, err)
	}
	return nil
}

// untilFile waits until something is true that changes when files of a file's folder do.
func untilFile(ctx context.Context, file string, wanted func() bool) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer w.Close()
	if err := w.Add(filepath.Dir(file)); err != nil {
		return err
	}
	for !wanted() {
		select {
		case <-w.Events:
		case err := <-w.Errors:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// untilText waits until a text stands in a file, after its first bytes.
func untilText(ctx context.Context, file string, after int, wanted func([]byte) bool) error {
	return untilFile(ctx, file, func() bool {
		text, err := os.ReadFile(file)
		return err == nil && len(text) > after && wanted(text[after:])
	})
}
