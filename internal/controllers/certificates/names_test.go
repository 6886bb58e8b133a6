package certificates_test

import (
	"strings"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
)

// TestTakenNames checks that a bootstrap token gets no certificate for the name of a simulated node, and that one for the name
// of a node whose kubelet is alive is reported at that node.
func TestTakenNames(t *testing.T) {
	server, api := start(t)
	nodes := client.For[*corev1.Node](server.Client(t))
	before := waittest.One(t, nodes, "node-1", "a simulated node", func(n *corev1.Node) bool { return len(n.Status.Conditions) > 0 })
	alive, err := nodes.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "alive"}})
	if err == nil {
		alive.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		_, err = nodes.UpdateStatus(t.Context(), alive)
	}
	if err != nil {
		t.Fatal(err)
	}
	config := server.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:bootstrap:abcdef", Groups: []string{"system:bootstrappers", "system:masters"}}
	boot, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"node-1", "alive"} {
		csr, _ := request(t, name, certificatesv1.KubeAPIServerClientKubeletSignerName, kubelet(name), certificatesv1.UsageClientAuth, certificatesv1.UsageDigitalSignature)
		if _, err := client.For[*certificatesv1.CertificateSigningRequest](boot).Create(t.Context(), csr); err != nil {
			t.Fatal(err)
		}
	}
	denied := waittest.One(t, api, "node-1", "a decision", func(c *certificatesv1.CertificateSigningRequest) bool { return len(c.Status.Conditions) > 0 })
	if c := denied.Status.Conditions[0]; c.Type != certificatesv1.CertificateDenied || c.Reason != "NodeNameTaken" || !strings.Contains(c.Message, "a simulated node has that name") || issued(denied) {
		t.Errorf("for the simulated node's name: %+v", denied.Status)
	}
	if n, err := nodes.Get(t.Context(), "node-1"); err != nil || n.UID != before.UID || n.Annotations["fairlead.dev/simulated"] != "true" {
		t.Errorf("the simulated node is %+v, %v", n, err)
	}
	waittest.One(t, api, "alive", "a certificate", issued)
	waittest.For(t, client.For[*corev1.Event](server.Client(t)).Namespace("default"), "the event of a second kubelet", "", func(all map[string]*corev1.Event) bool {
		for _, e := range all {
			if e.Reason == "SecondKubelet" && e.InvolvedObject.Name == "alive" && e.Type == corev1.EventTypeWarning && strings.HasPrefix(e.Message, "system:bootstrap:abcdef requests") {
				return true
			}
		}
		return false
	})
}
