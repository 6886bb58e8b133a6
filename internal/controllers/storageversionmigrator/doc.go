// Package storageversionmigrator carries out StorageVersionMigrations: it writes every object of a resource once without
// a change, so that the server stores it anew in its present form: in the storage version of a
// CustomResourceDefinition, or encrypted with the newest key.
//
// The steps of a migration are in its status, each of them one write, so that any of them can be the first after a
// restart:
//
//  1. The oldest migration of a resource gets the condition Running, and the definition of a custom resource
//     the condition StorageMigrating. Later migrations of the resource wait for its end.
//  2. status.resourceVersion is the present revision of the resource: objects written after it need no migration.
//  3. All older objects are patched on the condition that they are unchanged. An object that was changed or deleted in
//     the meantime is skipped. A server that is overloaded or away is asked again; any other error ends the
//     migration, with the condition Failed. Without one it ends with Succeeded.
//  4. Running becomes False. If the definition has not changed since step 1, its status.storedVersions lists only the
//     storage version.
package storageversionmigrator
