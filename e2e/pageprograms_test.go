package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "fairlead.dev/schedulerplugins" // programs in the pages use these
	_ "fairlead.dev/testcluster"
)

// TestPagePrograms compiles the blocks of Go in the pages, each in the program that the comment before it has.
func TestPagePrograms(t *testing.T) {
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	var packages []string
	for _, name := range pageNames(t) {
		for i, part := range readPage(t, name).parts {
			if part.kind != pageProgram {
				continue
			}
			if !strings.Contains(part.program, "BLOCK") {
				t.Fatalf("%s: no BLOCK in the program\n%s", name, part.program)
			}
			source := filepath.Join(dir, fmt.Sprintf("%d.go", len(packages)))
			text := strings.Replace(part.program, "BLOCK", withoutEllipses(part.text), 1)
			if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			// Directories of the overlay alone, below this module, whose requirements they have.
			pkg := fmt.Sprintf("./pageprograms/%s%d", strings.NewReplacer("/", "_", ".", "_").Replace(name), i)
			file, err := filepath.Abs(filepath.Join(pkg, "block.go"))
			if err != nil {
				t.Fatal(err)
			}
			overlay.Replace[file] = source
			packages = append(packages, pkg)
		}
	}
	if len(packages) == 0 {
		t.Fatal("the pages have no Go")
	}
	file := filepath.Join(dir, "overlay.json")
	content, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", append([]string{"build", "-gcflags=-e", "-overlay=" + file}, packages...)...).CombinedOutput()
	if err == nil {
		return
	}
	// The lines after ... would use the variables.
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, "declared and not used") {
			t.Error(strings.TrimSpace(line))
		}
	}
}

// withoutEllipses removes the lines that stand for others.
func withoutEllipses(text string) string {
	var s strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "..." {
			s.WriteString(line)
		}
	}
	return s.String()
}
