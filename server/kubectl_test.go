package server_test

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/version"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd/get"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/discovery"
	"fairlead.dev/server"
)

// TestKubectlWatch has kubectl's own code watch: what `get -w` prints first, what
// --watch-only leaves out, and the types of the events.
func TestKubectlWatch(t *testing.T) {
	for _, q := range []struct{ flags, want string }{
		{"-w", "NAME before between before between between"},
		{"-w --output-watch-events", "EVENT:NAME ADDED:before ADDED:between MODIFIED:before MODIFIED:between DELETED:between"},
		{"-w --watch-only --output-watch-events", "EVENT:NAME ADDED:between MODIFIED:before MODIFIED:between DELETED:between"},
		{"-w --watch-only -o name", "pod/between pod/before pod/between pod/between"},
		{"-w -o name", "pod/before pod/between pod/before pod/between pod/between"},
		{"-w before -o name", "pod/before pod/before"},
		{"-w -l a=b --output-watch-events", "EVENT:NAME ADDED:before"},
	} {
		t.Run(q.flags, func(t *testing.T) {
			c := start(t, func(cfg *server.Config) {
				cfg.Discovery, cfg.Version = discovery.New(builtin.Resources()), version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.0"}
			})
			c.must("POST "+pods, strings.Replace(smallPod, `"p"`, `"before"`, 1))
			lines, ended := kubectlGet(t, c, append([]string{"pods"}, strings.Fields(q.flags)...))
			c.awaitMetric(`apiserver_longrunning_requests{component="apiserver",group="",resource="pods",verb="WATCH",version="v1"} 1`)
			c.must("POST "+pods, strings.Replace(smallPod, `"p"`, `"between"`, 1))
			c.must("PATCH "+pods+"/before application/merge-patch+json", `{"metadata":{"labels":{"a":"b"}}}`)
			c.must("DELETE "+pods+"/between?gracePeriodSeconds=0", "")
			events := strings.Contains(q.flags, "events")
			for i, want := range strings.Fields(q.want) {
				line, err := lines.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				got := strings.Fields(line)
				got = got[:min(len(got), 1)]
				if events {
					got = strings.Fields(line)[:2]
				}
				if strings.Join(got, ":") != want {
					t.Fatalf("line %d: %q, want %s", i, line, want)
				}
			}
			c.http.CloseClientConnections()
			if rest, _ := io.ReadAll(lines); len(rest) > 0 {
				t.Errorf("more: %s", rest)
			}
			<-ended
		})
	}
}

// awaitMetric waits until the server shows the line among its metrics.
func (c *cluster) awaitMetric(line string) {
	c.t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(c.must("GET /metrics", "").body, line+"\n"); {
		if time.Now().After(deadline) {
			c.t.Fatal("no ", line)
		}
	}
}

// kubectlGet runs `kubectl get` beside the test; it ends with its connection.
func kubectlGet(t *testing.T, c *cluster, args []string) (*bufio.Reader, <-chan struct{}) {
	flags := genericclioptions.NewConfigFlags(true)
	insecure, namespace, cache, none := true, "default", t.TempDir(), filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(none, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	flags.APIServer, flags.Insecure, flags.Namespace, flags.CacheDir, flags.KubeConfig = &c.http.URL, &insecure, &namespace, &cache, &none
	r, w, err := os.Pipe() // which has room for all that is printed here
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	cmd := get.NewCmdGet("kubectl", cmdutil.NewFactory(flags), genericiooptions.IOStreams{In: strings.NewReader(""), Out: w, ErrOut: io.Discard})
	cmd.SetArgs(slices.Clone(args))
	cmd.SetOut(io.Discard)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer w.Close()
		cmdutil.BehaviorOnFatal(func(why string, _ int) { t.Log("kubectl: ", why) })
		cmd.Execute()
	}()
	return bufio.NewReader(r), ended
}
