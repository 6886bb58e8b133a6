package controlplane_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestNodeRestriction compares the answers to a kubelet's writes with those of kube-apiserver's admission plugin, by its
// source at 1.37.2.
func TestNodeRestriction(t *testing.T) {
	w := newKubeletWorld(t)
	const (
		ns     = "/api/v1/namespaces/default/"
		node   = "/api/v1/nodes/n1"
		leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
		slices = "/apis/resource.k8s.io/v1/resourceslices"
		claim  = ns + "persistentvolumeclaims/mine"
		status = "PATCH " + ns + "pods/mine/status"
	)
	uid := func(what string) string {
		if w.uids[what] == "" {
			t.Fatal(what, "has no UID")
		}
		return w.uids[what]
	}
	w.add(ns+"serviceaccounts", `{"metadata":{"name":"default"}}`)
	w.patch(node, `{"metadata":{"labels":{"node-role.kubernetes.io/worker":"","zone":"a"}}}`)

	// A mirror pod has one owner, its node, and refers to no object. change replaces a part of one that is allowed.
	mirror := func(change ...string) string {
		return strings.NewReplacer(change...).Replace(`{"metadata":{"name":"m","annotations":{"kubernetes.io/config.mirror":"x"},` +
			`"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n1","uid":"` + uid("n1 nodes") + `","controller":true}]},` +
			`"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","emptyDir":{}}]}}`)
	}
	orphan := `{"metadata":{"name":"m","annotations":{"kubernetes.io/config.mirror":"x"}},"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}]}}`
	mounting := func(volume string) string { return mirror(`"emptyDir":{}`, volume) }
	projecting := func(source string) string {
		return mounting(`"projected":{"sources":[{"downwardAPI":{"items":[]}},` + source + `]}`)
	}
	token := func(pod, uid string, audiences ...string) string {
		list := `"` + strings.Join(audiences, `","`) + `"`
		if len(audiences) == 0 {
			list = ""
		}
		return fmt.Sprintf(`{"spec":{"audiences":[%s],"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":%q,"uid":%q}}}`, list, pod, uid)
	}
	slice := func(node string) string {
		return `{"metadata":{"name":"new"},"spec":{"driver":"gpu.example.com",` + node + `"pool":{"name":"q","generation":1,"resourceSliceCount":1}}}`
	}
	lease := func(name string) string { return `{"metadata":{"name":"` + name + `"},"spec":{}}` }
	csr := func(name, cn, signer string, usages string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"request":%q,"signerName":%q,"usages":[%s]}}`, name, request(t, cn), signer, usages)
	}
	const client, serving = `"digital signature","client auth"`, `"digital signature","server auth"`
	labels := func(list string) string { return `{"metadata":{"labels":{` + list + `}}}` }

	for _, c := range []struct{ request, body, want string }{
		// Its Node.
		{"POST /api/v1/nodes", `{"metadata":{"name":"n3"}}`, `node "n1" is not allowed to modify node "n3"`},
		{"POST /api/v1/nodes", `{"metadata":{"generateName":"n"}}`, `node "n1" is not allowed to modify node ""`},
		{"PATCH /api/v1/nodes/n2", labels(`"a":"b"`), `node "n1" is not allowed to modify node "n2"`},
		{"PATCH /api/v1/nodes/n2/status", `{"status":{"phase":"Running"}}`, `node "n1" is not allowed to modify node "n2"`},
		{"POST /api/v1/nodes", `{"metadata":{"name":"n1"},"spec":{"configSource":{}}}`, `node "n1" is not allowed to create pods with a non-nil configSource`},
		{"POST /api/v1/nodes", `{"metadata":{"name":"n1","labels":{"a.node-restriction.kubernetes.io/x":"y","kubernetes.io/b":"","kubernetes.io/os":"linux","own":"x"}}}`,
			`node "n1" is not allowed to set the following labels: a.node-restriction.kubernetes.io/x, kubernetes.io/b`},
		{"PATCH " + node, labels(`"own":"x","zone":"b","kubernetes.io/hostname":"n1","node.kubernetes.io/x":"y","a.kubelet.kubernetes.io/x":"y","topology.kubernetes.io/zone":"z"`), ""},
		{"PATCH " + node, labels(`"node-restriction.kubernetes.io/x":"y"`), "is not allowed to modify labels: node-restriction.kubernetes.io/x"},
		{"PATCH " + node, labels(`"node-role.kubernetes.io/worker":null,"a.k8s.io/b":""`), "is not allowed to modify labels: a.k8s.io/b, node-role.kubernetes.io/worker"},
		{"PATCH " + node + "/status", labels(`"node-role.kubernetes.io/control-plane":""`), "is not allowed to modify labels: node-role.kubernetes.io/control-plane"},
		{"PATCH " + node, `{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}`, `node "n1" is not allowed to modify taints`},
		{"PATCH " + node, `{"spec":{"taints":null}}`, `node "n1" is not allowed to modify taints`},
		{"PATCH " + node, `{"spec":{"unschedulable":true}}`, ""},
		{"PATCH " + node, `{"spec":{"configSource":{"configMap":{"name":"c"}}}}`, `node "n1" is not allowed to update configSource to a new non-nil configSource`},
		{"PATCH " + node, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n2","uid":"u"}]}}`, `node "n1" is not allowed to modify ownerReferences`},
		{"PATCH " + node + "/status", `{"status":{"phase":"Running"}}`, ""},

		// Pods.
		{"POST " + ns + "pods", mirror(), ""},
		{"POST " + ns + "pods", mirror(`"kubernetes.io/config.mirror"`, `"other"`), `pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods`},
		{"POST " + ns + "pods", mirror(`"nodeName":"n1"`, `"nodeName":"n2"`), `node "n1" can only create pods with spec.nodeName set to itself`},
		{"POST " + ns + "pods", orphan, `node "n1" can only create pods with an owner reference set to itself`},
		{"POST " + ns + "pods", mirror(`"kind":"Node"`, `"kind":"Pod"`), `node "n1" can only create pods with an owner reference set to itself`},
		{"POST " + ns + "pods", mirror(`"ownerReferences":[`, `"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n2","uid":"u"},`), `node "n1" can only create pods with a single owner reference set to itself`},
		{"POST " + ns + "pods", mirror(`,"controller":true`, ``), `node "n1" can only create pods with a controller owner reference set to itself`},
		{"POST " + ns + "pods", mirror(`"controller":true`, `"controller":true,"blockOwnerDeletion":true`), `node "n1" must not set blockOwnerDeletion on an owner reference`},
		{"POST " + ns + "pods", mirror(uid("n1 nodes"), "other"), `node n1 UID mismatch: expected other got ` + uid("n1 nodes")},
		{"POST " + ns + "pods", mirror(`"nodeName"`, `"serviceAccountName":"mine","nodeName"`), `a mirror pod may not reference service accounts`},
		{"POST " + ns + "pods", mirror(`"nodeName"`, `"imagePullSecrets":[{"name":"s"}],"nodeName"`), `a mirror pod may not reference secrets`},
		{"POST " + ns + "pods", mirror(`"image":"i"`, `"image":"i","envFrom":[{"configMapRef":{"name":"c"}}]`), `node "n1" can not create pods that reference configmaps`},
		{"POST " + ns + "pods", mirror(`"nodeName"`, `"resourceClaims":[{"name":"c","resourceClaimName":"c"}],"nodeName"`), `node "n1" can not create pods that reference resourceclaims`},
		{"POST " + ns + "pods", mounting(`"secret":{"secretName":"s"}`), `a mirror pod may not reference secrets`},
		{"POST " + ns + "pods", mounting(`"secret":{}`), `node "n1" can not create pods that reference secrets (via secret volumes)`},
		{"POST " + ns + "pods", mounting(`"configMap":{}`), `node "n1" can not create pods that reference configmaps (via configmap volumes)`},
		{"POST " + ns + "pods", mounting(`"azureFile":{"shareName":"s","secretName":""}`), `node "n1" can not create pods that reference secrets (via azureFile volumes)`},
		{"POST " + ns + "pods", mounting(`"csi":{"driver":"d.example.com"}`), `node "n1" can not create pods that reference csidrivers (via CSI volumes)`},
		{"POST " + ns + "pods", mounting(`"glusterfs":{"endpoints":"e","path":"p"}`), `node "n1" can not create pods that reference endpoints (via glusterFS volumes)`},
		{"POST " + ns + "pods", mounting(`"persistentVolumeClaim":{"claimName":"mine"}`), `node "n1" can not create pods that reference persistentvolumeclaims`},
		{"POST " + ns + "pods", mounting(`"ephemeral":{}`), `node "n1" can not create pods that reference persistentvolumeclaims (via ephemeral volumes)`},
		{"POST " + ns + "pods", projecting(`{"secret":{}}`), `node "n1" can not create pods that reference secrets (via projected volumes)`},
		{"POST " + ns + "pods", projecting(`{"configMap":{}}`), `node "n1" can not create pods that reference configmaps (via projected volumes)`},
		{"POST " + ns + "pods", projecting(`{"serviceAccountToken":{"path":"t"}}`), `a mirror pod may not use ServiceAccountToken volume projections`},
		{"POST " + ns + "pods", projecting(`{"clusterTrustBundle":{"name":"b","path":"p"}}`), `node "n1" can not create pods that reference clustertrustbundles`},
		{"POST " + ns + "pods", projecting(`{"podCertificate":{"signerName":"example.com/s","keyType":"ED25519"}}`), `node "n1" can not create pods that reference podcertificates`},
		{"POST " + ns + "pods", projecting(`{}`), `error checking mirror pod for API references: unknown source for projected volume "v"`},
		{"DELETE " + ns + "pods/other", "", `node "n1" can only delete pods with spec.nodeName set to itself`},
		{"DELETE " + ns + "pods/absent", "", "404"},
		{"DELETE " + ns + "pods/m?gracePeriodSeconds=0", "", ""},
		{"POST " + ns + "pods/other/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"other"}}`, "node n1 can only evict pods with spec.nodeName set to itself"},
		{"POST " + ns + "pods/absent/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"absent"}}`, "404"},
		{"PATCH " + ns + "pods/other/status", `{"status":{"phase":"Running"}}`, `node "n1" can only update pod status for pods with spec.nodeName set to itself`},
		{status, `{"status":{"phase":"Running"}}`, ""},
		{status, labels(`"a":"b"`), `node "n1" cannot update labels through pod status`},
		{status, `{"status":{"resourceClaimStatuses":[{"name":"made","resourceClaimName":"stolen"}]}}`, `node "n1" cannot update resource claim statues`},
		{status, `{"status":{"extendedResourceClaimStatus":{"resourceClaimName":"stolen","requestMappings":[]}}}`, `node "n1" cannot update extended resource claim status`},

		// Claims.
		{"PATCH " + claim + "/status", `{"status":{"capacity":{"storage":"1Gi"},"conditions":[{"type":"FileSystemResizePending","status":"True"}],"allocatedResources":{"storage":"1Gi"}}}`, ""},
		{"PATCH " + claim + "/status", `{"status":{"phase":"Lost"}}`, "*node \"n1\" is not allowed to update fields other than status.quantity and status.conditions: "},
		{"PATCH " + claim + "/status", labels(`"a":"b"`), "*node \"n1\" is not allowed to update fields other than status.quantity and status.conditions: "},

		// Tokens.
		{"POST " + ns + "serviceaccounts/mine/token", `{"spec":{}}`, "node requested token not bound to a pod"},
		{"POST " + ns + "serviceaccounts/mine/token", strings.Replace(token("mine", uid("mine pods")), "Pod", "Secret", 1), "node requested token not bound to a pod"},
		{"POST " + ns + "serviceaccounts/mine/token", token("mine", ""), "node requested token with a pod binding without a uid"},
		{"POST " + ns + "serviceaccounts/mine/token", token("absent", "u"), "404"},
		{"POST " + ns + "serviceaccounts/mine/token", token("mine", "u"), "the UID in the bound object reference (u) does not match the UID in record. The object might have been deleted and then recreated"},
		{"POST " + ns + "serviceaccounts/mine/token", token("other", uid("other pods")), "node requested token bound to a pod scheduled on a different node"},
		{"POST " + ns + "serviceaccounts/mine/token", token("mine", uid("mine pods"), "vault"), ""},
		{"POST " + ns + "serviceaccounts/mine/token", token("mine", uid("mine pods"), "disks"), ""},
		{"POST " + ns + "serviceaccounts/mine/token", token("mine", uid("mine pods"), "vault", "disks"), "node may only request 0 or 1 audiences"},
		{"POST " + ns + "serviceaccounts/mine/token", token("mine", uid("mine pods"), "bank"),
			`error validating audience "bank": [persistentvolumeclaim "mine-scratch" not found, csidriver.storage.k8s.io "inline.example.com" not found]`},

		// Leases, CSINodes and slices.
		{"POST " + leases, lease("n3"), "can only access node lease with the same name as the requesting node"},
		{"POST " + strings.Replace(leases, "kube-node-lease", "default", 1), lease("n1"), `can only access leases in the "kube-node-lease" system namespace`},
		{"PATCH " + leases + "/n1", `{"spec":{"holderIdentity":"n1"}}`, ""},
		{"PATCH " + leases + "/n2", `{"spec":{"holderIdentity":"n1"}}`, "can only access node lease with the same name as the requesting node"},
		{"DELETE " + leases + "/n1", "", ""},
		{"POST " + leases, lease("n1"), ""},
		{"POST /apis/storage.k8s.io/v1/csinodes", `{"metadata":{"name":"n3"},"spec":{"drivers":[]}}`, "can only access CSINode with the same name as the requesting node"},
		{"DELETE /apis/storage.k8s.io/v1/csinodes/n1", "", ""},
		{"POST /apis/storage.k8s.io/v1/csinodes", `{"metadata":{"name":"n1"},"spec":{"drivers":[]}}`, ""},
		{"POST " + slices, slice(`"nodeName":"n2",`), "can only create ResourceSlice with the same NodeName as the requesting node"},
		{"POST " + slices, slice(`"allNodes":true,`), "can only create ResourceSlice with the same NodeName as the requesting node"},
		{"POST " + slices, slice(`"nodeName":"n1",`), ""},
		{"DELETE " + slices + "?fieldSelector=spec.nodeName=n1", "", ""},
		{"GET " + slices + "/mine", "", "no relationship found between node 'n1' and this object"},

		// Certificates.
		{"POST /apis/certificates.k8s.io/v1/certificatesigningrequests", csr("a", "system:node:n2", "kubernetes.io/kube-apiserver-client-kubelet", client), "can only create a node CSR with CN=system:node:n1"},
		{"POST /apis/certificates.k8s.io/v1/certificatesigningrequests", csr("b", "system:node:n2", "kubernetes.io/kubelet-serving", serving), "can only create a node CSR with CN=system:node:n1"},
		{"POST /apis/certificates.k8s.io/v1/certificatesigningrequests", csr("c", "system:node:n1", "kubernetes.io/kubelet-serving", serving), ""},
		{"POST /apis/certificates.k8s.io/v1/certificatesigningrequests", csr("d", "ann", "example.com/other", client), ""},
		{"POST /apis/certificates.k8s.io/v1/certificatesigningrequests", `{"metadata":{"name":"e"},"spec":{"request":"eA==","signerName":"kubernetes.io/kubelet-serving","usages":["server auth"]}}`,
			"unable to parse csr: PEM block type must be CERTIFICATE REQUEST"},
	} {
		if begin, ok := strings.CutPrefix(c.want, "*"); ok {
			if code, message := w.ask(c.request, c.body); code != http.StatusForbidden || !strings.Contains(message, begin) {
				t.Errorf("%s %s: %d %s, want %q", c.request, c.body, code, message, begin)
			}
			continue
		}
		w.check(c.request, c.body, c.want)
	}
}

