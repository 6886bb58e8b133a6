//go:build soak

package etcdserver_test

func init() { crashes = 200 }
