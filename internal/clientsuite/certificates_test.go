package clientsuite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientauthentication "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"

	"fairlead.dev/client"
	"fairlead.dev/informer"
)

// TestCertificatesOfAPlugin: a plugin may give client certificates as well; connections
// made with one that has expired are not used any more.
func TestCertificatesOfAPlugin(t *testing.T) {
	f := newFront(t)
	p := newPlugged(t, "v1", f.URL, api.Cluster{CertificateAuthorityData: f.authority.PEM()})
	c := connect(t, p.config, client.Options{})
	for n, user := range []string{"crab", "lobster", "shrimp"} {
		cert, key := f.certificate(t, user)
		p.gives(t, clientauthentication.ExecCredentialStatus{ClientCertificateData: string(cert), ClientKeyData: string(key)}, n < 2)
		if n > 0 { // the first request learns that the old one has expired, and ends its connection
			_, _ = whoami(t, c)
		}
		is(t, c, user)
	}
}

// TestCertificateFilesChange: after a certificate's files are replaced, connections made
// with the old one end, and an informer resumes with the new one.
func TestCertificateFilesChange(t *testing.T) {
	f, ns := newFront(t), newNamespace(t)
	dir := t.TempDir()
	config := &rest.Config{Host: f.URL, TLSClientConfig: rest.TLSClientConfig{
		CAData: f.authority.PEM(), CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key")}}
	carry := func(user string) {
		t.Helper()
		cert, key := f.certificate(t, user)
		write(t, config.CertFile, cert)
		write(t, config.KeyFile, key)
	}
	carry("crab")
	c := connect(t, config, client.Options{})
	is(t, c, "crab")

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	maps := informer.New(client.For[*corev1.ConfigMap](c).Namespace(ns), informer.Options[*corev1.ConfigMap]{})
	done := make(chan error, 1)
	go func() { done <- maps.Run(ctx) }()
	<-maps.Synced()
	plain := client.For[*corev1.ConfigMap](connect(t, nil, client.Options{})).Namespace(ns)
	follows := func(n int) {
		t.Helper()
		m, err := plain.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("m", n)}})
		if err != nil {
			t.Fatal(err)
		}
		if err := maps.Store().WaitFor(ctx, m.ResourceVersion); err != nil {
			t.Fatal(err)
		}
	}
	follows(0)
	for n, user := range []string{"lobster", "shrimp"} {
		carry(user)
		for { // until the files have been looked at
			if who, _ := whoami(t, c); who == user {
				break
			}
			if t.Context().Err() != nil {
				t.Fatal("the new certificate is not used")
			}
		}
		follows(n + 1)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
