package controlplane_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// kubeletWorld is a cluster of two nodes with pods that use objects in all ways.
type kubeletWorld struct {
	t              *testing.T
	ctx            context.Context
	admin, kubelet rest.Interface
	uids           map[string]string // of the objects that add has created, by name and resource
}

func newKubeletWorld(t *testing.T) *kubeletWorld {
	cp := controlplanetest.Start(t, controlplane.Options{Controllers: []string{"certificates"}})
	admin := controlplanetest.Clientset(t, cp)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	kubelet := kubernetes.NewForConfigOrDie(nodeConfig(ctx, t, cp.Config(), admin, "n1"))
	w := &kubeletWorld{t, ctx, admin.CoreV1().RESTClient(), kubelet.CoreV1().RESTClient(), map[string]string{}}
	for _, node := range []string{"n1", "n2"} {
		w.add("/api/v1/nodes", `{"metadata":{"name":"`+node+`"}}`)
	}
	for _, name := range []string{"mine", "other"} {
		w.add("/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"`+name+`"}}`)
		w.add("/api/v1/namespaces/default/persistentvolumeclaims", `{"metadata":{"name":"`+name+`"},"spec":{"accessModes":["ReadWriteOnce"],
			"storageClassName":"","resources":{"requests":{"storage":"1Gi"}},"volumeName":"`+name+`"}}`)
		w.add("/api/v1/persistentvolumes", `{"metadata":{"name":"`+name+`"},"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},
			"claimRef":{"kind":"PersistentVolumeClaim","namespace":"default","name":"`+name+`"},
			"csi":{"driver":"disks.example.com","volumeHandle":"v","nodeStageSecretRef":{"namespace":"vault","name":"stage-`+name+`"},
			"controllerPublishSecretRef":{"namespace":"vault","name":"controller-`+name+`"}}}}`)
	}
	w.add("/apis/storage.k8s.io/v1/csidrivers", `{"metadata":{"name":"disks.example.com"},"spec":{"tokenRequests":[{"audience":"disks"}]}}`)
	for node, name := range map[string]string{"n1": "mine", "n2": "other"} {
		w.add("/apis/storage.k8s.io/v1/volumeattachments", `{"metadata":{"name":"`+name+`"},"spec":{"attacher":"disks.example.com","nodeName":"`+node+`","source":{"persistentVolumeName":"`+name+`"}}}`)
		w.add("/apis/resource.k8s.io/v1/resourceslices", `{"metadata":{"name":"`+name+`"},"spec":{"driver":"gpu.example.com","nodeName":"`+node+`","pool":{"name":"p","generation":1,"resourceSliceCount":1}}}`)
		w.add("/apis/storage.k8s.io/v1/csinodes", `{"metadata":{"name":"`+node+`"},"spec":{"drivers":[]}}`)
		w.add("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", `{"metadata":{"name":"`+node+`"},"spec":{}}`)
		w.add("/api/v1/namespaces/default/pods", w.pod(name, node))
	}
	return w
}

// pod is a pod of an account of its name that uses objects named after it.
func (w *kubeletWorld) pod(name, node string) string {
	return strings.NewReplacer("NAME", name, "NODE", node).Replace(`{"metadata":{"name":"NAME"},"spec":{"nodeName":"NODE","serviceAccountName":"NAME","automountServiceAccountToken":false,
		"imagePullSecrets":[{"name":"pull-NAME"}],
		"initContainers":[{"name":"i","image":"i","envFrom":[{"secretRef":{"name":"init-NAME"}},{"configMapRef":{"name":"init-NAME"}}]}],
		"containers":[{"name":"c","image":"i","env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"env-NAME","key":"k"}}},{"name":"B","valueFrom":{"configMapKeyRef":{"name":"env-NAME","key":"k"}}}]}],
		"resourceClaims":[{"name":"direct","resourceClaimName":"direct-NAME"},{"name":"made","resourceClaimTemplateName":"template-NAME"},{"name":"unmade","resourceClaimTemplateName":"template-NAME"}],
		"volumes":[
			{"name":"secret","secret":{"secretName":"volume-NAME"}},
			{"name":"config","configMap":{"name":"volume-NAME"}},
			{"name":"claim","persistentVolumeClaim":{"claimName":"NAME"}},
			{"name":"scratch","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}},
			{"name":"inline","csi":{"driver":"inline.example.com","nodePublishSecretRef":{"name":"inline-NAME"}}},
			{"name":"projected","projected":{"sources":[{"secret":{"name":"projected-NAME"}},{"configMap":{"name":"projected-NAME"}},
				{"serviceAccountToken":{"path":"t","audience":"vault"}},{"podCertificate":{"signerName":"example.com/signer","keyType":"ED25519","credentialBundlePath":"b"}}]}}]}}`)
}

// add creates an object as the administrator.
func (w *kubeletWorld) add(path, body string) {
	w.t.Helper()
	raw, err := w.admin.Post().AbsPath(path).Body([]byte(body)).DoRaw(w.ctx)
	if err != nil {
		w.t.Fatalf("%s: %v %s", path, err, raw)
	}
	var got struct{ Metadata struct{ Name, UID string } }
	if err := json.Unmarshal(raw, &got); err != nil {
		w.t.Fatal(err)
	}
	w.uids[got.Metadata.Name+" "+path[strings.LastIndex(path, "/")+1:]] = got.Metadata.UID
}

// patch merges into an object as the administrator.
func (w *kubeletWorld) patch(path, body string) {
	w.t.Helper()
	if raw, err := w.admin.Patch("application/merge-patch+json").AbsPath(path).Body([]byte(body)).DoRaw(w.ctx); err != nil {
		w.t.Fatalf("%s: %v %s", path, err, raw)
	}
}

// ask makes a request of the kubelet of n1 and returns its code and message. A word in capitals starts the request: an HTTP
// method, or PATCH for a merge patch.
func (w *kubeletWorld) ask(request, body string) (code int, message string) {
	w.t.Helper()
	verb, path, _ := strings.Cut(request, " ")
	path, query, _ := strings.Cut(path, "?")
	r := w.kubelet.Verb(verb).AbsPath(path)
	for _, q := range strings.Split(query, "&") {
		if k, v, ok := strings.Cut(q, "="); ok {
			r = r.Param(k, v)
		}
	}
	if body != "" {
		r = r.Body([]byte(body)).SetHeader("Content-Type", "application/json")
	}
	if verb == "PATCH" {
		r = r.SetHeader("Content-Type", "application/merge-patch+json")
	}
	if strings.Contains(query, "watch=") {
		stream, err := r.Stream(w.ctx)
		if err == nil {
			stream.Close()
			return http.StatusOK, ""
		}
		return failure(err)
	}
	if err := r.Do(w.ctx).Error(); err != nil {
		return failure(err)
	}
	return http.StatusOK, ""
}

func failure(err error) (int, string) {
	var s *apierrors.StatusError
	if !errors.As(err, &s) {
		return 0, err.Error()
	}
	return int(s.ErrStatus.Code), s.ErrStatus.Message
}

// check compares the answer with "" for success, with "404" for an object that is missing and that the kubelet may get, and
// otherwise with the end of the message of a refusal.
func (w *kubeletWorld) check(request, body, want string) {
	w.t.Helper()
	code, message := w.ask(request, body)
	ok := false
	switch want {
	case "":
		ok = code == http.StatusOK
	case "404":
		ok = code == http.StatusNotFound
	default:
		ok = code == http.StatusForbidden && strings.HasSuffix(message, want)
	}
	if !ok {
		w.t.Errorf("%s %s: %d %s, want %q", request, body, code, message, want)
	}
}

// TestNodeAuthorizer compares the answers to a kubelet with those of kube-apiserver's Node authorizer, by its source at 1.37.2.
func TestNodeAuthorizer(t *testing.T) {
	w := newKubeletWorld(t)
	w.patch("/api/v1/namespaces/default/pods/mine/status", `{"status":{"resourceClaimStatuses":[{"name":"made","resourceClaimName":"made-mine"},{"name":"unmade"}],
		"extendedResourceClaimStatus":{"resourceClaimName":"extended-mine","requestMappings":[{"containerName":"c","resourceName":"example.com/gpu","requestName":"r"}]}}}`)
	const (
		ns        = "/api/v1/namespaces/default/"
		vault     = "/api/v1/namespaces/vault/"
		unrelated = ": node: no relationship found between node 'n1' and this object"
		read      = "can only read resources of this type"
		get       = "can only get individual resources of this type"
		named     = "No Object name found"
	)
	for _, c := range []struct{ request, want string }{
		{"GET /api/v1/nodes/n1", ""},
		{"GET /api/v1/nodes/n2", "node 'n1' cannot read 'n2', only its own Node object"},
		{"GET /api/v1/nodes", "node 'n1' cannot read all nodes, only its own Node object"},
		{"GET /api/v1/nodes?fieldSelector=metadata.name=n1", ""},
		{"GET /api/v1/nodes?watch=1&fieldSelector=metadata.name=n1", ""},
		{"GET /api/v1/nodes/n1/status", `cannot get resource "nodes/status" in API group "" at the cluster scope`},
		{"GET /api/v1/nodes/n1/proxy/stats", `cannot get resource "nodes/proxy" in API group "" at the cluster scope`},
		{"DELETE /api/v1/nodes/n1", `cannot delete resource "nodes" in API group "" at the cluster scope`},

		{"GET " + ns + "pods/mine", ""},
		{"GET " + ns + "pods/other", unrelated},
		{"GET " + ns + "pods/absent", unrelated},
		{"GET " + ns + "pods", "can only list/watch pods with spec.nodeName field selector"},
		{"GET " + ns + "pods?fieldSelector=spec.nodeName=n2", "can only list/watch pods with spec.nodeName field selector"},
		{"GET " + ns + "pods?fieldSelector=spec.nodeName!=n1", "can only list/watch pods with spec.nodeName field selector"},
		{"GET /api/v1/pods?fieldSelector=spec.nodeName=n1", ""},
		{"GET /api/v1/pods?fieldSelector=spec.nodeName==n1,status.phase!=Failed", ""},
		{"GET /api/v1/pods?watch=1&fieldSelector=spec.nodeName=n1", ""},
		{"GET " + ns + "pods?watch=1&fieldSelector=metadata.name=mine", ""},
		{"GET " + ns + "pods?fieldSelector=metadata.name=other", unrelated},
		{"DELETE " + ns + "pods?fieldSelector=spec.nodeName=n1", `cannot deletecollection resource "pods" in API group "" in the namespace "default"`},
		{"GET " + ns + "pods/mine/log", `cannot get resource "pods/log" in API group "" in the namespace "default"`},
		{"PUT " + ns + "pods/mine", `cannot update resource "pods" in API group "" in the namespace "default"`},
		{"PATCH " + ns + "pods/mine/ephemeralcontainers", `cannot patch resource "pods/ephemeralcontainers" in API group "" in the namespace "default"`},
		{"PATCH " + ns + "pods/mine/resize", `cannot patch resource "pods/resize" in API group "" in the namespace "default"`},
		{"POST " + ns + "pods/mine/binding", `cannot create resource "pods/binding" in API group "" in the namespace "default"`},

		{"GET " + ns + "secrets/pull-mine", "404"},
		{"GET " + ns + "secrets/init-mine", "404"},
		{"GET " + ns + "secrets/env-mine", "404"},
		{"GET " + ns + "secrets/volume-mine", "404"},
		{"GET " + ns + "secrets/inline-mine", "404"},
		{"GET " + ns + "secrets/projected-mine", "404"},
		{"GET " + vault + "secrets/stage-mine", "404"},
		{"GET " + vault + "secrets/stage-other", unrelated},
		{"GET " + vault + "secrets/controller-mine", unrelated},
		{"GET " + vault + "secrets/pull-mine", unrelated},
		{"GET " + ns + "secrets/pull-other", unrelated},
		{"GET " + ns + "secrets/later-mine", unrelated},
		{"GET " + ns + "secrets?fieldSelector=metadata.name=pull-mine", ""},
		{"GET " + ns + "secrets?watch=1&fieldSelector=metadata.name=pull-mine", ""},
		{"GET " + ns + "secrets", named},
		{"GET /api/v1/secrets", "can only read namespaced object of this type"},
		{"DELETE " + ns + "secrets/pull-mine", read},
		{"DELETE " + ns + "secrets", read},
		{"POST " + ns + "secrets", read},
		{"GET " + ns + "configmaps/init-mine", "404"},
		{"GET " + ns + "configmaps/env-mine", "404"},
		{"GET " + ns + "configmaps/volume-mine", "404"},
		{"GET " + ns + "configmaps/projected-mine", "404"},
		{"GET " + ns + "configmaps/volume-other", unrelated},
		{"PATCH " + ns + "configmaps/volume-mine", read},

		{"GET " + ns + "persistentvolumeclaims/mine", ""},
		{"GET " + ns + "persistentvolumeclaims/mine-scratch", "404"},
		{"GET " + ns + "persistentvolumeclaims/other", unrelated},
		{"GET " + ns + "persistentvolumeclaims?fieldSelector=metadata.name=mine", get},
		{"GET " + ns + "persistentvolumeclaims/mine/status", "can only get/update/patch this type"},
		{"PATCH " + ns + "persistentvolumeclaims/other/status", unrelated},
		{"PATCH " + ns + "persistentvolumeclaims/mine", get},
		{"GET /api/v1/persistentvolumes/mine", ""},
		{"GET /api/v1/persistentvolumes/other", unrelated},
		{"GET /api/v1/persistentvolumes", get},
		{"GET /api/v1/persistentvolumes/mine/status", "cannot get subresource"},
		{"GET /apis/storage.k8s.io/v1/volumeattachments/mine", ""},
		{"GET /apis/storage.k8s.io/v1/volumeattachments/other", unrelated},
		{"GET /apis/storage.k8s.io/v1/volumeattachments", get},
		{"GET /apis/storage.k8s.io/v1/volumeattachments/mine/status", "cannot get subresource"},
		{"GET /apis/storage.k8s.io/v1/csidrivers", ""},
		{"GET /apis/storage.k8s.io/v1/csinodes/n1", ""},
		{"GET /apis/storage.k8s.io/v1/csinodes/n2", "can only access CSINode with the same name as the requesting node"},
		{"DELETE /apis/storage.k8s.io/v1/csinodes/n2", "can only access CSINode with the same name as the requesting node"},
		{"GET /apis/storage.k8s.io/v1/csinodes", "can only get, create, update, patch, or delete a CSINode"},
		{"GET /apis/storage.k8s.io/v1/csinodes/n1/status", "CSINode status access requires CSIVolumeHealth feature"},
		{"GET /apis/storage.k8s.io/v1/csinodes/n1/scale", "cannot authorize CSINode subresources"},

		{"GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1", ""},
		{"GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n2", "can only access node lease with the same name as the requesting node"},
		{"GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", "can only get, create, update, patch, or delete a node lease"},
		{"GET /apis/coordination.k8s.io/v1/namespaces/default/leases/n1", `can only access leases in the "kube-node-lease" system namespace`},

		{"GET " + ns + "serviceaccounts/mine", ""},
		{"GET " + ns + "serviceaccounts/other", unrelated},
		{"GET " + ns + "serviceaccounts", "can only create tokens for individual service accounts"},
		{"POST " + ns + "serviceaccounts", "can only create tokens for individual service accounts"},
		{"POST " + ns + "serviceaccounts/other/token", unrelated},

		{"GET /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/direct-mine", "404"},
		{"GET /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/made-mine", "404"},
		{"GET /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/extended-mine", "404"},
		{"GET /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/template-mine", unrelated},
		{"GET /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/direct-other", unrelated},
		{"GET /apis/resource.k8s.io/v1/namespaces/default/resourceclaims", get},
		{"PATCH /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/direct-mine/status", get},
		{"GET /apis/resource.k8s.io/v1/resourceslices/mine", ""},
		{"GET /apis/resource.k8s.io/v1/resourceslices/other", unrelated},
		{"DELETE /apis/resource.k8s.io/v1/resourceslices/other", unrelated},
		{"GET /apis/resource.k8s.io/v1/resourceslices", "can only list/watch/deletecollection resourceslices with nodeName field selector"},
		{"DELETE /apis/resource.k8s.io/v1/resourceslices", "can only list/watch/deletecollection resourceslices with nodeName field selector"},
		{"GET /apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName=n1", ""},
		{"DELETE /apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName=n1,spec.driver=none.example.com", ""},

		{"GET /apis/certificates.k8s.io/v1/certificatesigningrequests", ""},
		{"GET /apis/certificates.k8s.io/v1/certificatesigningrequests/n1", ""},
		{"DELETE /apis/certificates.k8s.io/v1/certificatesigningrequests/n1", `cannot delete resource "certificatesigningrequests" in API group "certificates.k8s.io" at the cluster scope`},
		{"PUT /apis/certificates.k8s.io/v1/certificatesigningrequests/n1/approval", `cannot update resource "certificatesigningrequests/approval" in API group "certificates.k8s.io" at the cluster scope`},
		{"GET /apis/certificates.k8s.io/v1/clustertrustbundles", ""},
		{"GET /apis/certificates.k8s.io/v1/podcertificaterequests", "can only list/watch podcertificaterequests with nodeName field selector"},
		{"GET /apis/certificates.k8s.io/v1/podcertificaterequests?fieldSelector=spec.nodeName=n1", ""},
		{"GET /apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests/absent", unrelated},
		{"DELETE /apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests/absent", "nodes may not delete podcertificaterequests"},
		{"PATCH /apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests/absent/status", "nodes may not access the status subresource of PodCertificateRequests"},
		{"GET /api/v1/services", ""},
		{"GET /api/v1/endpoints", `cannot list resource "endpoints" in API group "" at the cluster scope`},
		{"GET /apis/node.k8s.io/v1/runtimeclasses", ""},
		{"GET /api/v1/namespaces", `cannot list resource "namespaces" in API group "" at the cluster scope`},
	} {
		w.check(c.request, "", c.want)
	}

	// An ephemeral container makes a pod use more.
	w.patch(ns+"pods/mine/ephemeralcontainers", `{"spec":{"ephemeralContainers":[{"name":"e","image":"i","envFrom":[{"secretRef":{"name":"later-mine"}}]}]}}`)
	w.check("GET "+ns+"secrets/later-mine", "", "404")
	// A pod that has finished still uses its objects, one that is gone does not.
	w.patch(ns+"pods/mine/status", `{"status":{"phase":"Succeeded"}}`)
	w.check("GET "+ns+"secrets/pull-mine", "", "404")
	if err := w.admin.Delete().AbsPath(ns+"pods/mine").Param("gracePeriodSeconds", "0").Do(w.ctx).Error(); err != nil {
		t.Fatal(err)
	}
	// The authorizer follows the deletion by its event, as upstream's does; a read of the latest state applies that event.
	if err := w.admin.Get().AbsPath(ns + "pods/mine").Do(w.ctx).Error(); !apierrors.IsNotFound(err) {
		t.Fatalf("the deleted pod: %v", err)
	}
	for _, request := range []string{
		"GET " + ns + "pods/mine", "GET " + ns + "secrets/pull-mine", "GET " + ns + "persistentvolumeclaims/mine", "GET /api/v1/persistentvolumes/mine",
		"GET " + vault + "secrets/stage-mine", "GET " + ns + "serviceaccounts/mine", "GET /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/made-mine",
	} {
		w.check(request, "", unrelated)
	}
	// The mirror of a static pod gives no rights, even if it refers to an object.
	w.add(ns+"pods", fmt.Sprintf(`{"metadata":{"name":"static","annotations":{"kubernetes.io/config.mirror":"x"},
		"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n1","uid":%q,"controller":true}]},
		"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i","envFrom":[{"configMapRef":{"name":"hidden"}}]}]}}`, w.uids["n1 nodes"]))
	w.check("GET "+ns+"pods/static", "", "")
	w.check("GET "+ns+"configmaps/hidden", "", unrelated)
}
