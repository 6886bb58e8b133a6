package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// startFairlead runs the store and the API server without controllers, as the other peer
// does; or all parts, in one process; or servers on etcd. As with the other peer, requests are limited only if the layout is.
func startFairlead(b *binaries, dir string, l layout) (*server, error) {
	s := &server{began: time.Now()}
	args := []string{"server"}
	if l.nodes > 0 {
		args = []string{"up", "--nodes", strconv.Itoa(l.nodes)}
	}
	if n := l.podsPerNode; n > 0 {
		args = append(args, fmt.Sprintf("--node-capacity=pods=%d", n+max(1, n/10)))
	}
	if l.below {
		devices, err := writeDevices(dir)
		if err != nil {
			return nil, err
		}
		args = append(args, "--scheduler=false", "--devices", devices)
	}
	args = append(args, "--profiling")
	if !l.limited {
		args = append(args, unlimited...)
	}
	if l.Members > 0 {
		processes, store, err := startEtcd(b, dir, l.Members)
		if err != nil {
			return nil, err
		}
		s.processes, s.members = processes, processes
		args = append(args, "--etcd-servers", strings.Join(store, ","))
	}
	for i := range l.Servers {
		err := s.add(dir, i, func(home, address string) (*process, error) {
			return startProcess(home, b.fairlead, append(args, "--data-dir", filepath.Join(home, "data"), "--listen", address)...)
		})
		if err != nil {
			return nil, err
		}
	}
	s.admin = func() (credentials, error) {
		return kubeconfigUser(filepath.Join(dataDirectory(dir), "kubeconfig"))
	}
	return s, nil
}

// dataDirectory is that of the first server in dir.
func dataDirectory(dir string) string { return filepath.Join(dir, serverDirectory(0), "data") }

// kubeconfigUser reads the client certificate of a kubeconfig's only user.
func kubeconfigUser(path string) (credentials, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return credentials{}, err
	}
	var config struct {
		Users []struct {
			User struct {
				Cert []byte `json:"client-certificate-data"`
				Key  []byte `json:"client-key-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return credentials{}, err
	}
	if len(config.Users) != 1 {
		return credentials{}, errors.New(path + ": want one user")
	}
	pair, err := tls.X509KeyPair(config.Users[0].User.Cert, config.Users[0].User.Key)
	return credentials{cert: &pair}, err
}
