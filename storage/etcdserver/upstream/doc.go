// Package upstream holds nothing but tests: the suite that Kubernetes has for its
// own storage, run unchanged on its own etcd client code, with our endpoint in the
// place of etcd. It stands apart from storage/etcdserver so that the feature gates
// and metrics that it turns are not those of other tests.
//
// Every exported case of k8s.io/apiserver/pkg/storage/testing runs, but for
// RunTestOptionalWatchBookmarksWithCorrectResourceVersion, which is for stores with a
// cache that makes bookmarks by itself; etcd's own store leaves it out too.
package upstream
