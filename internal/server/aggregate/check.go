package aggregate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/apiregistration"
	"fairlead.dev/watchcache"
)

const (
	// recheck is how long the result of a check counts.
	recheck = 30 * time.Second
	// firstRetry is the pause after a failed check; it doubles up to recheck.
	firstRetry = 50 * time.Millisecond
	// attempts is the number of simultaneous requests of a check. One has to succeed within checkTimeout.
	attempts     = 5
	checkTimeout = 5 * time.Second
)

// checkers holds the remotes being checked, each by two goroutines: one checks it, the other reads its OpenAPI
// documents. It belongs to the goroutine that follows API services.
type checkers map[string]checker

type checker struct {
	of   *remote
	stop context.CancelFunc
	done chan struct{}
}

func (c checker) end() {
	c.stop()
	<-c.done
}

// update starts the checkers of new remotes and stops those of removed ones.
func (s *Services) update(ctx context.Context, all checkers) {
	s.mu.Lock()
	wanted := map[string]*remote{}
	for name, r := range s.mu.remotes {
		wanted[name] = r
	}
	s.mu.Unlock()
	for name, c := range all {
		if wanted[name] != c.of {
			c.end()
			delete(all, name)
		}
	}
	for name, r := range wanted {
		if _, ok := all[name]; ok {
			continue
		}
		ctx, stop := context.WithCancel(ctx)
		c := checker{r, stop, make(chan struct{})}
		all[name] = c
		go func() {
			defer close(c.done)
			var reads sync.WaitGroup
			reads.Go(func() { s.readDocuments(ctx, r) })
			s.watchOver(ctx, r)
			reads.Wait()
		}()
	}
}

// watchOver checks a remote whenever its service or the service's endpoints change, and at intervals.
func (s *Services) watchOver(ctx context.Context, r *remote) {
	to := r.spec.Service
	var bells [2]<-chan struct{}
	var watchers [2]*watchcache.Watcher
	for i, at := range []struct {
		cache *watchcache.Cache
		sel   watchcache.Selection
	}{
		{s.o.Server.Cache(corev1.Resource("services")), watchcache.Selection{Namespace: to.Namespace, Name: to.Name}},
		{s.o.Server.Cache(discoveryv1.Resource("endpointslices")), watchcache.Selection{
			Namespace: to.Namespace, Labels: labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: to.Name}),
		}},
	} {
		w, err := at.cache.Watch(ctx, at.sel, 0)
		if err != nil {
			continue // it is checked at intervals
		}
		defer w.Close()
		watchers[i], bells[i] = w, w.Bell()
	}
	pause := firstRetry
	for {
		wait := recheck
		if err := s.checkRemote(ctx, r); err != nil {
			s.o.Log.Debug("check of an API service failed, retrying", "name", r.name, "error", err)
			wait, pause = pause, min(2*pause, recheck)
		} else {
			pause = firstRetry
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-bells[0]:
		case <-bells[1]:
		case <-t.C:
		}
		t.Stop()
		for i, w := range watchers {
			if w != nil && !drain(w) {
				bells[i], watchers[i] = nil, nil
			}
		}
	}
}

// drain reads all pending events. It returns false if the watch has ended.
func drain(w *watchcache.Watcher) bool {
	for {
		events, _, err := w.Next()
		if err != nil || len(events) == 0 {
			return err == nil
		}
	}
}

