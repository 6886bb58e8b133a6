package e2e

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"
)

// viewer is a program on a terminal of which a test sees the screen.
type viewer struct {
	t       *testing.T
	cmd     *exec.Cmd
	tty     *os.File      // the program's side
	keys    *os.File      // the other side
	changed chan struct{} // a bell: the screen has changed
	before  unix.Termios
	mu      struct {
		sync.Mutex
		screen *vt.Emulator
		alt    bool   // the program draws on the alternate screen
		bytes  []byte // all output
	}
}

// view starts fairlead on a terminal.
func view(t *testing.T, width, height int, env []string, args ...string) *viewer {
	t.Helper()
	keys, tty := terminal(t)
	v := &viewer{t: t, tty: tty, keys: keys, changed: make(chan struct{}, 1), before: modes(t, tty)}
	v.mu.screen = vt.NewEmulator(width, height)
	v.mu.screen.SetCallbacks(vt.Callbacks{AltScreen: func(on bool) { v.mu.alt = on }}) // called by Write
	v.resize(width, height)
	go io.Copy(keys, v.mu.screen) // the terminal's answers to the program's questions
	go v.receive()
	v.cmd = exec.Command(bin.fairlead, args...)
	v.cmd.Env = append(append(os.Environ(), "TERM=xterm-256color", "NO_COLOR="), env...)
	v.cmd.Stdin, v.cmd.Stdout, v.cmd.Stderr = tty, tty, tty
	v.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		v.cmd.Process.Kill()
		tty.Close()
		v.mu.Lock()
		defer v.mu.Unlock()
		v.mu.screen.Close()
	})
	return v
}

// receive writes the program's output to the screen.
func (v *viewer) receive() {
	b := make([]byte, 32<<10)
	for {
		n, err := v.keys.Read(b)
		if err != nil {
			return
		}
		v.mu.Lock()
		v.mu.screen.Write(b[:n])
		v.mu.bytes = append(v.mu.bytes, b[:n]...)
		v.mu.Unlock()
		select {
		case v.changed <- struct{}{}:
		default:
		}
	}
}

// modes are the settings of a terminal.
func modes(t *testing.T, tty *os.File) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}

// resize changes the size of the terminal.
func (v *viewer) resize(width, height int) {
	v.t.Helper()
	size := unix.Winsize{Col: uint16(width), Row: uint16(height)}
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, v.keys.Fd(), unix.TIOCSWINSZ, uintptr(unsafe.Pointer(&size))); errno != 0 {
		v.t.Fatal(errno)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.mu.screen.Resize(width, height)
}

// press types keys.
func (v *viewer) press(keys string) {
	v.t.Helper()
	if _, err := v.keys.WriteString(keys); err != nil {
		v.t.Fatal(err)
	}
}

func (v *viewer) text() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.mu.screen.String()
}

// until waits for a screen.
func (v *viewer) until(what string, is func(screen string) bool) {
	v.t.Helper()
	deadline := time.After(patience)
	for !is(v.text()) {
		select {
		case <-v.changed:
		case <-deadline:
			v.t.Fatalf("waited in vain for %s on\n%s", what, v.text())
		}
	}
}

// shows waits until the screen has all texts.
func (v *viewer) shows(texts ...string) {
	v.t.Helper()
	for _, text := range texts {
		v.until(text, func(screen string) bool { return strings.Contains(screen, text) })
	}
}

// hides waits until the screen no longer has a text.
func (v *viewer) hides(text string) {
	v.t.Helper()
	v.until("the end of "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

// ends waits for a successful end, and checks that the terminal is as it was.
func (v *viewer) ends() {
	v.t.Helper()
	exited := make(chan error, 1)
	go func() { exited <- v.cmd.Wait() }()
	select {
	case err := <-exited:
		if err != nil {
			v.t.Errorf("exit: %v", err)
		}
	case <-time.After(patience):
		v.t.Fatalf("still running\n%s", v.text())
	}
	if after := modes(v.t, v.tty); after != v.before {
		v.t.Errorf("the terminal's modes are %v, were %v", after, v.before)
	}
	deadline := time.After(patience)
	for v.onAlternate() {
		select {
		case <-v.changed:
		case <-deadline:
			v.t.Fatal("the terminal still has the alternate screen")
		}
	}
}

func (v *viewer) onAlternate() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.mu.alt || v.mu.screen.CursorHidden()
}

// output is all that the program has written.
func (v *viewer) output() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return string(v.mu.bytes)
}
