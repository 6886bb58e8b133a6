//go:build linux

package realnode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Machine is a set of namespaces that its init process holds, and a folder that is its root.
// Killing the init ends every process of the machine.
type Machine struct {
	Name   string
	dir    string // holds root, the machine's root, and log, its programs' output
	group  cgroups
	init   int    // process ID of the init
	bin    string // folder of programs, which the machines share
	images string
}

// Root is the folder outside that is the machine's root.
func (m *Machine) Root() string { return filepath.Join(m.dir, "root") }

// Log is the file that a program of the machine writes to.
func (m *Machine) Log(program string) string { return filepath.Join(m.dir, "log", program+".log") }

// start creates the machine. Connections that listener accepts, if it is not nil, are
// forwarded to an address inside.
func (m *Machine) start(listener *os.File, forward string) error {
	for _, dir := range []string{m.Root(), filepath.Join(m.dir, "log"), filepath.Join(m.dir, "etc"), filepath.Join(m.dir, "etc-work")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := m.group.make(); err != nil {
		return err
	}
	spec, err := json.Marshal(initSpec{Name: m.Name, Dir: m.dir, Group: m.group, Bin: m.bin, Images: m.images, Forward: forward})
	if err != nil {
		return err
	}
	log, err := os.Create(m.Log("init"))
	if err != nil {
		return err
	}
	defer log.Close()
	ready, done, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{initName, string(spec)}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{done}
	if listener != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, listener)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
	}
	err = cmd.Start()
	done.Close()
	if err != nil {
		return fmt.Errorf("machine %s: %w", m.Name, err)
	}
	m.init = cmd.Process.Pid
	go cmd.Wait()
	if _, err := io.ReadFull(ready, make([]byte, 1)); err != nil {
		text, _ := os.ReadFile(m.Log("init"))
		return fmt.Errorf("machine %s did not start: %s", m.Name, text)
	}
	return nil
}

// Command is a program that runs in the machine.
func (m *Machine) Command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = append([]string{enterName, string(m.group), strconv.Itoa(m.init), name}, args...)
	cmd.Env = []string{"PATH=" + binInside + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "TERM=" + os.Getenv("TERM"), "KUBECONFIG=" + kubeconfigInside}
	return cmd
}

// Run runs a program in the machine and returns its output.
func (m *Machine) Run(name string, args ...string) (string, error) {
	cmd := m.Command(name, args...)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return string(out), fmt.Errorf("%s: %s %s: %w", m.Name, name, strings.Join(args, " "), err)
	}
	return string(out), nil
}

// serve starts a program in the machine that outlives this process. Its output is appended to
// its log.
func (m *Machine) serve(name string, args ...string) error {
	log, err := os.OpenFile(m.Log(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := m.Command(name, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %s: %w", m.Name, name, err)
	}
	go cmd.Wait()
	return nil
}

// Processes returns the IDs of the machine's processes with one of these names.
func (m *Machine) Processes(names ...string) []int {
	return slices.DeleteFunc(m.group.processes(), func(pid int) bool {
		comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		return err != nil || !slices.Contains(names, strings.TrimSpace(string(comm)))
	})
}

// Kill ends the machine's programs with these names by SIGKILL.
func (m *Machine) Kill(names ...string) error {
	all := m.Processes(names...)
	if len(all) == 0 {
		return fmt.Errorf("%s: no process named %s", m.Name, strings.Join(names, " or "))
	}
	return end(all, unix.SIGKILL)
}

// Stop ends the machine's programs with these names by SIGTERM, and returns when they have ended.
func (m *Machine) Stop(names ...string) error { return end(m.Processes(names...), unix.SIGTERM) }

// Install links a program into the folder of programs of all machines, or into one below it, and
// returns its path there.
func (m *Machine) Install(file, name string) (string, error) {
	at := filepath.Join(filepath.Dir(m.dir), "bin", name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return "", err
	}
	if err := os.Link(file, at); err == nil {
		return filepath.Join(binInside, name), nil
	}
	contents, err := os.ReadFile(file) // on another file system
	if err != nil {
		return "", err
	}
	return filepath.Join(binInside, name), os.WriteFile(at, contents, 0o755)
}

// runs reports whether the machine's init lives.
func (m *Machine) runs() bool { return m.init != 0 && slices.Contains(m.group.processes(), m.init) }
