package pressure

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// CgroupLimit returns the limit in bytes on the memory of this process by its control groups, of version 2 or 1, in a file
// system whose root is that of the machine; 0 without a limit.
func CgroupLimit(root fs.FS) int64 {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	limit := int64(math.MaxInt64)
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[0] == "0" && parts[1] == "":
			limit = min(limit, lowest(root, "sys/fs/cgroup", parts[2], "memory.max"))
		case parts[1] == "memory":
			limit = min(limit, lowest(root, "sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes"))
		}
	}
	// Version 1 has about 2^63 in place of no limit.
	if limit >= 1<<62 {
		return 0
	}
	return limit
}

// lowest returns the lowest limit of a group and those that it is in. In a container the path may be that on the machine, where
// only the topmost group is visible.
func lowest(root fs.FS, mount, group, file string) int64 {
	limit := int64(math.MaxInt64)
	for at := path.Join("/", group); ; at = path.Dir(at) {
		if text, err := fs.ReadFile(root, path.Join(mount, at, file)); err == nil {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
				limit = min(limit, n)
			}
		}
		if at == "/" {
			return limit
		}
	}
}
