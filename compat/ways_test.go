package compat

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// behaviours is the suite: each is played in a namespace of its own, beside the others.
var behaviours = map[string]func(*place){
	"account":          account,
	"adoption":         adoption,
	"budgets":          budgets,
	"certificate":      certificate,
	"claims":           claims,
	"claims-told":      claimsTold,
	"cron":             cron,
	"cron-busy":        cronBusy,
	"cron-replaces":    cronReplaces,
	"daemons":          daemons,
	"daemons-by-hand":  daemonsByHand,
	"deadline":         deadline,
	"devices":          devices,
	"disruption":       disruption,
	"ephemeral":        ephemeral,
	"forbidden":        forbidden,
	"garbage":          garbage,
	"history":          history,
	"job":              job,
	"job-by-index":     jobByIndex,
	"job-edges":        jobEdges,
	"job-failures":     jobFailures,
	"job-indexed":      jobIndexed,
	"job-replaces":     jobReplaces,
	"job-suspended":    jobSuspended,
	"leftovers":        leftovers,
	"mirrors":          mirrors,
	"namespace":        namespace,
	"owners":           owners,
	"placement":        placement,
	"preemption":       preemption,
	"proportions":      proportions,
	"quota":            quota,
	"quota-scopes":     quotaScopes,
	"ranges":           ranges,
	"recreate":         recreate,
	"refused":          refused,
	"released":         released,
	"roles":            roles,
	"rolling":          rolling,
	"scaler":           scaler,
	"selinux":          seLinux,
	"services":         services,
	"slices":           endpointSlices,
	"stateful":         stateful,
	"stateful-at-once": statefulAtOnce,
	"strays":           strays,
	"stuck":            stuck,
	"tokens":           tokens,
	"unwound":          unwound,
}

// alone are those that change the nodes: each runs while no other does.
var alone = []struct {
	name string
	play func(*place)
}{{"zones", zones}, {"outage", outage}}

