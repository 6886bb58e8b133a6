package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// programs are the paths of the children's programs by library. Each is this program linked
// with that library alone, as its users have it, so that the memory of other libraries'
// packages is not counted.
type programs map[string]string

func buildPrograms(ctx context.Context, dir string, names []string) (programs, error) {
	p := programs{}
	for _, name := range names {
		if !slices.Contains(order, name) {
			return nil, fmt.Errorf("-against: no library %q, there are %s", name, strings.Join(order, ", "))
		}
		p[name] = filepath.Join(dir, name)
		build := exec.CommandContext(ctx, "go", "build", "-tags", strings.ReplaceAll(name, "-", ""), "-o", p[name], "fairlead.dev/bench/libraries")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("building a program with %s alone (in the module's folder?): %w", name, err)
		}
	}
	return p, nil
}
