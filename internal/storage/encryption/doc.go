// Package encryption encrypts values at rest as kube-apiserver does with --encryption-provider-config. The providers, the
// format of the file and the format of the stored values are upstream's, and so is the code that reads the one and makes
// the other: k8s.io/apiserver's packages encryptionconfig and storage/value.
//
// # Where values are encrypted and decrypted
//
// A store holds what kube-apiserver would hold in etcd, such as k8s:enc:aescbc:v1:KEY:..., and everything below a store
// and beside it sees only that: the log and its tables, snapshots and saved clusters, forks, the etcd endpoint.
//
//	write.Writer ──▶ Keys.Store ──▶ storage/local, storage/etcd ──▶ watchcache ──▶ readers
//	                 encrypts       encrypted                       decrypts
//	                                    │
//	                                    └──▶ etcd endpoint, snapshots, forks, fairlead store: encrypted
//
// Values are encrypted in the Commit of the Store that Keys.Store returns. That Store's reads are the ones below it: a
// Store has no way to tell that it cannot read one value of a range.
//
// Values are decrypted where the watch cache makes an object of a stored key, by Keys.Open. All that a server reads of
// objects passes there: lists, watches and their past, conflicts, and the history of an object. A value that cannot be
// decrypted becomes an unreadable object of that one key; see package watchcache. Decrypted values are in memory only.
//
// The naive design, a Store that decrypts what it reads, lost: it decrypts the former value of each event too, which the
// watch cache has, and it could only return a value that it cannot decrypt as if it were one.
//
// A key belongs to the resource that Options.Resource finds. Other keys, such as the control plane's own certificates in
// an etcd cluster, are stored as they are. The authenticated data of a value is its key as it is in etcd, with the prefix
// there, so kube-apiserver with the same file and prefix reads the values, and the other way round.
//
// # Rotation
//
// The first provider encrypts and all decrypt. Keys.Stale reports whether a stored value is not as the first provider and
// key would write it; the server then writes an update that changes nothing, so that replacing all objects by themselves
// migrates them.
//
// Keys.Reload reads the file again. It takes effect if it is valid and all its KMS plugins answer; otherwise the former
// one stays in force. Objects that were decrypted before a reload stay in the watch cache, even if the new file has no
// key for them. Objects that could not be decrypted before are tried again by each read of them.
//
// # KMS plugins
//
// A plugin encrypts and decrypts data keys, which are kept, so it is asked for the first value of each data key only. If
// it does not answer, values with an unknown data key are unreadable. For a second after a failure it is not asked again,
// and then by one caller at a time, so that a range of such values costs one timeout and not one for each. New values ask
// it again after a minute only, since the watch cache waits for them with its locks held; the reads that try unreadable
// values again wait without a lock.
//
// # Concurrency
//
// All methods may be called from any goroutine. Keys are shared by a control plane and its forks, and closed by the last
// of them; upstream's goroutines, two for each KMS plugin, end with them.
package encryption
