package controlplane

import (
	"context"
	"log/slog"

	"fairlead.dev/client"
)

// outageLog passes records on, except those of errors that only mean that the API server does
// not answer: the client logs that once, for all the requests that fail by it.
type outageLog struct{ slog.Handler }

func (h outageLog) Handle(ctx context.Context, r slog.Record) error {
	unreachable := false
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		unreachable = ok && client.IsUnreachable(err)
		return !unreachable
	})
	if unreachable {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h outageLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return outageLog{h.Handler.WithAttrs(attrs)}
}

func (h outageLog) WithGroup(name string) slog.Handler { return outageLog{h.Handler.WithGroup(name)} }
