package server

import (
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/storage"
)

// decoded keeps typed objects by storage key. It holds those that authorization and admission
// read, which are few; beyond maxDecoded it is emptied.
type decoded struct {
	byKey sync.Map // string -> decodedObject
	count atomic.Int64
}

const maxDecoded = 4096

func (d *decoded) keep(key string, o decodedObject) {
	if d.count.Add(1) > maxDecoded {
		d.byKey.Clear()
		d.count.Store(1)
	}
	d.byKey.Store(key, o)
}

type decodedObject struct {
	by    *endpoint.Endpoint
	from  storage.Revision
	typed runtime.Object
}
