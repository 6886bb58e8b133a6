package server

import (
	"slices"
	"sort"
)

// rootPaths returns the paths that the root document lists.
func (c *serving) rootPaths() []string {
	list := []string{"/api", "/api/v1", "/apis", "/openapi/v2", "/openapi/v3"}
	list = append(list, c.s.pages.Paths()...)
	list = append(list, c.s.health.Paths()...)
	for gv := range c.Registry.Table().Groups {
		if gv.Group != "" {
			list = append(list, "/apis/"+gv.Group, "/apis/"+gv.String())
		}
	}
	for path := range c.s.cfg.Paths {
		list = append(list, path)
	}
	sort.Strings(list)
	return slices.Compact(list)
}
