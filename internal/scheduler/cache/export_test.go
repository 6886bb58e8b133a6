package cache

import "fmt"

// Leftovers describes the entries that a cluster without nodes and pods still has; "" if
// it is empty.
func (c *Cluster) Leftovers() string {
	if len(c.nodes) == 0 && len(c.free) == c.slots && len(c.existingTerms.byKey) == 0 && len(c.podsByNamespace) == 0 {
		return ""
	}
	return fmt.Sprintf("%d nodes, %d of %d slots, %d terms, %d namespaces",
		len(c.nodes), c.slots-len(c.free), c.slots, len(c.existingTerms.byKey), len(c.podsByNamespace))
}
