package etcd_test

import (
	"testing"

	"fairlead.dev/storage"
	"fairlead.dev/storage/etcd"
	"fairlead.dev/storage/storagetest"
)

func TestConformance(t *testing.T) {
	storagetest.RunRemote(t, func(t testing.TB) storage.Store {
		return open(t, startMember(t), etcd.Options{})
	})
}

func TestModel(t *testing.T) {
	for seed := range uint64(2) {
		var url string
		storagetest.Model(t, storagetest.Game{
			Seed: seed, Steps: 500, Remote: true,
			Open: func(t testing.TB) storage.Store {
				url = startMember(t)
				return open(t, url, etcd.Options{})
			},
			Restart: func(t testing.TB, s storage.Store) storage.Store {
				s.Close()
				return open(t, url, etcd.Options{})
			},
		})
	}
}
