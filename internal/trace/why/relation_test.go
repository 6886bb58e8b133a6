package why_test

import (
	"fmt"
	"slices"
	"testing"
)

// TestRelations: the relations of kinds by their fields.
func TestRelations(t *testing.T) {
	for _, c := range []struct {
		kind, resource, object string
		want                   []string
	}{
		{"Pod", "pods", `{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"u"}]},"spec":{"nodeName":"n","serviceAccountName":"sa","imagePullSecrets":[{"name":"pull"}],
			"volumes":[{"name":"a","configMap":{"name":"cm","optional":true}},{"name":"b","secret":{"secretName":"s"}},{"name":"c","persistentVolumeClaim":{"claimName":"p"}},{"name":"d","ephemeral":{}},{"name":"e","projected":{"sources":[{"secret":{"name":"s2"}}]}}],
			"initContainers":[{"env":[{"valueFrom":{"configMapKeyRef":{"name":"key"}}}]}],"containers":[{"envFrom":[{"secretRef":{"name":"s"}},{"secretRef":{"name":"s"}}]}]}}`,
			[]string{"passive owns replicaset.apps a/rs", "runs on nodes /n", "mounts configmaps a/cm optional", "mounts secrets a/s", "mounts persistentvolumeclaims a/p", "mounts persistentvolumeclaims a/x-d", "mounts secrets a/s2",
				"reads configmaps a/key", "reads secrets a/s", "reads secrets a/pull optional", "runs as serviceaccounts a/sa"}},
		{"Service", "services", `{"spec":{"selector":{"app":"x"}}}`, []string{"selects pods a/ app=x"}},
		{"Service", "services", `{"spec":{}}`, nil},
		{"PodDisruptionBudget", "poddisruptionbudgets.policy", `{"spec":{"selector":{"matchExpressions":[{"key":"k","operator":"Exists"}]}}}`, []string{"selects pods a/ k"}},
		{"NetworkPolicy", "networkpolicies.networking.k8s.io", `{"spec":{"podSelector":{}}}`, []string{"selects pods a/ everything"}},
		{"HTTPRoute", "httproutes.gateway.networking.k8s.io", `{"spec":{"parentRefs":[{"name":"g","namespace":"b"}],"rules":[{"backendRefs":[{"name":"s"},{"kind":"Other","name":"o"}]}]}}`,
			[]string{"passive routes to gateways.gateway.networking.k8s.io b/g", "routes to services a/s"}},
		{"PersistentVolume", "persistentvolumes", `{"spec":{"claimRef":{"namespace":"b","name":"c","uid":"u"},"storageClassName":"fast"}}`, []string{"passive binds persistentvolumeclaims b/c", "of class storageclasses.storage.k8s.io /fast"}},
		{"RoleBinding", "rolebindings.rbac.authorization.k8s.io", `{"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u"},{"kind":"ServiceAccount","name":"s","namespace":"b"}]}`,
			[]string{"binds roles.rbac.authorization.k8s.io a/r", "binds to serviceaccounts b/s optional"}},
		{"ValidatingWebhookConfiguration", "validatingwebhookconfigurations.admissionregistration.k8s.io", `{"webhooks":[{"clientConfig":{"service":{"namespace":"b","name":"hook"}}}]}`, []string{"calls services b/hook"}},
		{"Service", "services.serving.example.com", `{"spec":{"selector":{"app":"x"}}}`, nil}, // a kind of the same name
	} {
		s := subject(t, c.kind, c.resource, c.object)
		var got []string
		for _, r := range s.Relations() {
			text := fmt.Sprintf("%s %s %s/%s", r.Verb, r.Resource, r.Namespace, r.Name)
			if r.Passive {
				text = "passive " + text
			}
			if r.Selector != nil && r.Selector.Empty() {
				text += " everything"
			} else if r.Selector != nil {
				text += " " + r.Selector.String()
			}
			if r.Optional && !(r.Passive && r.Verb == "owns") {
				text += " optional"
			}
			got = append(got, text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %s:\n%q, want\n%q", c.kind, c.object, got, c.want)
		}
	}
}
