package e2e

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// terminal is a pseudo terminal: its output can be read from screen.
func terminal(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no pseudo terminals here: ", err)
	}
	t.Cleanup(func() { screen.Close() })
	var unlock, number int32
	for request, to := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request, uintptr(unsafe.Pointer(to))); errno != 0 {
			t.Fatal(errno)
		}
	}
	tty, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return screen, tty
}

// TestColour: output to a terminal has colours, unless they are turned off. Files and JSON
// output have no colours.
func TestColour(t *testing.T) {
	dir := t.TempDir()
	p, c := etcdProcess(t, dir)
	etcdPut(t, c, "a", "1")
	p.stop()
	for _, noColour := range []string{"", "1"} {
		screen, tty := terminal(t)
		cmd := exec.Command(bin.fairlead, "store", "verify", "--data-dir", dir, "-o", "json")
		cmd.Env = append(os.Environ(), "NO_COLOR="+noColour)
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, tty
		err := cmd.Run()
		tty.Close()
		seen, _ := io.ReadAll(screen) // ends with an error when no process has the terminal open
		if err != nil || !strings.Contains(string(seen), "Verified") {
			t.Fatalf("%v, %q", err, seen)
		}
		if coloured := strings.Contains(string(seen), "\x1b["); coloured != (noColour == "") {
			t.Errorf("NO_COLOR=%s: %q", noColour, seen)
		}
		if strings.Contains(out.String(), "\x1b[") {
			t.Errorf("stdout: %q", &out)
		}
	}
	if r := fairlead(t, "store", "verify", "--data-dir", dir); strings.Contains(r.errs+r.out, "\x1b[") {
		t.Errorf("not at a terminal: %q %q", r.out, r.errs)
	}
}