// TestNodePodCertificates: a kubelet requests certificates for its pods and the signers in their volumes.
func TestNodePodCertificates(t *testing.T) {
	w := newKubeletWorld(t)
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	podUID := w.uids["mine pods"]
	valid := fmt.Sprintf(`{"metadata":{"generateName":"r-"},"spec":{"signerName":"example.com/signer","podName":"mine","podUID":"%s",`+
		`"serviceAccountName":"mine","serviceAccountUID":"%s","nodeName":"n1","nodeUID":"%s","maxExpirationSeconds":86400,"stubPKCS10Request":"%s"}}`,
		podUID, w.uids["mine serviceaccounts"], w.uids["n1 nodes"], base64.StdEncoding.EncodeToString(proof))
	for _, c := range []struct {
		old, new string
		code     int
		want     string
	}{
		{`"nodeName":"n1"`, `"nodeName":"n2"`, 403, `PodCertificateRequest.Spec.NodeName="n2", which is not the requesting node "n1"`},
		{`"nodeUID":"`, `"nodeUID":"x`, 500, `PodCertificateRequest for pod "default/mine" names node UID "x` + w.uids["n1 nodes"] + `", inconsistent with the running node ("` + w.uids["n1 nodes"] + `")`},
		{`"podName":"mine"`, `"podName":"absent"`, 500, `while retrieving pod "default/absent" named in the PodCertificateRequest: pod "absent" not found`},
		{`"podUID":"`, `"podUID":"x`, 500, `PodCertificateRequest for pod "default/mine" contains pod UID ("x` + podUID + `") which differs from running pod "` + podUID + `"`},
		{`"podName":"mine","podUID":"` + podUID, `"podName":"other","podUID":"` + w.uids["other pods"], 403, `pod "default/other" is not running on node "n1" named in the PodCertificateRequest`},
		{`"serviceAccountName":"mine"`, `"serviceAccountName":"other"`, 403, `PodCertificateRequest for pod "default/mine" contains serviceAccountName ("other") that differs from running pod ("mine")`},
		{`"example.com/signer"`, `"example.com/other"`, 403, `pod "default/mine" does not mount a podCertificate projected volume for signer "example.com/other"`},
	} {
		code, message := w.ask("POST /apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests", strings.Replace(valid, c.old, c.new, 1))
		if code != c.code || !strings.HasSuffix(message, c.want) || code == 500 && message != c.want {
			t.Errorf("%s: %d %s\nwant %d %s", c.new, code, message, c.code, c.want)
		}
	}
	w.check("POST /apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests", valid, "")

	// A right that the administrator gives allows another signer.
	w.add("/apis/rbac.authorization.k8s.io/v1/clusterroles", `{"metadata":{"name":"signer"},"rules":[{"verbs":["request-serviceaccounts-podcertificate-signer"],"apiGroups":["certificates.k8s.io"],"resources":["example.com:other"],"resourceNames":["mine"]}]}`)
	w.add("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", `{"metadata":{"name":"signer"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"signer"},"subjects":[{"kind":"Group","name":"system:nodes","apiGroup":"rbac.authorization.k8s.io"}]}`)
	w.check("POST /apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests", strings.Replace(valid, "example.com/signer", "example.com/other", 1), "")
}

// request is a certificate request in base64.
func request(t *testing.T, commonName string) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	subject := pkix.Name{CommonName: commonName, Organization: []string{"system:nodes"}}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject, DNSNames: []string{"n1"}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}
