package controlplane_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// inNetns marks the process that inNamespace starts.
const inNetns = "FAIRLEAD_TEST_IN_NETNS"

// inNamespace runs the test again, as a process in a network namespace of its own, in which all
// that does not go to the loopback device goes to a tunnel that records it; it reports whether this
// is that process. Where no namespace can be made the test fails: it must not be
// passed over unseen.
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
	case again.Process == nil:
		t.Fatalf("no network namespace can be made here (%v), so it is not known whether packets leave for simulated addresses: run this test as root, or allow user namespaces", err)
	case err != nil:
		t.Fatalf("in a network namespace: %v\n%s", err, out)
	case !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Fatalf("in a network namespace the test has not run:\n%s", out)
	}
	return false
}

// tunnel is a device to which all packets go that are not for the loopback device.
type tunnel struct {
	mu   sync.Mutex
	seen []string // destinations of IPv4 packets
	bell chan struct{}
}

// openTunnel makes the device of the process's network namespace.
func openTunnel(t *testing.T) *tunnel {
	t.Helper()
	fd, err := syscall.Open("/dev/net/tun", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatalf("/dev/net/tun: %v; packets cannot be counted without", err)
	}
	var request struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:], "out0")
	request.flags = syscall.IFF_TUN | syscall.IFF_NO_PI
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TUNSETIFF, uintptr(unsafe.Pointer(&request))); errno != 0 {
		t.Fatalf("TUNSETIFF: %v", errno)
	}
	for _, line := range []string{"link set lo up", "addr add 192.0.2.1/24 dev out0", "link set out0 up", "route add default dev out0"} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s (it is needed to count packets)", line, err, out)
		}
	}
	tun := &tunnel{bell: make(chan struct{}, 1)}
	go func() {
		packet := make([]byte, 65536)
		for {
			n, err := syscall.Read(fd, packet)
			if err != nil && err != syscall.EINTR {
				return
			}
			if n < 20 || packet[0]>>4 != 4 { // the kernel's own of IPv6
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

// packets are the destinations to which any were sent. A packet is sent to an address that nobody has, and
// those that went before it have been counted when it has.
func (tun *tunnel) packets(t *testing.T) (others []string) {
	t.Helper()
	const last = "198.51.100.7"
	if conn, err := net.DialTimeout("udp4", last+":9", time.Second); err == nil {
		fmt.Fprint(conn, "last")
		conn.Close()
	}
	deadline := time.After(time.Minute)
	for {
		tun.mu.Lock()
		seen := append([]string(nil), tun.seen...)
		tun.mu.Unlock()
		if len(seen) > 0 && seen[len(seen)-1] == last {
			return seen[:len(seen)-1]
		}
		select {
		case <-tun.bell:
		case <-deadline:
			t.Fatalf("the tunnel has not seen the packet to %s that it must see, but %v", last, seen)
		}
	}
}
