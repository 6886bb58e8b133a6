// Package watchcache holds the present state and the recent past of every
// resource in memory.
package watchcache

import (
	"context"
	"fmt"
	"iter"
	"time"

	"fairlead.dev/storage"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

type HubOptions struct {
	History      time.Duration
	HistoryBytes int
	FormBytes    int
}

type Hub struct{}

func NewHub(s storage.Store, o HubOptions) (*Hub, error)               { panic("soon") }
func (h *Hub) Add(o Options) *Cache                                    { panic("soon") }
func (h *Hub) Remove(c *Cache)                                         { panic("soon") }
func (h *Hub) Run(ctx context.Context) error                           { panic("soon") }
func (h *Hub) Revision() storage.Revision                              { panic("soon") }
func (h *Hub) WaitFor(ctx context.Context, rev storage.Revision) error { panic("soon") }
func (h *Hub) Stats() HubStats                                         { panic("soon") }

type HubStats struct {
	Revision  storage.Revision
	FormBytes int
	Rebuilds  int64
}

type Field struct {
	Label string
	Paths [][]string
	Zero  string
}

type Options struct {
	Prefix          string
	Namespaced      bool
	Fields          []Field
	IndexFields     []string
	Group, Resource string
}

type Cache struct{}

func (c *Cache) Options() Options { panic("soon") }
func (c *Cache) Get(ctx context.Context, namespace, name string, at ReadAt) (*Object, storage.Revision, error) {
	panic("soon")
}
func (c *Cache) Snapshot(ctx context.Context, at ReadAt) (*Snapshot, error) { panic("soon") }
func (c *Cache) Watch(ctx context.Context, sel Selection, after storage.Revision) (*Watcher, error) {
	panic("soon")
}
func (c *Cache) WatchFrom(ctx context.Context, s *Snapshot, sel Selection) (*Watcher, error) {
	panic("soon")
}
func (c *Cache) Key(namespace, name string) string { panic("soon") }
func (c *Cache) Stats() Stats                      { panic("soon") }

type Stats struct {
	Objects, Events, EventBytes, Topics, Watchers int
	Expired, Unreadable                           int64
}

// Match says how a read relates to its revision; the zero value is Latest.
type Match uint8

const (
	Latest Match = iota
	NotOlder
	Exact
	Any
)

type ReadAt struct {
	Match    Match
	Revision storage.Revision
}

type TooNewError struct{ Requested, Current storage.Revision }

func (e *TooNewError) Error() string {
	return fmt.Sprintf("too large resource version: %d, current: %d", e.Requested, e.Current)
}

type Selection struct {
	Namespace, Name string
	Labels          labels.Selector
	Fields          fields.Selector
}

type Snapshot struct{}

func (s *Snapshot) Revision() storage.Revision                                    { panic("soon") }
func (s *Snapshot) List(sel Selection, after string, limit int) iter.Seq[*Object] { panic("soon") }
func (s *Snapshot) Count(sel Selection, after string) int                         { panic("soon") }
func (s *Snapshot) Get(namespace, name string) *Object                            { panic("soon") }

type Watcher struct{}

func (w *Watcher) Next() ([]Event, storage.Revision, error) { panic("soon") }
func (w *Watcher) Bell() <-chan struct{}                    { panic("soon") }
func (w *Watcher) Close()                                   { panic("soon") }

type Event struct {
	Type     watch.EventType
	Object   *Object
	Revision storage.Revision
}

func (e Event) AppendObject(dst []byte) []byte { panic("soon") }
func (e Event) Form(id Form, build func(Event) ([]byte, error)) ([]byte, error) {
	panic("soon")
}

type Form string

type Object struct{}

func NewObject(kv *storage.KeyValue, c *Cache) (*Object, error) { panic("soon") }
func (o *Object) Key() string                                   { panic("soon") }
func (o *Object) Namespace() string                             { panic("soon") }
func (o *Object) Name() string                                  { panic("soon") }
func (o *Object) UID() types.UID                                { panic("soon") }
func (o *Object) Revision() storage.Revision                    { panic("soon") }
func (o *Object) Value() []byte                                 { panic("soon") }
func (o *Object) AppendJSON(dst []byte) []byte                  { panic("soon") }
func (o *Object) AppendJSONAt(dst []byte, rev storage.Revision) []byte {
	panic("soon")
}
func (o *Object) Labels() labels.Labels { panic("soon") }
func (o *Object) Fields() fields.Fields { panic("soon") }
func (o *Object) Form(id Form, build func(*Object) ([]byte, error)) ([]byte, error) {
	panic("soon")
}
