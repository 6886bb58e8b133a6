package history

import (
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/call"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// guard decides which states a user may read who may get the object. Each object of the name has a
// life, from its creation to its deletion.
type guard struct {
	call *call.Call
	// current is the life of the present object, 0 if there is none. namespace is that of the
	// present namespace.
	current, namespace storage.Revision
	// former and foreign are the refusals of former lives, and of those in a former namespace of the
	// same name; nil if they have not been asked for.
	former, foreign *string
}

func newGuard(c *call.Call) (guard, error) {
	g := guard{call: c}
	vs, err := c.Endpoint.Cache.Versions(c.Context, c.Info.Namespace, c.Info.Name, 0, 1)
	if err != nil {
		return g, err
	}
	if len(vs.List) > 0 && vs.List[0].Object != nil {
		g.current = vs.List[0].Life()
	}
	if ns := c.Registry.Stored(schema.GroupResource{Resource: "namespaces"}); ns != nil && c.Info.Namespace != "" {
		o, _, err := ns.Cache.Get(c.Context, "", c.Info.Namespace, watchcache.ReadAt{Match: watchcache.Request})
		if err != nil {
			return g, err
		}
		if o != nil {
			g.namespace = o.CreateRevision()
		}
	}
	return g, nil
}

// refusal returns why the user may not read a version, "" if that is allowed.
func (g *guard) refusal(v *watchcache.Version) (string, error) {
	life := v.Life()
	switch {
	case life != 0 && life == g.current:
		return "", nil
	case life < g.namespace:
		return g.ask(&g.foreign, "", "states from before the namespace was created need list in all namespaces: ")
	}
	return g.ask(&g.former, g.call.Info.Namespace, "states of an object that was deleted need list: ")
}

// ask authorizes a list of the object in a namespace, once.
func (g *guard) ask(refusal **string, namespace, need string) (string, error) {
	if *refusal != nil {
		return **refusal, nil
	}
	in := g.call.For(namespace, g.call.Info.Name)
	text := ""
	if err := in.Authorize("list", in.Info.Name); errors.IsForbidden(err) {
		text = need + err.Error()
	} else if err != nil {
		return "", err
	}
	*refusal = &text
	return text, nil
}
