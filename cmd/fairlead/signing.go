package main

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"fairlead.dev/internal/controllers/certificates"
	"fairlead.dev/internal/controlplane"
)

// signingFlags are kube-controller-manager's flags for the keys that sign certificates and
// tokens.
type signingFlags struct {
	certFile, keyFile, tokenKeyFile string
	duration                        time.Duration
}

func (f *signingFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.certFile, "cluster-signing-cert-file", "", "CA that signs approved CertificateSigningRequests (default: they are not signed)")
	flags.StringVar(&f.keyFile, "cluster-signing-key-file", "", "key of that CA")
	flags.DurationVar(&f.duration, "cluster-signing-duration", 365*24*time.Hour, "longest validity of a signed certificate")
	flags.StringVar(&f.tokenKeyFile, "service-account-private-key-file", "", "key that signs tokens for service account Secrets (default: Secrets get no tokens)")
}

func (f *signingFlags) load() (s controlplane.Signing, err error) {
	if s.Certificates, err = f.certificates(); err != nil || f.tokenKeyFile == "" {
		return s, err
	}
	text, err := os.ReadFile(f.tokenKeyFile)
	if err != nil {
		return s, fmt.Errorf("service account key: %w", err)
	}
	if s.Tokens, err = parseKey(text); err != nil {
		return s, fmt.Errorf("service account key: %s: %w", f.tokenKeyFile, err)
	}
	return s, nil
}

// parseKey reads a private key in PEM, in any of the forms that openssl writes.
func parseKey(text []byte) (crypto.Signer, error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		switch block.Type {
		case "EC PRIVATE KEY":
			return x509.ParseECPrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			return x509.ParsePKCS1PrivateKey(block.Bytes)
		case "PRIVATE KEY":
			key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				return nil, err
			}
			if signer, ok := key.(crypto.Signer); ok {
				return signer, nil
			}
			return nil, fmt.Errorf("a %T cannot sign", key)
		}
	}
	return nil, errors.New("no private key found")
}

func (f *signingFlags) certificates() (certificates.Options, error) {
	o := certificates.Options{Duration: f.duration}
	switch {
	case f.certFile == "" && f.keyFile == "":
		return o, nil
	case f.certFile == "" || f.keyFile == "":
		return o, usageError{errors.New("--cluster-signing-cert-file and --cluster-signing-key-file go together")}
	case f.duration <= 0:
		return o, usageError{fmt.Errorf("--cluster-signing-duration: %v is not a valid duration", f.duration)}
	}
	pair, err := tls.LoadX509KeyPair(f.certFile, f.keyFile)
	if err != nil {
		return o, fmt.Errorf("cluster signing: %w", err)
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok || !pair.Leaf.IsCA {
		return o, fmt.Errorf("cluster signing: %s is not the certificate of a CA", f.certFile)
	}
	o.Authority = func() certificates.Authority { return certificates.Authority{Certificate: pair.Leaf, Key: key} }
	return o, nil
}
