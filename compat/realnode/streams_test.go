//go:build linux && realnode

package realnode

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/kubernetes/test/utils/image"
)

// TestKubeletIsClosed asks a kubelet without credentials, and with the server's.
func TestKubeletIsClosed(t *testing.T) {
	status := inside(t, cluster.Server, "curl", "-sk", "-o", "/dev/null", "-w", "%{http_code}", "https://"+nodeIP(0)+":10250/pods")
	if status != "401" {
		t.Errorf("without credentials: status %s, want 401", status)
	}
	if pods := kubectl(t, "get", "--raw", "/api/v1/nodes/n1/proxy/pods"); !strings.Contains(pods, `"kind":"PodList"`) {
		t.Errorf("by the server: %.200s", pods)
	}
}

// TestStreams uses all that the server does by asking a kubelet.
func TestStreams(t *testing.T) {
	ns := namespace(t)
	web := agnhost(ns, "web", "n1")
	echo := agnhost(ns, "echo", "n2")
	echo.Spec.Containers[0].Image, echo.Spec.Containers[0].Args = image.GetE2EImage(image.BusyBox), []string{"cat"}
	echo.Spec.Containers[0].Stdin, echo.Spec.Containers[0].StdinOnce = true, true
	run(t, web, echo)
	kubectlIn := func(t *testing.T, args ...string) string {
		t.Helper()
		return kubectl(t, append([]string{"-n", ns}, args...)...)
	}
	t.Run("logs", func(t *testing.T) {
		if out := kubectlIn(t, "logs", "web"); !strings.Contains(out, "Serving on port 9376") {
			t.Errorf("%q", out)
		}
	})
	t.Run("logs by the kubelet", func(t *testing.T) {
		out := kubectl(t, "get", "--raw", "/api/v1/nodes/n1/proxy/containerLogs/"+ns+"/web/agnhost")
		if !strings.Contains(out, "Serving on port 9376") {
			t.Errorf("%q", out)
		}
	})
	t.Run("exec", func(t *testing.T) {
		if out := kubectlWith(t, "typed", "-n", ns, "exec", "-i", "web", "--", "cat"); out != "typed" {
			t.Errorf("cat: %q", out)
		}
		failing := cluster.Kubectl("-n", ns, "exec", "web", "--", "sh", "-c", "exit 7")
		failing.Run()
		if code := failing.ProcessState.ExitCode(); code != 7 {
			t.Errorf("exit 7: %d", code)
		}
	})
	t.Run("attach", func(t *testing.T) {
		if out := kubectlWith(t, "hello\n", "-n", ns, "attach", "-i", "echo"); !strings.Contains(out, "hello\n") {
			t.Errorf("%q", out)
		}
	})
	t.Run("cp", func(t *testing.T) {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "out"), []byte("contents"), 0o600))
		kubectlIn(t, "cp", filepath.Join(dir, "out"), "web:/tmp/file")
		kubectlIn(t, "cp", "web:/tmp/file", filepath.Join(dir, "back"))
		if back, err := os.ReadFile(filepath.Join(dir, "back")); err != nil || string(back) != "contents" {
			t.Errorf("%q, %v", back, err)
		}
	})
	t.Run("debug", func(t *testing.T) {
		// Output from before kubectl has attached is lost, so ps waits for input. After the end of the input
		// containerd would end the output, too, so the input stays open.
		cmd := cluster.Kubectl("-n", ns, "debug", "web", "-i", "--attach", "--quiet", "--profile=general", "--target=agnhost",
			"--image="+image.GetE2EImage(image.BusyBox), "--", "sh", "-c", "read line; ps")
		input, err := cmd.StdinPipe()
		must(t, err)
		var out, problems bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &problems
		must(t, cmd.Start())
		_, err = io.WriteString(input, "\n")
		must(t, err)
		if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "/agnhost serve-hostname") {
			t.Errorf("ps in the pod's process namespace: %v, %q %s", err, &out, &problems)
		}
	})
	t.Run("port-forward", func(t *testing.T) {
		cmd := cluster.Kubectl("-n", ns, "port-forward", "web", ":9376")
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		defer func() {
			cmd.Process.Kill()
			cmd.Wait()
		}()
		line, err := bufio.NewReader(out).ReadString('\n')
		must(t, err)
		address := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(line)
		if answer := get(t, "http://"+address); answer != "web" {
			t.Errorf("%s answers %q", address, answer)
		}
	})
	t.Run("pod proxy", func(t *testing.T) {
		if out := kubectl(t, "get", "--raw", "/api/v1/namespaces/"+ns+"/pods/web:9376/proxy/"); out != "web" {
			t.Errorf("%q", out)
		}
	})
	t.Run("node proxy", func(t *testing.T) {
		if out := kubectl(t, "get", "--raw", "/api/v1/nodes/n2/proxy/stats/summary"); !strings.Contains(out, `"nodeName": "n2"`) {
			t.Errorf("%.300q", out)
		}
	})
}

func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	return string(body)
}
