package testcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// binaryVariable names the program in the environment.
const binaryVariable = "FAIRLEAD_BINARY"

// findBinary returns the path of the program fairlead.
func findBinary(ctx context.Context, option string) (string, error) {
	if option != "" {
		path, err := exec.LookPath(option)
		if err != nil {
			return "", fmt.Errorf("Options.Binary: %w", err)
		}
		return path, nil
	}
	if name := os.Getenv(binaryVariable); name != "" {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("$%s: %w", binaryVariable, err)
		}
		return path, nil
	}
	if path, err := exec.LookPath("fairlead"); err == nil {
		return path, nil
	}
	path, err := goTool(ctx)
	if err != nil {
		return "", fmt.Errorf("there is no program fairlead in Options.Binary, $%s or PATH, and `go tool fairlead` fails (%w); install it by go install fairlead.dev/cmd/fairlead@latest", binaryVariable, err)
	}
	return path, nil
}

// goTool builds the tool fairlead of the test's module, and returns its path.
func goTool(ctx context.Context) (string, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "tool", "-n", "fairlead")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if line, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n"); line != "" {
			err = errors.New(line)
		}
		return "", err
	}
	return exec.LookPath(strings.TrimSpace(string(out)))
}
