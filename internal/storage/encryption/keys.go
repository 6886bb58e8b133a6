package encryption

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fairlead.dev/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig/metrics"
	"k8s.io/apiserver/pkg/storage/value"
)

// Options tell how values are encrypted.
type Options struct {
	// File is an EncryptionConfiguration.
	File string
	// Reloads announces that Reload will be called.
	Reloads bool
	// Server is the name of the API server in metrics.
	Server string
	// Resource returns the resource to which a key belongs, and whether there is one.
	Resource func(key string) (schema.GroupResource, bool)
	// Root is the prefix of all keys, and Stored the prefix that etcd has in its place.
	Root, Stored string
}

// Keys encrypt and decrypt the values of a store. Nil Keys can be shared and closed.
type Keys struct {
	options      Options
	transformers *encryptionconfig.DynamicTransformers
	checks       bool
	plugins      plugins
	// users are the control planes that share the keys.
	users atomic.Int64
	ctx   context.Context
	end   context.CancelFunc

	mu struct {
		sync.Mutex
		// hash is that of the file in force.
		hash string
	}
}

// Load reads the file. Its error is kube-apiserver's.
func Load(o Options) (*Keys, error) {
	k := &Keys{options: o}
	k.users.Store(1)
	k.ctx, k.end = context.WithCancel(context.Background())
	ctx, stop := context.WithCancel(k.ctx)
	c, err := encryptionconfig.LoadEncryptionConfig(ctx, o.File, o.Reloads, o.Server)
	if err != nil {
		stop()
		k.end()
		return nil, err
	}
	metrics.RecordEncryptionConfigLastConfigInfo(o.Server, c.EncryptionFileContentHash)
	k.mu.hash, k.checks = c.EncryptionFileContentHash, len(c.HealthChecks) > 0
	k.transformers = encryptionconfig.NewDynamicTransformers(c.Transformers, checkOf(c), stop, c.KMSCloseGracePeriod)
	return k, nil
}

// checkOf returns the check of the configuration's KMS plugins.
func checkOf(c *encryptionconfig.EncryptionConfiguration) healthz.HealthChecker {
	if len(c.HealthChecks) == 0 { // no plugins
		return healthz.PingHealthz
	}
	return c.HealthChecks[0]
}

// Share adds a user of the keys. Each user calls Close.
func (k *Keys) Share() *Keys {
	if k != nil {
		k.users.Add(1)
	}
	return k
}

// Close ends the use of the keys; the last user's call ends the connections to KMS plugins.
func (k *Keys) Close() {
	if k != nil && k.users.Add(-1) == 0 {
		k.end()
	}
}

// shortestTrial is the least time that the KMS plugins of a changed file have to answer.
const shortestTrial = 10 * time.Second

// A SilentPluginError is the error of Reload for a valid file with a KMS plugin that does not answer.
type SilentPluginError struct{ error }

// Unwrap returns the plugin's error.
func (e SilentPluginError) Unwrap() error { return e.error }

// Reload reads the file again, and leaves the former one in force if this fails. It waits until the KMS plugins answer, but
// not beyond the end of ctx. Error: SilentPluginError.
func (k *Keys) Reload(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	life, stop := context.WithCancel(k.ctx)
	c, err := encryptionconfig.LoadEncryptionConfig(life, k.options.File, true, k.options.Server)
	if err == nil && c.EncryptionFileContentHash == k.mu.hash {
		stop()
		return nil
	}
	if err == nil {
		if silent := answers(ctx, checkOf(c), max(c.KMSCloseGracePeriod, shortestTrial)); silent != nil {
			err = SilentPluginError{silent}
		}
	}
	if err != nil {
		stop()
		metrics.RecordEncryptionConfigAutomaticReloadFailure(k.options.Server)
		return err
	}
	k.transformers.Set(c.Transformers, stop, checkOf(c), c.KMSCloseGracePeriod)
	k.mu.hash = c.EncryptionFileContentHash
	metrics.RecordEncryptionConfigAutomaticReloadSuccess(k.options.Server, k.mu.hash)
	return nil
}

// answers waits until the check passes, and returns its error if it does not within the time.
func answers(ctx context.Context, check healthz.HealthChecker, within time.Duration) (err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	request := (&http.Request{}).WithContext(ctx)
	_ = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(context.Context) (bool, error) {
		err = check.Check(request)
		return err == nil, nil
	})
	return err
}

// CheckName is the name of the health check.
const CheckName = "kms-providers"

// Check returns the health check of the KMS plugins, nil if there are none and the file is not reloaded.
func (k *Keys) Check() func(ctx context.Context) error {
	if !k.checks {
		return nil
	}
	return func(ctx context.Context) error { return k.transformers.Check((&http.Request{}).WithContext(ctx)) }
}

// Open decrypts the value of a stored key. Again asks a KMS plugin that has failed lately, at most once a second.
func (k *Keys) Open(kv *storage.KeyValue, again bool) ([]byte, error) {
	opened, _, err := k.open(kv, again)
	return opened, err
}

// Stale reports whether the value of a key in a store, if it is there, is not as it would be written now. It fails with a
// Status if the value cannot be decrypted.
func (k *Keys) Stale(ctx context.Context, s storage.Store, key string) (bool, error) {
	res, err := s.Range(ctx, storage.RangeRequest{Start: key})
	if err != nil || len(res.KVs) == 0 {
		return false, err
	}
	_, stale, err := k.open(res.KVs[0], true)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	return stale, nil
}

func (k *Keys) open(kv *storage.KeyValue, again bool) (opened []byte, stale bool, err error) {
	gr, ok := k.options.Resource(kv.Key)
	if !ok {
		return kv.Value, false, nil
	}
	t := k.transformers.TransformerForResource(gr)
	decrypt := func(ctx context.Context) (err error) {
		opened, stale, err = t.TransformFromStorage(ctx, kv.Value, k.authenticated(kv.Key))
		return err
	}
	if p := k.plugins.of(kv.Value); p != nil {
		err = p.ask(k.ctx, again, decrypt)
	} else {
		err = decrypt(k.ctx)
	}
	return opened, stale, err
}

// seal encrypts the value of a key.
func (k *Keys) seal(ctx context.Context, key string, v []byte) ([]byte, error) {
	gr, ok := k.options.Resource(key)
	if !ok {
		return v, nil
	}
	return k.transformers.TransformerForResource(gr).TransformToStorage(ctx, v, k.authenticated(key))
}

// authenticated returns the authenticated data of a key's value.
func (k *Keys) authenticated(key string) value.Context {
	return value.DefaultContext(k.options.Stored + strings.TrimPrefix(key, k.options.Root))
}
