// Package logflags has the flags of the operator's log that Kubernetes' programs share: --v, --vmodule and --logging-format.
//
// Without any of them the log has warnings and errors, and libraries that write to klog are silent. With --v=N it also has
// information up to the verbosity N, and the libraries write to it too; --vmodule raises N for single files. The verbosity may change
// while the process runs. The names and forms of the JSON log are those of k8s.io/component-base/logs.
//
// # Concurrency properties
//
// SetVerbosity and the logs may be used from any goroutine, once Start has returned.
package logflags
