package certificates_test

import (
	"strconv"
	"strings"
	"testing"

	"fairlead.dev/internal/resource/certificates"
	"fairlead.dev/internal/resource/resourcetest"
)

// A certificate of an authority and one that is not, both valid for a hundred years.
const (
	authority = `-----BEGIN CERTIFICATE-----
MIIBcjCCARegAwIBAgIUDTG90F32Lwy9vGin/9e9hWIamWowCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCY2EwIBcNMjYxMTIzMDMyMjA4WhgPMjEyNjEwMzAwMzIyMDha
MA0xCzAJBgNVBAMMAmNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEdP19wfct
Mce8WCHpybluEuAjEd9d2fIWnrel6K2NpG63PfmJTCAD+y1wX93G6Gjv4YU7li2S
5/Ob24cB6hqI9KNTMFEwHQYDVR0OBBYEFDaaHsaEsHbc9wGWw9RsmBnnSHPCMB8G
A1UdIwQYMBaAFDaaHsaEsHbc9wGWw9RsmBnnSHPCMA8GA1UdEwEB/wQFMAMBAf8w
CgYIKoZIzj0EAwIDSQAwRgIhANXP8qiOZFylWaqEzntmTJY60ubp5f9wqhHzwsAI
tp+mAiEArz6hbXSv25Ltj4cKJ6k89GBV46GKA7bGX701M96rTwg=
-----END CERTIFICATE-----
`
	leaf = `-----BEGIN CERTIFICATE-----
MIIBcjCCARigAwIBAgIUD1jWUMGIHjcesRDu4LwdZLKqdO4wCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEbGVhZjAgFw0yNjExMjMwMzIyMDhaGA8yMTI2MTAzMDAzMjIw
OFowDzENMAsGA1UEAwwEbGVhZjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABB5g
Dpb9OmGaRQkRQ+n/A91EO0xZz8kXWf+ud9ZVybvZShzQx/m1EWv7Y73h252OOTgd
RjrQXJ72uqJCS/9s/u2jUDBOMB0GA1UdDgQWBBSbxKwWO/v7nIai6XkEKfuq+SWL
tDAfBgNVHSMEGDAWgBSbxKwWO/v7nIai6XkEKfuq+SWLtDAMBgNVHRMBAf8EAjAA
MAoGCCqGSM49BAMCA0gAMEUCIFAPwsYOd26XYFPGKXNzNMF0PXchm+Rdb8MWGIal
E4CIAiEA01g0n5el3XXwlOPiHR9l7CaJX0cw78F/iVo6l2VwULs=
-----END CERTIFICATE-----
`
)

// trust returns the change to a bundle of these entries.
func trust(entries ...string) string {
	return "spec.trustBundle: " + strconv.Quote(strings.Join(entries, ""))
}

// The errors are those of kube-apiserver 1.36.3, which has the kind as v1beta1.
func TestClusterTrustBundle(t *testing.T) {
	const omitted = `spec.trustBundle: Invalid value: "<value omitted>": `
	k := resourcetest.New(t, certificates.Resources(), `
apiVersion: certificates.k8s.io/v1
kind: ClusterTrustBundle
metadata: {name: "example.com:a:one"}
spec: {signerName: example.com/a, trustBundle: `+strconv.Quote(authority)+`}
`)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"text between entries", trust("x\n", authority, "y\n")},
		{"no signer", "{spec.signerName: '', metadata.name: one}"},
		{"no signer and a colon", "spec.signerName: ''",
			`metadata.name: Invalid value: "example.com:a:one": ClusterTrustBundle without signer name must not have ":" in its name`},
		{"name", "metadata.name: other",
			`metadata.name: Invalid value: "other": ClusterTrustBundle for signerName example.com/a must be named with prefix example.com:a:`},
		{"signer", "{spec.signerName: a, metadata.name: 'a:x'}",
			`spec.signerName: Invalid value: "a": must be a fully qualified domain and path of the form 'example.com/signer-name'`},
		{"no entry", trust(), omitted + "at least one trust anchor must be provided"},
		{"text", trust("text"), omitted + "at least one trust anchor must be provided"},
		{"no authority", trust(leaf), omitted + "entry 0 does not have the CA bit set"},
		{"twice", trust(authority, authority), omitted + "duplicate trust anchor (indices [0 1])"},
		{"twice, and one that is no authority", trust(authority, authority, leaf), omitted + "entry 2 does not have the CA bit set"},
		{"key", trust("-----BEGIN PRIVATE KEY-----\nYQ==\n-----END PRIVATE KEY-----\n"), omitted + "entry 0 has bad block type: PRIVATE KEY"},
		{"malformed", trust("-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n"), omitted + "entry 0 does not parse as X.509"},
		{"headers", trust(strings.Replace(authority, "-----\n", "-----\nA: b\n\n", 1)), omitted + "entry 0 has PEM block headers"},
		{"too long", trust(strings.Repeat("x", 1<<20+1)), "spec.trustBundle: Too long: may not be more than 1048576 bytes"},
	})
	k.Update(t, []resourcetest.Case{
		{"labels", "metadata.labels: {a: b}"},
		{"signer", "spec.signerName: example.com/b",
			`spec.signerName: Invalid value: "example.com/b": field is immutable`,
			`metadata.name: Invalid value: "example.com:a:one": ClusterTrustBundle for signerName example.com/b must be named with prefix example.com:b:`},
		{"no entry", trust(), omitted + "at least one trust anchor must be provided"},
	})
}
