package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// kubeComponent are the flags of kube-controller-manager and kube-scheduler.
var kubeComponent = []string{"--leader-elect=false", "--secure-port=0", "--kube-api-qps=100000", "--kube-api-burst=100000"}

// startKubeControllers runs kube-controller-manager and kube-scheduler with their defaults
// except three: no leader election, the administrator's credentials for all controllers,
// and no limit on requests, where the defaults are 20 and 50 a second. A Fairlead process
// simulates the nodes; its cost is counted separately.
func startKubeControllers(s *server, b *binaries, dir, token, key string, nodes int) error {
	kubeconfig := filepath.Join(dir, "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: %q}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`, s.urls[0], token)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		return err
	}
	shared := append([]string{"--kubeconfig", kubeconfig}, kubeComponent...)
	for _, x := range []struct {
		path string
		args []string
	}{
		{b.kubeControllerManager, append([]string{"--service-account-private-key-file", key}, shared...)},
		{b.kubeScheduler, shared},
	} {
		p, err := startProcess(dir, x.path, x.args...)
		if err != nil {
			return err
		}
		s.processes = append(s.processes, p)
	}
	p, err := startProcess(dir, b.fairlead, "nodes", "--kubeconfig", kubeconfig, "--kubelet-listen=", "--nodes", strconv.Itoa(nodes))
	if err != nil {
		return err
	}
	s.players = append(s.players, p)
	return nil
}
