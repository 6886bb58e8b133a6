package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// ErrNoWatchList is the error of WatchList for a server that does not support it. List, and then Watch.
var ErrNoWatchList = errors.New("client: the server sends no list at the beginning of a watch")

const (
	// listPause is the time after which a server that sends no end of the list is taken for one that does not support it.
	listPause = time.Minute
	// listProgress is the number of events after which the time begins anew, so that a long list is read to its end.
	listProgress = 1000
)

// WatchList opens a watch that begins with a list of the objects that the options select (sendInitialEvents, KEP-3157), and
// reads that list. each is called with its events: Added for each object, and perhaps changes of some. It returns the watch, whose
// next event is the first one after the list, and the list's revision.
//
// The error is ErrNoWatchList if the server refuses the list, or does not end it: servers before 1.27 ignore the request for it, so
// they are recognized only when a minute has passed without progress.
func (r Resource[T]) WatchList(ctx context.Context, opts metav1.ListOptions, each func(Event[T])) (w *Watch[T], revision string, err error) {
	yes := true
	opts.AllowWatchBookmarks, opts.SendInitialEvents, opts.ResourceVersionMatch = true, &yes, metav1.ResourceVersionMatchNotOlderThan
	w, err = r.Watch(ctx, opts)
	if err != nil {
		if refusesWatchList(err) {
			err = fmt.Errorf("%w: %w", ErrNoWatchList, err)
		}
		return nil, "", err
	}
	pause := time.AfterFunc(listPause, w.Stop)
	for n := 1; ; n++ {
		ev, err := w.Next(ctx)
		switch {
		case err != nil:
			if !pause.Stop() && ctx.Err() == nil {
				err = ErrNoWatchList
			}
			w.Stop()
			return nil, "", err
		case ev.Type != watch.Bookmark:
			each(ev)
		case ev.Object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true":
			pause.Stop()
			return w, ev.Object.GetResourceVersion(), nil
		}
		if n%listProgress == 0 {
			pause.Reset(listPause)
		}
	}
}

// refusesWatchList reports whether a server refused a watch because it asked for initial events.
func refusesWatchList(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsMethodNotSupported(err) || apierrors.IsNotAcceptable(err)
}
