package controlplane_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inNetns marks the process that inNamespace starts.
const inNetns = "FAIRLEAD_TEST_IN_NETNS"

// inNamespace reports whether this process runs in the test's network namespace. If not, it
// starts the test again, as a process in a new one. There, packets to 10.0.0.0/8 and
// 172.16.0.0/12 go to a tunnel that records them. On a machine without network namespaces
// the test fails in CI and is skipped elsewhere.
func inNamespace(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inNetns) != "" {
		return true
	}
	again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=4m")
	again.Env = append(os.Environ(), inNetns+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		again.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		again.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		again.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := again.CombinedOutput()
	switch {
	case again.Process == nil || strings.Contains(string(out), noTunnel):
		if os.Getenv("CI") == "" {
			t.Skipf("NOT TESTED: this machine allows no network namespace with a tunnel (%v): run this test as root\n%s", err, out)
		}
		t.Fatalf("this machine allows no network namespace with a tunnel: %v\n%s", err, out)
	case err != nil:
		t.Fatalf("in a network namespace: %v\n%s", err, out)
	case !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Fatalf("in a network namespace the test has not run:\n%s", out)
	}
	return false
}

// noTunnel is the error of a test that cannot open its tunnel.
const noTunnel = "cannot open a tunnel"

// tunnel is a TUN device that gets all packets to 10.0.0.0/8 and 172.16.0.0/12, the networks
// of the simulated addresses of pods, services and nodes.
type tunnel struct {
	mu   sync.Mutex
	seen []string // destinations of IPv4 packets
	bell chan struct{}
}

// openTunnel makes the device in the process's network namespace.
func openTunnel(t *testing.T) *tunnel {
	t.Helper()
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		err = configure(fd)
	}
	if err != nil {
		t.Fatalf("%s: %v", noTunnel, err)
	}
	tun := &tunnel{bell: make(chan struct{}, 1)}
	go func() {
		packet := make([]byte, 65536)
		for {
			n, err := unix.Read(fd, packet)
			if err != nil && err != syscall.EINTR {
				return
			}
			if n < 20 || packet[0]>>4 != 4 { // IPv6 packets come from the kernel
				continue
			}
			tun.mu.Lock()
			tun.seen = append(tun.seen, net.IP(packet[16:20]).String())
			tun.mu.Unlock()
			select {
			case tun.bell <- struct{}{}:
			default:
			}
		}
	}()
	return tun
}

// configure routes these networks to the tunnel of fd, and starts the loopback device.
func configure(fd int) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	set := func(fd int, device string, request uint, fill func(*unix.Ifreq) error) error {
		ifr, err := unix.NewIfreq(device)
		if err == nil {
			err = fill(ifr)
		}
		if err == nil {
			err = unix.IoctlIfreq(fd, request, ifr)
		}
		if err != nil {
			return fmt.Errorf("%s: ioctl %#x: %w", device, request, err)
		}
		return nil
	}
	flags := func(f uint16) func(*unix.Ifreq) error {
		return func(ifr *unix.Ifreq) error { ifr.SetUint16(f); return nil }
	}
	address := func(a ...byte) func(*unix.Ifreq) error {
		return func(ifr *unix.Ifreq) error { return ifr.SetInet4Addr(a) }
	}
	const device = "out0"
	for _, step := range []struct {
		fd      int
		device  string
		request uint
		fill    func(*unix.Ifreq) error
	}{
		{socket, "lo", unix.SIOCSIFFLAGS, flags(unix.IFF_UP | unix.IFF_RUNNING)},
		{fd, device, unix.TUNSETIFF, flags(unix.IFF_TUN | unix.IFF_NO_PI)},
		{socket, device, unix.SIOCSIFADDR, address(10, 0, 0, 1)},
		{socket, device, unix.SIOCSIFNETMASK, address(255, 0, 0, 0)},
		{socket, device + ":1", unix.SIOCSIFADDR, address(172, 16, 0, 1)},
		{socket, device + ":1", unix.SIOCSIFNETMASK, address(255, 240, 0, 0)},
		{socket, device, unix.SIOCSIFFLAGS, flags(unix.IFF_UP | unix.IFF_RUNNING)},
	} {
		if err := set(step.fd, step.device, step.request, step.fill); err != nil {
			return err
		}
	}
	return nil
}

// packets returns the destinations of all packets since its last call. To be sure that they
// have all been read, it sends a marker packet to 10.0.0.9 and waits until it is read.
func (tun *tunnel) packets(t *testing.T) (others []string) {
	t.Helper()
	const last = "10.0.0.9"
	if conn, err := net.DialTimeout("udp4", last+":9", time.Second); err == nil {
		fmt.Fprint(conn, "last")
		conn.Close()
	}
	deadline := time.After(time.Minute)
	for {
		tun.mu.Lock()
		seen := slices.Clone(tun.seen)
		if done := len(seen) > 0 && seen[len(seen)-1] == last; done {
			tun.seen = nil
			tun.mu.Unlock()
			return seen[:len(seen)-1]
		}
		tun.mu.Unlock()
		select {
		case <-tun.bell:
		case <-deadline:
			t.Fatalf("the tunnel has not read the marker packet to %s, only %v", last, seen)
		}
	}
}
