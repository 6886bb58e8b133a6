package dependencies_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/node/dependencies"
)

func pod(t *testing.T, spec string) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "u"}}
	if err := yaml.UnmarshalStrict([]byte(spec), &p.Spec); err != nil {
		t.Fatal(err)
	}
	return p
}

// there are the config map m, the secret s and claims.
func there(key dependencies.Key) (any, error) {
	mine := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u", Controller: ptr.To(true)}
	bound := corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}
	disk := corev1.PersistentVolumeClaimSpec{VolumeName: "disk"}
	switch key.Kind.String() + " " + key.Name {
	case "configmap m":
		return &corev1.ConfigMap{Data: map[string]string{"a": "1", "b": "2"}, BinaryData: map[string][]byte{"bin": {0}}}, nil
	case "secret s":
		return &corev1.Secret{Data: map[string][]byte{"k": []byte("v")}}, nil
	case "secret unknown":
		return nil, fmt.Errorf("failed to sync secret cache: timed out waiting for the condition")
	case "persistentvolumeclaim bound":
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: key.Name}, Spec: disk, Status: bound}, nil
	case "persistentvolume disk":
		return &corev1.PersistentVolume{}, nil
	case "persistentvolumeclaim pending":
		return &corev1.PersistentVolumeClaim{}, nil
	case "persistentvolumeclaim p-own":
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{mine}}, Spec: disk, Status: bound}, nil
	case "persistentvolumeclaim p-foreign":
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: key.Name}, Spec: disk, Status: bound}, nil
	}
	return nil, dependencies.NotFound(key)
}

func TestEnv(t *testing.T) {
	for spec, want := range map[string]string{
		`{env: [{name: A, value: x}, {name: F, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}`:                                                                                                      "[A=x F=p]",
		`{env: [{name: L, valueFrom: {fieldRef: {fieldPath: "metadata.labels['l']"}}}, {name: U, valueFrom: {fieldRef: {fieldPath: status.phase}}}]}`:                                                     "[L=]",
		`{env: [{name: A, value: x}, {name: B, value: "$(A)-$(B)-$$(A)$"}]}`:                                                                                                                              "[A=x B=x-$(B)-$(A)$]",
		`{resources: {limits: {cpu: 1500m}}, env: [{name: C, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}, {name: M, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}]}`: "[C=2 M=512]",
		`{envFrom: [{prefix: M_, configMapRef: {name: m}}, {secretRef: {name: s}}]}`:                                                                                                                      "[M_a=1 M_b=2 k=v]",
		`{envFrom: [{configMapRef: {name: m}}], env: [{name: a, value: other}]}`:                                                                                                                          "[b=2 a=other]",
		`{envFrom: [{configMapRef: {name: x}}]}`:                                                                                                                                                          `configmap "x" not found`,
		`{envFrom: [{secretRef: {name: x}}]}`:                                                                                                                                                             `secret "x" not found`,
		`{envFrom: [{secretRef: {name: x, optional: true}}]}`:                                                                                                                                             "[]",
		`{envFrom: [{secretRef: {name: unknown, optional: true}}]}`:                                                                                                                                       "failed to sync secret cache: timed out waiting for the condition",
		`{env: [{name: A, valueFrom: {configMapKeyRef: {name: m, key: a}}}]}`:                                                                                                                             "[A=1]",
		`{env: [{name: A, valueFrom: {configMapKeyRef: {name: m, key: z}}}]}`:                                                                                                                             "couldn't find key z in ConfigMap ns/m",
		`{env: [{name: A, valueFrom: {configMapKeyRef: {name: m, key: bin}}}]}`:                                                                                                                           "couldn't find key bin in ConfigMap ns/m",
		`{env: [{name: A, valueFrom: {configMapKeyRef: {name: m, key: z, optional: true}}}]}`:                                                                                                             "[]",
		`{env: [{name: A, valueFrom: {configMapKeyRef: {name: x, key: z, optional: true}}}]}`:                                                                                                             "[]",
		`{env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]}`:                                                                                                                                "[A=v]",
		`{env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: z}}}]}`:                                                                                                                                "couldn't find key z in Secret ns/s",
		`{env: [{name: A, valueFrom: {secretKeyRef: {name: x, key: z}}}]}`:                                                                                                                                `secret "x" not found`,
	} {
		p := pod(t, "containers: ["+spec+"]")
		env, err := dependencies.Env(p, &p.Spec.Containers[0], there, corev1.ResourceList{"memory": resource.MustParse("512Mi")})
		got := make([]string, len(env))
		for i, e := range env {
			got[i] = e.Name + "=" + e.Value
		}
		if text := fmt.Sprint(got); err == nil && text != want || err != nil && err.Error() != want {
			t.Errorf("%s: %s, %v, want %s", spec, text, err, want)
		}
	}
}

