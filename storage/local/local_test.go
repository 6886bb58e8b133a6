package local_test

import (
	"testing"

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
			storagetest.Run(t, func(t testing.TB) storage.Store { return open(t, t.TempDir(), o) })
		})
	}
}
