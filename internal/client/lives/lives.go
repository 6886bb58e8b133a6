package lives

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"fairlead.dev/client"
	"fairlead.dev/internal/trace/show"
	"fairlead.dev/trace"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ErrNone is the error of Each for a server that keeps no lives.
var ErrNone = errors.New("this server keeps no lives: it is not fairlead, or runs with --trace-events=0")

// ErrNoKind is the error of Resource for a kind that the server does not have.
var ErrNoKind = errors.New("the server has no kind")

// Each asks a server for lives, by the parameters of server.LivesPath, and hands them on
// as they come, each with its line of JSON. An error of each ends it.
func Each(ctx context.Context, c *client.Client, q url.Values, each func(line []byte, e show.Event) error) error {
	res, err := c.REST().Stream(ctx, client.Request{Path: trace.Path, Query: q, Accept: "application/jsonl, */*"})
	if apierrors.IsNotFound(err) {
		return ErrNone
	}
	if err != nil {
		return err
	}
	defer res.Body.Close()
	in := bufio.NewReaderSize(res.Body, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var e show.Event
			if err := json.Unmarshal(line, &e); err != nil {
				return fmt.Errorf("what the server tells is no life: %w", err)
			}
			if err := each(line, e); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Resource finds a kind by any of its names: "deployment", "deployments", "deploy", "deployments.apps", "deployment.apps". The error is ErrNoKind if the server has no such kind.
func Resource(ctx context.Context, c *client.Client, name string) (client.APIResource, error) {
	all, err := c.ServerResources(ctx)
	if err != nil && len(all) == 0 {
		return client.APIResource{}, err
	}
	return Find(all, name)
}

// Find is Resource among kinds that were read before.
func Find(all []client.APIResource, name string) (client.APIResource, error) {
	want := strings.ToLower(name)
	for _, r := range all {
		kind := strings.ToLower(r.Kind.Kind)
		names := append([]string{r.GVR.Resource, kind, r.GVR.GroupResource().String(), kind + "." + r.GVR.Group, r.Singular}, r.ShortNames...)
		if slices.Contains(names, want) {
			return r, nil
		}
	}
	return client.APIResource{}, fmt.Errorf("%w %q", ErrNoKind, name)
}
