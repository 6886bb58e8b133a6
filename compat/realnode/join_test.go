//go:build linux && realnode

package realnode

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// invitation returns the arguments of `fairlead join` for a new token: the server's URL, "--token", the
// token, "--discovery-token-ca-cert-hash" and the hash.
func invitation(t *testing.T, flags ...string) []string {
	t.Helper()
	args := append([]string{"token", "create", "--print-join-command", "--server=https://" + serverAddress}, flags...)
	return strings.Fields(inside(t, cluster.Server, "fairlead", args...))[2:]
}

// refused runs `fairlead join` in the spare machine, and checks that it fails with a message and leaves
// the machine as it was.
func refused(t *testing.T, message string, args ...string) {
	t.Helper()
	m := cluster.Spares[0]
	before := state(t, m)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	defer context.AfterFunc(ctx, func() { m.Stop("fairlead") })() // a node that joins stays
	cmd := m.Command("fairlead", slices.Concat([]string{"join"}, args, cluster.joinArgs(m))...)
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("fairlead join %s: %v, want exit code 1", strings.Join(args, " "), err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, message) {
		t.Errorf("fairlead join %s: want %q in the last line of\n%s", strings.Join(args, " "), message, out)
	}
	for what, now := range state(t, m) {
		if now != before[what] {
			t.Errorf("fairlead join %s changed %s: %q, before %q", strings.Join(args, " "), what, now, before[what])
		}
		delete(before, what)
	}
	if len(before) > 0 {
		t.Errorf("fairlead join %s removed %v", strings.Join(args, " "), slices.Sorted(maps.Keys(before)))
	}
}

// state is the part of a machine that a node changes: files, network and processes.
func state(t *testing.T, m *Machine) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, root := range []string{filepath.Join(m.dir, "etc"), m.Root()} { // the changes of /etc, and the other files
		must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "containerd" {
				return fs.SkipDir // it runs
			}
			info, err := d.Info()
			if err == nil {
				found[path] = info.Mode().String()
			}
			if err == nil && !d.IsDir() {
				found[path] += " " + info.ModTime().String() + " " + strconv.FormatInt(info.Size(), 10)
			}
			return err
		}))
	}
	for _, command := range []string{"ip -oneline link", "ip -oneline address", "ip route show table all", "nft --stateless list ruleset"} {
		words := strings.Fields(command)
		args := append([]string{"--net", "--target", strconv.Itoa(m.init), "--"}, words...)
		out, err := exec.Command("nsenter", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		found[command] = string(out)
	}
	if left := m.Processes("fairlead", "kubelet", "kube-proxy"); len(left) > 0 {
		found["processes"] = "running"
	}
	return found
}

// TestWrongInvitation joins by tokens and hashes that are wrong.
func TestWrongInvitation(t *testing.T) {
	right := invitation(t)
	id, _, _ := strings.Cut(right[2], ".")
	with := func(old, new string) []string {
		args := slices.Clone(right)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], old, new)
		}
		return args
	}
	t.Run("unknown token", func(t *testing.T) {
		refused(t, "the token zzzzzz is unknown to https://"+serverAddress+", or has expired", with(id, "zzzzzz")...)
	})
	t.Run("wrong secret", func(t *testing.T) {
		refused(t, "is not signed by the token "+id, with(right[2], id+".zzzzzzzzzzzzzzzz")...)
	})
	t.Run("wrong hash", func(t *testing.T) {
		refused(t, "the CA of https://"+serverAddress+" has the hash "+right[4], with(right[4], "sha256:"+strings.Repeat("0", 64))...)
	})
	t.Run("expired token", func(t *testing.T) {
		expired := expiredInvitation(t)
		refused(t, "is unknown to https://"+serverAddress+", or has expired", expired...)
	})
	t.Run("token for signing only", func(t *testing.T) {
		refused(t, "the server does not accept the token", invitation(t, "--usages=signing")...)
	})
}

// expiredInvitation returns an invitation whose token has expired: the controllers have removed it.
func expiredInvitation(t *testing.T) []string {
	t.Helper()
	short := invitation(t, "--ttl=1s")
	id, _, _ := strings.Cut(short[2], ".")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	list := cache.NewListWatchFromClient(cluster.Client.CoreV1().RESTClient(), "secrets", "kube-system", fields.OneTermEqualSelector("metadata.name", "bootstrap-token-"+id))
	gone := func(store cache.Store) (bool, error) { return len(store.List()) == 0, nil }
	_, err := watchtools.UntilWithSync(ctx, list, &corev1.Secret{}, gone, func(e watch.Event) (bool, error) { return e.Type == watch.Deleted, nil })
	must(t, err)
	must(t, until(ctx, cluster.Client.CoreV1().RESTClient(), "configmaps", "kube-public", "cluster-info", "without the signature of the token", func(m *corev1.ConfigMap) bool {
		return m.Data["jws-kubeconfig-"+id] == ""
	}))
	return short
}

// TestKubeletWithWrongToken starts a kubelet with tokens that the server does not accept. It tries again and
// again, and never becomes a node.
func TestKubeletWithWrongToken(t *testing.T) {
	right := invitation(t)[2]
	id, _, _ := strings.Cut(right, ".")
	for _, test := range []struct{ name, token string }{
		{"unknown", "zzzzzz.zzzzzzzzzzzzzzzz"},
		{"wrong-secret", id + ".zzzzzzzzzzzzzzzz"},
		{"expired", expiredInvitation(t)[2]},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := requests(t)
			log, after := startKubelet(t, test.name, test.token)
			untilLogged(t, log, after, "cannot create certificate signing request: Unauthorized", 2)
			if now := requests(t); !slices.Equal(now, before) {
				t.Errorf("certificate signing requests %v, before %v", now, before)
			}
			if _, err := cluster.Client.CoreV1().Nodes().Get(t.Context(), test.name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("the node %s: %v, want none", test.name, err)
			}
			all, err := os.ReadFile(log)
			must(t, err)
			if bytes.Contains(all[after:], []byte("Successfully registered node")) {
				t.Errorf("the kubelet registered")
			}
		})
	}
}

// requests are the names of all certificate signing requests.
func requests(t *testing.T) (names []string) {
	t.Helper()
	all, err := cluster.Client.CertificatesV1().CertificateSigningRequests().List(t.Context(), metav1.ListOptions{})
	must(t, err)
	for _, r := range all.Items {
		names = append(names, r.Name)
	}
	return names
}

// TestVersionSkew joins with kubelets that are a minor version newer than the server, and four
// older.
func TestVersionSkew(t *testing.T) {
	served, err := cluster.Client.Discovery().ServerVersion()
	must(t, err)
	minor, err := strconv.Atoi(served.Minor)
	must(t, err)
	version := func(minor int) string { return "v" + served.Major + "." + strconv.Itoa(minor) + ".0" }
	args := invitation(t)
	for _, test := range []struct {
		name, version, message string
	}{
		{"newer", version(minor + 1), "is newer than the server's, " + served.GitVersion},
		{"too old", version(minor - 4), "is too old for the server's, " + served.GitVersion},
	} {
		t.Run(test.name, func(t *testing.T) {
			program := stampedKubelet(t, test.version)
			refused(t, "the kubelet's version "+test.version+" "+test.message, append(args, "--kubelet="+program)...)
		})
	}
}
