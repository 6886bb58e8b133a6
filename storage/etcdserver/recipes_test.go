package etcdserver_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc/health/grpc_health_v1"

	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/storage/etcdserver"
	"fairlead.dev/storage/local"
)

// TestMutex counts under etcd's own lock, from several sessions.
func TestMutex(t *testing.T) {
	c, _ := serve(t)
	var wg sync.WaitGroup
	inside, total := 0, 0
	for range 5 {
		wg.Go(func() {
			s, err := concurrency.NewSession(c, concurrency.WithTTL(30))
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			m := concurrency.NewMutex(s, "/lock/")
			for range 5 {
				if err := m.Lock(ctx(t)); err != nil {
					t.Error(err)
					return
				}
				inside++
				if inside != 1 {
					t.Errorf("%d are inside", inside)
				}
				total++
				inside--
				if err := m.Unlock(ctx(t)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if total != 25 {
		t.Errorf("%d times inside", total)
	}
}

// TestElection elects, resigns and elects the next.
func TestElection(t *testing.T) {
	c, _ := serve(t)
	leaders := make(chan string)
	for i := range 3 {
		s, err := concurrency.NewSession(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		go func() {
			e := concurrency.NewElection(s, "/election")
			if e.Campaign(context.Background(), fmt.Sprint(i)) != nil {
				return
			}
			leaders <- fmt.Sprint(i)
			e.Resign(context.Background())
		}()
	}
	seen := map[string]bool{}
	for range 3 {
		select {
		case l := <-leaders:
			seen[l] = true
		case <-ctx(t).Done():
			t.Fatalf("only %v led", seen)
		}
	}
	if len(seen) != 3 {
		t.Errorf("%v led", seen)
	}
}

// TestSTM moves amounts between accounts with etcd's transactional memory.
func TestSTM(t *testing.T) {
	c, _ := serve(t)
	for i := range 4 {
		put(t, c, fmt.Sprint("acc", i), "100")
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 15 {
				_, err := concurrency.NewSTM(c, func(s concurrency.STM) error {
					from, to := fmt.Sprint("acc", w), fmt.Sprint("acc", (w+1+i%3)%4)
					var a, b int
					fmt.Sscan(s.Get(from), &a)
					fmt.Sscan(s.Get(to), &b)
					s.Put(from, fmt.Sprint(a-1))
					s.Put(to, fmt.Sprint(b+1))
					return nil
				}, concurrency.WithAbortContext(ctx(t)))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	g, err := c.Get(ctx(t), "acc", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, kv := range g.Kvs {
		var n int
		fmt.Sscan(string(kv.Value), &n)
		sum += n
	}
	if sum != 400 {
		t.Errorf("the sum is %d", sum)
	}
}

func TestMaintenance(t *testing.T) {
	c, _ := serve(t)
	put(t, c, "a", "1")
	st, err := c.Status(ctx(t), c.Endpoints()[0])
	if err != nil || st.Version != "3.7.3" || st.Leader == 0 || st.Leader != st.Header.MemberId || st.Header.Revision != 2 {
		t.Errorf("Status: %v, %v", st, err)
	}
	if a, err := c.AlarmList(ctx(t)); err != nil || len(a.Alarms) != 0 {
		t.Errorf("AlarmList: %v, %v", a, err)
	}
	if _, err := c.Defragment(ctx(t), c.Endpoints()[0]); err != nil {
		t.Errorf("Defragment: %v", err)
	}
	h1, err := c.HashKV(ctx(t), c.Endpoints()[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	put(t, c, "a", "2")
	h2, err := c.HashKV(ctx(t), c.Endpoints()[0], 2)
	if err != nil || h1.Hash != h2.Hash || h1.HashRevision != 2 {
		t.Errorf("HashKV: %v, then %v, %v", h1, h2, err)
	}
	if h3, err := c.HashKV(ctx(t), c.Endpoints()[0], 0); err != nil || h3.Hash == h1.Hash {
		t.Errorf("HashKV of something else: %v, %v", h3, err)
	}
	m, err := c.MemberList(ctx(t))
	if err != nil || len(m.Members) != 1 || m.Members[0].ID != st.Leader {
		t.Errorf("MemberList: %v, %v", m, err)
	}
	if _, err := c.MemberAdd(ctx(t), []string{"http://localhost:1"}); err == nil {
		t.Error("a member was added")
	}
	_, err = pb.NewAuthClient(c.ActiveConnection()).Authenticate(ctx(t), &pb.AuthenticateRequest{Name: "root", Password: "x"})
	wantErr(t, "Authenticate", err, rpctypes.ErrGRPCAuthNotEnabled)
	if a, err := c.AuthStatus(ctx(t)); err != nil || a.Enabled {
		t.Errorf("AuthStatus: %v, %v", a, err)
	}
	if r, err := grpc_health_v1.NewHealthClient(c.ActiveConnection()).Check(ctx(t), &grpc_health_v1.HealthCheckRequest{}); err != nil || r.Status != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("Check: %v, %v", r, err)
	}
}

func get(t *testing.T, c *http.Client, url string) (int, string) {
	t.Helper()
	r, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(b)
}

// TestHTTP sends the requests of probes, on the port of gRPC, before and after the store is closed.
func TestHTTP(t *testing.T) {
	c, store := serve(t)
	url := "http://" + c.Endpoints()[0]
	code, body := get(t, http.DefaultClient, url+"/version")
	var v map[string]string
	if err := json.Unmarshal([]byte(body), &v); code != 200 || err != nil || v["etcdserver"] != "3.7.3" || v["etcdcluster"] != "3.7.0" {
		t.Errorf("/version: %d %s", code, body)
	}
	if code, body := get(t, http.DefaultClient, url+"/health"); code != 200 || body != "{\"health\":\"true\",\"reason\":\"\"}\n" {
		t.Errorf("/health: %d %q", code, body)
	}
	if code, body := get(t, http.DefaultClient, url+"/readyz"); code != 200 {
		t.Errorf("/readyz: %d %q", code, body)
	}
	store.Close()
	if code, body := get(t, http.DefaultClient, url+"/health"); code != 503 {
		t.Errorf("/health of a closed store: %d %q", code, body)
	}
	if _, err := c.Get(ctx(t), "a"); err == nil {
		t.Error("a closed store was read")
	}
}

// TestTLS serves gRPC and HTTP on one port, only to clients with the right certificate.
func TestTLS(t *testing.T) {
	authority, err := pki.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	serving, err := authority.Serving("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	certPEM, keyPEM, err := authority.Client("me", "")
	if err != nil {
		t.Fatal(err)
	}
	client, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority.PEM())
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	address := serveStore(t, etcdserver.Config{Store: store, TLS: &tls.Config{
		Certificates: []tls.Certificate{*serving}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool,
	}})
	with := &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{client}}
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://" + address}, TLS: with})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	put(t, c, "a", "1")
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: with.Clone(), ForceAttemptHTTP2: true}}
	if code, body := get(t, web, "https://"+address+"/health"); code != 200 {
		t.Errorf("/health: %d %s", code, body)
	}
	stranger := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	if r, err := stranger.Get("https://" + address + "/health"); err == nil {
		r.Body.Close()
		t.Error("a client without a certificate was let in")
	}
}
