package server

import (
	"slices"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/endpoint"
)

// Set replaces the resources that are served. Resources that stay keep their watch cache, and
// running requests end as they began. The describers are told after the new resources are
// served and before the watches of removed ones end: a client that sees a kind described can
// use it, and one that sees its watch end no longer finds it described.
func (s *Server) Set(resources []*resource.Resource, describers ...Describer) {
	before := s.registry.Table()
	now := endpoint.NewTable(s.shards, resources, before)
	s.registry.Replace(now)
	s.writer.Keep(resources)
	for _, d := range slices.Concat(s.describers, describers) {
		d.Set(resources)
	}
	before.End(now)
	s.streams.WakeRetired()
}
