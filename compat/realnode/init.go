//go:build linux

package realnode

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A program that links this package runs itself under these names.
const (
	initName  = "realnode-init"  // the first process of a machine
	enterName = "realnode-enter" // joins the machine's cgroup and namespaces, and becomes another program
)

const (
	binInside    = "/opt/fairlead/bin"
	imagesInside = "/opt/fairlead/images"
)

// initSpec is the order to a machine's init.
type initSpec struct {
	Name, Dir   string
	Group       cgroups
	Bin, Images string // folders that the machine sees at binInside and imagesInside
	Forward     string // where connections of file descriptor 4 go; empty: there is none
}

func init() {
	switch os.Args[0] {
	case initName:
		fatal(runInit(os.Args[1]))
	case enterName:
		fatal(enter(cgroups(os.Args[1]), os.Args[2], os.Args[3:]))
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "realnode:", err)
	os.Exit(1)
}

// enter becomes a program in the namespaces of a process.
func enter(group cgroups, pid string, command []string) error {
	if err := group.join(); err != nil {
		return err
	}
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		return err
	}
	return syscall.Exec(nsenter, append([]string{"nsenter", "--all", "--target", pid, "--"}, command...), os.Environ())
}

// runInit is the first process of a machine: it builds the machine's root, reports on file
// descriptor 3 that it is ready, and then forwards connections and buries orphans for ever.
func runInit(text string) error {
	var spec initSpec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return err
	}
	if err := spec.Group.join(); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(spec.Name)); err != nil {
		return err
	}
	if err := buildRoot(spec); err != nil {
		return err
	}
	for file, value := range map[string]string{
		"net/ipv4/ip_forward":                 "1",
		"net/ipv4/conf/all/rp_filter":         "0",
		"net/bridge/bridge-nf-call-iptables":  "1",
		"net/bridge/bridge-nf-call-ip6tables": "1",
	} {
		if err := os.WriteFile("/proc/sys/"+file, []byte(value), 0); err != nil {
			return err
		}
	}
	if spec.Forward != "" {
		listener, err := net.FileListener(os.NewFile(4, "listener"))
		if err != nil {
			return err
		}
		go forward(listener, spec.Forward)
		registry, err := net.Listen("tcp", ":"+registryPort)
		if err != nil {
			return err
		}
		go http.Serve(registry, registryHandler(imagesInside))
	}
	children := make(chan os.Signal, 1)
	signal.Notify(children, unix.SIGCHLD)
	ready := os.NewFile(3, "ready")
	if _, err := ready.Write([]byte{1}); err != nil {
		return err
	}
	ready.Close()
	for range children {
		for {
			if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
	return nil
}

// forward connects each connection that listener accepts with address.
func forward(listener net.Listener, address string) {
	for {
		outer, err := listener.Accept()
		if err != nil {
			fatal(err)
		}
		go func() {
			defer outer.Close()
			inner, err := net.Dial("tcp", address)
			if err != nil {
				return // as a closed port would
			}
			defer inner.Close()
			go func() {
				io.Copy(inner, outer)
				inner.(*net.TCPConn).CloseWrite()
			}()
			io.Copy(outer, inner)
		}()
	}
}

// sysctls are those that a kubelet wants and sets, which have no namespace. The machine is
// shown files with these values in their place.
var sysctls = map[string]string{
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/keys/root_maxbytes": "25000000",
}

// buildRoot makes the machine's root and enters it.
func buildRoot(spec initSpec) error {
	root := filepath.Join(spec.Dir, "root")
	mount := func(source, target, kind string, flags uintptr, data string) error {
		at := filepath.Join(root, target)
		if err := unix.Mount(source, at, kind, flags, data); err != nil {
			return fmt.Errorf("mount %s on %s: %w", source, at, err)
		}
		return nil
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount(root, root, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s on itself: %w", root, err)
	}
	for _, dir := range []string{"usr", "etc", "dev", "proc", "sys", "run", "tmp", "root", "var/lib/kubelet", "var/log", "var/tmp", "old", "sysctl", binInside, imagesInside} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	for _, dir := range []string{"tmp", "var/tmp"} {
		if err := os.Chmod(filepath.Join(root, dir), 0o777|os.ModeSticky); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(filepath.Join(root, "var/run")); err != nil {
		return err
	}
	if err := os.Symlink("/run", filepath.Join(root, "var/run")); err != nil {
		return err
	}
	for _, bind := range [][2]string{{"/usr", "usr"}, {spec.Bin, binInside}, {spec.Images, imagesInside}} {
		if err := mount(bind[0], bind[1], "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return err
		}
		if err := mount("", bind[1], "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			return err
		}
	}
	for _, dir := range []string{"/bin", "/sbin", "/lib", "/lib64"} { // links into /usr, or folders of old systems
		link, err := os.Readlink(dir)
		if err == nil {
			os.Remove(filepath.Join(root, dir))
			err = os.Symlink(link, filepath.Join(root, dir))
		} else if err = os.MkdirAll(filepath.Join(root, dir), 0o755); err == nil {
			err = mount(dir, dir, "", unix.MS_BIND|unix.MS_REC, "")
		}
		if err != nil {
			return err
		}
	}
	etc := fmt.Sprintf("lowerdir=/etc,upperdir=%s,workdir=%s", filepath.Join(spec.Dir, "etc"), filepath.Join(spec.Dir, "etc-work"))
	for _, one := range []struct {
		source, target, kind string
		flags                uintptr
		data                 string
	}{
		{"overlay", "etc", "overlay", 0, etc},
		{"/dev", "dev", "", unix.MS_BIND | unix.MS_REC, ""},
		{"proc", "proc", "proc", 0, ""},
		{"sysfs", "sys", "sysfs", 0, ""}, // of this network namespace
		{cgroupRoot, cgroupRoot, "", unix.MS_BIND | unix.MS_REC, ""},
		{"tmpfs", "run", "tmpfs", 0, "mode=755"},
	} {
		if err := mount(one.source, one.target, one.kind, one.flags, one.data); err != nil {
			return err
		}
	}
	for name, value := range sysctls {
		file := filepath.Join(root, "sysctl", strings.ReplaceAll(name, "/", "."))
		if err := os.WriteFile(file, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
		if err := mount(file, filepath.Join("proc/sys", name), "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	if err := unix.PivotRoot(root, filepath.Join(root, "old")); err != nil {
		return fmt.Errorf("pivot into %s: %w", root, err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if err := unix.Unmount("/old", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	// A kubelet passes mounts on to containers, and theirs back.
	return unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, "")
}
