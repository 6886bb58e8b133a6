package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"sync"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/internal/instance"
)

// probeTimeout is how long a command waits for the answers of an instance of which it shows the state.
const probeTimeout = 3 * time.Second

// The states of an instance.
const (
	running      = "running"
	starting     = "starting"
	stopped      = "stopped"
	unresponsive = "unresponsive" // the process exists and does not answer
)

// instanceInfo is an instance in the output of list and status.
type instanceInfo struct {
	Name   string `json:"name,omitempty"`
	State  string `json:"state"`
	Server string `json:"server,omitempty"`
	// Ready is whether the API server of a running instance reports that it is ready.
	Ready   bool   `json:"ready"`
	Version string `json:"version,omitempty"`
	PID     int    `json:"pid,omitempty"`
	// Nodes is the number of Nodes of a running instance, unknown if its API server does not answer.
	Nodes      *int64     `json:"nodes,omitempty"`
	Created    *time.Time `json:"created,omitempty"`
	Started    *time.Time `json:"started,omitempty"`
	InMemory   bool       `json:"inMemory"`
	DataDir    string     `json:"dataDir"`
	Kubeconfig string     `json:"kubeconfig,omitempty"`
	// Context is the context in the user's kubeconfig, whose path is Merged.
	Context string `json:"context,omitempty"`
	Merged  string `json:"mergedKubeconfig,omitempty"`
	Log     string `json:"log,omitempty"`
}

// probe returns the state of an instance.
func probe(ctx context.Context, in instance.Instance) (i instanceInfo, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	i = instanceInfo{Name: in.Name, DataDir: in.DataDir, State: stopped}
	var record instance.Record
	process, err := in.Connect()
	if errors.Is(err, instance.ErrStopped) {
		if record, err = in.Record(); err != nil {
			return i, err
		}
		i.describe(in, record)
		return i, nil
	}
	if err != nil {
		return i, err
	}
	status, err := process.Status(ctx)
	switch {
	case err != nil:
		i.State = unresponsive
		if status.Record, err = in.Record(); err != nil {
			return i, err
		}
	case !status.Ready:
		i.State = starting
	default:
		i.State = running
		i.askServer(ctx, status.Kubeconfig)
	}
	i.describe(in, status.Record)
	if i.State != starting { // when the process ID is that of the last start
		i.PID = status.PID
	}
	return i, nil
}

// describe enters the record.
func (i *instanceInfo) describe(in instance.Instance, r instance.Record) {
	i.Server, i.Version, i.InMemory, i.Kubeconfig = r.Server, r.Version, r.InMemory, r.Kubeconfig
	if !r.Created.IsZero() {
		i.Created, i.Started = &r.Created, &r.Started
	}
	if r.Merged != "" {
		i.Context, i.Merged = in.Context(), r.Merged
	}
	if r.Detached {
		i.Log = in.LogPath()
	}
}

// askServer asks the API server whether it is ready, and for the number of nodes.
func (i *instanceInfo) askServer(ctx context.Context, kubeconfig string) {
	c, _, err := connectTo(&target{kubeconfig: kubeconfig})
	if err != nil {
		return
	}
	if _, err := c.REST().Do(ctx, client.Request{Path: "/readyz"}); err != nil {
		return
	}
	i.Ready = true
	var list struct {
		Metadata struct {
			RemainingItemCount int64 `json:"remainingItemCount"`
		} `json:"metadata"`
		Items []json.RawMessage `json:"items"`
	}
	q := client.Request{Path: "/api/v1/nodes", Query: url.Values{"limit": {"1"}}}
	if err := requestJSON(ctx, c, q, &list); err != nil {
		return
	}
	nodes := int64(len(list.Items)) + list.Metadata.RemainingItemCount
	i.Nodes = &nodes
}

// probeAll returns the states of instances, in their order.
func probeAll(ctx context.Context, all []instance.Instance) ([]instanceInfo, error) {
	infos, errs := make([]instanceInfo, len(all)), make([]error, len(all))
	var group sync.WaitGroup
	for i, in := range all {
		group.Go(func() { infos[i], errs[i] = probe(ctx, in) })
	}
	group.Wait()
	return infos, errors.Join(errs...)
}
