package clusters_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/clusters"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/memnet"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/storage"
)

// objects is a client of the Clusters of a server.
func objects(t *testing.T, cp *controlplane.ControlPlane) client.Resource[*clusters.Cluster] {
	t.Helper()
	c, err := client.New(cp.Config(), client.Options{Scheme: clusters.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	return client.For[*clusters.Cluster](c)
}

// follow creates a Cluster, and returns each new content of its condition Ready up to that with the last reason.
func follow(t *testing.T, cp *controlplane.ControlPlane, spec clusters.Spec, last string) (seen []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	all := objects(t, cp)
	made, err := all.Create(ctx, &clusters.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: spec})
	if err != nil {
		t.Fatal(err)
	}
	w, err := all.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=a", ResourceVersion: made.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for {
		e, err := w.Next(ctx)
		if err != nil {
			t.Fatalf("after %q: %v", seen, err)
		}
		ready := meta.FindStatusCondition(e.Object.Status.Conditions, clusters.Ready)
		if ready == nil {
			continue
		}
		text := fmt.Sprintf("%s %s: %s", ready.Status, ready.Reason, ready.Message)
		if len(seen) == 0 || seen[len(seen)-1] != text {
			seen = append(seen, text)
		}
		if ready.Reason == last {
			return seen
		}
	}
}

// A control plane whose start fails is started again without a change of its object, and the condition says why it failed.
func TestRetry(t *testing.T) {
	h := clusters.New(clusters.Options{Log: slog.New(slog.DiscardHandler)})
	h.FailStart(func(attempt int) error {
		switch attempt {
		case 1, 2, 3:
			return syscall.ENOSPC
		case 4:
			return syscall.EADDRINUSE
		}
		return nil
	})
	cp := controlplanetest.Start(t, controlplane.Options{Host: h})
	seen := follow(t, cp, clusters.Spec{Nodes: new(0)}, "Answers")
	if want := []string{
		"False Retrying: no space left on device",
		"False Retrying: address already in use",
		"True Answers: the control plane answers at " + cp.URL() + "/clusters/a",
	}; !slices.Equal(seen, want) {
		t.Errorf("conditions %q, want %q", seen, want)
	}
}

// So is one whose kubeconfig cannot be written; its control plane is started once.
func TestRetryOfKubeconfig(t *testing.T) {
	h := clusters.New(clusters.Options{Log: slog.New(slog.DiscardHandler)})
	h.FailStart(func(attempt int) error {
		if attempt > 1 {
			t.Errorf("attempt %d to start", attempt)
		}
		return nil
	})
	failing := faults.New()
	if _, err := failing.Add(t.Context(), faults.Fault{Action: faults.Fail, Resource: "secrets", Verb: "create", Times: 3, Code: 503}); err != nil {
		t.Fatal(err)
	}
	cp := controlplanetest.Start(t, controlplane.Options{Host: h, Faults: failing})
	seen := follow(t, cp, clusters.Spec{Nodes: new(0)}, "Answers")
	if len(seen) != 2 || !strings.HasPrefix(seen[0], "False Retrying: ") {
		t.Errorf("conditions: %q", seen)
	}
}

// A start that would fail again is not repeated in an hour, and is when the spec changes.
func TestNoRetry(t *testing.T) {
	for _, failure := range []error{
		fmt.Errorf("cluster %q: %w", "base", storage.ErrCompacted), fmt.Errorf("cluster %q: %w", "base", storage.ErrFutureRevision), storage.ErrNoSpace,
	} {
		synctest.Test(t, func(t *testing.T) {
			h := clusters.New(clusters.Options{Log: slog.New(slog.DiscardHandler)})
			attempts := 0
			h.FailStart(func(attempt int) error {
				attempts = attempt
				return failure
			})
			cp, err := controlplane.Start(t.Context(), controlplane.Options{
				DataDir: t.TempDir(), InMemory: true, Listen: "127.0.0.1:0", Network: new(memnet.Network), VirtualTime: true, Host: h,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer cp.Stop()
			seen := follow(t, cp, clusters.Spec{}, "Failed")
			if want := "False Failed: " + failure.Error(); len(seen) != 1 || seen[0] != want {
				t.Errorf("conditions %q, want %q", seen, want)
			}
			time.Sleep(time.Hour)
			if attempts != 1 {
				t.Errorf("%v: %d attempts", failure, attempts)
			}
			raise := client.MergePatch(map[string]any{"spec": map[string]any{"resets": 1}})
			if _, err := objects(t, cp).Patch(t.Context(), "a", raise); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			if attempts != 2 {
				t.Errorf("%v: %d attempts after a change of the spec", failure, attempts)
			}
		})
	}
}

// A quota that is too small for the objects of an empty control plane is such a failure.
func TestQuotaTooSmall(t *testing.T) {
	s := serve(t, controlplane.Options{})
	limit := quantity("1Ki")
	_, err := s.clusters.Create(t.Context(), &clusters.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: clusters.Spec{Storage: &limit}})
	if err == nil || !strings.Contains(err.Error(), "database space exceeded") {
		t.Error(err)
	}
	if seen := follow(t, s.ControlPlane, clusters.Spec{Storage: &limit}, "Failed"); len(seen) != 1 {
		t.Errorf("conditions: %q", seen)
	}
}
