package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoteElection: `fairlead up` warns of leader election in the file of its scheduler, which has no effect in it.
func TestNoteElection(t *testing.T) {
	const header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	for text, noted := range map[string]bool{
		header: false,
		header + "leaderElection: {leaderElect: true, leaseDuration: 15s}\n": false, // as without it
		header + "leaderElection: {leaderElect: false}\n":                    true,
		header + "leaderElection: {resourceName: mine}\n":                    true,
	} {
		file := filepath.Join(t.TempDir(), "scheduler.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := loadScheduling("--scheduler-config", file)
		if err != nil {
			t.Fatal(err)
		}
		if err := noteElection(&o); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(o.Notes, "\n"), "leaderElection"); got != noted {
			t.Errorf("%s: notes %q", text, o.Notes)
		}
	}
}
