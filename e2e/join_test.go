package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fairlead runs a command on the server of p and returns its standard output.
func (p *process) fairlead(args ...string) string {
	p.t.Helper()
	cmd := exec.Command(bin.fairlead, append(args, "--kubeconfig", p.Kubeconfig)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("fairlead %s: %v\n%s", strings.Join(args, " "), err, &errs)
	}
	return string(out)
}

// joining runs `fairlead join` and returns what it prints.
func joining(args ...string) (out, errs string, err error) {
	cmd := exec.Command(bin.fairlead, append([]string{"join"}, args...)...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

// kubelet writes a program that tells a version as a kubelet does, and runs nothing.
func kubelet(t *testing.T, version string) string {
	path := filepath.Join(t.TempDir(), "kubelet")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho Kubernetes "+version+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// A node finds the server by a new token at once, and learns its configuration. Each wrong part of an invitation, and a name
// that is taken, is an error that names it. No real node runs: compat/realnode has those.
func TestJoin(t *testing.T) {
	if _, err := os.Stat("/var/lib/kubelet/pki"); err == nil {
		t.Skip("SKIPPED: this machine is a node of a cluster, and has its own invitation")
	}
	p := launch(t, "up", "--in-memory", "--data-dir", t.TempDir(), "--listen=0.0.0.0:0", "--advertise-address=192.0.2.1", "--cluster-cidr=10.64.0.0/16")
	p.settled()
	port := p.Server[strings.LastIndex(p.Server, ":"):]

	var token struct {
		Token, ID, Server, JoinCommand string
		CACertHashes                   []string
	}
	if err := json.Unmarshal([]byte(p.fairlead("token", "create", "--description=for a test", "-o=json")), &token); err != nil {
		t.Fatal(err)
	}
	expect(t, "join command", token.JoinCommand, "fairlead join https://192.0.2.1"+port, "--token "+token.Token, "--discovery-token-ca-cert-hash sha256:")
	line := strings.Fields(strings.Replace(token.JoinCommand, "192.0.2.1", "127.0.0.1", 1))[2:]
	line = append(line, "--dry-run", "--node-name=new", "--kubelet="+kubelet(t, "v1.36.3"))

	out, errs, err := joining(append(line, "--node-ip=192.0.2.2", "--pod-cidr=10.64.7.0/24")...)
	if err != nil {
		t.Fatalf("join: %v\n%s", err, errs)
	}
	expect(t, "dry run", out, "kind: KubeletConfiguration", "clusterDomain: cluster.local", "10.96.0.10", `"subnet": "10.64.7.0/24"`,
		"kind: KubeProxyConfiguration", "--hostname-override=new", "--node-ip=192.0.2.2", token.Token)

	for _, c := range []struct {
		change, to, want string
	}{
		{token.Token, token.ID + ".zzzzzzzzzzzzzzzz", "is not signed by the token"},
		{token.Token, "zzzzzz" + strings.TrimPrefix(token.Token, token.ID), "the token zzzzzz is unknown"},
		{token.CACertHashes[0], "sha256:" + strings.Repeat("0", 64), "has the hash " + token.CACertHashes[0]},
		{"--node-name=new", "--node-name=node-1", "node-1"},
		{"--kubelet=", "--kubelet=" + kubelet(t, "v1.38.0") + " ", "1.38"},
		{"--kubelet=", "--kubelet=" + kubelet(t, "v1.33.9") + " ", "1.33"},
	} {
		args := slices.Clone(line)
		for i, a := range args {
			args[i], _, _ = strings.Cut(strings.Replace(a, c.change, c.to, 1), " ")
		}
		if _, errs, err := joining(args...); err == nil || !strings.Contains(errs, c.want) {
			t.Errorf("join with %s: %v, want %q\n%s", c.to, err, c.want, errs)
		}
	}

	expect(t, "list", p.fairlead("token", "list"), token.Token, "23h", "authentication,signing", "for a test")
	p.fairlead("token", "delete", token.ID)
	if out := p.fairlead("token", "list", "-o=json"); strings.TrimSpace(out) != "[]" {
		t.Errorf("after the deletion there are %s", out)
	}
}

// Nodes on other machines do not reach a server that listens on loopback.
func TestTokenOfLoopback(t *testing.T) {
	p := up(t, t.TempDir(), "--in-memory")
	oneLine(t, refused(t, 1, "token", "create", "--kubeconfig", p.Kubeconfig), "--listen=0.0.0.0:6443", "--server")
	expect(t, "with a URL", p.fairlead("token", "create", "--print-join-command", "--server=https://192.0.2.1:6443"), "fairlead join https://192.0.2.1:6443 --token ")
}

// A machine that lacks a program is told so before anything is asked of the server or written.
func TestJoinLacks(t *testing.T) {
	got := refused(t, 1, "join", "https://"+closedAddress(t), "--token=abcdef.0123456789abcdef", "--discovery-token-unsafe-skip-ca-verification", "--kubelet=/nope/kubelet")
	expect(t, "join", got, "kubelet", "/nope/kubelet", "the machine lacks", "nothing was changed")
	out, errs, err := joining("https://192.0.2.1:6443", "--token=abcdef.0123456789abcdef", "--discovery-token-unsafe-skip-ca-verification", "--systemd", "--node-labels=disk=a b")
	if err != nil {
		t.Fatalf("--systemd: %v\n%s", err, errs)
	}
	expect(t, "unit", out, "[Service]", "ExecStart="+bin.fairlead+" join https://192.0.2.1:6443", `"--node-labels=disk=a b"`)
}
