package virtualclock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"fairlead.dev/internal/memnet"
	"fairlead.dev/internal/virtualclock"
)

// role tells this program, started by a test, to be a server on a virtual clock: a process can have only one.
const role = "VIRTUALCLOCK_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(role) == "" {
		os.Exit(m.Run())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		ctx, stop := context.WithCancel(context.Background())
		go func() {
			io.Copy(io.Discard, os.Stdin)
			stop()
		}()
		err = virtualclock.Run(ctx, func(ctx context.Context, c *virtualclock.Clock) error { return serve(ctx, c, l) })
	}
	fmt.Println(err)
	os.Exit(0)
}

// serve answers at l until ctx ends. Its end takes an hour, and is an error.
func serve(ctx context.Context, c *virtualclock.Clock, l net.Listener) error {
	n := new(memnet.Network)
	inner, err := n.Listen(l.Addr().String())
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: handler(c)}
	go srv.Serve(inner)
	c.Serve(n, l)
	fmt.Println(l.Addr())
	<-ctx.Done()
	c.Release() // a second time, as a process does that stops by itself or by a signal
	began := time.Now()
	time.Sleep(time.Hour)
	return fmt.Errorf("%w, %v later", errors.Join(errors.New("ended"), srv.Close()), time.Since(began))
}

// handler answers requests that take virtual time.
func handler(c *virtualclock.Clock) http.Handler {
	mux := http.NewServeMux()
	duration := func(r *http.Request) time.Duration {
		d, _ := time.ParseDuration(r.FormValue("d"))
		return d
	}
	mux.HandleFunc("/now", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, time.Now().UnixNano()) })
	mux.HandleFunc("/real", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, c.Real().UnixNano()) })
	mux.HandleFunc("/advance", func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		if err := c.Advance(r.Context(), duration(r)); err != nil {
			fmt.Fprint(w, err)
			return
		}
		fmt.Fprint(w, time.Since(began))
	})
	// An advance during another one.
	mux.HandleFunc("/twice", func(w http.ResponseWriter, r *http.Request) {
		first, d := make(chan error), duration(r)
		go func() { first <- c.Advance(r.Context(), d) }()
		time.Sleep(d / 2)
		second := c.Advance(r.Context(), d)
		fmt.Fprint(w, <-first, second == virtualclock.ErrBusy)
	})
	mux.HandleFunc("/ticks", func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		for tick := time.Tick(duration(r)); ; {
			select {
			case at := <-tick:
				fmt.Fprintln(w, at.UnixNano())
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		io.Copy(w, r.Body)
	})
	mux.HandleFunc("/flood", func(w http.ResponseWriter, _ *http.Request) {
		for buf := make([]byte, 1<<20); ; {
			if _, err := w.Write(buf); err != nil {
				return
			}
		}
	})
	return mux
}

// process is a server on a virtual clock.
type process struct {
	t       *testing.T
	address string
	stdin   io.Closer
	out     *bufio.Reader
	cmd     *exec.Cmd
}

// start starts a server, which ends with the test.
func start(t *testing.T) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0])}
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), role+"=server"), os.Stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.stdin, p.out = stdin, bufio.NewReader(out)
	t.Cleanup(p.end)
	p.address = p.line()
	return p
}

// line returns the next line of the server's output.
func (p *process) line() string {
	p.t.Helper()
	text, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	return text[:len(text)-1]
}

// end stops the server. It takes an hour of the virtual clock.
func (p *process) end() {
	p.t.Helper()
	p.stdin.Close()
	if got, want := p.line(), "ended, 1h0m0s later"; got != want {
		p.t.Errorf("the server ends with %q, want %q", got, want)
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Error(err)
	}
}
