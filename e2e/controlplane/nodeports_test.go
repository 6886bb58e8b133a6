package controlplane_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane"
)

// TestReplicasShareNodePorts: servers on one cluster allocate each node port once.
func TestReplicasShareNodePorts(t *testing.T) {
	etcd := startEtcd(t)
	const size = 40
	var services [2]client.Resource[*corev1.Service]
	for i := range services {
		_, c := startReplica(t, controlplane.Options{DataDir: t.TempDir(), Etcd: etcd, NodePorts: utilnet.PortRange{Base: 30000, Size: size}})
		services[i] = client.For[*corev1.Service](c).Namespace("default")
	}
	create := func(ctx context.Context, server int, name string, port int32) (*corev1.Service, error) {
		return services[server].Create(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: port}},
		}})
	}
	refused := func(server int, name string, port int32, want string) {
		t.Helper()
		if _, err := create(t.Context(), server, name, port); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("server %d allocates %d for %s: %v, want %q", server, port, name, err, want)
		}
	}
	must := func(_ *corev1.Service, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	must(create(t.Context(), 0, "a", 30005)) // both servers know the services
	must(create(t.Context(), 1, "b", 30006))
	must(create(t.Context(), 0, "c", 30007))
	for server, port := range map[int]int32{0: 30006, 1: 30007} {
		refused(server, "d", port, "provided port is already allocated")
	}
	if err := services[1].Delete(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	must(create(t.Context(), 0, "d", 30007))
	moved, err := services[1].Patch(t.Context(), "d", client.MergePatch(map[string]any{"spec": map[string]any{"ports": []any{map[string]any{"port": 80, "nodePort": 30008}}}}))
	must(moved, err)
	refused(0, "e", 30008, "provided port is already allocated")
	must(create(t.Context(), 0, "e", 30007))

	// A service that another program removes holds nothing.
	direct := etcdClient(t, etcd)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := direct.Delete(t.Context(), "/registry/services/specs/default/e"); err != nil || res.Deleted != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	must(create(t.Context(), 1, "f", 30007))
	refused(0, "g", 30007, "provided port is already allocated")

	// All that is left, by both at once.
	list, err := services[0].List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	held := map[int32]string{}
	for _, s := range list.Items {
		for _, p := range s.Spec.Ports {
			if p.NodePort != 0 {
				held[p.NodePort] = s.Name
			}
		}
	}
	made := make(chan *corev1.Service, size)
	group, ctx := errgroup.WithContext(t.Context())
	for i := range size - len(held) {
		group.Go(func() error {
			s, err := create(ctx, i%2, fmt.Sprint("all-", i), 0)
			if err == nil {
				made <- s
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	close(made)
	for s := range made {
		p := s.Spec.Ports[0].NodePort
		if held[p] != "" {
			t.Errorf("%s and %s have the port %d", held[p], s.Name, p)
		}
		held[p] = s.Name
	}
	refused(0, "more", 0, "range is full")
	refused(1, "more", 0, "range is full")
	if _, err := services[0].Get(t.Context(), "more"); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}
