package flows

import (
	"context"
	"errors"
	"log/slog"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/server"
	"fairlead.dev/watchcache"
)

var (
	schemas = schema.GroupResource{Group: flowcontrolv1.GroupName, Resource: "flowschemas"}
	levels  = schema.GroupResource{Group: flowcontrolv1.GroupName, Resource: "prioritylevelconfigurations"}
)

// Options configure Flows.
type Options struct {
	// Server serves the objects. Without server.Config.Fairness they are maintained and have no effect.
	Server *server.Server
	Log    *slog.Logger // nil discards
}

// Flows maintains the objects of a server.
type Flows struct {
	o Options
	// writes are the times of the last passes that wrote something.
	writes []time.Time
}

// New returns the maintainer of a server's objects.
func New(o Options) *Flows {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Flows{o: o}
}

// retryAfter is the pause after a failure.
const retryAfter = time.Second

// Run maintains the objects until ctx ends.
func (f *Flows) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := f.follow(ctx); err != nil && ctx.Err() == nil {
			f.o.Log.Warn("FlowSchemas and priority levels could not be put into effect, retrying", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(retryAfter):
			}
		}
	}
	return nil
}

// every selects all objects except unreadable ones.
var every = watchcache.Selection{Readable: true}

func (f *Flows) follow(ctx context.Context) error {
	s, err := f.o.Server.Cache(schemas).Watch(ctx, every, 0)
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := f.o.Server.Cache(levels).Watch(ctx, every, 0)
	if err != nil {
		return err
	}
	defer l.Close()
	for {
		now, err := f.sync(ctx)
		if err != nil {
			return err
		}
		var later *time.Timer
		if wait := f.pause(time.Now()); wait > 0 {
			later = time.AfterFunc(wait, s.Ring)
		} else if err := f.maintain(ctx, now); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.Bell():
		case <-l.Bell():
		}
		if later != nil {
			later.Stop()
		}
		if !drain(s) || !drain(l) {
			return errors.New("the watch has ended")
		}
	}
}

// drain reads a watcher's events, and reports whether there may be more.
func drain(w *watchcache.Watcher) bool {
	for {
		events, _, err := w.Next()
		if err != nil {
			return false
		}
		if len(events) == 0 {
			return true
		}
	}
}

const (
	// passes is how many passes with writes there are in a window at most.
	passes = 6
	window = time.Minute
)

// pause returns how long writes have to wait.
func (f *Flows) pause(now time.Time) time.Duration {
	for len(f.writes) > 0 && now.Sub(f.writes[0]) >= window {
		f.writes = f.writes[1:]
	}
	if len(f.writes) < passes {
		return 0
	}
	return window - now.Sub(f.writes[0])
}
