package server_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/server"
)

// plugin is an admission plugin made of a function.
type plugin func(*admission.Request) error

func (plugin) Name() string { return "Test" }

func (p plugin) Admit(_ context.Context, r *admission.Request) error { return p(r) }

func TestAdmission(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	c := start(t, func(cfg *server.Config) {
		cfg.Admission = admission.Chain{plugin(func(r *admission.Request) error {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, fmt.Sprintf("%s %s %s %v", r.Verb, r.Resource.Plural, r.Name, r.Old != nil))
			r.OnDone(func(written bool) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, fmt.Sprint("done ", written))
			})
			if m, ok := r.Object.(resource.Object); ok && r.Verb == admission.Create {
				m.SetAnnotations(map[string]string{"admitted": r.User.Name})
			}
			return nil
		})}
	})
	c.talk([]exchange{
		{send: "POST " + maps, body: mapA, code: 201, want: []string{`"annotations":{"admitted":"system:anonymous"}`}},
		{send: "POST " + maps, body: mapA, code: 409},
		{send: "POST " + maps + "?dryRun=All", body: `{"metadata":{"name":"b"}}`, code: 201},
		{send: "PUT " + maps + "/a", body: mapA, code: 200},
		{send: "DELETE " + maps + "/a", code: 200},
	})
	mu.Lock()
	defer mu.Unlock()
	want := "CREATE configmaps a false,done true,CREATE configmaps a false,done false,CREATE configmaps b false,done false,UPDATE configmaps a true,done true,DELETE configmaps a true,done true"
	if got := strings.Join(seen, ","); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestPanic checks that a panic ends only its own request.
func TestPanic(t *testing.T) {
	c := start(t, func(cfg *server.Config) {
		cfg.Admission = admission.Chain{plugin(func(*admission.Request) error { panic("on purpose") })}
	})
	c.talk([]exchange{
		{send: "POST " + maps, body: mapA, code: 500, want: []string{`This request caused apiserver to panic.`}},
		{send: "GET " + maps, code: 200},
	})
}
