package kubelet

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"

	"fairlead.dev/internal/node/kwok"
	"fairlead.dev/internal/node/shell"
)

// idle is the idle timeout of a connection, and patience the time within which a client has to open
// its streams; both as in a kubelet.
const (
	idle     = 4 * time.Hour
	patience = 30 * time.Second
)

// terminal is the streams of a command.
type terminal struct {
	in       io.Reader // in, out and err may be nil
	out, err io.Writer
	tty      bool
}

func (t terminal) streams() shell.Streams {
	return shell.Streams{In: t.in, Out: t.out, Err: t.err, TTY: t.tty}
}

// session serves an exec or attach request.
type session struct {
	*Server
	pod     *corev1.Pod
	play    func(ctx context.Context, t terminal) (exitCode int, err error)
	attends *run // ends the session when it ends
}

func (s *Server) exec(w http.ResponseWriter, req *http.Request) {
	pod, container := s.found(w, req)
	if pod == nil {
		return
	}
	command := req.URL.Query()["command"]
	st, err := instance(pod, container, false)
	if err != nil || !st.running {
		plain(w, http.StatusInternalServerError, fmt.Sprintf("container not found (%q)", container))
		return
	}
	if len(command) == 0 {
		plain(w, http.StatusBadRequest, "you must specify at least 1 command")
		return
	}
	s.open(w, req, session{Server: s, pod: pod, attends: &st, play: func(ctx context.Context, t terminal) (int, error) {
		entry, ok := s.defs.Exec(pod, container, command)
		switch {
		case !ok:
			return shell.Run(ctx, s.container(pod, container, st.id), t.streams(), command), nil
		case entry.Local != nil:
			return local(ctx, entry.Local, command, t)
		}
		say(t.out, entry.Stdout)
		if t.tty {
			say(t.out, entry.Stderr)
		} else {
			say(t.err, entry.Stderr)
		}
		return entry.ExitCode, nil
	}})
}

func say(w io.Writer, text string) {
	if w != nil {
		io.WriteString(w, text)
	}
}

// local runs a command on this machine in place of the container.
func local(ctx context.Context, l *kwok.Local, command []string, t terminal) (int, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = l.WorkDir, os.Environ()
	for _, e := range l.Envs {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	if t.out != nil {
		cmd.Stdout = t.out
	}
	if cmd.Stderr = t.err; t.tty || t.err == nil {
		cmd.Stderr = cmd.Stdout
	}
	if t.in != nil {
		in, err := cmd.StdinPipe()
		if err != nil {
			return 0, err
		}
		go func() {
			io.Copy(in, t.in)
			in.Close()
		}()
	}
	err := cmd.Run()
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.ExitCode(), nil
	}
	if err != nil {
		say(t.err, err.Error()+"\n")
		return 127, nil
	}
	return 0, nil
}

// open negotiates a protocol with the client and runs the session.
func (s *Server) open(w http.ResponseWriter, req *http.Request, se session) {
	o, err := remotecommand.NewOptions(req)
	if err != nil {
		plain(w, http.StatusBadRequest, err.Error())
		return
	}
	w, req, cancel := watched(w, req)
	defer cancel()
	if closes(req) {
		s.openWebSocket(w, req, o, se)
		return
	}
	remotecommand.ServeExec(w, req, se, se.pod.Name, string(se.pod.UID), "", nil, o, idle, patience, remotecommand.SupportedStreamingProtocols)
}

// ExecInContainer runs the session on streams that the protocol has opened.
func (se session) ExecInContainer(ctx context.Context, _, _, _ string, _ []string, in io.Reader, out, err io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize, _ time.Duration) error {
	go func() {
		for range resize { // the size of the terminal is not used
		}
	}()
	t := terminal{in: in, tty: tty}
	if out != nil {
		t.out = out
	}
	if err != nil {
		t.err = err
	}
	code, failed := se.run(ctx, t)
	if failed == nil && code != 0 {
		return utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", code), Code: code}
	}
	return failed
}

// run runs the session until it or the container ends.
func (se session) run(ctx context.Context, t terminal) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type end struct {
		code int
		err  error
	}
	played, ended := make(chan end, 1), make(chan struct{})
	go func() {
		code, err := se.play(ctx, t)
		played <- end{code, err}
	}()
	go func() {
		defer close(ended)
		se.until(ctx, se.pod.Namespace, se.pod.Name, se.attends.id)
	}()
	select {
	case e := <-played:
		return e.code, e.err
	case <-ended:
		cancel()
	}
	select {
	case e := <-played: // it may have ended by itself
		return e.code, e.err
	default:
		return 137, nil // killed
	}
}
