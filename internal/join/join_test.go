package join_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/join"
	"fairlead.dev/testenv"
)

// prepared starts a control plane that nodes can join, and returns an administrator's client, the cluster and a signed token.
func prepared(t *testing.T) (*client.Client, join.Cluster, join.Token) {
	t.Helper()
	env := testenv.New(t, testenv.Options{Controllers: []string{"bootstrapsigner"}})
	c := env.Client(t)
	cluster, err := join.ClusterOf(t.Context(), c, env.Config(), env.Config().Host)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second call has no effect
		if err := join.Prepare(t.Context(), c, cluster); err != nil {
			t.Fatal(err)
		}
	}
	token, err := join.CreateToken(t.Context(), c, join.TokenOptions{TTL: time.Hour, Description: "for a test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := join.AwaitSignature(t.Context(), c, token); err != nil {
		t.Fatal(err)
	}
	return c, cluster, token
}

func hashes(t *testing.T, c join.Cluster) []string {
	t.Helper()
	all, err := join.CAHashes(c.CA)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestDiscover: a node trusts the server by its invitation, and every wrong part of one is an error that names it.
func TestDiscover(t *testing.T) {
	_, cluster, token := prepared(t)
	good := join.Invitation{Server: cluster.Server, Token: token.String(), CAHashes: hashes(t, cluster)}
	found, err := join.Discover(t.Context(), good)
	if err != nil || found.Server != cluster.Server || string(found.CA) != string(cluster.CA) {
		t.Fatalf("%+v, %v", found, err)
	}
	for want, change := range map[string]func(*join.Invitation){
		"is not the URL":                  func(i *join.Invitation) { i.Server = "10.0.0.1:6443" },
		"--token":                         func(i *join.Invitation) { i.Token = "abcdef" },
		"want the hash of the server's":   func(i *join.Invitation) { i.CAHashes = nil },
		"64 hexadecimal digits":           func(i *join.Invitation) { i.CAHashes = []string{"sha256:00"} },
		"the hash " + good.CAHashes[0]:    func(i *join.Invitation) { i.CAHashes = []string{"sha256:" + strings.Repeat("0", 64)} },
		"is unknown to " + cluster.Server: func(i *join.Invitation) { i.Token = "zzzzzz." + token.Secret },
		"is not signed by the token":      func(i *join.Invitation) { i.Token = token.ID + ".zzzzzzzzzzzzzzzz" },
	} {
		i := good
		change(&i)
		if _, err := join.Discover(t.Context(), i); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", i, err, want)
		}
	}
	unpinned := join.Invitation{Server: cluster.Server, Token: token.String(), AnyCA: true}
	if _, err := join.Discover(t.Context(), unpinned); err != nil {
		t.Errorf("with any CA: %v", err)
	}

	bare := testenv.New(t, testenv.Options{NoControllers: true})
	good.Server = bare.Config().Host
	if _, err := join.Discover(t.Context(), good); err == nil || !strings.Contains(err.Error(), "does not publish cluster-info") {
		t.Errorf("a cluster without tokens: %v", err)
	}
}

// TestCheckName: a name is free, or of a node that is not Ready; all else is an error.
func TestCheckName(t *testing.T) {
	admin, cluster, token := prepared(t)
	nodes := client.For[*corev1.Node](admin)
	for name, ready := range map[string]corev1.ConditionStatus{"alive": corev1.ConditionTrue, "dead": corev1.ConditionUnknown} {
		n, err := nodes.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if err == nil {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
			_, err = nodes.UpdateStatus(t.Context(), n)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := cluster.Client(token.String())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"free": "", "dead": "", "alive": "another machine has that name", "No_Name": "lowercase"} {
		switch err := join.CheckName(t.Context(), c, name); {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if err := join.DeleteToken(t.Context(), admin, token.String()); err != nil {
		t.Fatal(err)
	}
	if err := join.CheckName(t.Context(), c, "free"); err == nil || !strings.Contains(err.Error(), "does not accept the token") {
		t.Errorf("with a deleted token: %v", err)
	}
}

// TestLearn: a node reads the cluster's KubeletConfiguration with its token, and compares its kubelet's version.
func TestLearn(t *testing.T) {
	admin, cluster, token := prepared(t)
	maps := client.For[*corev1.ConfigMap](admin).Namespace("kube-system")
	if _, err := maps.Patch(t.Context(), "kubelet-config", client.MergePatch(map[string]any{"data": map[string]any{"kubelet": "maxPods: 42\n"}})); err != nil {
		t.Fatal(err)
	}
	if err := join.Prepare(t.Context(), admin, cluster); err != nil {
		t.Fatal(err)
	}
	c, err := cluster.Client(token.String())
	if err != nil {
		t.Fatal(err)
	}
	kubelet := filepath.Join(t.TempDir(), "kubelet")
	for version, want := range map[string]string{
		"v1.37.2": "", "v1.34.0": "", "v1.37.0-rc.1": "", "v1.38.0": "is newer than the server's", "v1.33.9": "is too old",
	} {
		if err := os.WriteFile(kubelet, []byte("#!/bin/sh\necho Kubernetes "+version+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		n := join.Node{Kubelet: join.Part{Program: kubelet}}
		err := n.Learn(t.Context(), c)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", version, err, want)
		}
		if n.ClusterKubelet["maxPods"] != 42.0 {
			t.Errorf("the operator's KubeletConfiguration is lost: %v", n.ClusterKubelet)
		}
	}
}

// TestTokens: tokens are listed with their purposes; bad options are errors.
func TestTokens(t *testing.T) {
	c, _, token := prepared(t)
	if _, err := join.CreateToken(t.Context(), c, join.TokenOptions{Token: "abcdef.0123456789abcdef", Usages: []string{"signing"}, Groups: []string{}}); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]join.TokenOptions{
		"is not a token": {Token: "abc"},
		"--ttl":          {TTL: -time.Second},
		"--usages":       {Usages: []string{"dancing"}},
		"--groups":       {Groups: []string{"system:masters"}},
	} {
		if _, err := join.CreateToken(t.Context(), c, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	all, err := join.Tokens(t.Context(), c)
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	i := slices.IndexFunc(all, func(t join.Token) bool { return t.ID == "abcdef" })
	if own := all[i]; own.Expires != nil || own.Secret != "0123456789abcdef" || !slices.Equal(own.Usages, []string{"signing"}) || own.Groups != nil {
		t.Errorf("%+v", own)
	}
	if other := all[1-i]; other.ID != token.ID || !other.Expires.Equal(*token.Expires) || other.Description != "for a test" || other.Groups[0] != join.Group {
		t.Errorf("%+v, want %+v", other, token)
	}
	if err := join.DeleteToken(t.Context(), c, "abc"); err == nil {
		t.Error("a token that is none was deleted")
	}
}
