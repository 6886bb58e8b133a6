package cert_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/cert"
)

// TestFrontProxy checks that the user headers are trusted only from clients whose certificate chains to the roots
// and has one of the names.
func TestFrontProxy(t *testing.T) {
	ca, stranger := newAuthority(t), newAuthority(t)
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	a := cert.FrontProxy(roots, time.Now, cert.StandardHeaders(), "front")
	soon := time.Now().Add(time.Hour)
	front, other := pkix.Name{CommonName: "front"}, pkix.Name{CommonName: "other"}
	proxy := ca.issue(t, front, soon, x509.ExtKeyUsageClientAuth)
	ann := map[string][]string{
		"X-Remote-User": {"ann", "bob"}, "X-Remote-Uid": {"7"}, "X-Remote-Group": {"dev", "", "ops"},
		"X-Remote-Extra-Scopes": {"a", "b"}, "X-Remote-Extra-Example.com%2fkey": {"c"}, "x-remote-extra-low": {"d"}, "X-Remote-Extra-%zz": {"e"},
	}
	known := &auth.User{
		Name: "ann", UID: "7", Groups: []string{"dev", "ops", auth.AllAuthenticated},
		Extra: map[string][]string{"scopes": {"a", "b"}, "example.com/key": {"c"}, "low": {"d"}, "%zz": {"e"}},
	}
	anonymous := &auth.User{Name: auth.AnonymousUser, Groups: []string{auth.AllUnauthenticated}, Extra: map[string][]string{}}
	for _, c := range []struct {
		name    string
		cert    *x509.Certificate
		headers map[string][]string
		want    *auth.User
		err     bool
	}{
		{"no certificate", nil, ann, nil, false},
		{"a front proxy's", proxy, ann, known, false},
		{"no user", proxy, map[string][]string{"X-Remote-Group": {"system:masters"}}, nil, false},
		{"for nobody", proxy, map[string][]string{"X-Remote-User": {auth.AnonymousUser}, "X-Remote-Group": {auth.AllUnauthenticated}}, anonymous, false},
		{"in another name", ca.issue(t, other, soon, x509.ExtKeyUsageClientAuth), ann, nil, true},
		{"another CA's", stranger.issue(t, front, soon, x509.ExtKeyUsageClientAuth), ann, nil, true},
		{"expired", ca.issue(t, front, time.Now().Add(-time.Hour), x509.ExtKeyUsageClientAuth), ann, nil, true},
		{"a server's", ca.issue(t, front, soon, x509.ExtKeyUsageServerAuth), ann, nil, true},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.TLS = &tls.ConnectionState{}
		if c.cert != nil {
			r.TLS.PeerCertificates = []*x509.Certificate{c.cert}
		}
		for name, values := range c.headers {
			r.Header[name] = values
		}
		for range 2 { // the second verification may be cached
			u, ok, err := a.Authenticate(r)
			if ok != (c.want != nil) || (err != nil) != c.err || !reflect.DeepEqual(u, c.want) {
				t.Errorf("%s: %+v %v %v", c.name, u, ok, err)
			}
		}
	}
}
