package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// keptAfter is how long after the request of an OpenAPI document memory is looked at again.
const keptAfter = time.Minute

// definitions creates CRDs, whose schemas are as long as those of real operators, until all are served. Then it reads the OpenAPI
// documents that contain them: that of everything, and as `kubectl explain` does the index and that of one group.
func definitions(ctx context.Context, b *bench) ([]figure, error) {
	all, err := b.definitions(ctx)
	if err != nil {
		return nil, err
	}
	cpu, _, err := b.spent(func() error {
		return each(ctx, len(all), conns, func(ctx context.Context, i int) error {
			err := b.conn(i).call(ctx, request{
				method: http.MethodPost, path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body: all[i], want: http.StatusCreated,
			})
			if err != nil {
				return err
			}
			return b.untilServed(ctx, fmt.Sprintf("/apis/%s/v1/kind%ds", definitionGroup(i), i))
		})
	})
	if err != nil {
		return nil, err
	}
	if err := b.untilServed(ctx, documentOf(len(all)-1)); err != nil { // the last one, since the first is asked for below
		return nil, err
	}
	if err := sleep(ctx, settled); err != nil {
		return nil, err
	}
	before, err := b.server.resident()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	for _, path := range []string{"/openapi/v3", documentOf(0)} {
		if err := b.conn(0).call(ctx, request{path: path, want: http.StatusOK}); err != nil {
			return nil, err
		}
	}
	explained := time.Since(begin)

	var peak atomic.Int64
	var beside sync.WaitGroup
	watching, enough := context.WithCancel(ctx)
	beside.Go(func() { b.watchMemory(watching, &peak) })
	begin = time.Now()
	err = b.conn(0).call(ctx, request{path: "/openapi/v2", want: http.StatusOK, read: mentions(fmt.Sprintf("Kind%d\"", len(all)-1))})
	whole := time.Since(begin)
	enough()
	beside.Wait()
	if err != nil {
		return nil, err
	}
	if err := sleep(ctx, keptAfter); err != nil {
		return nil, err
	}
	kept, err := b.server.resident()
	mb := func(bytes int64) float64 { return float64(bytes) / (1 << 20) }
	return []figure{
		{"definitions", ms(cpu) / float64(len(all))},
		{"definitions-memory", mb(before)},
		{"explain", ms(explained)},
		{"openapi", whole.Seconds()},
		{"openapi-peak", mb(peak.Load() - before)},
		{"openapi-kept", mb(kept - before)},
	}, err
}

// definitions returns the CRDs of the load.
func (b *bench) definitions(ctx context.Context) (all [][]byte, err error) {
	schemas := make([]map[string]any, len(specs))
	for i, s := range specs {
		var document struct {
			Components struct{ Schemas map[string]map[string]any }
		}
		if err := b.conn(0).call(ctx, request{path: s.path, want: http.StatusOK, read: func(r io.Reader) error { return json.NewDecoder(r).Decode(&document) }}); err != nil {
			return nil, err
		}
		if schemas[i], err = structural(document.Components.Schemas, map[string]any{"$ref": "#/components/schemas/" + s.name}); err != nil {
			return nil, fmt.Errorf("%s: %w", s.path, err)
		}
	}
	for i := range b.Definitions {
		one, err := definition(i, schemas[i%len(schemas)])
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// documentOf returns the path of the OpenAPI document of the i-th CRD's group.
func documentOf(i int) string { return "/openapi/v3/apis/" + definitionGroup(i) + "/v1" }

// untilServed waits until a path is found, and its storage is ready.
func (b *bench) untilServed(ctx context.Context, path string) error {
	for {
		err := b.conn(0).call(ctx, request{path: path, want: http.StatusOK})
		var refused *refusal
		if err == nil || !strings.Contains(err.Error(), "404") && !errors.As(err, &refused) {
			return err
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// mentions reads a text to its end, and fails if a word is not in it.
func mentions(word string) func(io.Reader) error {
	return func(r io.Reader) error {
		text, err := io.ReadAll(r)
		if err == nil && !strings.Contains(string(text), word) {
			err = fmt.Errorf("%d bytes without %s", len(text), word)
		}
		return err
	}
}
