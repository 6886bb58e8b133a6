// Package ttlafterfinished deletes Jobs that have finished and outlived their
// spec.ttlSecondsAfterFinished, pods and all (in the foreground). The server is
// asked before a Job is deleted: somebody may have given it more time.
package ttlafterfinished
