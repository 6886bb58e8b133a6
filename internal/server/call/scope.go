package call

// Scope returns how many objects the call is about, as a label of metrics: resource, namespace or cluster.
func (c *Call) Scope() string {
	switch {
	case c.Info.Name != "":
		return "resource"
	case c.Info.Namespace != "":
		return "namespace"
	}
	return "cluster"
}
