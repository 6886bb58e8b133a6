package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// besideEnv has this program be a client beside the loads of another process of it. It is a process of its own so that neither waits for the
// goroutines of the other.
const besideEnv = "FAIRLEAD_BENCH_BESIDE"

// besides are the clients by the value of besideEnv. Each runs until ctx ends, and prints its result.
var besides = map[string]func(ctx context.Context, task besideTask) error{"probe": probe, "storm": storm}

// besideTask is the standard input of a client, whose end ends the client.
type besideTask struct {
	URL, Token string
	Pods       int
}

// beside is a client that runs.
type beside struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

func (b *bench) startBeside(name string) (*beside, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &beside{name: name, cmd: exec.Command(self)}
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), besideEnv+"="+name), os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	return p, json.NewEncoder(p.in).Encode(besideTask{b.server.urls[0], b.user.token, b.Pods})
}

// end ends the client and reads its result.
func (p *beside) end(result ...any) error {
	p.in.Close()
	_, err := fmt.Fscan(p.out, result...)
	if failed := p.cmd.Wait(); failed != nil {
		err = fmt.Errorf("%s: %w", p.name, failed)
	}
	return err
}

// runBeside is the process of a client.
func runBeside(name string) error {
	run, ok := besides[name]
	if !ok {
		return fmt.Errorf("%s=%s: there is no such client", besideEnv, name)
	}
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var task besideTask
	if err := json.Unmarshal(line, &task); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, in)
		stop()
	}()
	return run(ctx, task)
}

// patiently makes a request again that the server has refused for now, until ctx ends.
func patiently(ctx context.Context, call func() error) error {
	for {
		err := call()
		var busy *refusal
		if !errors.As(err, &busy) {
			return err
		}
		if err := sleep(ctx, busy.after); err != nil {
			return err
		}
	}
}

// A refusal is the response 429.
type refusal struct {
	error
	after time.Duration // of Retry-After
}
