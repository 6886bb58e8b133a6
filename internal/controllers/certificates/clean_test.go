package certificates

import (
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestExpiry(t *testing.T) {
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	said := made.Add(2 * time.Hour)
	for _, tt := range []struct {
		name   string
		kind   certificatesv1.RequestConditionType
		issued bool
		want   time.Time
	}{
		{"nobody answered", "", false, made.Add(24 * time.Hour)},
		{"denied", certificatesv1.CertificateDenied, false, said.Add(time.Hour)},
		{"failed", certificatesv1.CertificateFailed, false, said.Add(time.Hour)},
		{"approved and nobody signs", certificatesv1.CertificateApproved, false, said.Add(24 * time.Hour)},
		{"issued", certificatesv1.CertificateApproved, true, said.Add(time.Hour)},
	} {
		csr := &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(made)}}
		if tt.kind != "" {
			csr.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: tt.kind, LastUpdateTime: metav1.NewTime(said)}}
		}
		if tt.issued {
			csr.Status.Certificate = []byte("not one that can be read")
		}
		if at, ok := expiry(csr); !ok || !at.Equal(tt.want) {
			t.Errorf("%s: %v %v, want %v", tt.name, at, ok, tt.want)
		}
	}
}
