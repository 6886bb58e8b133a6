package top

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fairlead.dev/internal/client/lives"
	"fairlead.dev/internal/trace/show"
)

var errForgotten = errors.New("the trace no longer has this event")

// livesOf reads lives.
func (l *link) livesOf(ctx context.Context, key string, revision int64) (all []show.Event, err error) {
	rev := strconv.FormatInt(revision, 10)
	q := url.Values{key: {rev}}
	if key == "from" {
		q.Set("to", rev)
	}
	err = lives.Each(ctx, l.c, q, func(_ []byte, e show.Event) error {
		all = append(all, e)
		return nil
	})
	if err == nil && len(all) == 0 {
		err = errForgotten
	}
	return all, err
}

// life asks for the life of one event.
func (l *link) life(id int, revision int64) tea.Cmd {
	return ask(l, id, func(ctx context.Context) (text, error) {
		all, err := l.livesOf(ctx, "from", revision)
		if err != nil {
			return text{}, err
		}
		return lines(func(out *bytes.Buffer) error { return show.Waterfall(out, all[0], colours, 0) })
	})
}

// maxClimb bounds the search for the root of a tree of causes.
const maxClimb = 100

// tree asks for the whole tree of causes that has an event.
func (l *link) tree(id int, revision int64) tea.Cmd {
	return ask(l, id, func(ctx context.Context) (text, error) {
		root, at := revision, revision
		for range maxClimb {
			all, err := l.livesOf(ctx, "from", at)
			if err != nil && at == revision {
				return text{}, err
			}
			if err != nil {
				break // the trace no longer has the cause
			}
			root = at
			if len(all[0].Causes) == 0 || all[0].Causes[0] == at {
				break
			}
			at = all[0].Causes[0]
		}
		all, err := l.livesOf(ctx, "tree", root)
		if err != nil {
			return text{}, err
		}
		t, err := lines(func(out *bytes.Buffer) error { return show.Tree(out, all, colours, 0) })
		mark := fmt.Sprintf("%d ", revision)
		t.mark = slices.IndexFunc(t.lines, func(line string) bool { return strings.Contains(line, string(dim)+mark) })
		return t, err
	})
}
