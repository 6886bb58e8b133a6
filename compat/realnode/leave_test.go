//go:build linux && realnode

package realnode

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestLeave joins the spare machine, and removes the node again: the others forget the
// route to its pods, and the machine needs an invitation for the next time.
func TestLeave(t *testing.T) {
	m, other := spare(t), cluster.Nodes[0]
	args := invitation(t)
	must(t, m.serve("fairlead", slices.Concat([]string{"join"}, args, cluster.joinArgs(m))...))
	must(t, cluster.UntilReady(t.Context(), m.Name))
	ns := namespace(t)
	pods := run(t, agnhost(ns, "new", m.Name), agnhost(ns, "client", other.Name))
	if out := kubectl(t, "-n", ns, "exec", "client", "--", "curl", "-s", "--fail", "--retry", "60", "--retry-delay", "1", "--retry-all-errors", "--max-time", "5",
		"http://"+pods[0].Status.PodIP+":9376"); out != "new" {
		t.Errorf("the pod on the new node answers %q", out)
	}
	node, err := cluster.Client.CoreV1().Nodes().Get(t.Context(), m.Name, metav1.GetOptions{})
	must(t, err)

	leave(t, m)
	untilNoRoute(t, other, node.Spec.PodCIDR)
	args[2] = "zzzzzz.zzzzzzzzzzzzzzzz"
	refused(t, "the token zzzzzz is unknown", args...)
}

// spare returns the spare machine for a test that joins it. Its programs are stopped when the test ends.
func spare(t *testing.T) *Machine {
	t.Helper()
	m := cluster.Spares[0]
	t.Cleanup(func() {
		must(t, m.Stop("fairlead", "kubelet", "kube-proxy"))
		must(t, cluster.prepareHost(context.Background(), m)) // writes the files again that leave has removed
	})
	return m
}

// leave removes a node as docs/real-nodes.md tells.
func leave(t *testing.T, m *Machine) {
	t.Helper()
	kubectl(t, "drain", m.Name, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout="+patience.String())
	must(t, m.Stop("fairlead"))
	kubectl(t, "delete", "node", m.Name)
	inside(t, m, "rm", "-r", "/etc/kubernetes", "/var/lib/kubelet", "/etc/cni/net.d/10-fairlead.conflist")
}

// untilNoRoute waits until a machine has no route to a range.
func untilNoRoute(t *testing.T, m *Machine, to string) {
	t.Helper()
	changes := routeChanges(t, m)
	for {
		out, err := exec.Command("nsenter", "--net", "--target", strconv.Itoa(m.init), "--", "ip", "route", "show", to).CombinedOutput()
		if err != nil {
			t.Fatalf("ip route: %v: %s", err, out)
		}
		if len(out) == 0 {
			return
		}
		if _, err := unix.Read(changes, make([]byte, 1<<16)); err != nil {
			t.Fatalf("%s keeps the route %s: %v", m.Name, out, err)
		}
	}
}

// routeChanges is a socket that has a message for each change of a machine's routes. Reading fails when
// there is none for long.
func routeChanges(t *testing.T, m *Machine) (socket int) {
	t.Helper()
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever: the thread ends with the goroutine
		network, err := unix.Open(fmt.Sprintf("/proc/%d/ns/net", m.init), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			defer unix.Close(network)
			err = unix.Setns(network, unix.CLONE_NEWNET)
		}
		if err == nil {
			socket, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
		}
		made <- err
	}()
	must(t, <-made)
	t.Cleanup(func() { unix.Close(socket) })
	must(t, unix.SetsockoptTimeval(socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, new(unix.NsecToTimeval(patience.Nanoseconds()))))
	must(t, unix.Bind(socket, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: unix.RTMGRP_IPV4_ROUTE}))
	return socket
}
