package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// peer is a server to be measured.
type peer struct {
	name string
	// with names the parts of a whole control plane besides the server.
	with string
	// run starts it with an empty store in dir and returns at once: its API alone, or, with
	// nodes, a whole control plane and so many of them.
	run func(b *binaries, dir string, l layout) (*server, error)
	// scheduler is the name of its scheduler, and schedule runs that alone.
	scheduler string
	schedule  func(b *binaries, dir, kubeconfig string) (*process, error)
}

var peers = []peer{
	{"fairlead", "its controllers, scheduler and nodes", startFairlead, "fairlead scheduler", scheduleFairlead},
	{"kube-apiserver", "kube-controller-manager and kube-scheduler", startKubeAPIServer, "kube-scheduler", scheduleKube},
}

func (p *peer) label(a act) string {
	switch {
	case a.below:
		return fmt.Sprintf("%s on a server of Fairlead, %d nodes", p.scheduler, a.nodes)
	case a.nodes == 0:
		return p.name
	}
	return fmt.Sprintf("%s with %s, %d nodes", p.name, p.with, a.nodes)
}

func selectPeers(names string) ([]peer, error) {
	var picked []peer
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(peers, func(p peer) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-against: there is no server %q", name)
		}
		picked = append(picked, peers[i])
	}
	return picked, nil
}

// server is a peer that runs.
type server struct {
	urls      []string // of its API servers
	processes []*process
	// members are those of etcd among the processes, in a layout that has members below both peers.
	members []*process
	// players are simulated nodes that no process of the server's plays.
	players []*process
	// scheduler is that of a load of schedulers.
	scheduler *process
	// complete starts the parts that need the API, once it is ready; it may be nil.
	complete func() error
	// admin returns an administrator's credentials, once the server is ready.
	admin func() (credentials, error)
	// began is when the first of its programs was executed.
	began time.Time
	ready time.Duration
}

// credentials are a bearer token or a client certificate.
type credentials struct {
	token string
	cert  *tls.Certificate
}

// add starts API server i of the layout in a directory of its own. After an error the whole server is stopped.
func (s *server) add(dir string, i int, start func(home, address string) (*process, error)) (err error) {
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	home, err := subdirectory(dir, serverDirectory(i))
	if err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	p, err := start(home, address)
	if err != nil {
		return err
	}
	s.urls, s.processes = append(s.urls, "https://"+address), append(s.processes, p)
	return nil
}

func serverDirectory(i int) string { return fmt.Sprintf("server-%d", i) }

func (s *server) stop() {
	for _, p := range slices.Backward(s.all()) {
		p.stop()
	}
}

// all are the processes, in the order of their starts.
func (s *server) all() []*process {
	all := slices.Concat(s.processes, s.players)
	if s.scheduler != nil {
		all = append(all, s.scheduler)
	}
	return all
}

// cpu is the CPU time of all processes together.
func (s *server) cpu() (time.Duration, error) { return cpuOf(s.processes) }

func cpuOf(processes []*process) (time.Duration, error) {
	var sum time.Duration
	for _, p := range processes {
		t, err := p.cpu()
		if err != nil {
			return 0, err
		}
		sum += t
	}
	return sum, nil
}

// resident is the memory of all processes together, in bytes.
func (s *server) resident() (int64, error) {
	var sum int64
	for _, p := range s.processes {
		n, err := p.resident()
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// await waits until the server is ready, and records how long that took.
func (s *server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for _, url := range s.urls {
		c := newClient(url, credentials{})
		defer c.close()
		for c.call(ctx, request{path: "/readyz", want: http.StatusOK}) != nil {
			if gone := s.ended(); gone != "" {
				return errors.New(gone)
			}
			if err := sleep(ctx, 5*time.Millisecond); err != nil {
				return fmt.Errorf("%s is not ready: %w", url, err)
			}
		}
	}
	s.ready = time.Since(s.began)
	return nil
}

// ended describes the end of the first process that has ended; "" while all run.
func (s *server) ended() string {
	for _, p := range s.all() {
		select {
		case <-p.done:
			return fmt.Sprintf("%s has ended (%v):\n%s", p.cmd.Path, p.cmd.ProcessState, p.said())
		default:
		}
	}
	return ""
}

// freeAddress is an address of this machine without a listener.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
