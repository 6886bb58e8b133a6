package controlplane

import "golang.org/x/sys/windows"

// addressInUse is the error of a port that another process has.
const addressInUse = windows.WSAEADDRINUSE
