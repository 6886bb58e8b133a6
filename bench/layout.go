package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// layout is the composition of a peer.
type layout struct {
	// Servers is the number of API servers, and Members that of etcd's members below them. Without members Fairlead has its own
	// store, and kube-apiserver an etcd of one member.
	Servers int `json:"servers"`
	Members int `json:"members"`
	// nodes is the number of simulated nodes of a whole control plane; 0 for the API alone.
	nodes int
	// podsPerNode is the number of pods that a node is to have; 0 for a node's usual capacity.
	podsPerNode int
	// below reports whether its scheduler is another process, and its nodes have devices.
	below bool
	// limited leaves the limits of requests at their defaults.
	limited bool
}

// unlimited are the flags without which a server limits requests.
var unlimited = []string{"--enable-priority-and-fairness=false", "--max-requests-inflight=0", "--max-mutating-requests-inflight=0"}

func (l layout) check(loads []load) error {
	switch {
	case l.Servers < 1:
		return fmt.Errorf("-servers %d: want 1 or more", l.Servers)
	case l.Members < 0:
		return fmt.Errorf("-members %d: want 0 or more", l.Members)
	case l.Servers > 1 && l.Members == 0:
		return errors.New("-servers needs -members: Fairlead's own store has one server")
	}
	for _, x := range loads {
		if x.nodes != nil && l.Members > 0 {
			return fmt.Errorf("-members: %s is a load of one machine", x.name)
		}
	}
	return nil
}

func (l layout) with(a act) layout {
	l.nodes, l.below, l.limited = a.nodes, a.below, a.limited
	return l
}

// startEtcd runs an etcd cluster whose members sync each write, and returns their client URLs.
func startEtcd(b *binaries, dir string, members int) (processes []*process, urls []string, err error) {
	defer func() {
		if err != nil {
			for _, p := range processes {
				p.stop()
			}
		}
	}()
	var peers, cluster []string
	for i := range members {
		client, err := freeAddress()
		if err != nil {
			return nil, nil, err
		}
		peer, err := freeAddress()
		if err != nil {
			return nil, nil, err
		}
		urls, peers = append(urls, "http://"+client), append(peers, "http://"+peer)
		cluster = append(cluster, fmt.Sprintf("m%d=http://%s", i, peer))
	}
	for i := range members {
		home, err := subdirectory(dir, fmt.Sprintf("etcd-%d", i))
		if err != nil {
			return processes, nil, err
		}
		p, err := startProcess(home, b.etcd,
			"--name", fmt.Sprintf("m%d", i), "--data-dir", filepath.Join(home, "data"), "--log-level=error",
			"--listen-client-urls", urls[i], "--advertise-client-urls", urls[i],
			"--listen-peer-urls", peers[i], "--initial-advertise-peer-urls", peers[i],
			"--initial-cluster", strings.Join(cluster, ","))
		if err != nil {
			return processes, nil, err
		}
		processes = append(processes, p)
	}
	return processes, urls, nil
}

func subdirectory(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	return path, os.MkdirAll(path, 0o700)
}
