package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"time"
)

// probeEnv has this program be a probe.
const probeEnv = "FAIRLEAD_BENCH_PROBE"

// probeTask is a probe's standard input.
type probeTask struct {
	URL, Token string
	Pods       int
}

// probing is a process that reads one pod after the other. It is one of its own so
// that it does not wait for the goroutines of the load beside it.
type probing struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (b *bench) startProbe() (*probing, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &probing{cmd: exec.Command(self)}
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), probeEnv+"=1"), os.Stderr
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
	return p, json.NewEncoder(p.in).Encode(probeTask{b.server.urls[0], b.user.token, b.Pods})
}

// end ends the probe and returns the median latency of a get.
func (p *probing) end() (median time.Duration, err error) {
	p.in.Close()
	_, err = fmt.Fscan(p.out, &median)
	if failed := p.cmd.Wait(); failed != nil {
		err = fmt.Errorf("probe: %w", failed)
	}
	return median, err
}

// probe is the process: until its input ends it reads pods.
func probe() {
	in := bufio.NewReader(os.Stdin)
	var task probeTask
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &task)
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, in)
		stop()
	}()
	c := newClient(task.URL, credentials{token: task.Token})
	var took []time.Duration
	for i := 0; err == nil && sleep(ctx, 2*time.Millisecond) == nil; i++ {
		begin := time.Now()
		err = c.call(context.Background(), request{path: podPath(i * 7919 % task.Pods), want: http.StatusOK})
		took = append(took, time.Since(begin))
	}
	if err != nil || len(took) == 0 {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(exitFailed)
	}
	slices.Sort(took)
	fmt.Println(int64(took[len(took)/2]))
}
