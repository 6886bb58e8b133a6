package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"sigs.k8s.io/yaml"
)

// server is one that is under attack.
type server struct {
	url, host string
	processes []*exec.Cmd
	admin     *http.Client
	token     string // of the administrator, "" if the client has a certificate
	// mallory is a token of a service account that may read and write in the namespace
	// default, roleless of one without rights.
	mallory, roleless string

	// twin starts another server of the same kind, which is not attacked.
	twin func(ctx context.Context) (*server, error)

	peak   atomic.Int64 // bytes, since watch began
	tooBig atomic.Bool  // the server was stopped for its memory
}

func startServer(ctx context.Context, o options, peer, dir string) (*server, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &server{host: free(), twin: func(ctx context.Context) (*server, error) {
		return startServer(ctx, o, peer, filepath.Join(dir, "twin"))
	}}
	s.url = "https://" + s.host
	var err error
	switch peer {
	case "fairlead":
		err = s.startFairlead(o, dir)
	case "kube-apiserver":
		err = s.startUpstream(o, dir)
	default:
		err = fmt.Errorf("no such server")
	}
	if err == nil {
		err = s.await(ctx, peer, dir)
	}
	if err == nil {
		err = s.setUp(ctx)
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *server) exec(dir, program string, args ...string) error {
	out, err := os.Create(filepath.Join(dir, filepath.Base(program)+".log"))
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	s.processes = append(s.processes, cmd)
	return cmd.Start()
}

func (s *server) startFairlead(o options, dir string) error {
	return s.exec(dir, o.fairlead, "server", "--in-memory", "--data-dir", filepath.Join(dir, "data"), "--listen", s.host)
}

const adminToken = "admin-of-the-attack"

func (s *server) startUpstream(o options, dir string) error {
	const issuer = "https://kubernetes.default.svc.cluster.local"
	tokens, key := filepath.Join(dir, "tokens.csv"), filepath.Join(dir, "sa.key")
	if err := os.WriteFile(tokens, []byte(adminToken+",admin,1,system:masters\n"), 0o600); err != nil {
		return err
	}
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		return err
	}
	if err := os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		return err
	}
	store, peers := "http://"+free(), "http://"+free()
	if err := s.exec(dir, o.etcd, "--data-dir", filepath.Join(dir, "etcd"), "--log-level=error", "--unsafe-no-fsync",
		"--listen-client-urls", store, "--advertise-client-urls", store,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers); err != nil {
		return err
	}
	host, port, _ := net.SplitHostPort(s.host)
	s.token = adminToken
	return s.exec(dir, o.apiserver, "--etcd-servers", store, "--cert-dir", filepath.Join(dir, "certs"),
		"--bind-address", host, "--secure-port", port, "--authorization-mode=RBAC", "--token-auth-file", tokens,
		"--service-cluster-ip-range=10.96.0.0/12", "--service-account-issuer", issuer,
		"--service-account-signing-key-file", key, "--service-account-key-file", key)
}

// free is an address of this machine without a listener.
func free() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// await waits until the server answers, and finds the administrator.
func (s *server) await(ctx context.Context, peer, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	s.admin = newClient(nil)
	for {
		if resp, err := s.admin.Get(s.url + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				break
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready", peer)
		case <-time.After(50 * time.Millisecond):
		}
	}
	if s.token != "" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "data", "kubeconfig"))
	if err != nil {
		return err
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
		return err
	}
	pair, err := tls.X509KeyPair(config.Users[0].User.Cert, config.Users[0].User.Key)
	s.admin = newClient(&pair)
	return err
}

// newClient is a client of one user, with connections of its own.
func newClient(cert *tls.Certificate) *http.Client {
	t := &http.Transport{ForceAttemptHTTP2: true, DisableCompression: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	if cert != nil {
		t.TLSClientConfig.Certificates = []tls.Certificate{*cert}
	}
	return &http.Client{Transport: t}
}

// call makes a request and returns its code and answer.
func (s *server) call(ctx context.Context, c *http.Client, token, method, path, kind string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", kind)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, data, err
}

// must is a request of the administrator that has to succeed.
func (s *server) must(ctx context.Context, method, path, body string) ([]byte, error) {
	var code int
	var data []byte
	var err error
	for range 40 {
		code, data, err = s.call(ctx, s.admin, s.token, method, path, "application/json", []byte(body))
		if err == nil && (code/100 == 2 || code == http.StatusConflict) {
			return data, nil
		}
		time.Sleep(250 * time.Millisecond)
	}
	return data, fmt.Errorf("%s %s: %d %.200s %v", method, path, code, data, err)
}

// setUp makes the accounts of the attackers.
func (s *server) setUp(ctx context.Context) error {
	for _, name := range []string{"mallory", "roleless"} {
		if _, err := s.must(ctx, "POST", "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"`+name+`"}}`); err != nil {
			return err
		}
		data, err := s.must(ctx, "POST", "/api/v1/namespaces/default/serviceaccounts/"+name+"/token", `{"spec":{"expirationSeconds":3600}}`)
		if err != nil {
			return err
		}
		var answer struct{ Status struct{ Token string } }
		if err := json.Unmarshal(data, &answer); err != nil {
			return err
		}
		if name == "roleless" {
			s.roleless = answer.Status.Token
		} else {
			s.mallory = answer.Status.Token
		}
	}
	if _, err := s.must(ctx, "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
		`{"metadata":{"name":"mallory"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"ServiceAccount","name":"mallory","namespace":"default"}]}`); err != nil {
		return err
	}
	for range 100 { // until the authorizer has the new role
		code, _, err := s.call(ctx, s.admin, s.mallory, "GET", "/api/v1/namespaces/default/configmaps?limit=1", "application/json", nil)
		if err == nil && code == http.StatusOK {
			return nil
		}
		if s.token == "" { // the administrator's certificate comes first
			c := newClient(nil)
			code, _, err = s.call(ctx, c, s.mallory, "GET", "/api/v1/namespaces/default/configmaps?limit=1", "application/json", nil)
			if err == nil && code == http.StatusOK {
				return nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("mallory has no rights")
}

// fill creates n ConfigMaps of so many bytes in the namespace default.
func (s *server) fill(ctx context.Context, n, size int) error {
	var wg sync.WaitGroup
	var failed atomic.Pointer[error]
	next := make(chan int)
	value := string(bytes.Repeat([]byte("x"), size))
	for range 16 {
		wg.Go(func() {
			for i := range next {
				if _, err := s.must(ctx, "POST", "/api/v1/namespaces/default/configmaps", fmt.Sprintf(`{"metadata":{"name":"fill-%d"},"data":{"a":%q}}`, i, value)); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	if p := failed.Load(); p != nil {
		return *p
	}
	return nil
}

// resident is the memory of the server's processes together, in bytes.
func (s *server) resident() (sum int64) {
	for _, p := range s.processes {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
		for line := range bytes.Lines(status) {
			if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
				kb, _ := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
				sum += kb << 10
			}
		}
	}
	return sum
}

// watch measures the server's peak memory until ctx ends, and stops a server that exceeds
// the limit.
func (s *server) watch(ctx context.Context, most int64) {
	for ctx.Err() == nil {
		now := s.resident()
		s.peak.Store(max(s.peak.Load(), now))
		if now > most {
			s.tooBig.Store(true)
			for _, p := range s.processes {
				p.Process.Kill()
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (s *server) stop() {
	for i := len(s.processes) - 1; i >= 0; i-- {
		if p := s.processes[i]; p.Process != nil {
			p.Process.Kill()
			p.Wait()
		}
	}
}
