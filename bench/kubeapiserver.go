package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"time"
)

// startKubeAPIServer runs etcd, one member that syncs, and kube-apiserver with
// its defaults but for one: priority and fairness is off, and no limit in its place, so that
// no load waits in a queue or is refused, which is the cheaper way for it.
func startKubeAPIServer(b *binaries, dir string, nodes int) (*server, error) {
	const issuer = "https://kubernetes.default.svc.cluster.local"
	const adminToken = "admin-of-the-bench"
	tokens, key := filepath.Join(dir, "tokens.csv"), filepath.Join(dir, "sa.key")
	if err := os.WriteFile(tokens, []byte(adminToken+",admin,1,system:masters\n"), 0o600); err != nil {
		return nil, err
	}
	if err := writeKey(key); err != nil {
		return nil, err
	}
	var addresses [3]string
	for i := range addresses {
		var err error
		if addresses[i], err = freeAddress(); err != nil {
			return nil, err
		}
	}
	store, storePeers := "http://"+addresses[0], "http://"+addresses[1]
	host, port, err := net.SplitHostPort(addresses[2])
	if err != nil {
		return nil, err
	}
	s := &server{
		url:   "https://" + addresses[2],
		began: time.Now(),
		admin: func() (credentials, error) { return credentials{token: adminToken}, nil },
	}
	etcd, err := startProcess(dir, b.etcd,
		"--data-dir", filepath.Join(dir, "etcd"), "--log-level=error",
		"--listen-client-urls", store, "--advertise-client-urls", store,
		"--listen-peer-urls", storePeers, "--initial-advertise-peer-urls", storePeers,
		"--initial-cluster", "default="+storePeers)
	if err != nil {
		return nil, err
	}
	s.processes = append(s.processes, etcd)
	api, err := startProcess(dir, b.kubeAPIServer,
		"--etcd-servers", store, "--cert-dir", filepath.Join(dir, "certs"),
		"--bind-address", host, "--secure-port", port,
		"--authorization-mode=RBAC", "--token-auth-file", tokens,
		"--enable-priority-and-fairness=false", "--max-requests-inflight=0", "--max-mutating-requests-inflight=0",
		"--service-cluster-ip-range=10.96.0.0/12", "--service-account-issuer", issuer,
		"--service-account-signing-key-file", key, "--service-account-key-file", key)
	if err != nil {
		s.stop()
		return nil, err
	}
	s.processes = append(s.processes, api)
	if nodes > 0 {
		s.complete = func() error { return startKubeControllers(s, b, dir, adminToken, key, nodes) }
	}
	return s, nil
}

// writeKey makes the key that service account tokens are signed with.
func writeKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}
