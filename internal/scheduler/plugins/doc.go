// Package plugins has the filters and scores of kube-scheduler by their names there, except
// those about volumes.
package plugins
