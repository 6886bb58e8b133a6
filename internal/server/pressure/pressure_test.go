package pressure_test

import (
	"testing"
	"testing/fstest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/pressure"
)

const mib = 1 << 20

// TestReserve: work is admitted up to three quarters of the limit, and small work always.
func TestReserve(t *testing.T) {
	live := int64(40 * mib)
	g := pressure.New(100*mib, func() int64 { return live })
	first, err := g.Reserve(pressure.List, 30*mib)
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.Reserve(pressure.List, 6*mib)
	if !apierrors.IsTooManyRequests(err) {
		t.Fatalf("a list beyond the limit: %v", err)
	}
	if seconds, ok := apierrors.SuggestsClientDelay(err); !ok || seconds != 1 {
		t.Errorf("retry after %d s", seconds)
	}
	if want := "the server is short of memory: this list would take 6Mi, with 40Mi in use and 30Mi reserved of the limit of 100Mi; ask for fewer objects at a time, by limit, or try again later"; err.Error() != want {
		t.Errorf("%s\nwant\n%s", err, want)
	}
	if room, err := g.Reserve(pressure.Body, 5*mib); err != nil {
		t.Error(err)
	} else {
		room.Leave()
	}
	first.Leave()
	first.Leave()
	if _, err := g.Reserve(pressure.Watch, 35*mib); err != nil {
		t.Errorf("after the first list has ended: %v", err)
	}
	live = 200 * mib
	if _, err := g.Reserve(pressure.List, pressure.Small-1); err != nil {
		t.Errorf("small work: %v", err)
	}
	var unlimited *pressure.Guard
	if _, err := unlimited.Reserve(pressure.List, 1<<40); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}

// TestCgroupLimit reads the files of both versions.
func TestCgroupLimit(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"other systems":          {nil, 0},
		"version 2":              {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1048576\n"}, mib},
		"a group above":          {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "2097152\n"}, 2 * mib},
		"no limit":               {map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, 0},
		"in a container":         {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "3145728\n"}, 3 * mib},
		"version 1":              {map[string]string{"proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/docker/1\n", "sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": "1048576\n"}, mib},
		"version 1 in container": {map[string]string{"proc/self/cgroup": "4:memory:/docker/1\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "1048576\n"}, mib},
		"version 1, no limit":    {map[string]string{"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
	} {
		files := fstest.MapFS{}
		for path, text := range c.files {
			files[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := pressure.CgroupLimit(files); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
