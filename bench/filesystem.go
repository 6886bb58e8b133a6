package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// filesystem is the type of a folder's file system. In memory fsync is free of cost.
func filesystem(dir string) string {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "an unknown file system"
	}
	switch s.Type {
	case unix.TMPFS_MAGIC:
		return "tmpfs (memory: fsync costs nothing)"
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs"
	}
	return fmt.Sprintf("file system %#x", s.Type)
}