// TestMounts makes paths in volumes of the environment.
func TestMounts(t *testing.T) {
	for spec, want := range map[string]string{
		`{volumeMounts: [{name: v, mountPath: /v, subPath: "$(A)"}]}`:                                                                                        "",
		`{env: [{name: A, value: x}], volumeMounts: [{name: v, mountPath: /v, subPathExpr: "a/$(A)/$$(B)"}]}`:                                                "",
		`{env: [{name: A, valueFrom: {fieldRef: {fieldPath: status.podIP}}}], volumeMounts: [{name: v, mountPath: /v, subPathExpr: "$(A)"}]}`:                "",
		`{volumeMounts: [{name: v, mountPath: /v, subPathExpr: "$(B)/$(A)/$(B)"}]}`:                                                                          "missing value for A, B",
		`{env: [{name: A, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['a']"}}}], volumeMounts: [{name: v, mountPath: /v, subPathExpr: "$(A)"}]}`: "missing value for A",
		`{env: [{name: A, value: /x}], volumeMounts: [{name: v, mountPath: /v, subPathExpr: "$(A)"}]}`:                                                       "error SubPath `/x` must not be an absolute path",
		`{env: [{name: A, value: ../x}], volumeMounts: [{name: v, mountPath: /v, subPathExpr: "$(A)"}]}`:                                                     "unable to provision SubPath `../x`: must not contain '..'",
		`{env: [{name: A, valueFrom: {resourceFieldRef: {containerName: x, resource: limits.cpu}}}]}`:                                                        "container x not found",
	} {
		p := pod(t, "containers: ["+spec+"]")
		env, err := dependencies.Env(p, &p.Spec.Containers[0], there, nil)
		if err == nil {
			err = dependencies.Mounts(&p.Spec.Containers[0], env)
		}
		if err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
		if fails := dependencies.Fallible(p); want != "" && !fails {
			t.Errorf("%s: nothing can fail", spec)
		}
	}
}

func TestVolumes(t *testing.T) {
	const mount, attach = `MountVolume.SetUp failed for volume "v" : `, "Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed to process volumes=[v]: "
	for volume, want := range map[string]string{
		`emptyDir: {}`:         "",
		`configMap: {name: m}`: "",
		`configMap: {name: m, items: [{key: bin, path: p}]}`:               "",
		`configMap: {name: x}`:                                             mount + `configmap "x" not found`,
		`configMap: {name: x, optional: true}`:                             "",
		`configMap: {name: m, items: [{key: z, path: p}]}`:                 mount + "configmap references non-existent config key: z",
		`configMap: {name: m, optional: true, items: [{key: z, path: p}]}`: "",
		`secret: {secretName: s}`:                                          "",
		`secret: {secretName: x}`:                                          mount + `secret "x" not found`,
		`secret: {secretName: s, items: [{key: z, path: p}]}`:              mount + "references non-existent secret key: z",
		`projected: {sources: [{configMap: {name: m}}, {secret: {name: s}}, {serviceAccountToken: {path: t}}]}`: "",
		`projected: {sources: [{configMap: {name: x}}, {secret: {name: x}}]}`:                                   mount + `[configmap "x" not found, secret "x" not found]`,
		`projected: {sources: [{configMap: {name: x, optional: true}}]}`:                                        "",
		`persistentVolumeClaim: {claimName: bound}`:                                                             "",
		`persistentVolumeClaim: {claimName: pending}`:                                                           attach + "error processing PVC ns/pending: PVC is not bound",
		`persistentVolumeClaim: {claimName: x}`:                                                                 attach + `error processing PVC ns/x: failed to fetch PVC from API server: persistentvolumeclaims "x" not found`,
	} {
		got := dependencies.Volumes(pod(t, "volumes: [{name: v, "+volume+"}]"), there)
		if want == "" && got != nil || want != "" && !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %q", volume, got, want)
		}
	}
	p := pod(t, "volumes: [{name: own, ephemeral: {}}, {name: foreign, ephemeral: {}}]")
	if got := dependencies.Volumes(p, there); len(got) != 1 || got[0] != "Unable to attach or mount volumes: unmounted volumes=[foreign], unattached volumes=[], failed to process volumes=[foreign]: PVC ns/p-foreign was not created for pod ns/p (pod is not owner)" {
		t.Errorf("ephemeral: %q", got)
	}
}

