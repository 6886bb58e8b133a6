package main

import (
	"crypto"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"fairlead.dev/controller/certificates"
)

// signingFlags are kube-controller-manager's for what signs certificates.
type signingFlags struct {
	certFile, keyFile string
	duration          time.Duration
}

func (f *signingFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.certFile, "cluster-signing-cert-file", "", "authority that signs approved CertificateSigningRequests (default: none are signed)")
	flags.StringVar(&f.keyFile, "cluster-signing-key-file", "", "key of that authority")
	flags.DurationVar(&f.duration, "cluster-signing-duration", 365*24*time.Hour, "longest life of a certificate that is signed")
}

func (f *signingFlags) load() (certificates.Options, error) {
	o := certificates.Options{Duration: f.duration}
	switch {
	case f.certFile == "" && f.keyFile == "":
		return o, nil
	case f.certFile == "" || f.keyFile == "":
		return o, usageError{errors.New("--cluster-signing-cert-file and --cluster-signing-key-file go together")}
	case f.duration <= 0:
		return o, usageError{fmt.Errorf("--cluster-signing-duration: %v is not a life", f.duration)}
	}
	pair, err := tls.LoadX509KeyPair(f.certFile, f.keyFile)
	if err != nil {
		return o, fmt.Errorf("cluster signing: %w", err)
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok || !pair.Leaf.IsCA {
		return o, fmt.Errorf("cluster signing: %s is not the certificate of an authority", f.certFile)
	}
	o.Authority = certificates.Authority{Certificate: pair.Leaf, Key: key}
	return o, nil
}
