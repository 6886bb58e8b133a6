package node

import (
	"context"
	"time"
)

// What the tests over a real server need of a single node.

func (ns *Nodes) First() (*kubelet, error)                          { return ns.kubelet(0) }
func (k *kubelet) Register(ctx context.Context) error               { return k.register(ctx) }
func (k *kubelet) KeepAlive(ctx context.Context) (time.Time, error) { return k.keepAlive(ctx) }
func (k *kubelet) ReportDue()                                       { k.beat.reported = time.Time{} }
