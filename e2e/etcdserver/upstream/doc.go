// Package upstream holds only tests: the suite that Kubernetes has for its own storage, run
// unchanged on its own etcd client code, with our endpoint in place of etcd. It is separate from
// storage/etcdserver so that the feature gates and metrics that it changes do not affect other
// tests.
//
// Every exported case of k8s.io/apiserver/pkg/storage/testing runs, except
// RunTestOptionalWatchBookmarksWithCorrectResourceVersion, which is for stores with a cache that
// makes bookmarks by itself; etcd's own store omits it too.
package upstream
