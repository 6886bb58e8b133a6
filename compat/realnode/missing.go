//go:build linux

package realnode

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// needed are files that must be on the machine, and Debian's packages that have them.
var needed = []struct{ file, pkg string }{
	{"runc", "runc"},
	{"iptables", "iptables"},
	{"nft", "nftables"},
	{"/usr/lib/cni/bridge", "containernetworking-plugins"},
	{"conntrack", "conntrack"},
	{"ebtables", "ebtables"},
	{"socat", "socat"},
	{"/bin/busybox", "busybox-static"},
	{"/bin/bash-static", "bash-static"},
	{"ip", "iproute2"},
	{"nsenter", "util-linux"},
	{"debootstrap", "debootstrap"},
	{"go", "golang"},
}

// Missing returns an error that lists everything the machine lacks, or nil.
func Missing() error {
	if os.Getuid() != 0 {
		return errors.New("real nodes need root: namespaces, mounts and cgroups are made")
	}
	var packages []string
	for _, one := range needed {
		var err error
		if filepath.IsAbs(one.file) {
			_, err = os.Stat(one.file)
		} else {
			_, err = exec.LookPath(one.file)
		}
		if err != nil {
			packages = append(packages, one.pkg)
		}
	}
	if len(packages) > 0 {
		return fmt.Errorf("programs are missing; on Debian: apt-get install --no-install-recommends %s", strings.Join(packages, " "))
	}
	if len(hierarchies()) == 0 {
		return fmt.Errorf("no cgroups at %s", cgroupRoot)
	}
	if _, err := os.Stat("/proc/sys/net/bridge"); err != nil {
		return errors.New("the kernel has no br_netfilter: run modprobe br_netfilter")
	}
	return nil
}
