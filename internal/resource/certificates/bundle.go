package certificates

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var bundleTable = resource.TableOf(func(b *certificatesv1.ClusterTrustBundle) []any {
	return []any{b.Name, cmp.Or(b.Spec.SignerName, resource.None)}
}, resource.NameColumn, resource.Text("SignerName", "Whose certificates the bundle vouches for."))

var bundleStrategy = resource.Rules[*certificatesv1.ClusterTrustBundle]{
	Validate: validateBundle,
	ValidateUpdate: func(b, old *certificatesv1.ClusterTrustBundle) field.ErrorList {
		var f check.Errors
		f.Add(validateBundle(b)...)
		f.Same(check.At("spec", "signerName"), b.Spec.SignerName, old.Spec.SignerName)
		return f.List()
	},
	RequireResourceVersion: true,
}.Strategy()

func validateBundle(b *certificatesv1.ClusterTrustBundle) field.ErrorList {
	var f check.Errors
	p := check.At("spec")
	name := check.At("metadata", "name")
	if s := b.Spec.SignerName; s != "" {
		podspec.SignerName(&f, p.Child("signerName"), s)
		if want := strings.ReplaceAll(s, "/", ":") + ":"; !strings.HasPrefix(b.Name, want) {
			f.Invalid(name, b.Name, fmt.Sprintf("ClusterTrustBundle for signerName %s must be named with prefix %s", s, want))
		}
	} else if strings.Contains(b.Name, ":") {
		f.Invalid(name, b.Name, "ClusterTrustBundle without signer name must not have \":\" in its name")
	}
	bundle(&f, p.Child("trustBundle"), b.Spec.TrustBundle)
	return f.List()
}

// bundle checks the certificates of a trust bundle. A bundle with an entry that is none of an authority is not checked
// for duplicates.
func bundle(f *check.Errors, p *check.Path, text string) {
	const hidden = "<value omitted>"
	if len(text) > maxBundleSize {
		f.Add(field.TooLong(p.Field(), "", maxBundleSize))
		return
	}
	var order []string
	entries := map[string][]int{} // indices by the certificate
	before := f.Len()
	for i, rest := 0, []byte(text); ; i++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if why := notAnchor(block); why != "" {
			f.Invalid(p, hidden, fmt.Sprintf("entry %d %s", i, why))
			continue
		}
		cert := string(block.Bytes)
		if entries[cert] == nil {
			order = append(order, cert)
		}
		entries[cert] = append(entries[cert], i)
	}
	if f.Len() > before {
		return
	}
	if len(entries) == 0 {
		f.Invalid(p, hidden, "at least one trust anchor must be provided")
	}
	for _, cert := range order {
		if indices := entries[cert]; len(indices) > 1 {
			f.Invalid(p, hidden, fmt.Sprintf("duplicate trust anchor (indices %v)", indices))
		}
	}
}

// maxBundleSize is the maximum size of a trust bundle, in bytes.
const maxBundleSize = 1 << 20

// notAnchor returns why an entry is not the certificate of an authority, or "".
func notAnchor(block *pem.Block) string {
	if block.Type != "CERTIFICATE" {
		return "has bad block type: " + block.Type
	}
	if len(block.Headers) > 0 {
		return "has PEM block headers"
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	switch {
	case err != nil:
		return "does not parse as X.509"
	case !cert.IsCA:
		return "does not have the CA bit set"
	case !cert.BasicConstraintsValid:
		return "has invalid basic constraints"
	}
	return ""
}
