package kubeapiserver_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"

	"fairlead.dev/internal/controlplane/pki"
)

// certFiles writes a certificate of the authority for the names, and returns its files.
func certFiles(t *testing.T, a *pki.Authority, dir string, names ...string) (certFile, keyFile string) {
	t.Helper()
	pair, err := a.Serving(names...)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	replace(t, certFile, encodePEM("CERTIFICATE", pair.Certificate...))
	replace(t, keyFile, encodePEM("PRIVATE KEY", key))
	return certFile, keyFile
}

// replace replaces the content of a file at once.
func replace(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

// shown returns the first name of the certificate that the server shows, or the handshake's error.
func shown(host string, config *tls.Config) (string, error) {
	config.InsecureSkipVerify = true
	conn, err := tls.Dial("tcp", strings.TrimPrefix(host, "https://"), config)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].DNSNames[0], nil
}

// TestServingCertificates asks for several names.
func TestServingCertificates(t *testing.T) {
	a, _ := newAuthority(t)
	standardCert, standardKey := certFiles(t, a, t.TempDir(), "standard.example.com")
	ownCert, ownKey := certFiles(t, a, t.TempDir(), "own.example.com", "own.example.net")
	givenCert, givenKey := certFiles(t, a, t.TempDir(), "given.example.com")
	laterCert, laterKey := certFiles(t, a, t.TempDir(), "own.example.com")
	as := start(t, "--tls-cert-file="+standardCert, "--tls-private-key-file="+standardKey,
		"--tls-sni-cert-key="+ownCert+","+ownKey,
		"--tls-sni-cert-key="+givenCert+","+givenKey+":*.wild.example.com,exact.example.com",
		"--tls-sni-cert-key="+laterCert+","+laterKey)
	url := host(as("root-token"))
	for asked, want := range map[string]string{
		"":                     "standard.example.com",
		"else.example.com":     "standard.example.com",
		"own.example.com":      "own.example.com",
		"OWN.example.net":      "own.example.com",
		"exact.example.com":    "given.example.com",
		"a.wild.example.com":   "given.example.com",
		"a.b.wild.example.com": "standard.example.com",
		"given.example.com":    "standard.example.com", // the flag's names replace those of the certificate
	} {
		if got, err := shown(url, &tls.Config{ServerName: asked}); err != nil || got != want {
			t.Errorf("%q is shown %s %v, want %s", asked, got, err, want)
		}
	}
}

// TestTLSVersions connects with versions and cipher suites that the server refuses, and with those that it accepts.
func TestTLSVersions(t *testing.T) {
	strict := host(start(t, "--tls-min-version=VersionTLS13", "--tls-curve-preferences=23")("root-token"))
	if _, err := shown(strict, &tls.Config{MaxVersion: tls.VersionTLS12}); err == nil {
		t.Error("TLS 1.2 is accepted")
	}
	if _, err := shown(strict, &tls.Config{CurvePreferences: []tls.CurveID{tls.X25519}}); err == nil {
		t.Error("the curve X25519 is accepted")
	}
	if _, err := shown(strict, &tls.Config{CurvePreferences: []tls.CurveID{tls.CurveP256}}); err != nil {
		t.Errorf("TLS 1.3 with P-256: %v", err)
	}
	const want, other = tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
	ca, _ := newAuthority(t)
	certFile, keyFile := certFiles(t, ca, t.TempDir(), "localhost")
	suites := host(start(t, "--tls-cert-file="+certFile, "--tls-private-key-file="+keyFile,
		"--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384")("root-token"))
	if _, err := shown(suites, &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{other}}); err == nil {
		t.Error("another cipher suite is accepted")
	}
	if _, err := shown(suites, &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{want}}); err != nil {
		t.Errorf("the cipher suite of the flag: %v", err)
	}
}

// TestServingErrors gives files and names that cannot be used.
func TestServingErrors(t *testing.T) {
	a, caFile := newAuthority(t)
	certFile, _ := certFiles(t, a, t.TempDir(), "one.example.com")
	_, otherKey := certFiles(t, a, t.TempDir(), "two.example.com")
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--tls-cert-file=" + certFile}, "want both or neither"},
		{[]string{"--tls-cert-file=" + certFile, "--tls-private-key-file=" + otherKey}, "private key does not match public key"},
		{[]string{"--tls-sni-cert-key=" + certFile + "," + otherKey}, "private key does not match public key"},
		{[]string{"--tls-sni-cert-key=" + caFile}, "--tls-sni-cert-key"},
		{[]string{"--tls-min-version=VersionTLS9"}, "--tls-min-version"},
		{[]string{"--tls-cipher-suites=TLS_NONE"}, "--tls-cipher-suites"},
		{[]string{"--tls-curve-preferences=-1"}, "--tls-curve-preferences"},
		{[]string{"--client-ca-file=" + otherKey}, "client CA: " + otherKey},
		{[]string{"--requestheader-client-ca-file=" + otherKey}, "front proxy CA: " + otherKey},
	} {
		if got := startFails(t, c.flags...); !strings.Contains(got, c.want) {
			t.Errorf("%v: %s, want %s", c.flags, got, c.want)
		}
	}
}

// encodePEM returns blocks in PEM.
func encodePEM(kind string, blocks ...[]byte) (text []byte) {
	for _, der := range blocks {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})...)
	}
	return text
}

