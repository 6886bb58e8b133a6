package etcd

import (
	"fmt"
	"strings"

	"fairlead.dev/storage"
)

// keys translates between the keys of the store, which begin with root, and those
// of the cluster, which have prefix in its place.
type keys struct{ root, prefix string }

// toCluster returns the cluster's name of a key.
func (k keys) toCluster(key string) (string, error) {
	rest, ok := strings.CutPrefix(key, k.root)
	if !ok || key == "" {
		return "", fmt.Errorf("the key %q does not begin with %q: %w", key, k.root, storage.ErrInvalid)
	}
	return k.prefix + rest, nil
}

// fromCluster returns the store's name of one of the cluster's keys.
func (k keys) fromCluster(key []byte) string {
	if k.root == k.prefix {
		return string(key)
	}
	return k.root + string(key[len(k.prefix):])
}

// A span is a range of the cluster's keys, in the form of its requests: end is "" for the one key
// start and NoEnd for all from start on.
type span struct{ start, end string }

// span translates a range of keys, cut to the store's keys; ok is false if the result is empty.
func (k keys) span(start, end string) (s span, ok bool) {
	if end == "" {
		key, err := k.toCluster(start)
		return span{start: key}, err == nil
	}
	last := storage.PrefixEnd(k.root)
	if endsBefore(last, end) {
		end = last
	}
	start = max(start, k.root)
	if end != storage.NoEnd && start >= end {
		return span{}, false
	}
	s = span{k.prefix + start[len(k.root):], storage.PrefixEnd(k.prefix)}
	if end != last {
		// It lies within the root: it is above start and below last.
		s.end = k.prefix + end[len(k.root):]
	}
	if s.start == "" {
		s.start = "\x00" // the lowest key there is
	}
	return s, true
}

// endsBefore compares two ends.
func endsBefore(a, b string) bool {
	if a == storage.NoEnd || b == storage.NoEnd {
		return b == storage.NoEnd && a != b
	}
	return a < b
}

// probeKey is a key that is never written, for questions about the cluster itself. It lies within the
// prefix, which the store is allowed to read.
func (k keys) probeKey() string { return k.prefix + "\x00" }
