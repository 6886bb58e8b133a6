package informer

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
)

const (
	firstPause   = 50 * time.Millisecond // after a failure; doubles with each further one
	mostPause    = 15 * time.Second
	listPause    = 2 * time.Second // the most before a list that a 410 asks for
	steady       = time.Second     // a watch that lived so long was no failure
	watchTimeout = 5 * time.Minute // Options.WatchTimeout if that is zero
)

// follow keeps the store equal to the server's state until ctx ends.
func (i *Informer[T]) follow(ctx context.Context) {
	expired := 0 // times in a row, with no event after the list
	for failures := 0; ctx.Err() == nil; {
		begun, at := time.Now(), i.store.Revision()
		i.from = at
		err := i.watchOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		if isExpired(err) {
			i.listed = false
		}
		if errors.Is(err, client.ErrNoWatchList) {
			continue
		}
		if i.store.Revision() != at || time.Since(begun) >= steady {
			failures = 0
			if err == io.EOF {
				continue
			}
		}
		failures++
		wait := min(mostPause, firstPause<<min(failures-1, 20))
		// A list is no progress: a server that forgets faster than it can be read must not
		// be asked for all of it again at once, each time.
		if i.store.Revision() != i.from || time.Since(begun) >= steady {
			expired = 0
		}
		if isExpired(err) {
			wait = max(wait, min(listPause, firstPause<<min(expired, 20)))
			expired++
		}
		wait = wait/2 + rand.N(wait)
		i.reportFailure(err, failures, wait)
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
		}
	}
}

// isExpired reports whether the server no longer has the requested revision.
func isExpired(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// watchOnce opens one watch, from the store's revision if that is usable and otherwise from a
// list, and applies its events until it ends.
func (i *Informer[T]) watchOnce(ctx context.Context) error {
	if !i.listed && !i.listOnly {
		w, err := i.watchList(ctx)
		if err != nil {
			return err
		}
		return i.readWatch(ctx, w)
	}
	if !i.listed {
		if err := i.list(ctx); err != nil {
			return err
		}
	}
	w, err := i.r.Watch(ctx, i.watchOptions(i.store.Revision()))
	if err != nil {
		return err
	}
	return i.readWatch(ctx, w)
}

func (i *Informer[T]) watchOptions(rev string) metav1.ListOptions {
	// Ends are spread so that not all watches of a server come back at the same time.
	least := int64(cmp.Or(i.o.WatchTimeout, watchTimeout) / time.Second)
	seconds := least + rand.Int64N(max(1, least))
	return metav1.ListOptions{
		LabelSelector: i.o.LabelSelector, FieldSelector: i.o.FieldSelector,
		ResourceVersion: rev, AllowWatchBookmarks: true, TimeoutSeconds: &seconds,
	}
}

// list puts the answer of a LIST in place. It is read in pages
// of one revision; if that revision expires on the way, the next attempt asks for all
// in one.
func (i *Informer[T]) list(ctx context.Context) error {
	o := metav1.ListOptions{LabelSelector: i.o.LabelSelector, FieldSelector: i.o.FieldSelector}
	all, rev := &listing[T]{}, ""
	if i.unpaged {
		page, err := i.r.List(ctx, o)
		if err != nil {
			return err
		}
		i.unpaged, rev = false, page.ResourceVersion
		i.addToList(all, page.Items)
	} else {
		for page, err := range i.r.Pages(ctx, o) {
			if err != nil {
				i.unpaged = apierrors.IsResourceExpired(err)
				return err
			}
			rev = page.ResourceVersion
			i.addToList(all, page.Items)
		}
	}
	i.replace(all, rev)
	return nil
}

func (i *Informer[T]) addToList(all *listing[T], items []T) {
	for _, obj := range items {
		all.add(i.transform(obj))
	}
}

func (i *Informer[T]) transform(obj T) T {
	if i.o.Transform != nil {
		return i.o.Transform(obj)
	}
	return obj
}

// watchList puts the list in place that a watch begins with, and returns the watch. If the server does not support that, the
// informer uses LIST from then on.
func (i *Informer[T]) watchList(ctx context.Context) (*client.Watch[T], error) {
	list := &listing[T]{}
	w, rev, err := i.r.WatchList(ctx, i.watchOptions(""), func(ev client.Event[T]) {
		if ev.Type == watch.Deleted {
			list.remove(keyOf(ev.Object))
			return
		}
		list.add(i.transform(ev.Object))
	})
	if err != nil {
		i.listOnly = errors.Is(err, client.ErrNoWatchList)
		return nil, err
	}
	i.replace(list, rev)
	return w, nil
}

// readWatch reads one watch to its end.
func (i *Informer[T]) readWatch(ctx context.Context, w *client.Watch[T]) error {
	defer w.Stop()
	defer i.store.wakeBehind()
	for {
		ev, err := w.Next(ctx)
		if err == nil {
			err = ctx.Err() // a stopped informer applies no more events
		}
		if err != nil {
			return err
		}
		i.events.Add(1)
		read, decoded := w.Stamps()
		switch ev.Type {
		case watch.Bookmark:
			i.store.bookmark(ev.Object.GetResourceVersion(), w.More())
		case watch.Deleted:
			i.store.remove(i.transform(ev.Object), w.More())
			i.traceArrival(ev.Object, w.Opened(), read, decoded)
		default:
			i.store.put(i.transform(ev.Object), w.More())
			i.traceArrival(ev.Object, w.Opened(), read, decoded)
		}
	}
}

func (i *Informer[T]) replace(list *listing[T], rev string) {
	i.store.replace(list, rev)
	i.lists.Add(1)
	i.listed, i.from = true, rev
}
