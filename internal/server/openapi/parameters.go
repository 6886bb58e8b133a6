package openapi

// parameter is a parameter of a request.
type parameter struct {
	name, in, typ, description string
}

var (
	pretty      = parameter{"pretty", "query", "string", "If 'true', the output is written for people to read."}
	namespaceIn = parameter{"namespace", "path", "string", "The namespace of the object."}
	nameIn      = parameter{"name", "path", "string", "The name of the object."}

	pathIn = parameter{"path", "path", "string", "What follows in the path of the request behind the proxy."}

	dryRun          = parameter{"dryRun", "query", "string", "When present, nothing is kept. The one valid value is All: every stage of the request is gone through, but the last."}
	fieldManager    = parameter{"fieldManager", "query", "string", "The name of who makes the change, for managed fields: at most 128 printable characters. An apply must have one."}
	fieldValidation = parameter{"fieldValidation", "query", "string", "What becomes of unknown and duplicate fields: Ignore drops them, Warn (the default) drops them and says so in Warning headers, Strict refuses the request."}
	force           = parameter{"force", "query", "boolean", "Lets an apply take over fields that others own. Only for apply patches."}

	gracePeriod  = parameter{"gracePeriodSeconds", "query", "integer", "Seconds until the object is deleted, 0 for at once. The default depends on the object."}
	orphan       = parameter{"orphanDependents", "query", "boolean", "Deprecated: use propagationPolicy. Whether dependents are left behind."}
	propagation  = parameter{"propagationPolicy", "query", "string", "What becomes of dependents: Orphan leaves them, Background deletes them afterwards, Foreground deletes them first."}
	ignoreErrors = parameter{"ignoreStoreReadErrorWithClusterBreakingPotential", "query", "boolean", "Deletes an object that can no longer be read from the store, past its finalizers and preconditions. Dangerous."}

	fieldSelector     = parameter{"fieldSelector", "query", "string", "Restricts the list to objects with these fields. Defaults to everything."}
	labelSelector     = parameter{"labelSelector", "query", "string", "Restricts the list to objects with these labels. Defaults to everything."}
	shardSelector     = parameter{"shardSelector", "query", "string", "Restricts the list to a part of the objects, by a hash of one of their fields. An alpha that is off: it is not looked at."}
	limit             = parameter{"limit", "query", "integer", "The most objects to return at once. If there are more, the list's metadata has a continue token for the next request; all parts are of one snapshot."}
	continueToken     = parameter{"continue", "query", "string", "The token of the previous part of the list. If it is too old the answer is 410, with a token that goes on inconsistently."}
	resourceVersion   = parameter{"resourceVersion", "query", "string", "Constrains how old the answer may be, or where a watch begins. Defaults to unset."}
	versionMatch      = parameter{"resourceVersionMatch", "query", "string", "How resourceVersion constrains a list: NotOlderThan or Exact."}
	timeout           = parameter{"timeoutSeconds", "query", "integer", "How long a list or a watch may take, whatever happens."}
	watch             = parameter{"watch", "query", "boolean", "Watches for changes from resourceVersion on, and returns them as a stream."}
	allowBookmarks    = parameter{"allowWatchBookmarks", "query", "boolean", "Lets the server send bookmarks to a watch."}
	sendInitialEvents = parameter{"sendInitialEvents", "query", "boolean", "Lets a watch begin with an event for each object there is, and then a bookmark with the annotation k8s.io/initial-events-end. Needs resourceVersionMatch."}
)

var (
	listParameters = []parameter{
		allowBookmarks, continueToken, fieldSelector, labelSelector, limit, resourceVersion,
		versionMatch, sendInitialEvents, shardSelector, timeout, watch,
	}
	writeParameters  = []parameter{dryRun, fieldManager, fieldValidation}
	patchParameters  = []parameter{dryRun, fieldManager, fieldValidation, force}
	deleteParameters = []parameter{dryRun, gracePeriod, ignoreErrors, orphan, propagation}
	sweepParameters  = []parameter{
		continueToken, dryRun, fieldSelector, gracePeriod, ignoreErrors, labelSelector, limit,
		orphan, propagation, resourceVersion, versionMatch, sendInitialEvents, shardSelector, timeout,
	}
)

func (p parameter) write(v3 bool) object {
	o := object{"name": p.name, "in": p.in, "description": p.description}
	if p.in == "path" {
		o["required"] = true
	}
	if v3 {
		o["schema"] = object{"type": p.typ, "uniqueItems": true}
	} else {
		o["type"], o["uniqueItems"] = p.typ, true
	}
	return o
}

func writeParameterList(list []parameter, v3 bool) []object {
	out := make([]object, 0, len(list))
	for _, p := range list {
		out = append(out, p.write(v3))
	}
	return out
}
