package main

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestClone: a copied pod has a UID, a node and an address of its own, and its owner is the copied ReplicaSet, also in its managed
// fields.
func TestClone(t *testing.T) {
	const set, pod = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	stored := `{"metadata":{"name":"d1-7d8b-abcde","generateName":"d1-7d8b-","namespace":"default","uid":"` + pod + `","labels":{"app":"d1"},` +
		`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"d1-7d8b","uid":"` + set + `"}],"managedFields":[{"manager":"a","fieldsType":"FieldsV1",` +
		`"fieldsV1":{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"` + set + `\"}":{}}},"f:status":{"f:podIPs":{"k:{\"ip\":\"10.0.0.9\"}":{}}}}}]},` +
		`"spec":{"nodeName":"node-3"},"status":{"hostIP":"172.18.0.4","podIP":"10.0.0.9","podIPs":[{"ip":"10.0.0.9"}]}}`
	original := &corev1.Pod{}
	if err := json.Unmarshal([]byte(stored), original); err != nil {
		t.Fatal(err)
	}
	o := object{key: "/registry/pods/default/d1-7d8b-abcde", value: stored, pod: original}
	c := newClone(20)
	_, copied := c.object(object{key: "/registry/replicasets/default/d1-7d8b", value: `{"metadata":{"name":"d1-7d8b","uid":"` + set + `"}}`}, node{}, 0)
	key, value := c.object(o, node{"node-8", "172.18.0.9", netip.MustParsePrefix("10.0.7.0/24")}, 5)
	var got, owner corev1.Pod
	if err := json.Unmarshal([]byte(value), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(copied), &owner); err != nil {
		t.Fatal(err)
	}
	if key != "/registry/pods/default/d20-7d8b-abcde" || got.Name != "d20-7d8b-abcde" || got.Labels["app"] != "d20" || got.UID == pod {
		t.Errorf("%s: %+v", key, got.ObjectMeta)
	}
	if r := got.OwnerReferences[0]; owner.Name != "d20-7d8b" || owner.UID == set || r.Name != owner.Name || r.UID != owner.UID {
		t.Errorf("the owner is %+v, its copy %s %s", r, owner.Name, owner.UID)
	}
	if got.Spec.NodeName != "node-8" || got.Status.HostIP != "172.18.0.9" || got.Status.PodIP != "10.0.7.7" || got.Status.PodIPs[0].IP != "10.0.7.7" {
		t.Errorf("it runs at %s, %+v", got.Spec.NodeName, got.Status)
	}
	for _, old := range []string{set, pod, "10.0.0.9", "node-3", "172.18.0.4", `"d1`} {
		if strings.Contains(value, old) {
			t.Errorf("%s is left in %s", old, value)
		}
	}
	if _, same := newClone(1).object(o, node{"node-8", "172.18.0.9", netip.MustParsePrefix("10.0.7.0/24")}, 5); !strings.Contains(same, pod) || !strings.Contains(same, set) {
		t.Errorf("the first Deployment's objects have other UIDs: %s", same)
	}
}
