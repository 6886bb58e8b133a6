package etcd_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/storage/etcd"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// memberEnv makes this program a member of a cluster instead of a test.
const memberEnv = "FAIRLEAD_TEST_ETCD_MEMBER"

// member is one member of a cluster, as a process of its own that can be killed.
type member struct {
	Name, Dir, Client, Peer, Cluster string

	process *exec.Cmd
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
	client, peer := []url.URL{{Scheme: "http", Host: m.Client}}, []url.URL{{Scheme: "http", Host: m.Peer}}
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

func (m *member) url() string { return "http://" + m.Client }

// cluster is three members.
type cluster []*member

func startCluster(t testing.TB) cluster {
	t.Helper()
	ports := freePorts(t, 6)
	var c cluster
	var all []string
	for i := range 3 {
		name := fmt.Sprint("m", i)
		c = append(c, &member{Name: name, Dir: filepath.Join(t.TempDir(), name), Client: ports[i], Peer: ports[3+i]})
		all = append(all, name+"=http://"+ports[3+i])
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

func freePorts(t testing.TB, n int) (hosts []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		hosts = append(hosts, l.Addr().String())
	}
	return hosts
}

// open opens a store on the cluster, when it has come up.
func (c cluster) open(t testing.TB, o etcd.Options) *etcd.Store {
	t.Helper()
	for _, m := range c {
		o.Endpoints = append(o.Endpoints, m.url())
	}
	deadline := time.Now().Add(patience)
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

// leader finds the leader and another member.
func (c cluster) leader(t testing.TB) (leader, other *member, move func()) {
	t.Helper()
	for _, m := range c {
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{m.url()}, Logger: zap.NewNop()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close() })
		status, err := client.Status(t.Context(), m.url())
		if err != nil {
			t.Fatal(err)
		}
		if status.Leader != status.Header.MemberId {
			other = m
			continue
		}
		leader = m
		move = func() {
			list, err := client.MemberList(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, to := range list.Members {
				if to.ID == status.Leader {
					continue
				}
				if _, err := client.MoveLeader(t.Context(), to.ID); err != nil {
					t.Fatal(err)
				}
				return
			}
		}
	}
	if leader == nil || other == nil {
		t.Fatal("no leader")
	}
	return leader, other, move
}
