package pki

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"maps"
	"net"
	"strings"
	"sync"
	"time"
)

// leaves are the certificates that were issued last, which forks of one control plane share.
type leaves struct {
	sync.Mutex
	last map[leaf]*issued
}

// leaf names a certificate: the server's, or that of a user.
type leaf struct {
	user string // "" is the server
	rest string // its names, or the user's groups
}

// issued is a certificate with its key.
type issued struct {
	cert, key []byte // in PEM; chain included
	pair      tls.Certificate
}

// due reports whether a certificate is in the last third of its life.
func due(c *x509.Certificate, now time.Time) bool {
	return now.After(c.NotAfter.Add(-c.NotAfter.Sub(c.NotBefore) / 3))
}

// get returns the last certificate, or issues one if it is missing or due.
func (l *leaves) get(of leaf, now time.Time, issue func() (*issued, error)) (*issued, error) {
	l.Lock()
	defer l.Unlock()
	if i := l.last[of]; i != nil && !due(i.pair.Leaf, now) {
		return i, nil
	}
	i, err := issue()
	if err != nil {
		return nil, err
	}
	if l.last == nil {
		l.last = map[leaf]*issued{}
	}
	l.last[of] = i
	return i, nil
}

// clear has all certificates issued anew.
func (l *leaves) clear() {
	l.Lock()
	defer l.Unlock()
	clear(l.last)
}

// Renew has the certificate of a user issued anew when it is asked for next; "" is the server's.
func (c *CA) Renew(user string) {
	c.leaves.Lock()
	defer c.leaves.Unlock()
	maps.DeleteFunc(c.leaves.last, func(l leaf, _ *issued) bool { return l.user == user })
}

// Serving issues a server certificate for the given host names and addresses.
func (c *CA) Serving(hosts ...string) (*tls.Certificate, error) {
	i, err := c.leaves.get(leaf{rest: strings.Join(hosts, " ")}, c.now(), func() (*issued, error) {
		t, err := template(pkix.Name{CommonName: "fairlead"}, c.now(), certificateLife)
		if err != nil {
			return nil, err
		}
		t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		for _, h := range hosts {
			if ip := net.ParseIP(h); ip != nil {
				t.IPAddresses = append(t.IPAddresses, ip)
			} else {
				t.DNSNames = append(t.DNSNames, h)
			}
		}
		return c.issue(t)
	})
	if err != nil {
		return nil, err
	}
	return &i.pair, nil
}

// Client issues a client certificate: Kubernetes reads the user's name from its
// common name and the groups from its organizations.
func (c *CA) Client(user string, groups ...string) (certPEM, keyPEM []byte, err error) {
	i, err := c.leaves.get(leaf{user, fmt.Sprintf("%q", groups)}, c.now(), func() (*issued, error) {
		t, err := template(pkix.Name{CommonName: user, Organization: groups}, c.now(), certificateLife)
		if err != nil {
			return nil, err
		}
		t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		return c.issue(t)
	})
	if err != nil {
		return nil, nil, err
	}
	return i.cert, i.key, nil
}

func (c *CA) issue(t *x509.Certificate) (*issued, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	ca := c.current.Load()
	t.KeyUsage = x509.KeyUsageDigitalSignature
	if t.NotAfter.After(ca.cert.NotAfter) {
		t.NotAfter = ca.cert.NotAfter
	}
	cert, err := sign(t, ca.cert, key.Public(), ca.key)
	if err != nil {
		return nil, err
	}
	i := &issued{cert: encodeCertificates(append([]*x509.Certificate{cert}, ca.cross...)...)}
	if i.key, err = encodeKey(key); err != nil {
		return nil, err
	}
	i.pair, err = tls.X509KeyPair(i.cert, i.key)
	return i, err
}
