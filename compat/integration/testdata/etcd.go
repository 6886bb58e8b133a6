package framework

import "os"

// EtcdMain runs tests that start servers with their own stores.
func EtcdMain(tests func() int) { os.Exit(tests()) }
