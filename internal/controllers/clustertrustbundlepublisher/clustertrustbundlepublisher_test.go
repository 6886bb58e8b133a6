package clustertrustbundlepublisher_test

import (
	"strings"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

const signer = "kubernetes.io/kube-apiserver-serving"

// TestPublished checks that the CA by which clients trust the server is in the only bundle of the signer, whatever is done
// to the bundles.
func TestPublished(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"clustertrustbundlepublisher"}})
	bundles, ca := client.For[*certificatesv1.ClusterTrustBundle](env.Client(t)), string(env.Config().CAData)
	name := ""
	published := func(what string) {
		t.Helper()
		waittest.For(t, bundles, what, "", func(have map[string]*certificatesv1.ClusterTrustBundle) bool {
			for n, b := range have {
				name = n
				if b.Spec.SignerName != signer || b.Spec.TrustBundle != ca {
					return false
				}
			}
			return len(have) == 1
		})
	}
	published("the bundle")
	if prefix := strings.ReplaceAll(signer, "/", ":") + ":"; !strings.HasPrefix(name, prefix) || len(name) != len(prefix)+24 {
		t.Errorf("the bundle is called %s", name)
	}
	if err := bundles.Delete(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	published("the bundle again")
	former := &certificatesv1.ClusterTrustBundle{ObjectMeta: metav1.ObjectMeta{Name: strings.ReplaceAll(signer, "/", ":") + ":former"},
		Spec: certificatesv1.ClusterTrustBundleSpec{SignerName: signer, TrustBundle: ca}}
	if _, err := bundles.Create(t.Context(), former); err != nil {
		t.Fatal(err)
	}
	published("a former bundle gone")
}
