package local_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"fairlead.dev/storage/storagetest"
)

func open(t testing.TB, dir string, o local.Options) *local.Store {
	t.Helper()
	s, err := local.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	for name, o := range map[string]local.Options{
		"Memory":   {InMemory: true},
		"Always":   {},
		"Interval": {Fsync: local.FsyncInterval},
		"Never":    {Fsync: local.FsyncNever},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storagetest.Run(t, func(t testing.TB) storage.Store { return open(t, t.TempDir(), o) })
		})
	}
	t.Run("Fork", func(t *testing.T) {
		t.Parallel()
		base := open(t, "", local.Options{InMemory: true})
		t.Cleanup(func() { base.Close() })
		storagetest.Run(t, func(t testing.TB) storage.Store { return fork(t, base, 0) })
	})
}

func TestModel(t *testing.T) {
	for seed := range uint64(6) {
		storagetest.Model(t, storagetest.Game{
			Seed: seed, Steps: 4000,
			Open: func(t testing.TB) storage.Store { return open(t, "", local.Options{InMemory: true}) },
		})
	}
}

// TestModelRestart restarts in the middle of the game, on a file system in memory that forgets
// unsynced writes.
func TestModelRestart(t *testing.T) {
	for seed := range uint64(6) {
		fs := vfs.NewCrashableMem()
		storagetest.Model(t, storagetest.Game{
			Seed: seed, Steps: 1500,
			Open: func(t testing.TB) storage.Store { return open(t, "data", local.Options{FS: fs}) },
			Restart: func(t testing.TB, s storage.Store) storage.Store {
				if seed%2 == 0 {
					// The machine loses power: only synced bytes are left.
					crashed := fs.CrashClone(vfs.CrashCloneCfg{})
					s.Close()
					fs = crashed
				} else if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				return open(t, "data", local.Options{FS: fs})
			},
		})
	}
}
