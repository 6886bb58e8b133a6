// Package history is the past of one object: its states and their authors, the differences between two of
// them, which write set each field, and how to go back to one.
//
// # Where the past comes from
//
// The store keeps every version of a key until it is compacted (storage.Store.Versions). The server
// answers GET Path with them as a [Page], the newest first, each as a [State]: an object in the
// version of the API that the client asked for, joined with the request that made it, if the trace
// still has that.
//
// The other design, in which a client reads each revision of the trace by a list with
// resourceVersionMatch=Exact, lost: it needs a request for each state, knows only the revisions
// that the trace has, and reads the whole resource from the store for each revision that is older
// than the watch cache's history.
//
// A page has at most [MaxLimit] states and about [MaxBytes] of objects. [Page.Before] is where the
// next one begins. [Page.Compacted] ends the last one: the store has no earlier state.
//
// # The sources of a state's write
//
//   - The user, the client, the verb and the causes are those of the trace, which keeps the last
//     events in memory.
//   - The time is the trace's. For older writes it is the time between two marks of the embedded
//     store, ten seconds apart, or that of a managed field which this write set, if it lies between
//     them. On etcd, which keeps no times, it is that of a managed field, or unknown.
//   - The field managers are those that own the changed fields in the new state.
//
// # Permissions
//
// The states of the object that exists need the verb get on it. Those of objects of the same name
// that have been deleted need list as well, as a list at a revision would. If the namespace has been
// deleted and made again since, they need list in all namespaces: rights in a namespace
// are not rights in the one that had its name before. States beyond that are left out, and Page.Withheld
// is the reason.
//
// # Fields
//
// [Changes] and [Blame] name fields by a [FieldPath]. Elements of a list of objects are identified by
// the usual keys of Kubernetes' lists, such as name, so an element that moves has not changed. Other
// lists are one field. Managed fields and the resource version are no fields here: each write
// changes them.
package history
