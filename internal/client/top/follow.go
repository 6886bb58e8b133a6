package top

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	tea "charm.land/bubbletea/v2"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/lives"
)

// asTable asks for the columns that kubectl prints.
const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

// listPage is how many rows are read at once.
const listPage = 500

// change is a part of a followed table.
type change struct {
	reset   bool // a list begins: the rows so far are forgotten
	columns []metav1.TableColumnDefinition
	rows    []row       // new or changed
	gone    []types.UID // deleted
	whole   bool        // the list is complete
	err     error       // the stream broke; it is opened again
}

// wireTable is a Table with the members that are used.
type wireTable struct {
	Kind              string
	Metadata          metav1.ListMeta
	ColumnDefinitions []metav1.TableColumnDefinition
	Rows              []wireRow
}

type wireRow struct {
	Cells  []any
	Object struct {
		Metadata struct {
			Name, Namespace   string
			UID               types.UID
			ResourceVersion   string
			CreationTimestamp time.Time
			DeletionTimestamp *time.Time
		}
	}
}

// follow lists a kind's objects as rows, and follows their changes.
func (l *link) follow(ctx context.Context, id int, r client.APIResource, namespace string) tea.Cmd {
	return feed(ctx, id, func(ctx context.Context, emit func(change) bool) {
		f := follower{rest: l.c.REST(), path: lives.Collection(r, namespace), emit: emit, texts: map[string]string{}}
		again(ctx, func() error {
			if err := f.list(ctx); err != nil {
				return err
			}
			for {
				if err := f.watch(ctx); err != nil || !sleep(ctx, batchPause) {
					return err
				}
			}
		}, func(err error) bool {
			if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
				return true // only a list gives the present state
			}
			return emit(change{err: err}) && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err)
		})
	})
}

// follower follows one collection.
type follower struct {
	rest     *client.REST
	path     string
	emit     func(change) bool
	revision string
	texts    map[string]string // short texts of cells, so that equal ones are one
}

// list reads the objects.
func (f *follower) list(ctx context.Context) error {
	q := url.Values{"limit": {strconv.Itoa(listPage)}}
	for reset := true; ; reset = false {
		res, err := f.rest.Do(ctx, client.Request{Path: f.path, Query: q, Accept: asTable})
		if err != nil {
			return err
		}
		var t wireTable
		if err := json.Unmarshal(res.Body, &t); err != nil {
			return err
		}
		if t.Kind != "Table" {
			return fmt.Errorf("the server has no table of %s", f.path)
		}
		next := t.Metadata.Continue
		c := change{reset: reset, columns: t.ColumnDefinitions, whole: next == ""}
		for i := range t.Rows {
			c.rows = append(c.rows, f.row(&t.Rows[i]))
		}
		if !f.emit(c) {
			return ctx.Err()
		}
		f.revision = t.Metadata.ResourceVersion
		if next == "" {
			return nil
		}
		q.Set("continue", next)
	}
}

// watch follows the changes since the last revision until the server ends the watch.
func (f *follower) watch(ctx context.Context) error {
	res, err := f.rest.Stream(ctx, client.Request{Path: f.path, Accept: asTable, Query: url.Values{
		"watch": {"true"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {f.revision},
	}})
	if err != nil {
		return err
	}
	defer res.Body.Close()
	in := bufio.NewReaderSize(res.Body, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := f.event(ctx, line); err != nil {
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

// event hands on one event of the watch.
func (f *follower) event(ctx context.Context, line []byte) error {
	var e struct {
		Type   string
		Object json.RawMessage
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	if e.Type == "ERROR" {
		var st metav1.Status
		if err := json.Unmarshal(e.Object, &st); err != nil {
			return err
		}
		return &apierrors.StatusError{ErrStatus: st}
	}
	var t wireTable
	if err := json.Unmarshal(e.Object, &t); err != nil {
		return err
	}
	if t.Metadata.ResourceVersion != "" {
		f.revision = t.Metadata.ResourceVersion
	}
	c := change{columns: t.ColumnDefinitions}
	for i := range t.Rows {
		meta := &t.Rows[i].Object.Metadata
		if meta.ResourceVersion != "" {
			f.revision = meta.ResourceVersion
		}
		switch e.Type {
		case "DELETED":
			c.gone = append(c.gone, meta.UID)
		case "ADDED", "MODIFIED":
			c.rows = append(c.rows, f.row(&t.Rows[i]))
		}
	}
	if !f.emit(c) {
		return ctx.Err()
	}
	return nil
}

const (
	// maxShared bounds the length of texts that equal cells share, and their number.
	maxShared, maxTexts = 32, 4096
)

// row keeps the visible parts of a row.
func (f *follower) row(w *wireRow) row {
	meta := &w.Object.Metadata
	r := row{uid: meta.UID, namespace: f.shared(meta.Namespace), name: meta.Name, created: meta.CreationTimestamp, deleting: meta.DeletionTimestamp != nil, cells: make([]string, len(w.Cells))}
	for i, c := range w.Cells {
		switch v := c.(type) {
		case nil:
			r.cells[i] = "<none>"
		case string:
			r.cells[i] = f.shared(clean(v))
		case float64:
			r.cells[i] = f.shared(strconv.FormatFloat(v, 'f', -1, 64))
		default:
			r.cells[i] = f.shared(clean(fmt.Sprint(v)))
		}
		if r.cells[i] == r.name {
			r.cells[i] = r.name
		}
	}
	return r
}

func (f *follower) shared(s string) string {
	if kept, ok := f.texts[s]; ok {
		return kept
	}
	if len(s) <= maxShared {
		if len(f.texts) >= maxTexts {
			clear(f.texts)
		}
		f.texts[s] = s
	}
	return s
}
