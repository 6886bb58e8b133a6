package admission

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// safeSysctls may be set by pods; a kubelet allows any other only by configuration.
var safeSysctls = map[string]bool{
	"kernel.shm_rmid_forced":              true,
	"net.ipv4.ip_local_port_range":        true,
	"net.ipv4.ip_local_reserved_ports":    true,
	"net.ipv4.ip_unprivileged_port_start": true,
	"net.ipv4.ping_group_range":           true,
	"net.ipv4.tcp_fin_timeout":            true,
	"net.ipv4.tcp_keepalive_intvl":        true,
	"net.ipv4.tcp_keepalive_probes":       true,
	"net.ipv4.tcp_keepalive_time":         true,
	"net.ipv4.tcp_rmem":                   true,
	"net.ipv4.tcp_syncookies":             true,
	"net.ipv4.tcp_wmem":                   true,
}

// CheckSysctls returns the reason for which the node rejects the sysctls of a pod; empty if it does not.
func CheckSysctls(pod *corev1.Pod) (reason, message string) {
	c := pod.Spec.SecurityContext
	if c == nil {
		return "", ""
	}
	for _, s := range c.Sysctls {
		name := strings.ReplaceAll(s.Name, "/", ".")
		why := ""
		switch {
		case !safeSysctls[name]:
			why = "not allowlisted"
		case pod.Spec.HostNetwork && strings.HasPrefix(name, "net."):
			why = "not allowed with host net enabled"
		case pod.Spec.HostIPC && strings.HasPrefix(name, "kernel.shm"):
			why = "not allowed with host ipc enabled"
		}
		if why != "" {
			return "SysctlForbidden", fmt.Sprintf("forbidden sysctl: %q %s", name, why)
		}
	}
	return "", ""
}
