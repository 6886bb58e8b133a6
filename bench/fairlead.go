package main

import (
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"sigs.k8s.io/yaml"
)

// startFairlead runs the store and the API server without controllers, as the other peer
// does; or all parts, in one process. As with the other peer, requests are not limited.
func startFairlead(b *binaries, dir string, nodes int) (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	s := &server{url: "https://" + address, began: time.Now()}
	args := []string{"server"}
	if nodes > 0 {
		args = []string{"up", "--nodes", strconv.Itoa(nodes)}
	}
	p, err := startProcess(dir, b.fairlead, append(args, "--data-dir", data, "--listen", address,
		"--enable-priority-and-fairness=false", "--max-requests-inflight=0", "--max-mutating-requests-inflight=0")...)
	if err != nil {
		return nil, err
	}
	s.processes = []*process{p}
	s.admin = func() (credentials, error) { return kubeconfigUser(filepath.Join(data, "kubeconfig")) }
	return s, nil
}

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
