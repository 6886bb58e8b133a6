package cputime

import (
	"syscall"
	"time"
)

func used() (time.Duration, error) {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0, err
	}
	var began, ended, system, user syscall.Filetime
	err = syscall.GetProcessTimes(self, &began, &ended, &system, &user)
	return duration(system) + duration(user), err
}

// duration returns a Filetime that counts from zero, in units of 100 ns.
func duration(t syscall.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
