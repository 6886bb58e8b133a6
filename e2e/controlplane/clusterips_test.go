package controlplane_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// TestClusterIPsOfTwoServers: servers on one etcd cluster never allocate an address twice,
// without communication between them, and can use all addresses of a range.
func TestClusterIPsOfTwoServers(t *testing.T) {
	etcd := startEtcd(t)
	a := controlplanetest.Clientset(t, controlplanetest.Start(t, controlplane.Options{Etcd: etcd}))
	b := controlplanetest.Clientset(t, controlplanetest.Start(t, controlplane.Options{Etcd: etcd}))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	both := []kubernetes.Interface{a, b}
	if _, err := a.NetworkingV1().ServiceCIDRs().Create(ctx, controlplanetest.ServiceCIDR("small", "203.0.113.0/28"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	unready := []byte(`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Test","message":"","lastTransitionTime":"2020-01-01T00:00:00Z"}]}}`)
	if _, err := a.NetworkingV1().ServiceCIDRs().Patch(ctx, "kubernetes", types.MergePatchType, unready, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	given := map[string]int{}
	for i := range 14 {
		wg.Go(func() {
			s, err := both[i%2].CoreV1().Services("default").Create(ctx, controlplanetest.Service(fmt.Sprintf("s%d", i), ""), metav1.CreateOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			given[s.Spec.ClusterIP]++
		})
	}
	wg.Wait()
	if len(given) != 14 {
		t.Errorf("14 services share %v", given)
	}
	_, err := b.CoreV1().Services("default").Create(ctx, controlplanetest.Service("full", ""), metav1.CreateOptions{})
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), `failed to allocate a serviceIP for Service "full": range is full`) {
		t.Errorf("when all are taken: %v", err)
	}
	if err := a.CoreV1().Services("default").Delete(ctx, "s0", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	free := ""
	for n, of := 1, controlplanetest.ServicesByIP(ctx, t, a); n <= 14; n++ {
		if ip := fmt.Sprintf("203.0.113.%d", n); of[ip] == "" {
			free = ip
		}
	}
	made := make(chan error, len(both))
	for i, c := range both {
		go func() {
			_, err := c.CoreV1().Services("default").Create(ctx, controlplanetest.Service(fmt.Sprintf("wants-%d", i), free), metav1.CreateOptions{})
			made <- err
		}()
	}
	var failed []error
	for range both {
		if err := <-made; err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) != 1 || !apierrors.IsInvalid(failed[0]) || !strings.Contains(failed[0].Error(), "provided IP is already allocated") {
		t.Errorf("of two that want one address: %v", failed)
	}
}