// checkRemote checks a remote, writes the result into its API service, and runs discovery. After an error it should be
// called again soon.
func (s *Services) checkRemote(ctx context.Context, r *remote) error {
	now, failed := s.check(ctx, r)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	available := now.Status == apiregistrationv1.ConditionTrue
	resources, err := s.discover(ctx, r, available)
	s.setResources(r, resources, err == nil)
	if available {
		s.awaitDocuments(ctx, r)
	}
	fell := false
	err = s.o.Server.Amend(ctx, Resource, r.name, "status", func(obj resource.Object) bool {
		service := obj.(*apiregistrationv1.APIService)
		was := apiregistration.Condition(service)
		fell = was != nil && was.Status == apiregistrationv1.ConditionTrue && !available
		return apiregistration.SetCondition(service, now)
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if err == nil && fell {
		s.metrics.fell.WithLabelValues(r.name, now.Reason).Inc()
	}
	return failed
}

// check returns the Available condition of a remote. An error means that the remote did not respond.
func (s *Services) check(ctx context.Context, r *remote) (apiregistrationv1.APIServiceCondition, error) {
	to := r.spec.Service
	is := func(status apiregistrationv1.ConditionStatus, reason, format string, args ...any) apiregistrationv1.APIServiceCondition {
		return apiregistrationv1.APIServiceCondition{Status: status, Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	const no, unknown = apiregistrationv1.ConditionFalse, apiregistrationv1.ConditionUnknown
	obj, err := s.o.Server.Lookup().Get(ctx, corev1.Resource("services"), to.Namespace, to.Name)
	switch {
	case apierrors.IsNotFound(err):
		return is(no, "ServiceNotFound", "service/%s in %q is not present", to.Name, to.Namespace), nil
	case err != nil:
		return is(unknown, "ServiceAccessError", "service/%s in %q cannot be checked due to: %v", to.Name, to.Namespace, err), nil
	}
	if svc := obj.(*corev1.Service); svc.Spec.Type == corev1.ServiceTypeClusterIP {
		name, found := portName(svc, r.port())
		if !found {
			return is(no, "ServicePortError", "service/%s in %q is not listening on port %d", to.Name, to.Namespace, r.port()), nil
		}
		some, ready, err := s.endpoints(ctx, to.Namespace, to.Name, name)
		switch {
		case err != nil:
			return is(unknown, "EndpointsAccessError", "service/%s in %q cannot be checked due to: %v", to.Name, to.Namespace, err), nil
		case !some:
			return is(no, "EndpointsNotFound", "cannot find endpointslices for service/%s in %q", to.Name, to.Namespace), nil
		case !ready:
			return is(no, "MissingEndpoints", "endpointslices for service/%s in %q have no addresses with port name %q", to.Name, to.Namespace, name), nil
		}
	}
	if err := s.probe(ctx, r); err != nil {
		return is(no, "FailedDiscoveryCheck", "%v", err), err
	}
	return is(apiregistrationv1.ConditionTrue, "Passed", "all checks passed"), nil
}

func portName(svc *corev1.Service, port int32) (string, bool) {
	for _, p := range svc.Spec.Ports {
		if p.Port == port {
			return p.Name, true
		}
	}
	return "", false
}

// endpoints reports whether the service has slices, and whether one of them has a ready endpoint at the port of
// that name.
func (s *Services) endpoints(ctx context.Context, namespace, name, port string) (some, ready bool, err error) {
	list, err := s.o.Server.Lookup().List(ctx, discoveryv1.Resource("endpointslices"), namespace)
	if err != nil {
		return false, false, err
	}
	for _, obj := range list {
		slice := obj.(*discoveryv1.EndpointSlice)
		if slice.Labels[discoveryv1.LabelServiceName] == name {
			some, ready = true, ready || serves(slice, port)
		}
	}
	return some, ready, nil
}

func serves(slice *discoveryv1.EndpointSlice, port string) bool {
	ready, named := false, false
	for _, e := range slice.Endpoints {
		ready = ready || e.Conditions.Ready == nil || *e.Conditions.Ready
	}
	for _, p := range slice.Ports {
		named = named || p.Name != nil && *p.Name == port && p.Port != nil
	}
	return ready && named
}

// probe requests the document of its version, which every remote must serve.
func (s *Services) probe(ctx context.Context, r *remote) (err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	results := make(chan error, attempts)
	for range attempts {
		go func() {
			resp, err := s.ask(ctx, r, versionPath(r), "")
			if err == nil {
				resp.Body.Close()
			}
			results <- err
		}()
	}
	for range attempts {
		if err = <-results; err == nil {
			return nil
		}
	}
	r.transport.CloseIdleConnections()
	return err
}

func versionPath(r *remote) string {
	if r.spec.Group == "" {
		return "/api/" + r.spec.Version
	}
	return "/apis/" + r.spec.Group + "/" + r.spec.Version
}

// errUnavailable means that a remote was not asked.
var errUnavailable = errors.New("not available")
