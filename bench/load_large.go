package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// emptied deletes a namespace with a Deployment's running pods in it, and waits until it is
// gone.
func emptied(ctx context.Context, b *bench) ([]figure, error) {
	const doomed = "doomed"
	if err := b.newNamespace(ctx, b.conn(0), doomed); err != nil {
		return nil, err
	}
	if err := b.deploy(ctx, doomed, deploymentName, b.Doomed); err != nil {
		return nil, err
	}
	if err := b.untilRolledOut(ctx, doomed, deploymentName); err != nil {
		return nil, err
	}
	if err := sleep(ctx, aftermath); err != nil {
		return nil, err
	}
	w, err := b.follow(ctx, "/api/v1/namespaces?fieldSelector=metadata.name%3D"+doomed)
	if err != nil {
		return nil, err
	}
	defer w.close()
	var took time.Duration
	figures, err := b.lived(ctx, "namespace", b.Doomed, func() error {
		begin := time.Now()
		if err := b.conn(0).call(ctx, request{method: http.MethodDelete, path: "/api/v1/namespaces/" + doomed, want: http.StatusOK}); err != nil {
			return err
		}
		for {
			e, err := w.next()
			if err != nil {
				return err
			}
			if e.expect("DELETED") == nil {
				break
			}
		}
		took = time.Since(begin)
		return nil
	})
	return append([]figure{{"namespace", took.Seconds()}}, figures...), err
}

// deployments is how many share the pods of wide.
const deployments = 10

// wide brings many pods to many nodes.
func wide(ctx context.Context, b *bench) ([]figure, error) {
	l, err := b.watchLives(ctx, namespace)
	if err != nil {
		return nil, err
	}
	defer l.close()
	total := b.Wide / deployments * deployments
	var begin time.Time
	figures, err := b.lived(ctx, "wide", total, func() error {
		begin = time.Now()
		for i := range deployments {
			if err := b.deploy(ctx, namespace, fmt.Sprintf("%s-%d", deploymentName, i), total/deployments); err != nil {
				return err
			}
		}
		if err := l.untilRunning(total); err != nil {
			return err
		}
		for i := range deployments {
			if err := b.untilRolledOut(ctx, namespace, fmt.Sprintf("%s-%d", deploymentName, i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(l.bound) != total || len(l.gone) > 0 {
		return nil, fmt.Errorf("%d pods were bound and %d deleted, of %d", len(l.bound), len(l.gone), total)
	}
	return append([]figure{
		{"wide-bound", l.boundAt.Sub(begin).Seconds()},
		{"wide-running", l.runningAt.Sub(begin).Seconds()},
	}, figures...), nil
}

// leases measures the CPU time of the nodes' lease renewals.
func leases(ctx context.Context, b *bench) ([]figure, error) {
	if err := b.untilOfEachNode(ctx, leasesPath); err != nil {
		return nil, err
	}
	if err := sleep(ctx, settled); err != nil {
		return nil, err
	}
	before, err := b.leaseRevisions(ctx)
	if err != nil {
		return nil, err
	}
	nodesBefore, err := cpuOf(b.server.players)
	if err != nil {
		return nil, err
	}
	cpu, wall, err := b.spent(func() error { return sleep(ctx, time.Duration(b.Beats)*time.Second) })
	if err != nil {
		return nil, err
	}
	nodesAfter, err := cpuOf(b.server.players)
	if err != nil {
		return nil, err
	}
	after, err := b.leaseRevisions(ctx)
	if err != nil {
		return nil, err
	}
	late := 0
	for name, revision := range before {
		if after[name] == revision {
			late++
		}
	}
	if late > 0 {
		return nil, fmt.Errorf("%d of %d leases were not renewed in %v", late, len(before), wall)
	}
	figures := []figure{{"leases", cpu.Seconds() / wall.Seconds()}}
	if len(b.server.players) > 0 {
		figures = append(figures, figure{"leases-nodes", (nodesAfter - nodesBefore).Seconds() / wall.Seconds()})
	}
	return figures, nil
}

const leasesPath = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"

// untilOfEachNode waits until there is an object of each node, such as its Lease, which comes after the Node.
func (b *bench) untilOfEachNode(ctx context.Context, path string) error {
	w, err := b.follow(ctx, path)
	if err != nil {
		return err
	}
	defer w.close()
	seen := map[string]bool{}
	for len(seen) < b.nodes {
		e, err := w.next()
		if err != nil {
			return fmt.Errorf("%s has %d objects, of %d nodes: %w", path, len(seen), b.nodes, err)
		}
		seen[e.metadata("name")] = true
	}
	return nil
}

// leaseRevisions are the resource versions of the nodes' leases by name.
func (b *bench) leaseRevisions(ctx context.Context) (map[string]string, error) {
	var list metav1.PartialObjectMetadataList
	err := b.conn(0).call(ctx, request{
		path: leasesPath, want: http.StatusOK,
		read: func(r io.Reader) error { return json.NewDecoder(r).Decode(&list) },
	})
	if err == nil && list.Continue != "" {
		err = errors.New("a list without a limit has pages")
	}
	revisions := map[string]string{}
	for i := range list.Items {
		revisions[list.Items[i].Name] = list.Items[i].ResourceVersion
	}
	return revisions, err
}
