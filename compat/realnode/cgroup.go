//go:build linux

package realnode

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// cgroupRoot is where cgroups are mounted: a folder for each controller (version 1), or one
// tree (version 2).
const cgroupRoot = "/sys/fs/cgroup"

// cgroups is one group in every hierarchy, by its path below them.
type cgroups string

// hierarchies returns the roots of the mounted hierarchies.
func hierarchies() []string {
	if _, err := os.Stat(filepath.Join(cgroupRoot, "cgroup.controllers")); err == nil {
		return []string{cgroupRoot}
	}
	found, _ := filepath.Glob(filepath.Join(cgroupRoot, "*", "cgroup.procs"))
	var roots []string
	for _, file := range found {
		root, err := filepath.EvalSymlinks(filepath.Dir(file))
		if err == nil && !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	return roots
}

// make creates the group, with all processors and memory nodes of the group above.
func (g cgroups) make() error {
	for _, root := range hierarchies() {
		at := root
		for part := range strings.SplitSeq(string(g), "/") {
			above := at
			at = filepath.Join(at, part)
			if err := os.Mkdir(at, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
				own, err := os.ReadFile(filepath.Join(at, file))
				if err != nil || len(bytes.TrimSpace(own)) > 0 {
					continue
				}
				if all, err := os.ReadFile(filepath.Join(above, file)); err == nil {
					if err := os.WriteFile(filepath.Join(at, file), all, 0); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// join moves the calling process into the group.
func (g cgroups) join() error {
	for _, root := range hierarchies() {
		if err := os.WriteFile(filepath.Join(root, string(g), "cgroup.procs"), []byte("0"), 0); err != nil {
			return err
		}
	}
	return nil
}

// processes returns the processes of the group and of those below it.
func (g cgroups) processes() []int {
	var found []int
	for _, root := range hierarchies() {
		filepath.WalkDir(filepath.Join(root, string(g)), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() != "cgroup.procs" {
				return nil
			}
			text, _ := os.ReadFile(path) // of a group that has just gone: empty
			for line := range strings.Lines(string(text)) {
				if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 0 {
					found = append(found, pid)
				}
			}
			return nil
		})
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// remove kills the group's processes and removes it and those below it.
func (g cgroups) remove() error {
	for {
		all := g.processes()
		if len(all) == 0 {
			break
		}
		if err := end(all, unix.SIGKILL); err != nil {
			return err
		}
	}
	var errs []error
	for _, root := range hierarchies() {
		var dirs []string
		filepath.WalkDir(filepath.Join(root, string(g)), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
		for _, dir := range slices.Backward(dirs) {
			if err := unix.Rmdir(dir); err != nil && err != unix.ENOENT {
				errs = append(errs, fmt.Errorf("remove cgroup %s: %w", dir, err))
			}
		}
	}
	return errors.Join(errs...)
}

// end ends processes by a signal and returns when they have ended.
func end(pids []int, signal unix.Signal) error {
	var ending []int
	defer func() {
		for _, fd := range ending {
			unix.Close(fd)
		}
	}()
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) {
			continue // it has ended
		}
		if err != nil {
			return fmt.Errorf("process %d: %w", pid, err)
		}
		ending = append(ending, fd)
		if err := unix.PidfdSendSignal(fd, signal, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("end process %d: %w", pid, err)
		}
	}
	for _, fd := range ending {
		if err := waitEnd(fd); err != nil {
			return err
		}
	}
	return nil
}

// waitEnd waits until the process of a pidfd has ended.
func waitEnd(pidfd int) error {
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, -1)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
