package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Parts of a single node for the tests over a real server.

func (ns *Nodes) First() (*kubelet, error)                          { return ns.kubelet(0) }
func (ns *Nodes) Stopped(name string) <-chan struct{}               { return ns.roster.named(name).stopped }
func (k *kubelet) Register(ctx context.Context) error               { return k.register(ctx) }
func (k *kubelet) KeepAlive(ctx context.Context) (time.Time, error) { return k.keepAlive(ctx) }
func (k *kubelet) ReportDue()                                       { k.heartbeat.reported = time.Time{} }
func (k *kubelet) Observe(n *corev1.Node)                           { k.observe(n) }

func Bare(pod *corev1.Pod) ([]byte, error)                 { return bare(pod) }
func Revised(text []byte, version string) []byte           { return revised(text, version) }
func AsSent(text, answer []byte) (version string, ok bool) { return asSent(text, answer) }
