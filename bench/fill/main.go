// Fill makes a cluster large in minutes: it copies a Deployment with all of its pods, by the etcd API of a server that runs nothing
// else, and divides the pods among the nodes. What grows within an hour otherwise can then be started, listed and profiled.
//
//	fairlead up --data-dir=DIR --nodes=10000              # and: kubectl create deployment d1 --image=nginx --replicas=1000
//	fairlead server --data-dir=DIR --etcd-listen=127.0.0.1:2379
//	go run ./fill -etcd 127.0.0.1:2379 -deployments 1000  # a million pods
//	fairlead up --data-dir=DIR --nodes=10000
//
// The copies are as the controllers, the scheduler and the nodes would have made them: each object has a name and a UID of its own
// and its owner's, and each pod a node and an address of that.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/signal"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
)

func main() {
	endpoint := flag.String("etcd", "127.0.0.1:2379", "the server's --etcd-listen")
	deployments := flag.Int("deployments", 1000, "number of Deployments to have, of which d1 is there")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *endpoint, *deployments); err != nil {
		fmt.Fprintln(os.Stderr, "fill:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, endpoint string, deployments int) error {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, DialTimeout: 10 * time.Second, MaxCallRecvMsgSize: 1 << 30})
	if err != nil {
		return err
	}
	defer c.Close()
	nodes, err := readNodes(ctx, c)
	if err != nil {
		return err
	}
	all, err := readObjects(ctx, c)
	if err != nil {
		return err
	}
	pods := deployments * all.pods
	each := (pods + len(nodes) - 1) / len(nodes)
	for _, n := range nodes {
		if room := 1<<(32-n.pods.Bits()) - reserved - 1; each > room {
			return fmt.Errorf("%d pods on %d nodes are %d on each, and %s has addresses for %d in %s", pods, len(nodes), each, n.name, room, n.pods)
		}
	}
	w := newWriter(ctx, c)
	begin, at := time.Now(), 0
	for d := 1; d <= deployments && w.err() == nil; d++ {
		clone := newClone(d)
		for _, o := range all.objects {
			var place node // of a pod
			if o.pod != nil {
				place = nodes[at/each]
				at++
			}
			w.put(clone.object(o, place, (at-1)%each))
		}
		if d%50 == 0 {
			fmt.Fprintf(os.Stderr, "%d pods after %v\n", at, time.Since(begin).Round(time.Second))
		}
	}
	return w.close()
}

// node is a place for pods.
type node struct {
	name, address string
	pods          netip.Prefix
}

func readNodes(ctx context.Context, c *clientv3.Client) (all []node, err error) {
	res, err := c.Get(ctx, "/registry/minions/", clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	for _, kv := range res.Kvs {
		var n corev1.Node
		if err := json.Unmarshal(kv.Value, &n); err != nil {
			return nil, fmt.Errorf("%s: %w", kv.Key, err)
		}
		one := node{name: n.Name}
		if one.pods, err = netip.ParsePrefix(n.Spec.PodCIDR); err != nil {
			return nil, fmt.Errorf("%s: %w", kv.Key, err)
		}
		for _, a := range n.Status.Addresses {
			if a.Type == corev1.NodeInternalIP {
				one.address = a.Address
			}
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no node")
	}
	return all, nil
}
