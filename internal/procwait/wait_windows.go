package procwait

import (
	"context"

	"golang.org/x/sys/windows"
)

// wait waits for the end of the process by a handle of it, and reports whether it could. Windows has no signal 0, by which
// others ask for a process.
func wait(ctx context.Context, pid int) bool {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return err == windows.ERROR_INVALID_PARAMETER // no such process
	}
	defer windows.CloseHandle(process)
	ended, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return false
	}
	defer windows.CloseHandle(ended)
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { windows.SetEvent(ended); close(told) })
	defer func() {
		if !stop() {
			<-told // the event must not be closed before
		}
	}()
	_, err = windows.WaitForMultipleObjects([]windows.Handle{process, ended}, false, windows.INFINITE)
	return err == nil
}