// TestOf: each object once, without those that every pod gets.
func TestOf(t *testing.T) {
	p := pod(t, `
initContainers: [{envFrom: [{configMapRef: {name: one}}]}]
containers: [{env: [{name: A, valueFrom: {secretKeyRef: {name: two, key: k}}}, {name: B, valueFrom: {secretKeyRef: {name: two, key: l}}}]}]
imagePullSecrets: [{name: pull}]
volumes:
- {name: c, persistentVolumeClaim: {claimName: three}}
- {name: e, ephemeral: {}}
- {name: kube-api-access-x, projected: {sources: [{serviceAccountToken: {path: token}}, {configMap: {name: kube-root-ca.crt}}]}}
- {name: pr, projected: {sources: [{configMap: {name: one, optional: true}}, {secret: {name: four}}]}}
`)
	want := []dependencies.Key{
		{Kind: dependencies.ConfigMap, Namespace: "ns", Name: "one"}, {Kind: dependencies.Secret, Namespace: "ns", Name: "two"},
		{Kind: dependencies.Claim, Namespace: "ns", Name: "three"}, {Kind: dependencies.Claim, Namespace: "ns", Name: "p-e"}, {Kind: dependencies.Secret, Namespace: "ns", Name: "four"},
	}
	if got := dependencies.Of(p, there); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestDrivers: a volume of a CSI driver has to be attached, and the driver to be there; the objects that show this are only
// known step by step.
func TestDrivers(t *testing.T) {
	all := map[dependencies.Key]any{}
	find := func(key dependencies.Key) (any, error) {
		if obj := all[key]; obj != nil {
			return obj, nil
		}
		return nil, dependencies.NotFound(key)
	}
	p := pod(t, "{nodeName: n1, volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}")
	inline := pod(t, "{nodeName: n1, volumes: [{name: v, csi: {driver: x.csi}}]}")
	attachment := fmt.Sprintf("csi-%x", sha256.Sum256([]byte("handlex.csin1")))
	claim := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv"}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}
	volume := &corev1.PersistentVolume{}
	volume.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "x.csi", VolumeHandle: "handle"}
	const unregistered = `driver name x.csi not found in the list of registered CSI drivers (CSINode n1)`
	for _, step := range []struct {
		key  dependencies.Key
		obj  any
		of   int // how many objects the pod uses from then on
		says string
	}{
		{dependencies.Key{Kind: dependencies.Claim, Namespace: "ns", Name: "c"}, claim, 2, `failed to fetch PV pv from API server: persistentvolume "pv" not found`},
		{dependencies.Key{Kind: dependencies.Volume, Name: "pv"}, volume, 5, `MountVolume.WaitForAttach failed for volume "pv" : volume handle has GET error for volume attachment ` + attachment + `: volumeattachments.storage.k8s.io "` + attachment + `" not found`},
		{dependencies.Key{Kind: dependencies.Attachment, Name: attachment}, &storagev1.VolumeAttachment{}, 5, "volume handle is not attached for volume attachment " + attachment},
		{dependencies.Key{Kind: dependencies.Attachment, Name: attachment}, &storagev1.VolumeAttachment{Status: storagev1.VolumeAttachmentStatus{AttachError: &storagev1.VolumeError{Message: "no disk"}}}, 5, "no disk"},
		{dependencies.Key{Kind: dependencies.Driver, Name: "x.csi"}, &storagev1.CSIDriver{Spec: storagev1.CSIDriverSpec{AttachRequired: ptr.To(false)}}, 5, unregistered},
		{dependencies.Key{Kind: dependencies.Driver, Name: "x.csi"}, &storagev1.CSIDriver{Spec: storagev1.CSIDriverSpec{AttachRequired: ptr.To(true)}}, 5, "no disk"},
		{dependencies.Key{Kind: dependencies.Attachment, Name: attachment}, &storagev1.VolumeAttachment{Status: storagev1.VolumeAttachmentStatus{Attached: true}}, 5, unregistered},
		{dependencies.Key{Kind: dependencies.NodeDrivers, Name: "n1"}, &storagev1.CSINode{Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "x.csi"}}}}, 5, ""},
	} {
		if step.says == "" {
			if got := dependencies.Volumes(inline, find); len(got) != 1 || !strings.Contains(got[0], unregistered) {
				t.Errorf("in the pod: %q", got)
			}
		}
		all[step.key] = step.obj
		got := dependencies.Volumes(p, find)
		if n := len(dependencies.Of(p, find)); n != step.of || (step.says == "") != (got == nil) || got != nil && !strings.Contains(got[0], step.says) {
			t.Errorf("with %v: uses %d, %q; want %d, %s", step.key, n, got, step.of, step.says)
		}
	}
	if got := dependencies.Volumes(inline, find); got != nil {
		t.Errorf("in the pod: %q", got)
	}
	claim.Annotations = map[string]string{"volume.kubernetes.io/storage-provisioner": dependencies.Simulated}
	if got := dependencies.Of(p, find); len(got) != 1 {
		t.Errorf("a simulated volume: %v", got)
	}
}

