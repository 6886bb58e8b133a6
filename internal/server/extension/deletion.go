package extension

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/resource"
	"fairlead.dev/watchcache"
)

// deletions holds the names of the definitions that are being deleted.
type deletions struct {
	wg sync.WaitGroup
	mu struct {
		sync.Mutex
		names map[string]bool
	}
}

func (e *deletions) wait() { e.wg.Wait() }

func (e *deletions) begin(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mu.names[name] {
		return false
	}
	if e.mu.names == nil {
		e.mu.names = map[string]bool{}
	}
	e.mu.names[name] = true
	return true
}

func (e *deletions) end(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.mu.names, name)
}

// retryAfter is the pause before a failed deletion is tried again.
const retryAfter = time.Second

// pause waits before the next try. It returns false if ctx has ended.
func pause(ctx context.Context) bool {
	t := time.NewTimer(retryAfter)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// startDeletions starts the deletion of terminating definitions' objects.
func (x *Extensions) startDeletions(ctx context.Context) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for name, s := range x.mu.served {
		if !isTerminating(s.definition) || !x.deletions.begin(name) {
			continue
		}
		x.deletions.wg.Go(func() {
			defer x.deletions.end(name)
			for ctx.Err() == nil {
				err := x.finishDeletion(ctx, s.definition)
				if err == nil {
					return
				}
				x.o.Log.Warn("deletion of a custom resource definition failed, retrying", "name", name, "error", err)
				if !pause(ctx) {
					return
				}
			}
		})
	}
}

func isTerminating(d *apiextensionsv1.CustomResourceDefinition) bool {
	return d.DeletionTimestamp != nil && apihelpers.CRDHasFinalizer(d, apiextensionsv1.CustomResourceCleanupFinalizer)
}

// finishDeletion deletes a definition's objects and then removes its finalizer.
func (x *Extensions) finishDeletion(ctx context.Context, d *apiextensionsv1.CustomResourceDefinition) error {
	err := x.setTerminating(ctx, d, apiextensionsv1.ConditionTrue, "InstanceDeletionInProgress", "CustomResource deletion is in progress", false)
	if err == nil {
		reason, message := "NeverEstablished", "resource was never established"
		if apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established) {
			reason, message = "InstanceDeletionCompleted", "removed all instances"
			if failed, err := x.deleteObjects(ctx, d); err != nil {
				_ = x.setTerminating(ctx, d, apiextensionsv1.ConditionTrue, failed, err.Error(), false) // the deletion is retried
				return err
			}
		}
		err = x.setTerminating(ctx, d, apiextensionsv1.ConditionFalse, reason, message, true)
	}
	if apierrors.IsNotFound(err) {
		err = nil
	}
	if err == nil {
		err = x.sync(ctx)
	}
	return err
}

// setTerminating writes the Terminating condition. With last set it also removes the finalizer, which deletes the
// definition.
func (x *Extensions) setTerminating(ctx context.Context, d *apiextensionsv1.CustomResourceDefinition, status apiextensionsv1.ConditionStatus, reason, message string, last bool) error {
	return x.o.Server.Amend(ctx, Definitions, d.Name, "status", func(obj resource.Object) bool {
		now := obj.(*apiextensionsv1.CustomResourceDefinition)
		if now.UID != d.UID || !isTerminating(now) {
			return false
		}
		setCondition(now, apiextensionsv1.CustomResourceDefinitionCondition{
			Type: apiextensionsv1.Terminating, Status: status, Reason: reason, Message: message,
		})
		if last {
			now.Finalizers = slices.DeleteFunc(now.Finalizers, func(f string) bool { return f == apiextensionsv1.CustomResourceCleanupFinalizer })
		}
		return true
	})
}

// deleteObjects deletes all objects and returns when the last one is gone. It waits for a minute for those with
// finalizers.
func (x *Extensions) deleteObjects(ctx context.Context, d *apiextensionsv1.CustomResourceDefinition) (reason string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	gr := x.kindOf(d.Name)
	cache := x.o.Server.Cache(gr)
	if cache == nil {
		return "", nil // no version is served, so stored objects cannot be reached
	}
	snap, err := cache.Snapshot(ctx, watchcache.ReadAt{})
	if err != nil {
		return "InstanceDeletionFailed", fmt.Errorf("could not list instances: %w", err)
	}
	if snap.Len() == 0 {
		return "", nil
	}
	w, err := cache.WatchFrom(ctx, snap, watchcache.Selection{})
	if err != nil {
		return "InstanceDeletionFailed", fmt.Errorf("could not list instances: %w", err)
	}
	defer w.Close()
	if err := x.o.Server.Sweep(ctx, gr); err != nil {
		return "InstanceDeletionFailed", fmt.Errorf("could not issue all deletes: %w", err)
	}
	for {
		snap, err := cache.Snapshot(ctx, watchcache.ReadAt{})
		if err == nil && snap.Len() == 0 {
			return "", nil
		}
		if err == nil {
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-w.Bell():
				_, _, err = w.Next()
			}
		}
		if err != nil {
			return "InstanceDeletionCheck", fmt.Errorf("could not confirm zero CustomResources remaining: %w", err)
		}
	}
}
