package controlplane

import (
	"sync"

	"fairlead.dev/client"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
	"k8s.io/client-go/rest"
)

// inProcess is the wire in memory: each user gets a client whose requests go
// straight to the server's handler, with that user in their context. They pass
// authorization and admission as everybody's do. They share one discovery.
func inProcess(s *server.Server, o Options, m partMetrics) wire {
	var mu sync.Mutex
	clients := map[string]*client.Client{}
	var discovers *client.Client
	return func(user string) (*client.Client, error) {
		mu.Lock()
		defer mu.Unlock()
		if c := clients[user]; c != nil {
			return c, nil
		}
		c, err := client.New(inProcessConfig(s, user), client.Options{
			UserAgent: "fairlead/" + Version() + " (" + user + ")", Trace: o.Trace, ShareObjects: true,
			Discovery: discovers, Observe: m.requests.Observe,
			Silence: -1, // a server of the same process does not die silently
		})
		if err != nil {
			return nil, err
		}
		if discovers == nil {
			discovers = c
		}
		clients[user] = c
		return c, nil
	}
}

// InProcess is the access of a user to the server through memory, without credentials.
func (cp *ControlPlane) InProcess(user string) *rest.Config { return inProcessConfig(cp.server, user) }

func inProcessConfig(s *server.Server, user string) *rest.Config {
	return &rest.Config{Host: "http://fairlead.in-process", Transport: server.Transport(s, identity(user))}
}

// identity is the user of a name, with the groups that its credentials would give
// it.
func identity(name string) *auth.User {
	u := &auth.User{Name: name}
	if namespace, _, ok := auth.SplitServiceAccount(name); ok {
		u.Groups = auth.ServiceAccountGroups(namespace)
	}
	switch name {
	case nodesUser, HostUser:
		// The first is one user for many kubelets. No role of Kubernetes allows that: a user
		// in the group of nodes may change one node's objects only.
		u.Groups = []string{auth.MastersGroup}
	}
	return auth.Authenticated(u)
}
