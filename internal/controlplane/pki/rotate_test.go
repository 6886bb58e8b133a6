package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"testing"
	"time"

	"fairlead.dev/internal/controlplane/pki"
)

// handshake connects a client of one authority, which trusts the roots, to a server of another one, and returns the error of
// either side.
func handshake(t *testing.T, server, client *pki.Authority, clientRoots, serverRoots *x509.CertPool) error {
	t.Helper()
	serving, err := server.Serving("localhost")
	if err != nil {
		t.Fatal(err)
	}
	cert, key, err := client.Client("jane")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	in, out := net.Pipe()
	defer in.Close()
	defer out.Close()
	served := make(chan error, 1)
	go func() {
		c := tls.Server(in, &tls.Config{Certificates: []tls.Certificate{*serving}, ClientCAs: serverRoots, ClientAuth: tls.RequireAndVerifyClientCert, SessionTicketsDisabled: true})
		err := c.HandshakeContext(t.Context())
		in.Close()
		served <- err
	}()
	c := tls.Client(out, &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: clientRoots, ServerName: "localhost"})
	err = c.HandshakeContext(t.Context())
	out.Close()
	return errors.Join(err, <-served)
}

// reload saves an authority and loads it again.
func reload(t *testing.T, a *pki.Authority, dir string) *pki.Authority {
	t.Helper()
	if err := a.Save(dir); err != nil {
		t.Fatal(err)
	}
	loaded, err := pki.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !loaded.Same(a) {
		t.Fatal("another authority was loaded than was saved")
	}
	return loaded
}

// TestRotation: between the two steps, peers with the old CA and the new one, old certificates and new ones, understand each
// other; afterwards only those with the new one do.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	old, err := pki.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	both, err := old.Rotated(pki.Rotation{CA: true, TokenKey: true})
	if err != nil {
		t.Fatal(err)
	}
	both = reload(t, both, dir)
	done, err := both.Rotated(pki.Rotation{Finish: true})
	if err != nil {
		t.Fatal(err)
	}
	done = reload(t, done, dir)
	for _, c := range []struct {
		name                    string
		server, client          *pki.Authority
		clientTrusts, serverHas *pki.Authority
		good                    bool
	}{
		{"old client of the rotated server", both, old, old, both, true},
		{"new client of a server that knows the old CA alone", old, both, both, old, true},
		{"new client", both, both, both, both, true},
		{"client that knows the new CA alone", both, both, done, both, true},
		{"client of the finished server", done, both, both, done, true},
		{"old certificate at the finished server", done, old, both, done, false},
		{"client that trusts the old CA alone, at the finished server", done, done, old, done, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := handshake(t, c.server, c.client, c.clientTrusts.Pool(), c.serverHas.Pool()); (err == nil) != c.good {
				t.Errorf("the handshake ended with %v", err)
			}
			if c.server == both && c.client == both {
				if err := handshake(t, c.server, c.client, old.Pool(), old.Pool()); err != nil {
					t.Errorf("peers that know the old CA alone: %v", err)
				}
			}
		})
	}
	if len(both.RetiredTokenKeys()) != 1 || !old.TokenKey().PublicKey.Equal(both.RetiredTokenKeys()[0]) || both.TokenKey().Equal(old.TokenKey()) || len(done.RetiredTokenKeys()) != 0 {
		t.Error("the token key was not rotated")
	}
	if _, err := both.Rotated(pki.Rotation{CA: true}); !errors.Is(err, pki.ErrUnfinished) {
		t.Errorf("a second rotation: %v", err)
	}
	if _, err := both.Rotated(pki.Rotation{TokenKey: true}); !errors.Is(err, pki.ErrUnfinished) {
		t.Errorf("a second rotation of the token key: %v", err)
	}
	if _, err := done.Rotated(pki.Rotation{Finish: true}); !errors.Is(err, pki.ErrFinished) {
		t.Errorf("a second end: %v", err)
	}
	text, err := both.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if shared, err := pki.Unmarshal(text, time.Now); err != nil || !shared.Same(both) {
		t.Error("the shared keys are others:", err)
	}
}

// TestLeavesAreRenewed: a certificate stays the same until the last third of its life, or until Renew.
func TestLeavesAreRenewed(t *testing.T) {
	now := time.Now()
	a, err := pki.New(func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	get := func() [2]string {
		t.Helper()
		serving, err := a.Serving("localhost")
		if err != nil {
			t.Fatal(err)
		}
		client, _, err := a.Client("jane")
		if err != nil {
			t.Fatal(err)
		}
		return [2]string{string(serving.Certificate[0]), string(client)}
	}
	first := get()
	now = now.Add(8 * 30 * 24 * time.Hour)
	if get() != first {
		t.Error("certificates are renewed with more than a third of their life left")
	}
	now = now.Add(10 * 24 * time.Hour)
	second := get()
	if second[0] == first[0] || second[1] == first[1] {
		t.Error("certificates are not renewed in the last third of their life")
	}
	a.Renew("jane")
	if third := get(); third[0] != second[0] || third[1] == second[1] {
		t.Error("Renew of a client renewed the server, or not the client")
	}
}
