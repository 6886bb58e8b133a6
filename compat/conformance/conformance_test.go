//go:build conformance

package conformance

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/compat/realnode"
)

// shares is how many processes run specs. A spec mostly waits, so there are more of them than
// processors.
const shares = 8

// reasons are the needs of the specs with a mark that simulated nodes do not meet.
var reasons = map[byte]string{
	'c': "programs in containers",
	'n': "a network between pods, services and nodes, or DNS",
	'w': "a webhook's server in a pod",
	'a': "an API server in a pod",
	't': "a pod that can be seen terminating",
	'p': "a cloud provider",
}

// TestConformance runs all specs on real nodes, if this machine can have them, and else those
// that pass on simulated nodes. $FAIRLEAD_REAL_NODES decides: "yes" fails where real nodes
// cannot be had, "no" does without. Every spec that does not run is named.
func TestConformance(t *testing.T) {
	missing := realnode.Missing()
	switch choice := os.Getenv("FAIRLEAD_REAL_NODES"); choice {
	case "":
	case "yes":
		if missing != nil {
			t.Fatal("FAIRLEAD_REAL_NODES=yes: ", missing)
		}
	case "no":
		missing = fmt.Errorf("FAIRLEAD_REAL_NODES=no")
	default:
		t.Fatalf("FAIRLEAD_REAL_NODES=%s: want yes or no", choice)
	}
	specs := readSpecs(t, "specs.txt")
	if missing == nil {
		onRealNodes(t, slices.Sorted(maps.Keys(specs)))
		return
	}
	t.Logf("no real nodes: %v", missing)
	onSimulatedNodes(t, passing(t, specs))
}

// controlPlaneFlags turn on the feature gates and API versions of the specs in controlplane.txt, and divide the nodes among zones.
var controlPlaneFlags = []string{
	"--feature-gates=CoordinatedLeaderElection=true,DRAPartitionableDevicesType=true,DRAResourcePoolStatus=true,DRAWorkloadResourceClaims=true,GenericWorkload=true,StorageVersionAPI=true",
	"--runtime-config=api/all=true",
	"--nodes=4", // on six the spec of asynchronous preemption looks at its pods for longer than they take to end
	"--node-zones=zone-a,zone-b",
}

// TestControlPlane runs specs that are not conformance tests, on simulated nodes, with the feature gates that they are of.
func TestControlPlane(t *testing.T) {
	onSimulatedNodes(t, passing(t, readSpecs(t, "controlplane.txt")), controlPlaneFlags...)
}

// passing returns the names of the specs that must pass on simulated nodes, and names the others.
func passing(t *testing.T, specs map[string]byte) (names []string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		if specs[name] == '+' {
			names = append(names, name)
		} else {
			t.Logf("NOT RUN, for it needs %s: %s", reasons[specs[name]], name)
		}
	}
	t.Logf("%d OF %d SPECS ARE NOT RUN", len(specs)-len(names), len(specs))
	return names
}

// onRealNodes runs specs on one cluster of real nodes, with simulated ones beside them: many at once, and then the serial ones.
func onRealNodes(t *testing.T, names []string) {
	start := time.Now()
	log := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%6.1f s  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
	}
	const name = "conformance"
	if err := realnode.Down(name); err != nil { // of a run that crashed
		t.Fatal(err)
	}
	c, err := realnode.Up(t.Context(), realnode.Options{Name: name, Nodes: 2, Simulated: 2, Tainted: true, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := realnode.Down(name); err != nil {
			t.Error(err)
		}
	})
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := c.Server.Install(own, "conformance.test")
	if err != nil {
		t.Fatal(err)
	}
	var serial, together []string
	for _, name := range names {
		if strings.Contains(name, "[Serial]") {
			serial = append(serial, name)
		} else {
			together = append(together, name)
		}
	}
	r := newResults(t, len(names))
	where := func(share string) place {
		const inside = "/var/tmp"
		return place{
			share: share, kubeconfig: "/root/.kube/config", inside: inside, outside: filepath.Join(c.Server.Root(), inside),
			command: func(args ...string) *exec.Cmd { return c.Server.Command(program, args...) },
		}
	}
	t.Run("together", func(t *testing.T) {
		for i, share := range split(together, shares) {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				r.run(t, where(fmt.Sprint(i)), share)
			})
		}
	})
	t.Run("serial", func(t *testing.T) { r.run(t, where("serial"), serial) })
}

// onSimulatedNodes runs specs on several servers with these flags, each with a share of the specs.
func onSimulatedNodes(t *testing.T, names []string, flags ...string) {
	fairlead := filepath.Join(t.TempDir(), "fairlead")
	build := exec.Command("go", "build", "-o", fairlead, "./cmd/fairlead")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := newResults(t, len(names))
	for i, share := range split(names, shares) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r.run(t, place{
				share: fmt.Sprint(i), kubeconfig: serve(t, fairlead, flags...), inside: dir, outside: dir,
				command: func(args ...string) *exec.Cmd { return exec.Command(os.Args[0], args...) },
			}, share)
		})
	}
}

// split deals names out: neighbours are much alike, so each share gets some of all.
func split(names []string, shares int) [][]string {
	all := make([][]string, shares)
	for i, name := range names {
		all[i%shares] = append(all[i%shares], name)
	}
	return all
}
