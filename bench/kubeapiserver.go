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
	"strings"
	"time"
)

// startKubeAPIServer runs etcd and kube-apiservers with
// their defaults but for one: unless the layout is limited, priority and fairness is off, and no limit in its place, so that
// no load waits in a queue or is refused, which is the cheaper way for it.
func startKubeAPIServer(b *binaries, dir string, l layout) (*server, error) {
	const issuer = "https://kubernetes.default.svc.cluster.local"
	const adminToken = "admin-of-the-bench"
	tokens, key := filepath.Join(dir, "tokens.csv"), filepath.Join(dir, "sa.key")
	if err := os.WriteFile(tokens, []byte(adminToken+",admin,1,system:masters\n"), 0o600); err != nil {
		return nil, err
	}
	if err := writeKey(key); err != nil {
		return nil, err
	}
	s := &server{
		began: time.Now(),
		admin: func() (credentials, error) { return credentials{token: adminToken}, nil },
	}
	var store []string
	var err error
	if s.processes, store, err = startEtcd(b, dir, max(l.Members, 1)); err != nil {
		return nil, err
	}
	if l.Members > 0 {
		s.members = s.processes
	}
	for i := range l.Servers {
		err := s.add(dir, i, func(home, address string) (*process, error) {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			args := []string{
				"--etcd-servers", strings.Join(store, ","), "--cert-dir", filepath.Join(home, "certs"),
				"--bind-address", host, "--secure-port", port,
				"--authorization-mode=RBAC", "--token-auth-file", tokens,
				"--service-cluster-ip-range=10.96.0.0/12", "--service-account-issuer", issuer,
				"--service-account-signing-key-file", key, "--service-account-key-file", key,
			}
			if !l.limited {
				args = append(args, unlimited...)
			}
			return startProcess(home, b.kubeAPIServer, args...)
		})
		if err != nil {
			return nil, err
		}
	}
	if l.nodes > 0 {
		s.complete = func() error { return startKubeControllers(s, b, dir, adminToken, key, l.nodes) }
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