// sample returns the value of a metric, given with its labels as in the text format; 0 without one.
func sample(t *testing.T, c rest.Interface, name string) float64 {
	t.Helper()
	text, err := c.Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n"+name+" ")
	if !found {
		return 0
	}
	value, _, _ := strings.Cut(rest, "\n")
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// eventually calls is until it returns true. Each call takes a request of its own, so there is no wait between them.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !is(); {
		if time.Now().After(end) {
			t.Fatalf("not in two minutes: %s", what)
		}
	}
}

// TestServingReload replaces the certificates of a running server.
func TestServingReload(t *testing.T) {
	a, _ := newAuthority(t)
	standard, named := t.TempDir(), t.TempDir()
	certFile, keyFile := certFiles(t, a, standard, "first.example.com")
	namedCert, namedKey := certFiles(t, a, named, "named.example.com")
	as := start(t, "--tls-cert-file="+certFile, "--tls-private-key-file="+keyFile, "--tls-sni-cert-key="+namedCert+","+namedKey+":asked.example.com")
	url := host(as("root-token"))
	isShown := func(asked, want string) func() bool {
		return func() bool {
			got, err := shown(url, &tls.Config{ServerName: asked})
			if err != nil {
				t.Fatal(err)
			}
			return got == want
		}
	}
	if !isShown("", "first.example.com")() {
		t.Fatal("another certificate than that of the flag")
	}
	// Between the replacement of the two files they do not belong together: the first pair stays in force.
	certFiles(t, a, standard, "second.example.com")
	certFiles(t, a, named, "renamed.example.com")
	eventually(t, "the new certificate is shown", isShown("", "second.example.com"))
	eventually(t, "the new certificate of a name is shown", isShown("asked.example.com", "renamed.example.com"))
	failures := `fairlead_config_reloads_total{config="serving certificate",result="failure"}`
	before := sample(t, as("root-token").Discovery().RESTClient(), failures)
	replace(t, certFile, []byte("broken"))
	eventually(t, "the broken file is counted", func() bool { return sample(t, as("root-token").Discovery().RESTClient(), failures) > before })
	if !isShown("", "second.example.com")() {
		t.Error("a broken file replaced the certificate")
	}
}

// TestClientCAReload replaces the CAs of clients and front proxies of a running server.
func TestClientCAReload(t *testing.T) {
	first, clientCA := newAuthority(t)
	second, _ := newAuthority(t)
	proxies, proxyCA := newAuthority(t)
	others, _ := newAuthority(t)
	as := start(t, "--authorization-mode=RBAC", "--client-ca-file="+clientCA, "--requestheader-client-ca-file="+proxyCA,
		"--requestheader-allowed-names=gate", "--requestheader-username-headers=X-Remote-User")
	url := host(as("root-token"))
	code := func(a *pki.Authority, name string, header http.Header) int {
		code, _, _ := whoami(t, httpClient(t, a, name), url, header)
		return code
	}
	bob := http.Header{"X-Remote-User": {"bob"}}
	check := func(when string, changed bool) {
		t.Helper()
		for _, c := range []struct {
			title   string
			of      *pki.Authority
			name    string
			header  http.Header
			allowed bool
		}{
			{"the first CA", first, "ann", nil, !changed},
			{"the second CA", second, "ann", nil, changed},
			{"the first proxies", proxies, "gate", bob, !changed},
			{"other proxies", others, "gate", bob, changed},
		} {
			if got := code(c.of, c.name, c.header); (got == http.StatusCreated) != c.allowed {
				t.Errorf("%s, %s: %d", c.title, when, got)
			}
		}
	}
	check("before the change", false)
	replace(t, clientCA, second.PEM())
	replace(t, proxyCA, others.PEM())
	eventually(t, "the second CA is accepted", func() bool { return code(second, "ann", nil) == http.StatusCreated })
	eventually(t, "the other proxies are accepted", func() bool { return code(others, "gate", bob) == http.StatusCreated })
	check("after the change", true)
	eventually(t, "the CAs are published", func() bool {
		m, err := as("root-token").CoreV1().ConfigMaps("kube-system").Get(t.Context(), "extension-apiserver-authentication", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		has := func(key string, all ...*pki.Authority) bool { // the union of what servers of the cluster trust, and have trusted
			for _, a := range all {
				if !strings.Contains(m.Data[key], strings.TrimSpace(string(a.PEM()))) {
					return false
				}
			}
			return true
		}
		return has("client-ca-file", first, second) && has("requestheader-client-ca-file", proxies, others)
	})
}

// TestAcceptableCAs: the handshake names the CAs whose client certificates the server accepts.
func TestAcceptableCAs(t *testing.T) {
	named := func(name string) (file string, subject []byte) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		ca, err := certutil.NewSelfSignedCACert(certutil.Config{CommonName: name}, key)
		if err != nil {
			t.Fatal(err)
		}
		file = filepath.Join(t.TempDir(), "ca.crt")
		replace(t, file, encodePEM("CERTIFICATE", ca.Raw))
		return file, ca.RawSubject
	}
	clientCA, clients := named("clients of the test")
	proxyCA, proxies := named("proxies of the test")
	url := host(start(t, "--client-ca-file="+clientCA, "--requestheader-client-ca-file="+proxyCA, "--requestheader-allowed-names=gate",
		"--requestheader-username-headers=X-Remote-User")("root-token"))
	var accepted [][]byte
	if _, err := shown(url, &tls.Config{GetClientCertificate: func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		accepted = info.AcceptableCAs
		return &tls.Certificate{}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	all := bytes.Join(accepted, nil)
	for _, subject := range [][]byte{clients, proxies} {
		if !bytes.Contains(all, subject) {
			t.Errorf("%q is not named", subject)
		}
	}
}
