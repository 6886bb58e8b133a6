package kubeapiserver

import (
	"net"
	"os"
	"path/filepath"

	utilcert "k8s.io/client-go/util/cert"
)

// selfSigned returns the files of the serving certificate in a directory, and makes both if they do not exist.
func selfSigned(dir string, address net.IP) (certFile, keyFile string, err error) {
	certFile, keyFile = filepath.Join(dir, "apiserver.crt"), filepath.Join(dir, "apiserver.key")
	if ok, err := utilcert.CanReadCertAndKey(certFile, keyFile); ok || err != nil {
		return certFile, keyFile, err
	}
	host, names, addresses := address.String(), []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}, []net.IP(nil)
	if address.IsUnspecified() {
		host = "localhost"
		addresses = append(addresses, net.IPv4(127, 0, 0, 1))
	}
	cert, key, err := utilcert.GenerateSelfSignedCertKey(host, addresses, names)
	if err != nil {
		return "", "", err
	}
	if err := utilcert.WriteCert(certFile, cert); err != nil {
		return "", "", err
	}
	if err := os.WriteFile(keyFile, key, 0o600); err != nil {
		return "", "", err
	}
	return certFile, keyFile, nil
}
