package local_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// killed returns the directory of a writer that was killed, and the last revision that was read of
// those it reported: it may have acknowledged later ones.
func killed(t *testing.T) (dir string, acknowledged storage.Revision) {
	t.Helper()
	dir = t.TempDir()
	cmd, lines := startChild(t, dir)
	for n := 0; n < 200 && lines.Scan(); n++ {
		var key string
		var rev storage.Revision
		if _, err := fmt.Sscan(lines.Text(), &key, &rev); err != nil {
			t.Fatalf("the child says %q", lines.Text())
		}
		acknowledged = max(acknowledged, rev)
	}
	cmd.Process.Kill()
	cmd.Wait()
	return dir, acknowledged
}

func copyDir(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestCutEnd cuts the end of the log off after its writer was killed. However much is
// left, the store opens with all that was acknowledged or not at all.
func TestCutEnd(t *testing.T) {
	whole, acknowledged := killed(t)
	names, err := filepath.Glob(filepath.Join(whole, "log", "*.log"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	name := filepath.Base(names[len(names)-1])
	info, err := os.Stat(names[len(names)-1])
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, part := range []int64{0, 1, 3, 5, 8, 10, 11, 12, 13, 14, 15, 16} {
		dir := copyDir(t, whole)
		if err := os.Truncate(filepath.Join(dir, "log", name), info.Size()*part/16); err != nil {
			t.Fatal(err)
		}
		_, verified := local.Verify(dir, local.Options{}, nil)
		s, err := local.Open(dir, local.Options{})
		if err == nil {
			if verified != nil || s.Revision() < acknowledged {
				t.Fatalf("%d/16 of the log: open at %d of %d, verified: %v", part, s.Revision(), acknowledged, verified)
			}
			s.Close()
			continue
		}
		refused++
		for _, err := range []error{err, verified} {
			if !errors.Is(err, local.ErrCorrupt) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "it ends at revision ") ||
				!strings.Contains(err.Error(), "was acknowledged") || !strings.Contains(err.Error(), "--accept-torn-tail") {
				t.Fatalf("%d/16 of the log: %v", part, err)
			}
		}
		accepts(t, dir)
	}
	if refused < 3 {
		t.Errorf("%d of the cuts were refused", refused)
	}
}

// accepts opens a store whose end is lost, checks the reported loss, and goes on from there.
func accepts(t *testing.T, dir string) {
	t.Helper()
	var log bytes.Buffer
	s, err := local.Open(dir, local.Options{AcceptTornTail: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	ends := s.Revision()
	_, lost, _ := strings.Cut(log.String(), "endsAt=")
	var from, to storage.Revision
	if _, err := fmt.Sscanf(lost, "%d acknowledged=%d", &from, &to); err != nil || from != ends || to <= ends {
		t.Errorf("%v: the store ends at %d, and its log reports %s", err, ends, &log)
	}
	if rev := put(t, s, "/new", "1"); rev != ends+1 {
		t.Errorf("the next write is at %d after %d", rev, ends)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err = local.Open(dir, local.Options{})
	if err != nil || s.Revision() != ends+1 {
		t.Fatalf("afterwards: %v", err)
	}
	s.Close()
}

// TestUnsyncedIsNotAcknowledged loses power under a store that answers before it syncs: the lost
// writes are no damage.
func TestUnsyncedIsNotAcknowledged(t *testing.T) {
	for name, o := range map[string]local.Options{
		"interval": {Fsync: local.FsyncInterval}, "never": {Fsync: local.FsyncNever}, "nosync": {NoSync: []string{"/"}},
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewCrashableMem()
			o.FS = fs
			s := open(t, "/data", o)
			for i := range 50 {
				put(t, s, fmt.Sprint("/", i), "1")
			}
			// Any part of the unsynced bytes of each file may be there.
			o.FS = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(1, 2))})
			s.Close()
			again, err := local.Open("/data", o)
			if err != nil {
				t.Fatal(err)
			}
			again.Close()
		})
	}
}
