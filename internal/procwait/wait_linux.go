package procwait

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// wait waits for the end of the process by a file descriptor of it, and reports whether it could (Linux 5.3 and later).
func wait(ctx context.Context, pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err == unix.ESRCH
	}
	process := os.NewFile(uintptr(fd), "process")
	defer process.Close()
	read, write, err := os.Pipe()
	if err != nil {
		return false
	}
	defer read.Close()
	defer context.AfterFunc(ctx, func() { write.Close() })()
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(read.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		if err != unix.EINTR {
			return err == nil
		}
	}
}
