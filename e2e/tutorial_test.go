package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTutorial repeats the steps of common tutorials: kubectl proxy, a list with curl, and a
// watch from the list's revision, which shows exactly the later events.
func TestTutorial(t *testing.T) {
	p := watched(t)
	p.kubectlWithInput(fmt.Sprintf(podNamed, "before"), "create", "-f", "-")

	proxy, cancel := p.command("proxy", "--port=0")
	defer cancel()
	out, err := proxy.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		proxy.Process.Kill()
		proxy.Wait()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	_, address, found := strings.Cut(strings.TrimSpace(line), "Starting to serve on ")
	if err != nil || !found {
		t.Fatalf("%q: %v", line, err)
	}
	pods := "http://" + address + "/api/v1/namespaces/default/pods"

	resp, err := http.Get(pods)
	if err != nil {
		t.Fatal(err)
	}
	var list corev1.PodList
	err = json.NewDecoder(resp.Body).Decode(&list)
	resp.Body.Close()
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%v: %d pods", err, len(list.Items))
	}

	p.kubectlWithInput(fmt.Sprintf(podNamed, "between"), "create", "-f", "-")
	resp, err = http.Get(pods + "?watch=1&resourceVersion=" + list.ResourceVersion)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.TransferEncoding; len(got) != 1 || got[0] != "chunked" {
		t.Errorf("transfer encoding %v", got)
	}
	events := json.NewDecoder(resp.Body)
	expect := func(want string) {
		t.Helper()
		var e struct {
			Type   string
			Object metav1.PartialObjectMetadata
		}
		if err := events.Decode(&e); err != nil || e.Type+" "+e.Object.Name != want {
			t.Fatalf("%s %s, %v, want %s", e.Type, e.Object.Name, err, want)
		}
	}
	expect("ADDED between")
	p.kubectlWithInput(fmt.Sprintf(podNamed, "later"), "create", "-f", "-")
	expect("ADDED later")
	p.kubectl("label", "pod/before", "a=b")
	expect("MODIFIED before")
	p.kubectl("delete", "pod/between", "--grace-period=0", "--force", "--wait=false")
	expect("MODIFIED between")
	expect("DELETED between")
}
