package e2e

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/internal/controlplane"
)

// TestDocsCommands runs the kubectl commands of docs/nodes.md in their order.
func TestDocsCommands(t *testing.T) {
	p := up(t, t.TempDir(), "--in-memory", "--enable-crds=*")
	p.settled()
	file, err := os.Open("../docs/nodes.md")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ran := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		command, isCommand := strings.CutPrefix(lines.Text(), "    kubectl ")
		if !isCommand {
			continue
		}
		sh := exec.Command("sh", "-c", "kubectl "+command)
		sh.Dir = ".."
		sh.Env = append(os.Environ(), "KUBECONFIG="+p.Kubeconfig, "PATH="+filepath.Dir(bin.kubectl)+":"+os.Getenv("PATH"))
		if out, err := sh.CombinedOutput(); err != nil {
			t.Errorf("kubectl %s: %v\n%s", command, err, out)
		}
		ran++
	}
	if ran == 0 {
		t.Error("docs/nodes.md has no kubectl command")
	}
	p.stop()
}

// TestReadmeControllers: the sample output of `fairlead up` in README.md has the right number
// of controllers: nodeipam and serviceloadbalancer run only with --cluster-cidr and --load-balancer-pool.
func TestReadmeControllers(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "README.md", string(readme), fmt.Sprintf(" ✓ Controllers  %d running", len(controlplane.ControllerNames())-2))
}