// TestBundles: trust bundles by name and by signer, and certificates.
func TestBundles(t *testing.T) {
	find := func(key dependencies.Key) (any, error) {
		if key.Kind == dependencies.Bundle && key.Name == "b" || key.Kind == dependencies.Signer && key.Name == "x/s" {
			return []*certificatesv1.ClusterTrustBundle{{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"l": "1"}}}}, nil
		}
		return nil, dependencies.NotFound(key)
	}
	for source, want := range map[string]string{
		"clusterTrustBundle: {name: b, path: p}":                                                 "",
		"clusterTrustBundle: {name: z, path: p}":                                                 `while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "z" not found`,
		"clusterTrustBundle: {name: z, path: p, optional: true}":                                 "",
		"clusterTrustBundle: {signerName: x/s, path: p, labelSelector: {matchLabels: {l: '1'}}}": "",
		"clusterTrustBundle: {signerName: x/s, path: p, labelSelector: {matchLabels: {l: '2'}}}": "combination of signerName and labelSelector matched zero ClusterTrustBundles",
		"clusterTrustBundle: {signerName: x/s, path: p}":                                         "combination of signerName and labelSelector matched zero ClusterTrustBundles",
		"clusterTrustBundle: {signerName: x/z, path: p, labelSelector: {}}":                      "combination of signerName and labelSelector matched zero ClusterTrustBundles",
		"clusterTrustBundle: {signerName: x/z, path: p, labelSelector: {}, optional: true}":      "",
		"podCertificate: {signerName: x/s, keyType: ED25519, credentialBundlePath: p}":           "credential bundle is not issued yet",
	} {
		got := dependencies.Volumes(pod(t, "volumes: [{name: v, projected: {sources: [{"+source+"}]}}]"), find)
		if want == "" && got != nil || want != "" && (len(got) != 1 || got[0] != `MountVolume.SetUp failed for volume "v" : `+want) {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}
