package admission

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/utils/lru"

	"fairlead.dev/internal/server/admission/config"
)

// EventRateLimit rejects writes of events above the limits by 429. Make it with NewEventRateLimit.
type EventRateLimit struct{ limits []*eventLimit }

// NewEventRateLimit returns the plugin, whose buckets are full.
func NewEventRateLimit(limits []config.EventLimit) EventRateLimit {
	var p EventRateLimit
	for _, l := range limits {
		size := int(l.CacheSize)
		switch {
		case l.Type == config.LimitServer:
			size = 1
		case size == 0:
			size = 4096
		}
		p.limits = append(p.limits, &eventLimit{EventLimit: l, buckets: lru.New(size)})
	}
	return p
}

// Name implements Plugin.
func (EventRateLimit) Name() string { return "EventRateLimit" }

// Validate implements Validator.
func (p EventRateLimit) Validate(_ context.Context, r *Request) error {
	event := corev1.SchemeGroupVersion.WithKind("Event").GroupKind() // as upstream, not that of events.k8s.io
	if r.Verb != Create && r.Verb != Update || r.DryRun || r.Kind().GroupKind() != event {
		return nil
	}
	var errs []error
	for _, l := range p.limits {
		if key := l.key(r); !l.bucket(key).Allow() {
			errs = append(errs, fmt.Errorf("limit reached on type %v for key %v", l.Type, key))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewTooManyRequestsError(utilerrors.NewAggregate(errs).Error())
}

// eventLimit is a limit and its buckets, by key.
type eventLimit struct {
	config.EventLimit
	making  sync.Mutex // held while a bucket is looked for and made
	buckets *lru.Cache
}

func (l *eventLimit) bucket(key string) *rate.Limiter {
	l.making.Lock()
	defer l.making.Unlock()
	if b, ok := l.buckets.Get(key); ok {
		return b.(*rate.Limiter)
	}
	b := rate.NewLimiter(rate.Limit(l.QPS), int(l.Burst))
	l.buckets.Add(key, b)
	return b
}

// key returns the key of a request's bucket.
func (l *eventLimit) key(r *Request) string {
	switch l.Type {
	case config.LimitNamespace:
		return r.Namespace
	case config.LimitUser:
		return r.User.Name
	case config.LimitSourceAndObject:
		e, ok := r.Object.(*corev1.Event)
		if !ok {
			return ""
		}
		o := e.InvolvedObject
		return strings.Join([]string{e.Source.Component, e.Source.Host, o.Kind, o.Namespace, o.Name, string(o.UID), o.APIVersion}, "")
	}
	return ""
}
