package nodes

import "fairlead.dev/internal/server/auth"

// Requests for kinds of which a node may only access single objects.

// named allows a request for one named object.
func (q question) named(has func() (bool, error)) (auth.Decision, string, error) {
	if q.a.Name == "" {
		return no("No Object name found")
	}
	return q.related(has())
}

// get allows only reading a single object.
func (q question) get(has func() (bool, error)) (auth.Decision, string, error) {
	switch {
	case q.a.Verb != "get":
		return no("can only get individual resources of this type")
	case q.a.Subresource != "":
		return no("cannot get subresource")
	}
	return q.named(has)
}

// read allows reading or watching a single object in a namespace.
func (q question) read(has func() (bool, error)) (auth.Decision, string, error) {
	switch q.a.Verb {
	case "get", "list", "watch":
	default:
		return no("can only read resources of this type")
	}
	switch {
	case q.a.Subresource != "":
		return no("cannot read subresource")
	case q.a.Namespace == "":
		return no("can only read namespaced object of this type")
	}
	return q.named(has)
}

func (q question) secret() (auth.Decision, string, error) {
	return q.read(func() (bool, error) {
		if has, err := q.refers(secretRef); has || err != nil {
			return has, err
		}
		return q.mountsWith()
	})
}

func (q question) configMap() (auth.Decision, string, error) { return q.read(q.referred(configMapRef)) }

func (q question) serviceAccount() (auth.Decision, string, error) {
	has := q.referred(accountRef)
	switch {
	case q.a.Verb == "get" && q.a.Subresource == "":
		return q.read(has)
	case q.a.Verb != "create" || q.a.Name == "":
		return no("can only create tokens for individual service accounts")
	case q.a.Subresource != "token":
		return no("can only create token subresource of serviceaccount")
	}
	return q.related(has())
}

func (q question) claim() (auth.Decision, string, error) {
	has := q.referred(claimRef)
	if q.a.Subresource != "status" {
		return q.get(has)
	}
	if q.a.Verb != "update" && q.a.Verb != "patch" {
		return no("can only get/update/patch this type")
	}
	return q.named(has)
}

func (q question) resourceClaim() (auth.Decision, string, error) {
	return q.get(q.referred(resourceClaimRef))
}

func (q question) volume() (auth.Decision, string, error) { return q.get(q.hasVolume) }

func (q question) attachment() (auth.Decision, string, error) { return q.get(q.hasAttachment) }
