package etcd_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/internal/port"
	"fairlead.dev/storage/etcd"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// memberEnv makes this program a member of a cluster instead of a test.
const memberEnv = "FAIRLEAD_TEST_ETCD_MEMBER"

// member is one member of a cluster, as a process of its own that can be killed. It
// speaks to clients that have a certificate, and to the other members, over TLS.
type member struct {
	Name, Dir, Client, Peer, Cluster string
	Cert, Key, CA                    string // files

	process *exec.Cmd
	tls     *tls.Config // of a client
}

func TestMain(m *testing.M) {
	if spec := os.Getenv(memberEnv); spec != "" {
		serveMember(spec)
	}
	os.Exit(m.Run())
}

// serveMember runs until the process is killed, or its parent is gone.
func serveMember(spec string) {
	var m member
	err := json.Unmarshal([]byte(spec), &m)
	c := embed.NewConfig()
	c.Name, c.Dir, c.InitialCluster = m.Name, m.Dir, m.Cluster
	c.LogLevel = "fatal"
	c.UnsafeNoFsync = true
	c.TickMs, c.ElectionMs = 20, 200
	c.EnableGRPCGateway = false // it would be a client without a certificate
	c.PeerAutoTLS = true
	c.ClientTLSInfo = transport.TLSInfo{CertFile: m.Cert, KeyFile: m.Key, TrustedCAFile: m.CA, ClientCertAuth: true}
	client, peer := []url.URL{{Scheme: "https", Host: m.Client}}, []url.URL{{Scheme: "https", Host: m.Peer}}
	c.ListenClientUrls, c.AdvertiseClientUrls = client, client
	c.ListenPeerUrls, c.AdvertisePeerUrls = peer, peer
	if err == nil {
		_, err = embed.StartEtcd(c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Stdin.Read(make([]byte, 1)) // ends with the parent
	os.Exit(0)
}

func (m *member) start(t testing.TB) {
	t.Helper()
	spec, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	m.process = exec.Command(os.Args[0])
	m.process.Env = append(os.Environ(), memberEnv+"="+string(spec))
	m.process.Stderr = os.Stderr
	if _, err := m.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := m.process.Start(); err != nil {
		t.Fatal(err)
	}
}

func (m *member) kill() {
	if m.process != nil {
		m.process.Process.Kill()
		m.process.Wait()
		m.process = nil
	}
}

func (m *member) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := m.process.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func (m *member) url() string { return "https://" + m.Client }

// cluster is three members.
type cluster []*member

func startCluster(t testing.TB) cluster {
	t.Helper()
	ports, err := port.Free(6)
	if err != nil {
		t.Fatal(err)
	}
	files, client := certificates(t)
	var c cluster
	var all []string
	for i := range 3 {
		m := files
		m.Name = fmt.Sprint("m", i)
		m.Dir, m.Client, m.Peer, m.tls = filepath.Join(t.TempDir(), m.Name), ports[i], ports[3+i], client
		c = append(c, &m)
		all = append(all, m.Name+"=https://"+m.Peer)
	}
	for _, m := range c {
		m.Cluster = strings.Join(all, ",")
		m.start(t)
	}
	t.Cleanup(func() {
		for _, m := range c {
			m.kill()
		}
	})
	return c
}

// certificates are files for members, and the certificates of a client.
func certificates(t testing.TB) (files member, client *tls.Config) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	authority, err := pki.New(time.Now)
	must(err)
	serving, err := authority.Serving("127.0.0.1")
	must(err)
	key, err := x509.MarshalPKCS8PrivateKey(serving.PrivateKey)
	must(err)
	certPEM, keyPEM, err := authority.Client("fairlead")
	must(err)
	own, err := tls.X509KeyPair(certPEM, keyPEM)
	must(err)
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		must(os.WriteFile(path, b, 0o600))
		return path
	}
	files.CA = write("ca.crt", authority.PEM())
	files.Cert = write("member.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: serving.Certificate[0]}))
	files.Key = write("member.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	return files, &tls.Config{RootCAs: authority.Pool(), Certificates: []tls.Certificate{own}}
}

// open opens a store on the cluster, when it has come up.
func (c cluster) open(t testing.TB, o etcd.Options) *etcd.Store {
	t.Helper()
	for _, m := range c {
		o.Endpoints, o.TLS = append(o.Endpoints, m.url()), m.tls
	}
	deadline := time.Now().Add(2 * patience)
	patient := o // the timeouts of the tests are for a cluster that runs
	patient.Timeout, patient.History = patience, -1
	if s, err := etcd.Open(t.Context(), patient); err == nil {
		s.Close()
	}
	for {
		s, err := etcd.Open(t.Context(), o)
		if err == nil {
			t.Cleanup(func() { s.Close() })
			return s
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// leader finds the leader and another member, of members that are all up. The leader may change at
// any time: a member that was not run for a while loses an election.
func (c cluster) leader(t testing.TB) (leader, other *member) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		leaders := 0
		for _, m := range c {
			leads, err := m.leads(t)
			switch {
			case err != nil:
				leaders = -len(c)
			case leads:
				leader = m
				leaders++
			default:
				other = m
			}
		}
		if leaders == 1 {
			return leader, other
		}
		if time.Now().After(deadline) {
			t.Fatal("no leader")
		}
	}
}

func (m *member) leads(t testing.TB) (bool, error) {
	client := m.client(t)
	defer client.Close()
	status, err := client.Status(t.Context(), m.url())
	if err != nil {
		return false, err
	}
	return status.Leader == status.Header.MemberId, nil
}

// move makes another member the leader.
func (c cluster) move(t testing.TB) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		leader, other := c.leader(t)
		to, from := other.client(t), leader.client(t)
		status, err := to.Status(t.Context(), other.url())
		if err == nil {
			_, err = from.MoveLeader(t.Context(), status.Header.MemberId)
		}
		to.Close()
		from.Close()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func (m *member) client(t testing.TB) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{m.url()}, TLS: m.tls, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	return client
}
