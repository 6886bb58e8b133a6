// Package fairlead runs a built fairlead for Kubernetes' integration tests: its API server and its scheduler, each in a process.
package fairlead

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/featuregate"
)

// Program is the path of the built fairlead.
var Program = os.Getenv("FAIRLEAD_INTEGRATION_PROGRAM")

// Schedules tells whether fairlead schedules, and not Kubernetes' scheduler in the test's process.
var Schedules = os.Getenv("FAIRLEAD_INTEGRATION_SCHEDULER") != "upstream"

// TB is the part of a testing.TB that is needed here; other contexts of tests have it too.
type TB interface {
	Helper()
	Failed() bool
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Start runs fairlead with these arguments. The returned function stops it, and returns when it has ended.
func Start(log *os.File, args ...string) (out *bufio.Reader, stop func(), err error) {
	if Program == "" {
		return nil, nil, errors.New("$FAIRLEAD_INTEGRATION_PROGRAM is not set")
	}
	cmd := exec.Command(Program, args...)
	cmd.Stderr = log
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	return bufio.NewReader(pipe), sync.OnceFunc(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	}), nil
}

// switchable returns the feature gates that a part of fairlead can switch, as its help names them.
var switchable = sync.OnceValues(func() ([]string, error) {
	help, err := exec.Command(Program, "server", "--help").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("fairlead server --help: %w", err)
	}
	found := regexp.MustCompile(`can be switched: ([\w, ]+)`).FindSubmatch(help)
	if found == nil {
		return nil, errors.New("fairlead server --help names no feature gates")
	}
	return strings.Split(strings.ReplaceAll(string(found[1]), " ", ""), ","), nil
})

// gates returns the flags for the feature gates that the test has set, and the gates that fairlead cannot switch.
func gates() (flags, others []string, err error) {
	can, err := switchable()
	if err != nil {
		return nil, nil, err
	}
	var set []string
	all := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	needs := all.Dependencies()
	// A gate can be off with one that it needs, if fairlead can switch that one off.
	var switches func(name featuregate.Feature) bool
	switches = func(name featuregate.Feature) bool {
		return slices.Contains(can, string(name)) || !all.Enabled(name) && slices.ContainsFunc(needs[name], func(need featuregate.Feature) bool {
			return !all.Enabled(need) && switches(need)
		})
	}
	for name, spec := range all.GetAll() {
		on := all.Enabled(name)
		switch gate := fmt.Sprintf("%s=%t", name, on); {
		case on == spec.Default || name == "AllAlpha" || name == "AllBeta":
		case switches(name):
			set = append(set, gate)
		default:
			others = append(others, gate)
		}
	}
	slices.Sort(set)
	slices.Sort(others)
	if len(set) > 0 {
		flags = append(flags, "--feature-gates="+strings.Join(set, ","))
	}
	return append(flags, versionFlag()...), others, nil
}

// versionFlag returns the flag for the version that the test emulates.
func versionFlag() []string {
	v := utilfeature.DefaultMutableFeatureGate.EmulationVersion()
	if newest := version.MustParse("1.37"); v == nil || v.Major() == newest.Major() && v.Minor() == newest.Minor() {
		return nil
	}
	return []string{fmt.Sprintf("--emulated-version=%d.%d", v.Major(), v.Minor())}
}

// Server runs an API server with the test's feature gates and these flags, and no controllers. Its objects are in memory.
func Server(tb TB, flags ...string) (*rest.Config, func()) {
	tb.Helper()
	dir, err := os.MkdirTemp("", "fairlead-integration-")
	if err != nil {
		tb.Fatalf("fairlead server: %v", err)
	}
	log, err := os.Create(filepath.Join(dir, "server.log"))
	if err != nil {
		tb.Fatalf("fairlead server: %v", err)
	}
	set, others, err := gates()
	if err != nil {
		tb.Fatalf("fairlead server: %v", err)
	}
	if len(others) > 0 {
		tb.Logf("fairlead has these feature gates at their defaults, not %s", strings.Join(others, ", "))
	}
	args := []string{
		"server", "--in-memory", "--data-dir=" + filepath.Join(dir, "data"), "--listen=127.0.0.1:0", "--output=json",
		fmt.Sprintf("--parent-pid=%d", os.Getpid()), "--service-cluster-ip-range=10.0.0.0/24",
	}
	out, stop, err := Start(log, append(append(args, set...), flags...)...)
	if err != nil {
		tb.Fatalf("fairlead server: %v", err)
	}
	var ready struct{ Kubeconfig string }
	line, err := out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &ready)
	}
	if err != nil {
		stop()
		said, _ := os.ReadFile(log.Name())
		tb.Fatalf("fairlead server %v: %v\n%s", args, err, said)
	}
	config, err := clientcmd.BuildConfigFromFlags("", ready.Kubeconfig)
	if err != nil {
		tb.Fatalf("fairlead server: %v", err)
	}
	config.QPS = -1
	return config, func() {
		stop()
		if tb.Failed() {
			said, _ := os.ReadFile(log.Name())
			tb.Logf("fairlead server said:\n%s", said)
		}
		log.Close()
		os.RemoveAll(dir)
	}
}

// SchedulerFlags returns the flags of the scheduler for the version that the test emulates; the gates follow the server.
func SchedulerFlags() []string { return versionFlag() }
