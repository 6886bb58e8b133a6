package join

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Machine names the programs and settings that Check looks for on this machine.
type Machine struct {
	// Kubelet and KubeProxy are the programs; KubeProxy is "" if it is not to run.
	Kubelet, KubeProxy string
	// Runtime is the CRI endpoint, such as unix:///run/containerd/containerd.sock.
	Runtime string
	// CNIBin are the folders in which the CNI plugins may be.
	CNIBin []string
	// OwnCNI reports whether the operator brings a CNI configuration.
	OwnCNI bool
	// SwapAllowed reports whether the KubeletConfiguration allows swap.
	SwapAllowed bool
}

// Finding is the state of one thing that a node needs.
type Finding struct {
	Name, Detail string
	// Missing reports whether the node cannot run without it.
	Missing bool
}

// plugins are the CNI plugins of the configuration that Files writes.
var plugins = []string{"bridge", "host-local", "loopback", "portmap"}

// Check looks for everything that a node needs. It only reads.
func (m Machine) Check(ctx context.Context) []Finding {
	all := []Finding{checkRoot(), checkProgram("kubelet", m.Kubelet)}
	if m.KubeProxy != "" {
		all = append(all, checkProgram("kube-proxy", m.KubeProxy), checkProgram("conntrack", "conntrack"))
	}
	all = append(all, checkProgram("mount", "mount"), m.checkRuntime(ctx), checkCgroups(), checkForwarding(), m.checkSwap(), checkPort("10250"))
	if m.OwnCNI {
		return all
	}
	return append(all, m.checkPlugins(), checkProgram("ip", "ip"), checkProgram("nft", "nft"))
}

func found(name, detail string, err error) Finding {
	if err != nil {
		return Finding{name, err.Error(), true}
	}
	return Finding{name, detail, false}
}

func checkRoot() Finding {
	if os.Geteuid() != 0 {
		return Finding{"root", "the user is not root, whom containers need", true}
	}
	return Finding{"root", "yes", false}
}

func checkProgram(name, program string) Finding {
	path, err := exec.LookPath(program)
	return found(name, path, err)
}

func (m Machine) checkRuntime(ctx context.Context) Finding {
	path, ok := strings.CutPrefix(m.Runtime, "unix://")
	if !ok {
		return Finding{"runtime", m.Runtime + " is not an address such as unix:///run/containerd/containerd.sock", true}
	}
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "unix", path)
	if err != nil {
		return Finding{"runtime", fmt.Sprintf("no container runtime answers: %v", err), true}
	}
	conn.Close()
	return Finding{"runtime", m.Runtime, false}
}

// cgroupRoot is where the control groups are mounted.
const cgroupRoot = "/sys/fs/cgroup"

// cgroups2 reports whether the machine has control groups v2 only.
func cgroups2() bool {
	_, err := os.Stat(filepath.Join(cgroupRoot, "cgroup.controllers"))
	return err == nil
}

func checkCgroups() Finding {
	need := []string{"cpu", "cpuset", "memory", "pids"}
	if cgroups2() {
		text, err := os.ReadFile(filepath.Join(cgroupRoot, "cgroup.controllers"))
		if err != nil {
			return found("cgroups", "", err)
		}
		have := " " + strings.Join(strings.Fields(string(text)), " ") + " "
		for _, c := range need {
			if !strings.Contains(have, " "+c+" ") {
				return Finding{"cgroups", "v2 lacks the controller " + c, true}
			}
		}
		return Finding{"cgroups", "v2", false}
	}
	for _, c := range append(need, "cpuacct", "devices", "freezer") {
		if _, err := os.Stat(filepath.Join(cgroupRoot, c)); err != nil {
			return Finding{"cgroups", "v1 lacks the controller " + c, true}
		}
	}
	return Finding{"cgroups", "v1, which the kubelet is told to accept", false}
}

func checkForwarding() Finding {
	const path = "/proc/sys/net/ipv4/ip_forward"
	text, err := os.ReadFile(path)
	if err == nil && strings.TrimSpace(string(text)) != "1" {
		err = errors.New("net.ipv4.ip_forward is off: sysctl -w net.ipv4.ip_forward=1")
	}
	return found("forwarding", "on", err)
}

func (m Machine) checkSwap() Finding {
	text, err := os.ReadFile("/proc/swaps")
	if err == nil && strings.Count(strings.TrimSpace(string(text)), "\n") > 0 && !m.SwapAllowed {
		err = errors.New("swap is on: swapoff -a, or failSwapOn: false in --kubelet-config")
	}
	return found("swap", "off or allowed", err)
}

func checkPort(port string) Finding {
	l, err := net.Listen("tcp", ":"+port)
	if err != nil {
		return Finding{"port " + port, "another kubelet runs here: " + err.Error(), true}
	}
	l.Close()
	return Finding{"port " + port, "free", false}
}

func (m Machine) checkPlugins() Finding {
	for _, dir := range m.CNIBin {
		missing := ""
		for _, p := range plugins {
			if _, err := os.Stat(filepath.Join(dir, p)); err != nil {
				missing = p
			}
		}
		if missing == "" {
			return Finding{"CNI plugins", dir, false}
		}
	}
	return Finding{"CNI plugins", fmt.Sprintf("%s are in none of %s", strings.Join(plugins, ", "), strings.Join(m.CNIBin, ", ")), true}
}
