package server

import (
	"encoding/json"
	"slices"
	"sort"
)

func (c *call) writeJSON(code int, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return c.writeBytes(code, "application/json", data)
}

// rootPaths returns the paths that the root document lists.
func (c *call) rootPaths() []string {
	list := []string{"/api", "/api/v1", "/apis", "/openapi/v2", "/openapi/v3"}
	list = append(list, c.s.debugPaths()...)
	for _, kind := range []string{"healthz", "livez", "readyz"} {
		for _, check := range c.s.health {
			if !check.ReadyOnly || kind == "readyz" {
				list = append(list, "/"+kind+"/"+check.Name)
			}
		}
	}
	for gv := range c.s.table.Load().Groups {
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

// debugPaths returns the paths that /statusz lists.
func (s *Server) debugPaths() []string {
	list := []string{"/healthz", "/livez", "/metrics", "/metrics/slis", "/readyz", statuszPath, "/version"}
	if s.cfg.Flags != nil {
		list = append(list, flagzPath)
	}
	return list
}
