package controlplane_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// TestListenEverywhere: a server that listens on all addresses names one of them as the
// endpoint of the Service kubernetes, and has a certificate for each.
func TestListenEverywhere(t *testing.T) {
	for _, listen := range []string{"0.0.0.0:0", "[::]:0"} {
		t.Run(listen, func(t *testing.T) {
			cp := controlplanetest.Start(t, controlplane.Options{Listen: listen, TLSNames: []string{"api.example.com", "203.0.113.9"}})
			c := controlplanetest.Clientset(t, cp)
			slices, err := c.DiscoveryV1().EndpointSlices("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			at, err := netip.ParseAddr(slices.Endpoints[0].Addresses[0])
			if err != nil || at.IsUnspecified() || string(slices.AddressType) == "IPv4" != at.Is4() {
				t.Errorf("the endpoint is %s %s %v", slices.AddressType, at, err)
			}
			verifies(t, cp, at.String(), "api.example.com", "203.0.113.9", "127.0.0.1", "localhost", "kubernetes.default.svc")
			addrs, err := net.InterfaceAddrs()
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range addrs {
				if ip := a.(*net.IPNet).IP; !ip.IsLinkLocalUnicast() {
					verifies(t, cp, ip.String())
				}
			}
		})
	}
}

// TestAdvertise: the address of --advertise-address is in the endpoints and in the
// certificate.
func TestAdvertise(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{Listen: "127.0.0.1:0", AdvertiseAddress: "203.0.113.7"})
	c := controlplanetest.Clientset(t, cp)
	e, err := c.DiscoveryV1().EndpointSlices("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
	if err != nil || e.Endpoints[0].Addresses[0] != "203.0.113.7" {
		t.Errorf("the endpoint is %+v %v", e.Endpoints, err)
	}
	verifies(t, cp, "203.0.113.7", "127.0.0.1")
	for _, c := range []struct {
		options controlplane.Options
		want    string
	}{
		{controlplane.Options{AdvertiseAddress: "0.0.0.0"}, `--advertise-address: "0.0.0.0" is not an IP address that other machines could reach`},
		{controlplane.Options{AdvertiseAddress: "here"}, `--advertise-address: "here" is not an IP address that other machines could reach`},
		{controlplane.Options{TLSNames: []string{"no name"}}, `--tls-san: "no name" is neither a host name nor an IP address`},
	} {
		c.options.DataDir, c.options.InMemory, c.options.Listen = t.TempDir(), true, "127.0.0.1:0"
		if cp, err := controlplane.Start(t.Context(), c.options); err == nil || err.Error() != c.want {
			if err == nil {
				cp.Stop()
			}
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// verifies checks that the server's certificate is good for the names.
func verifies(t *testing.T, cp *controlplane.ControlPlane, names ...string) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cp.Entry().CA)
	conn, err := tls.Dial("tcp", strings.TrimPrefix(cp.URL(), "https://"), &tls.Config{RootCAs: roots, ServerName: "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, name := range names {
		if err := conn.ConnectionState().PeerCertificates[0].VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
}
