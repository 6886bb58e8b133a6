// Package events describes the events of group events.k8s.io. They are the events of the core group in another
// form, and are stored as those.
package events

import (
	eventsv1 "k8s.io/api/events/v1"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/core"
)

// Resources returns the group's part of the table.
func Resources() []*resource.Resource {
	stored := core.Event()
	r := resource.NamespaceScoped[eventsv1.Event, eventsv1.EventList](eventsv1.SchemeGroupVersion, "events").
		WithShortNames("ev").WithStoragePrefix(stored.StoragePrefix).
		WithTable(resource.Table{Columns: stored.Columns, Row: stored.Row}).
		WithStrategy(strategy).
		WithSelectableFields(
			renamed("reason", "reason"),
			renamed("regarding.kind", "involvedObject", "kind"),
			renamed("regarding.namespace", "involvedObject", "namespace"),
			renamed("regarding.name", "involvedObject", "name"),
			renamed("regarding.uid", "involvedObject", "uid"),
			renamed("regarding.apiVersion", "involvedObject", "apiVersion"),
			renamed("regarding.resourceVersion", "involvedObject", "resourceVersion"),
			renamed("regarding.fieldPath", "involvedObject", "fieldPath"),
			renamed("reportingController", "reportingComponent"),
			renamed("type", "type"),
		)
	r.SharesStorage, r.StorageGroup, r.StorageVersion = true, stored.Group, stored.StorageVersion
	r.Versions[0].ToStorage, r.Versions[0].FromStorage = toCore, fromCore
	return []*resource.Resource{r}
}

func renamed(label string, path ...string) resource.Field {
	return resource.Field{Label: label, Paths: [][]string{path}}
}
