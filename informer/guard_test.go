package informer_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/internal/informertest"
)

// TestMutationsAreFound: a change of a shared object is reported, by a handler or a reader
// of the store; a change of a copy is not.
func TestMutationsAreFound(t *testing.T) {
	label := func(p *corev1.Pod) { p.Labels = map[string]string{"changed": "yes"} }
	for name, c := range map[string]struct {
		handler informer.Handler[*corev1.Pod]
		reader  func(*corev1.Pod)
		update  bool
		want    []string // in the one report
	}{
		"add":    {handler: informer.Handler[*corev1.Pod]{Add: func(p *corev1.Pod, _ bool) { label(p) }}, want: []string{"default/web", "Add", "changed"}},
		"update": {handler: informer.Handler[*corev1.Pod]{Update: func(_, p *corev1.Pod) { label(p) }}, update: true, want: []string{"default/web", "Update", "changed"}},
		"reader": {reader: label, want: []string{"default/web", "in the store", "changed"}},
		"name":   {reader: func(p *corev1.Pod) { p.Name = "other" }, want: []string{"default/web", "other"}},
		"copy": {
			handler: informer.Handler[*corev1.Pod]{Add: func(p *corev1.Pod, _ bool) { label(p.DeepCopy()) }},
			reader:  func(p *corev1.Pod) { label(p.DeepCopy()) },
			update:  true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := informertest.New(t)
			s.Put(pod("web", "n1"))
			var found []string
			i := informer.New(client.For[*corev1.Pod](s.Client(t)), informer.Options[*corev1.Pod]{
				OnMutation: func(err error) { found = append(found, err.Error()) },
			})
			updated := make(chan struct{})
			h := c.handler
			h.Update = func(old, p *corev1.Pod) {
				if c.handler.Update != nil {
					c.handler.Update(old, p)
				}
				close(updated)
			}
			i.Handle(h)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- i.Run(ctx) }()
			wait(t, i.Synced())
			if c.update {
				s.Put(pod("web", "n2"))
				wait(t, updated)
			}
			if c.reader != nil {
				p, _ := i.Store().Get("default", "web")
				c.reader(p)
			}
			cancel()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if len(c.want) == 0 {
				if len(found) > 0 {
					t.Fatalf("found %v where nothing was changed", found)
				}
				return
			}
			if len(found) != 1 {
				t.Fatalf("%d reports, want one: %v", len(found), found)
			}
			for _, w := range c.want {
				if !strings.Contains(found[0], w) {
					t.Errorf("report without %q: %s", w, found[0])
				}
			}
		})
	}
}
