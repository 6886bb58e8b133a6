package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/auth"
)

func TestUnion(t *testing.T) {
	knows := auth.AuthenticatorFunc(func(*http.Request) (*auth.User, bool, error) { return &auth.User{Name: "ann"}, true, nil })
	passes := auth.AuthenticatorFunc(func(*http.Request) (*auth.User, bool, error) { return nil, false, nil })
	bad := errors.New("bad")
	refuses := auth.AuthenticatorFunc(func(*http.Request) (*auth.User, bool, error) { return nil, false, bad })
	for _, c := range []struct {
		name string
		a    auth.Authenticator
		user string
		err  error
	}{
		{"first that knows", auth.Union(passes, knows), "ann", nil},
		{"knows after one that refuses", auth.Union(refuses, knows), "ann", nil},
		{"refused", auth.Union(passes, refuses), "", bad},
		{"nobody", auth.WithAnonymous(auth.Union(passes)), auth.AnonymousUser, nil},
		{"wrong credentials are not nobody", auth.WithAnonymous(auth.Union(refuses)), "", bad},
	} {
		u, ok, err := c.a.Authenticate(httptest.NewRequest("GET", "/", nil))
		if err != c.err || ok != (c.user != "") || ok && u.Name != c.user {
			t.Errorf("%s: %v %v %v", c.name, u, ok, err)
		}
	}
}

func TestInProcess(t *testing.T) {
	ann := &auth.User{Name: "ann"}
	r := httptest.NewRequest("GET", "/", nil)
	if _, ok, _ := auth.InProcess().Authenticate(r); ok {
		t.Error("a user out of nothing")
	}
	r = r.WithContext(auth.WithUser(context.Background(), ann))
	if u, ok, _ := auth.InProcess().Authenticate(r); !ok || u != ann {
		t.Errorf("got %v", u)
	}
}

func TestImpersonate(t *testing.T) {
	root := &auth.User{Name: "root"}
	may := auth.AuthorizerFunc(func(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
		return auth.AllowIf(a.Verb == "impersonate" && a.User == root && a.Name != "admin"), "because", nil
	})
	type h = http.Header
	for _, c := range []struct {
		name   string
		header h
		want   *auth.User // nil: denied
	}{
		{"nobody", h{}, root},
		{"a user", h{"Impersonate-User": {"ann"}}, &auth.User{Name: "ann", Groups: []string{"system:authenticated"}}},
		{"with groups", h{"Impersonate-User": {"ann"}, "Impersonate-Group": {"dev", "ops"}},
			&auth.User{Name: "ann", Groups: []string{"dev", "ops", "system:authenticated"}}},
		{"an account", h{"Impersonate-User": {"system:serviceaccount:shop:till"}},
			&auth.User{Name: "system:serviceaccount:shop:till", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"}}},
		{"anonymous", h{"Impersonate-User": {"system:anonymous"}}, &auth.User{Name: "system:anonymous", Groups: []string{"system:unauthenticated"}}},
		{"extra and uid", h{"Impersonate-User": {"ann"}, "Impersonate-Uid": {"7"}, "Impersonate-Extra-Example.com%2fscope": {"a", "b"}},
			&auth.User{Name: "ann", UID: "7", Groups: []string{"system:authenticated"}, Extra: map[string][]string{"example.com/scope": {"a", "b"}}}},
		{"one it may not be", h{"Impersonate-User": {"admin"}}, nil},
		{"a group it may not be in", h{"Impersonate-User": {"ann"}, "Impersonate-Group": {"admin"}}, nil},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header = c.header
		got, _, err := auth.Impersonate(context.Background(), r, auth.Attributes{User: root, Verb: "get", Path: "/"}, may)
		if c.want == nil {
			var denied *auth.Denied
			if !errors.As(err, &denied) || denied.Error() != `User "root" cannot impersonate-on:user-info:get path "/": because` {
				t.Errorf("%s: %v %v", c.name, got, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(got.Extra) == 0 {
			c := *got
			c.Extra = nil
			got = &c
		}
		if d := cmp.Diff(c.want, got); d != "" || len(r.Header) > 0 {
			t.Errorf("%s: %s; headers %v", c.name, d, r.Header)
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Impersonate-Group", "dev")
	if _, _, err := auth.Impersonate(context.Background(), r, auth.Attributes{User: root, Verb: "get", Path: "/"}, may); !apierrors.IsBadRequest(err) {
		t.Errorf("a group without a user: %v", err)
	}
}
