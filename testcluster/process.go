package testcluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// agent names this package in errors and certificates, and userAgent in requests.
const (
	agent     = "testcluster"
	userAgent = "fairlead-" + agent
)

// stopTimeout is how long the process may take to stop before it is killed. Two seconds are enough unless the machine
// stalls.
const stopTimeout = 30 * time.Second

// local has the process of an environment, or the base of a fork.
type local struct {
	process *process
	// hosts makes the process host forks.
	hosts bool
	// origin, name and end are those of a fork: its base, its name there, and a function that closes ended.
	origin *Base
	name   string
	end    func()
}

// process is a running `fairlead up`.
type process struct {
	cmd *exec.Cmd
	// in takes commands, and lines has the lines that it prints.
	in    io.WriteCloser
	lines chan []byte
	// ended is closed when the process has ended, with the result err.
	ended chan struct{}
	err   error
}

// start starts the process, and returns when its API server answers. An error leaves no process behind.
func (e *Env) start(ctx context.Context, o Options, p plan) (err error) {
	binary, err := findBinary(ctx, o.Binary)
	if err != nil {
		return err
	}
	inputs, err := os.MkdirTemp("", "fairlead-inputs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(inputs) // the process has read them when it is ready
	args, err := arguments(inputs, o, p)
	if err != nil {
		return err
	}
	pr := &process{cmd: exec.Command(binary, args...), lines: make(chan []byte), ended: make(chan struct{})}
	pr.cmd.Stderr = p.log
	detach(pr.cmd)
	if e.hosts {
		pr.cmd.Args = append(pr.cmd.Args, "--stdin")
		if pr.in, err = pr.cmd.StdinPipe(); err != nil {
			return err
		}
	}
	stdout, err := pr.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := pr.cmd.Start(); err != nil {
		return err
	}
	go pr.read(stdout)
	select {
	case first := <-pr.lines:
		err = e.connect(first)
	case <-ctx.Done():
		err = fmt.Errorf("%s is not ready: %w", binary, ctx.Err())
	}
	if err != nil {
		kill(pr.cmd.Process)
		pr.drain()
		if text := p.log.String(); text != "" {
			return fmt.Errorf("%s: %s", binary, text)
		}
		return err
	}
	e.process, e.ended, e.stop = pr, pr.ended, sync.OnceValue(pr.stop)
	return nil
}

// read passes on the lines that the process prints, and closes lines and ended at its end.
func (p *process) read(stdout io.Reader) {
	in := bufio.NewReader(stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil { // the end of the process
			break
		}
		p.lines <- line
	}
	close(p.lines)
	p.err = p.cmd.Wait()
	close(p.ended)
}

// drain returns when the process has ended.
func (p *process) drain() {
	for range p.lines {
	}
	<-p.ended
}

// arguments are those of the process. They name files in the directory inputs.
func arguments(inputs string, o Options, p plan) ([]string, error) {
	nodes, controllers := 3, "*"
	switch {
	case o.NoNodes:
		nodes = 0
	case o.Nodes > 0:
		nodes = o.Nodes
	}
	switch {
	case o.NoControllers:
		controllers = ""
	case len(o.Controllers) > 0:
		controllers = strings.Join(o.Controllers, ",")
	}
	ca := filepath.Join(inputs, "client-ca.crt")
	if err := os.WriteFile(ca, p.authority.pem, 0o600); err != nil {
		return nil, err
	}
	args := []string{
		"up", "--in-memory", "--listen=127.0.0.1:0", "-o=json", "--parent-pid=" + strconv.Itoa(os.Getpid()),
		"--client-ca-file=" + ca, "--allow-faults", "--nodes=" + strconv.Itoa(nodes), "--controllers=" + controllers,
		"--scheduler=" + strconv.FormatBool(!o.NoScheduler),
	}
	if len(p.stages) == 0 {
		return args, nil
	}
	stages := filepath.Join(inputs, "stages.yaml")
	f, err := os.Create(stages)
	if err != nil {
		return nil, err
	}
	for _, m := range p.stages {
		fmt.Fprint(f, "---\n")
		if err := json.NewEncoder(f).Encode(m.data); err != nil {
			return nil, err
		}
	}
	return append(args, "--stages="+stages), f.Close()
}

// connect reads the line that the process prints when it is ready.
func (e *Env) connect(line []byte) error {
	if len(line) == 0 {
		return errors.New("it ended before it was ready")
	}
	var ready struct{ Kubeconfig string }
	if err := json.Unmarshal(line, &ready); err != nil || ready.Kubeconfig == "" {
		return fmt.Errorf("it printed %q instead of a line of JSON with its kubeconfig", line)
	}
	e.kubeconfig, e.dir = ready.Kubeconfig, filepath.Dir(ready.Kubeconfig)
	var err error
	e.config, err = readKubeconfig(ready.Kubeconfig)
	return err
}

// stop ends the process as Ctrl-C does.
func (p *process) stop() error {
	go p.drain()
	interrupt(p.cmd.Process)
	t := time.NewTimer(stopTimeout)
	defer t.Stop()
	select {
	case <-p.ended:
	case <-t.C:
		kill(p.cmd.Process)
		<-p.ended
		return fmt.Errorf("fairlead did not stop within %v, and was killed", stopTimeout)
	}
	if p.err != nil {
		return fmt.Errorf("fairlead ended: %w", p.err)
	}
	return nil
}
