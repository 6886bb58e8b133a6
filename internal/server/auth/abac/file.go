package abac

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// FromFile reads the policies of a file. Its errors are kube-apiserver's.
func FromFile(path string) (Policies, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	decoder, all, old := newDecoder(), Policies{}, false
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		if trimmed := strings.TrimSpace(text); trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		p, versioned, err := decode(decoder, []byte(text))
		if err != nil {
			return nil, fmt.Errorf("error reading policy file %s, line %d: %s: %w", path, n, text, err)
		}
		all, old = append(all, p), old || !versioned
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("error reading policy file %s: %w", path, err)
	}
	if old {
		slog.Warn("the policy file has policies without a version", "file", path)
	}
	return all, nil
}

// decode decodes a policy, and reports whether it names its version.
func decode(d runtime.Decoder, line []byte) (p Policy, named bool, err error) {
	obj, _, err := d.Decode(line, nil, nil)
	switch {
	case err == nil:
		return obj.(interface{ policy() Policy }).policy(), true, nil
	case !runtime.IsMissingVersion(err) && !runtime.IsMissingKind(err) && !runtime.IsNotRegisteredError(err):
		return p, false, err
	}
	old := &unversioned{}
	if err := runtime.DecodeInto(d, line, old); err != nil {
		return p, false, err
	}
	return old.policy(), false, nil
}
