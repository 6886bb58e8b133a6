package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// TestKubeAPIServerLog checks that every line of kube-apiserver's output is of its JSON log, which has each request at verbosity
// 4, and that /flagz lists the flags.
func TestKubeAPIServerLog(t *testing.T) {
	log := new(output)
	env := &envtest.Environment{}
	server := env.ControlPlane.GetAPIServer()
	server.Err = log
	server.Configure().Set("logging-format", "json").Set("v", "4").Set("apiserver-count", "3")
	c := startEnvtest(t, env)
	flags, err := c.Discovery().RESTClient().Get().AbsPath("/flagz").SetHeader("Accept", "application/json;as=Flagz;v=v1beta1;g=config.k8s.io").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "/flagz", string(flags), `"logging-format":"json"`, `"v":"4"`, `"apiserver-count":"3"`, `"storage-media-type":`, `"service-node-port-range":"30000-32767"`)
	eventually(t, "the request in the log", func() bool { return strings.Contains(log.String(), `"path":"/flagz"`) })
	text := log.String()
	lines := strings.Split(text[:strings.LastIndexByte(text, '\n')], "\n")
	for _, line := range lines {
		var members struct {
			TS  float64
			Msg string
		}
		if err := json.Unmarshal([]byte(line), &members); err != nil || members.TS == 0 || members.Msg == "" {
			t.Errorf("%s: %v", line, err)
		}
	}
	expect(t, "warning", text, "--apiserver-count has no effect")
}
