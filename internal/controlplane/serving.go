package controlplane

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"

	"fairlead.dev/internal/controllers/cabundle"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Serving configures TLS of the API server, by certificates and keys in PEM. A file that changes is read again; one that
// cannot be used leaves the certificate as it was.
type Serving struct {
	// Certificate is shown to clients that ask for no name in Named; without it the server issues one itself.
	Certificate CertificateFiles
	// Named are shown to clients that ask for one of their names.
	Named []NamedCertificate
	// MinVersion is the oldest version of TLS that clients may use; 0 is TLS 1.2.
	MinVersion uint16
	// CipherSuites are allowed up to TLS 1.2, and Curves in every version; nil is crypto/tls's choice.
	CipherSuites []uint16
	Curves       []tls.CurveID
}

// CertificateFiles has the files of a certificate, followed by those between it and its CA, and of its key.
type CertificateFiles struct{ CertFile, KeyFile string }

// NamedCertificate is a certificate for names. A name may begin with "*.", and may be an IP address at which the server is
// reached.
type NamedCertificate struct {
	CertificateFiles
	// Names are the certificate's own without any.
	Names []string
}

// files lists the files.
func (s *Serving) files() (all []string) {
	if s.Certificate.CertFile != "" {
		all = append(all, s.Certificate.CertFile, s.Certificate.KeyFile)
	}
	for _, n := range s.Named {
		all = append(all, n.CertFile, n.KeyFile)
	}
	return all
}

// config returns a server's side of TLS. Client certificates are asked for and not demanded: an authenticator verifies them, so
// that a bad one is answered with a Status.
func (s *Serving) config(certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)) *tls.Config {
	return &tls.Config{
		GetCertificate: certificate, ClientAuth: tls.RequestClientCert,
		MinVersion: cmp.Or(s.MinVersion, tls.VersionTLS12), CipherSuites: s.CipherSuites, CurvePreferences: s.Curves,
	}
}

// servingCertificates are the certificates of the files. The methods may be called from any goroutine.
type servingCertificates struct {
	read atomic.Pointer[namedCertificates]
}

// choose returns the certificate for a client; nil if the server issues it.
func (c *servingCertificates) choose(hello *tls.ClientHelloInfo) *tls.Certificate {
	if read := c.read.Load(); read != nil {
		return read.choose(hello)
	}
	return nil
}

// readServing reads the files of the server's certificates.
func (c *credentials) readServing(s *Serving) error {
	files := s.files()
	if len(files) == 0 {
		return nil
	}
	err := c.reloads.read("serving certificate", func() error {
		read, err := s.load()
		if err != nil {
			return fmt.Errorf("serving certificate: %w", err)
		}
		c.serving.read.Store(&read)
		return nil
	}, files...)
	if err == nil && s.Certificate.CertFile != "" {
		c.servingCA = cabundle.Fixed(c.serving.read.Load().authority())
	}
	return err
}

// namedCertificates are the server's by the names that clients ask for.
type namedCertificates struct {
	standard *tls.Certificate // nil for one that the server issues
	named    map[string]*tls.Certificate
}

// load reads the files.
func (s *Serving) load() (c namedCertificates, err error) {
	if s.Certificate.CertFile != "" {
		if c.standard, err = s.Certificate.load(); err != nil {
			return c, err
		}
	}
	c.named = map[string]*tls.Certificate{}
	// Names that were configured precede those of certificates, and the first certificate of a name the others.
	for _, configured := range []bool{false, true} {
		for _, n := range slices.Backward(s.Named) {
			if (len(n.Names) > 0) != configured {
				continue
			}
			one, err := n.load()
			if err != nil {
				return c, err
			}
			names := n.Names
			if !configured {
				names = namesOf(one.Leaf)
			}
			for _, name := range names {
				c.named[strings.ToLower(name)] = one
			}
		}
	}
	return c, nil
}

func (f CertificateFiles) load() (*tls.Certificate, error) {
	c, err := tls.LoadX509KeyPair(f.CertFile, f.KeyFile)
	return &c, err
}

// namesOf returns the names of a certificate that a client can ask for.
func namesOf(c *x509.Certificate) []string {
	names := slices.Clone(c.DNSNames)
	if cn := c.Subject.CommonName; net.ParseIP(cn) == nil && (cn == "*" || len(validation.IsDNS1123Subdomain(strings.TrimPrefix(cn, "*."))) == 0) {
		names = append(names, cn)
	}
	return names
}

// authority returns the certificate, in PEM, that is the closest to the authority of the standard one that is known here:
// clients that have it as a root accept the chain.
func (c namedCertificates) authority() []byte {
	last := c.standard.Certificate[len(c.standard.Certificate)-1]
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: last})
}

// choose returns the certificate for a client: the one for the name that it asks for, or, if it asks for none, for the
// address to which it is connected.
func (c namedCertificates) choose(hello *tls.ClientHelloInfo) *tls.Certificate {
	name := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	if name == "" {
		host, _, err := net.SplitHostPort(hello.Conn.LocalAddr().String())
		if one := c.named[host]; err == nil && one != nil {
			return one
		}
		return c.standard
	}
	if one := c.named[name]; one != nil {
		return one
	}
	if _, domain, ok := strings.Cut(name, "."); ok {
		if one := c.named["*."+domain]; one != nil {
			return one
		}
	}
	return c.standard
}
