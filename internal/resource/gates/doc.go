// Package gates makes the API of a version of Kubernetes, from 1.33 to the newest, as kube-apiserver's
// --emulated-version does: the kinds that came later are not there, and the fields of the feature gates that are
// off are dropped: on a create always, on an update unless the old object uses a field of the same gate. A dropped
// field is no error, under strict field validation either. An [API] applies all that to the table of resources.
//
// CrossNamespaceVolumeDataSource (PersistentVolumeClaim), which is off in all versions, has a rule of its own. Of the fields
// of a status, those of gates that are off in all versions are not in the table: no component here writes them.
package gates