// One suite of behaviours, four ways: upstream's controllers and scheduler and ours, each
// on upstream's server and on ours. Each way passes it, and each records the conditions,
// events and outcomes that upstream's parts on upstream's server have recorded.
func TestFourWays(t *testing.T) {
	records := map[string]map[string][]string{}
	const reference = "theirs-on-theirs"
	for _, way := range []struct {
		name                      string
		ourServer, ourControllers bool
	}{
		{reference, false, false},
		{"ours-on-theirs", false, true},
		{"theirs-on-ours", true, false},
		{"ours-on-ours", true, true},
	} {
		t.Run(way.name, func(t *testing.T) {
			c := startWay(t, way.ourServer, way.ourControllers)
			records[way.name] = playAll(t, c)
			names := slices.Sorted(maps.Keys(behaviours))
			for _, b := range alone {
				t.Run(b.name, func(t *testing.T) { records[way.name][b.name] = playOne(t, c, b.name, b.play) })
				names = append(names, b.name)
			}
			for _, name := range names {
				want, got := records[reference][name], records[way.name][name]
				if want != nil && got != nil && !slices.Equal(want, got) {
					t.Errorf("%s:\n%s\nwhere upstream's has\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		})
	}
}

// startWay starts a server, controllers, a scheduler, and three simulated nodes.
func startWay(t *testing.T, ourServer, ourControllers bool) *kubernetes.Clientset {
	t.Helper()
	var kubeconfig, tokenKey string
	var clients *kubernetes.Clientset
	if ourServer {
		dir := filepath.Join(t.TempDir(), "fairlead")
		start(t, bin.fairlead, "server", "--data-dir", dir, "--listen=127.0.0.1:0")
		kubeconfig, tokenKey = filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "pki", "sa.key")
		clients = awaitServer(t, kubeconfig)
	} else {
		up := startUpstream(t)
		kubeconfig, clients, tokenKey = up.kubeconfig, up.clients, up.tokenKey
	}
	cert, key := writeAuthority(t)
	signing := []string{"--kubeconfig", kubeconfig, "--leader-elect=false", "--cluster-signing-cert-file", cert, "--cluster-signing-key-file", key,
		"--service-account-private-key-file", tokenKey, "--controllers=*,selinux-warning-controller"}
	if ourControllers {
		start(t, bin.fairlead, append([]string{"controllers"}, signing...)...)
		start(t, bin.fairlead, "scheduler", "--leader-elect=false", "--kubeconfig", kubeconfig)
	} else {
		start(t, bin.controllers, append(signing, "--secure-port=0", "--kube-api-qps=2000", "--kube-api-burst=2000")...)
		start(t, bin.scheduler, "--kubeconfig", kubeconfig, "--leader-elect=false", "--secure-port=0", "--kube-api-qps=2000", "--kube-api-burst=2000")
	}
	start(t, bin.fairlead, "nodes", "--kubeconfig", kubeconfig, "--nodes=3")
	ready := map[string]bool{}
	until(t, listWatch(clients, "nodes", "", ""), "three nodes ready", func(n *corev1.Node) bool {
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue && len(n.Spec.Taints) == 0 {
				ready[n.Name] = true
			}
		}
		return len(ready) == 3
	})
	return clients
}

// awaitServer waits for the kubeconfig of our server, and for its being ready.
func awaitServer(t *testing.T, kubeconfig string) *kubernetes.Clientset {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err == nil {
			config.QPS = -1
			clients, err := kubernetes.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			waitReady(t, clients)
			return clients
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // a starting process has no other signal
	}
}

// writeAuthority makes an authority to sign certificates with.
func writeAuthority(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key")
	key := writeKey(t, keyFile)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "compat"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour * 24 * 365), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile
}

// place is the place of one behaviour: a namespace, and the record.
type place struct {
	*testing.T
	ctx    context.Context
	c      *kubernetes.Clientset
	ns     string
	record []string
}

// playAll runs the suite, and returns the records of the passed behaviours.
func playAll(t *testing.T, c *kubernetes.Clientset) map[string][]string {
	var mu sync.Mutex
	records := map[string][]string{}
	t.Run("suite", func(t *testing.T) {
		for name, play := range behaviours {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				record := playOne(t, c, name, play)
				mu.Lock()
				defer mu.Unlock()
				records[name] = record
			})
		}
	})
	return records
}

// playOne plays a behaviour in a namespace of its own, and returns the record.
func playOne(t *testing.T, c *kubernetes.Clientset, name string, play func(*place)) []string {
	p := &place{T: t, ctx: t.Context(), c: c, ns: name}
	p.must(c.CoreV1().Namespaces().Create(p.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))
	see(p, "serviceaccounts", "default", "the default service account", func(*corev1.ServiceAccount) bool { return true })
	play(p)
	return p.record
}

func (p *place) must(_ any, err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

var (
	uids  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	names = regexp.MustCompile(`-(?:[0-9a-f]{6,10}|[bcdfghjklmnpqrstvwxz2456789]{6,10})-[bcdfghjklmnpqrstvwxz2456789]{5}\b`)
	// stateless is the resource claims plugin's message for a pod that another plugin has
	// rejected.
	stateless = regexp.MustCompile(`\. not found`)
	nodes     = regexp.MustCompile(`\bnode-[0-9]\b`)
	hashes    = regexp.MustCompile(`-(?:[0-9a-f]{6,10}|[bcdfghjklmnpqrstvwxz2456789]{5,10})\b`)
)

// plain removes from a text the parts that differ from run to run; and the message of the
// resource claims plugin, for a pod that an earlier plugin rejected, that its own state is
// not found.
func plain(s string) string {
	s = strings.ReplaceAll(s, "[scaler/rival scaler/web]", "[scaler/web scaler/rival]") // in no order
	s = stateless.ReplaceAllString(s, ".")
	s = uids.ReplaceAllString(s, "<uid>")
	s = names.ReplaceAllString(s, "-<pod>")
	s = hashes.ReplaceAllString(s, "-<hash>")
	return nodes.ReplaceAllString(s, "node-<n>")
}

// saw adds to the record.
func (p *place) saw(format string, args ...any) {
	p.record = append(p.record, plain(fmt.Sprintf(format, args...)))
}
