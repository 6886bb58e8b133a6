package certificates_test

import (
	"testing"

	"fairlead.dev/internal/resource/certificates"
	"fairlead.dev/internal/resource/resourcetest"
)

const request = `
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: ann}
spec:
  signerName: example.com/a
  usages: [digital signature, client auth]
  request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQ1ZEQ0NBVHdDQVFBd0R6RU5NQXNHQTFVRUF3d0VkR1Z6ZERDQ0FTSXdEUVlKS29aSWh2Y05BUUVCQlFBRApnZ0VQQURDQ0FRb0NnZ0VCQUxZK2gwblRpeFhWRGJYMXNrZjlBR29DenF6YTdRSENHb2RJYVVDUUsvK1UwTVk4CnBqVHMxUmJlR3ZZZC9PeDlGTVZINUM5RmExY0wxVnJRRXRxcW9GV2hISzFIUS9CKzZjWFJxYkEzMGM5d01FRDMKYUJ5QVZFVDhNNExVR3FyR2ZaQWxWMDJYSXQ4UmVJUTNlTkxleXlwNUNkejNBSlBMdFdVeHBoM3l0ODBtNFdpcAoyV0JOeVpNYy96NjMyd0hyV0FnOWRvS1lJbnhQcFJRM2ZiMGVGSWFOTVVuMUVlMzRrUXRyMSttRHByZ25tSXpwCnoxTExTQ1N1bDVwY082Rmg1dllWSzcyWHNSNkJ5L0hFcU8wY1liWDA4V2VEaDVRQ05STjAvWlV3ellIdldWNm8KWjl1N2d0OHErUWRqV2xOVXI3NlhLY3ZKNzVjTTdrQUNoTXdJZjhFQ0F3RUFBYUFBTUEwR0NTcUdTSWIzRFFFQgpDd1VBQTRJQkFRQVZGVkhnVUpUbDZ2NjVoWXFTUEZvYlppd3NzczZhWEdQMVlPWXVCMU1OcDh2K1ZBYkZQaHloCmNOU2haYkhHUXFmdCtydnpGaUtadU5kSnpUVE12VytaL1ZaangrY3dWa2FiV3JicDJCZUFyUWJOUHA5V2g2UGQKL01ORHdqT0RzU0lJUEpmUmpEbWo1ZGRWTDdseVVqenFmTWdzQmtKSFUvZlJBTmkwZkN5SFVLdEY5SnY0YlI0MwpuVE5rdzQ4Uk5paFZyNTFEUmdjNk5NcWQ4ZUc2U1MzVHlVYUlYSW5pcnFXb1N5dk5uTEhCaDU2allVanNYY21jCkg2UU1Tc1plTy9ySkcrMHFURXE4WW4vcUJuSm1ORi90bDNZUDUxRkt0SVFsaVJXWFVjMXNaZ2hRQ2hvSnJ0Vm0KWGVJQ0VrK1hBS3dBclVsSXYxelprVjFkelByaXptZ0gKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==
`

func TestCertificateSigningRequest(t *testing.T) {
	k := resourcetest.New(t, certificates.Resources(), request)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"not a request", "spec.request: YQ==",
			`spec.request: Invalid value: "YQ==": PEM block type must be CERTIFICATE REQUEST`},
		{"no signer", "spec.signerName: ''",
			"spec.signerName: Required value"},
		{"signer", "spec.signerName: a",
			`spec.signerName: Invalid value: "a": must be a fully qualified domain and path of the form 'example.com/signer-name'`},
		{"no usages", "spec.usages: []",
			"spec.usages: Required value"},
		{"usage twice", "spec.usages: [client auth, client auth]",
			`spec.usages[1]: Duplicate value: "client auth"`},
		{"expiration", "spec.expirationSeconds: 599",
			"spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"},
	})
	k.Update(t, []resourcetest.Case{{"labels", "metadata.labels: {a: b}"}})
	k.Status(t, []resourcetest.Case{
		{"nothing", ""},
		{"condition without a type", "status.conditions: [{type: '', status: 'True'}]",
			"status.conditions[0].type: Required value"},
		{"failed", "status.conditions: [{type: Failed, status: 'False'}]",
			`status.conditions[0].status: Unsupported value: "False": supported values: "True"`},
		{"approved elsewhere", "status.conditions: [{type: Approved, status: 'True'}]",
			`status.conditions: Forbidden: updates may not add a condition of type "Approved"`},
		{"certificate", "status.certificate: YQ==",
			`status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block`},
	})
	k.Created(t, []resourcetest.Case{{"no status", "status.conditions: [{type: Approved, status: 'True'}]", "status: {}"}})
}

// The errors are those of kube-apiserver 1.36.3.
func TestApproval(t *testing.T) {
	const (
		approved = "{type: Approved, status: 'True'}"
		denied   = "{type: Denied, status: 'True'}"
		both     = `status.conditions: Invalid value: "{conditions[{\"type\": \"Approved\"}], conditions[{\"type\": \"Denied\"}]}": must specify at most one of: `
		removed  = `status.conditions: Forbidden: updates may not remove a condition of type "Approved"`
	)
	pending := resourcetest.New(t, certificates.Resources(), request)
	pending.Subresource(t, "approval", []resourcetest.Case{
		{"approved", "status.conditions: [" + approved + "]"},
		{"denied", "status.conditions: [" + denied + "]"},
		{"failed", "status.conditions: [{type: Failed, status: 'True'}]"},
		{"another type", "status.conditions: [{type: Other, status: Unknown}]"},
		{"certificate, which it drops", "status.certificate: YQ=="},
		{"both", "status.conditions: [" + approved + ", " + denied + "]", both},
		{"twice", "status.conditions: [" + approved + ", " + approved + "]",
			`status.conditions[1].type: Duplicate value: "Approved"`},
		{"false", "status.conditions: [{type: Approved, status: 'False'}]",
			`status.conditions[0].status: Unsupported value: "False": supported values: "True"`},
		{"no status", "status.conditions: [{type: Approved}]", "status.conditions[0].status: Required value"},
		{"no type", "status.conditions: [{type: '', status: 'True'}]", "status.conditions[0].type: Required value"},
		{"unknown status", "status.conditions: [{type: Other, status: Maybe}]",
			`status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`},
	})
	resourcetest.New(t, certificates.Resources(), request+"status: {conditions: ["+approved+"]}\n").Subresource(t, "approval", []resourcetest.Case{
		{"reason", "status.conditions: [{type: Approved, status: 'True', reason: R}]"},
		{"removed", "status.conditions: []", removed},
		{"denied too", "status.conditions: [" + approved + ", " + denied + "]", both},
		{"denied instead", "status.conditions: [" + denied + "]", removed},
	})
}
