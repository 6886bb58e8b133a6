package auditroles

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// ErrSubject is the error for a log that does not have the requests of a user.
var ErrSubject = errors.New("the log has no request of the user")

// Log has the requests of an audit log by user. The zero Log is empty.
type Log struct{ users map[string]map[request]bool }

// request has the attributes of a request that RBAC looks at.
type request struct {
	namespace, group, resource, name string // resource has the subresource
	verb, path                       string // path is that of a request for no resource
}

// Read adds the events of a log.
func (l *Log) Read(r io.Reader) error {
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var e auditv1.Event
			if err := json.Unmarshal(line, &e); err != nil || e.Kind != "Event" || e.GroupVersionKind().Group != auditv1.GroupName {
				return fmt.Errorf("line %d is no event of an audit log in JSON", n)
			}
			l.add(&e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (l *Log) add(e *auditv1.Event) {
	as := &e.User
	if e.ImpersonatedUser != nil {
		as = e.ImpersonatedUser
		for _, r := range impersonations(as) {
			l.ask(&e.User, r)
		}
	}
	r := requestOf(e)
	l.ask(as, r)
	if s := e.ResponseStatus; s != nil && s.Code == http.StatusCreated && (e.Verb == "patch" || e.Verb == "update") {
		r.verb = "create" // which is authorized too, by name
		l.ask(as, r)
	}
}

// ask adds a request of a user, unless it needs no role.
func (l *Log) ask(u *authenticationv1.UserInfo, r request) {
	if u.Username == "" || slices.Contains(u.Groups, "system:masters") {
		return
	}
	if l.users == nil {
		l.users = map[string]map[request]bool{}
	}
	if l.users[u.Username] == nil {
		l.users[u.Username] = map[request]bool{}
	}
	l.users[u.Username][r] = true
}

// impersonations returns the requests to impersonate a user. Groups that follow from the name of a user need no right.
func impersonations(u *authenticationv1.UserInfo) (list []request) {
	if namespace, name, ok := splitServiceAccount(u.Username); ok {
		list = append(list, request{namespace: namespace, resource: "serviceaccounts", name: name})
	} else {
		list = append(list, request{resource: "users", name: u.Username})
	}
	for _, group := range u.Groups {
		if group != "system:authenticated" && group != "system:serviceaccounts" && !strings.HasPrefix(group, "system:serviceaccounts:") {
			list = append(list, request{resource: "groups", name: group})
		}
	}
	if u.UID != "" {
		list = append(list, request{group: authenticationv1.GroupName, resource: "uids", name: u.UID})
	}
	for key, values := range u.Extra {
		for _, value := range values {
			list = append(list, request{group: authenticationv1.GroupName, resource: "userextras/" + key, name: value})
		}
	}
	for i := range list {
		list[i].verb = "impersonate"
	}
	return list
}

// splitServiceAccount returns the service account that a user is; ok is false for other users.
func splitServiceAccount(user string) (namespace, name string, ok bool) {
	rest, account := strings.CutPrefix(user, "system:serviceaccount:")
	namespace, name, ok = strings.Cut(rest, ":")
	return namespace, name, ok && account
}

// requestOf returns the request of an event. An event names the object that a create makes, which is not authorized by name.
func requestOf(e *auditv1.Event) request {
	o := e.ObjectRef
	if o == nil {
		path, _, _ := strings.Cut(e.RequestURI, "?")
		return request{verb: e.Verb, path: path}
	}
	r := request{namespace: o.Namespace, group: o.APIGroup, resource: o.Resource, name: o.Name, verb: e.Verb}
	if o.Subresource != "" {
		r.resource += "/" + o.Subresource
	} else if e.Verb == "create" {
		r.name = ""
	}
	if o.Resource == "namespaces" { // its namespace is its own name, and it may not exist when the roles are applied
		r.namespace = ""
	}
	return r
}

// Users returns the names of the users with requests, in order.
func (l *Log) Users() []string { return slices.Sorted(maps.Keys(l.users)) }
