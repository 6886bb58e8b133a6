package auth

import "context"

type warnKey struct{}

// WithWarn returns a context in which Warn calls a function that adds a warning to the response.
func WithWarn(ctx context.Context, warn func(text string)) context.Context {
	return context.WithValue(ctx, warnKey{}, warn)
}

// Warn adds a warning about a request's credentials to the response, if the context is that of a request or a review.
func Warn(ctx context.Context, text string) {
	if warn, ok := ctx.Value(warnKey{}).(func(string)); ok {
		warn(text)
	}
}
