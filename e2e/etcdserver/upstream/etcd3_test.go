//lint:file-ignore SA1019 the suite's own objects have the old field

package upstream

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	etcdfeature "k8s.io/apiserver/pkg/storage/feature"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
)

func gate(t *testing.T, f featuregate.Feature, on bool) {
	t.Helper()
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, f, on)
}

// asStore are the cases that need only a store.
var asStore = map[string]func(context.Context, *testing.T, storage.Interface){
	"CreateWithTTL":                          storagetesting.RunTestCreateWithTTL,
	"CreateWithKeyExist":                     storagetesting.RunTestCreateWithKeyExist,
	"Get":                                    storagetesting.RunTestGet,
	"UnconditionalDelete":                    storagetesting.RunTestUnconditionalDelete,
	"ConditionalDelete":                      storagetesting.RunTestConditionalDelete,
	"DeleteWithSuggestion":                   storagetesting.RunTestDeleteWithSuggestion,
	"DeleteWithSuggestionAndConflict":        storagetesting.RunTestDeleteWithSuggestionAndConflict,
	"DeleteWithSuggestionOfDeletedObject":    storagetesting.RunTestDeleteWithSuggestionOfDeletedObject,
	"DeleteWithConflict":                     storagetesting.RunTestDeleteWithConflict,
	"ValidateDeletionWithSuggestion":         storagetesting.RunTestValidateDeletionWithSuggestion,
	"ValidateDeletionWithOnlySuggestion":     storagetesting.RunTestValidateDeletionWithOnlySuggestionValid,
	"PreconditionalDeleteWithSuggestion":     storagetesting.RunTestPreconditionalDeleteWithSuggestion,
	"PreconditionalDeleteWithOnlySuggestion": storagetesting.RunTestPreconditionalDeleteWithOnlySuggestionPass,
	"ListPaging":                             storagetesting.RunTestListPaging,
	"GetListRecursivePrefix":                 storagetesting.RunTestGetListRecursivePrefix,
	"NamespaceScopedList":                    storagetesting.RunTestNamespaceScopedList,
	"KeySchema":                              storagetesting.RunTestKeySchema,
	"GuaranteedUpdateWithTTL":                storagetesting.RunTestGuaranteedUpdateWithTTL,
	"GuaranteedUpdateWithConflict":           storagetesting.RunTestGuaranteedUpdateWithConflict,
	"GuaranteedUpdateWithSuggestionAndConflict": storagetesting.
		RunTestGuaranteedUpdateWithSuggestionAndConflict,

	"Watch":                               storagetesting.RunTestWatch,
	"ClusterScopedWatch":                  storagetesting.RunTestClusterScopedWatch,
	"NamespaceScopedWatch":                storagetesting.RunTestNamespaceScopedWatch,
	"DeleteTriggerWatch":                  storagetesting.RunTestDeleteTriggerWatch,
	"WatchFromNonZero":                    storagetesting.RunTestWatchFromNonZero,
	"DelayedWatchDelivery":                storagetesting.RunTestDelayedWatchDelivery,
	"WatchContextCancel":                  storagetesting.RunTestWatchContextCancel,
	"WatcherTimeout":                      storagetesting.RunTestWatcherTimeout,
	"WatchDeleteEventObjectHaveLatestRV":  storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV,
	"WatchInitializationSignal":           storagetesting.RunTestWatchInitializationSignal,
	"SendInitialEventsBackwardCompatible": storagetesting.RunSendInitialEventsBackwardCompatibility,
	"WatchDispatchBookmarkEvents":         noBookmarks,
}

func noBookmarks(ctx context.Context, t *testing.T, s storage.Interface) {
	storagetesting.RunTestWatchDispatchBookmarkEvents(ctx, t, s, false)
}

// asStand are the cases that inspect the server, or change how the store decodes bytes.
var asStand = map[string]func(context.Context, *testing.T, *stand){
	"Create": func(ctx context.Context, t *testing.T, s *stand) {
		storagetesting.RunTestCreate(ctx, t, s, s.checkStored)
	},
	"GuaranteedUpdate": func(ctx context.Context, t *testing.T, s *stand) {
		storagetesting.RunTestGuaranteedUpdate(ctx, t, s, s.checkStored)
	},
	"GuaranteedUpdateChecksStoredData": func(ctx context.Context, t *testing.T, s *stand) {
		storagetesting.RunTestGuaranteedUpdateChecksStoredData(ctx, t, s)
	},
	"TransformationFailure": func(ctx context.Context, t *testing.T, s *stand) {
		storagetesting.RunTestTransformationFailure(ctx, t, s)
	},
	"GetListNonRecursive": func(ctx context.Context, t *testing.T, s *stand) {
		storagetesting.RunTestGetListNonRecursive(ctx, t, s.write, s)
	},
	"ListContinuation": func(ctx context.Context, t *testing.T, s *stand) {
		storagetesting.RunTestListContinuation(ctx, t, s, s.checkCalls)
	},
	"ListContinuationWithFilter": func(ctx context.Context, t *testing.T, s *stand) {
		storagetesting.RunTestListContinuationWithFilter(ctx, t, s, s.checkCalls)
	},
	"ListInconsistentContinuation": func(ctx context.Context, t *testing.T, s *stand) {
		storagetesting.RunTestListInconsistentContinuation(ctx, t, s, s.compact)
	},
	"ListResourceVersionMatch": func(ctx context.Context, t *testing.T, s *stand) {
		storagetesting.RunTestListResourceVersionMatch(ctx, t, s)
	},
	"WatchFromZero": func(ctx context.Context, t *testing.T, s *stand) {
		storagetesting.RunTestWatchFromZero(ctx, t, s, s.compact)
	},
	"WatchError": func(ctx context.Context, t *testing.T, s *stand) {
		storagetesting.RunTestWatchError(ctx, t, s)
	},
	"WatchErrorIsBlockingFurtherEvents": func(ctx context.Context, t *testing.T, s *stand) {
		storagetesting.RunWatchErrorIsBlockingFurtherEvents(ctx, t, s)
	},
	"ProgressNotify": func(ctx context.Context, t *testing.T, s *stand) {
		storagetesting.RunOptionalTestProgressNotify(ctx, t, s, s.write)
	},
}

// hasty are those that fail if they are not run for some seconds: an object lives for one,
// an event comes within three.
var hasty = map[string]bool{"Get": true, "WatcherTimeout": true, "WatchInitializationSignal": true, "WatchDispatchBookmarkEvents": true}

func TestStore(t *testing.T) {
	for name, run := range asStore {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if hasty[name] {
				patient(t, func(t *testing.T) { run(t.Context(), t, newStand(t)) })
				return
			}
			run(t.Context(), t, newStand(t))
		})
	}
	for name, run := range asStand {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t.Context(), t, newStand(t))
		})
	}
}

func TestConcurrentDecoding(t *testing.T) {
	patient(t, func(t *testing.T) {
		gate(t, features.ConcurrentWatchObjectDecode, true)
		storagetesting.RunWatchSemantics(t.Context(), t, newStand(t))
	})
}

// TestRangeStream runs the cases that read ranges both ways: in pages, and in one answer that comes
// in pieces, as etcd has from 3.7 on.
func TestRangeStream(t *testing.T) {
	for name, run := range map[string]func(context.Context, *testing.T, *stand){
		"List": func(ctx context.Context, t *testing.T, s *stand) {
			storagetesting.RunTestList(ctx, t, s, s.compact, false, s.lists)
		},
		"ConsistentList": func(ctx context.Context, t *testing.T, s *stand) {
			storagetesting.RunTestConsistentList(ctx, t, s, s.write, false, true, false)
		},
		"WatchSemantics": func(ctx context.Context, t *testing.T, s *stand) {
			storagetesting.RunWatchSemantics(ctx, t, s)
		},
		"WatchSemanticInitialEventsExtended": func(ctx context.Context, t *testing.T, s *stand) {
			storagetesting.RunWatchSemanticInitialEventsExtended(ctx, t, s)
		},
		"WatchListMatchSingle": func(ctx context.Context, t *testing.T, s *stand) {
			storagetesting.RunWatchListMatchSingle(ctx, t, s)
		},
	} {
		for _, stream := range []bool{false, true} {
			one := func(t *testing.T) {
				gate(t, features.EtcdRangeStream, stream)
				was := etcdfeature.DefaultFeatureSupportChecker
				etcdfeature.DefaultFeatureSupportChecker = etcdfeature.NewDefaultFeatureSupportChecker()
				t.Cleanup(func() { etcdfeature.DefaultFeatureSupportChecker = was })
				s := newStand(t)
				run(t.Context(), t, s)
				if got := s.reads.GetStreamReadsAndReset() > 0; got != stream && name == "List" {
					t.Errorf("lists were streamed: %t", got)
				}
			}
			t.Run(fmt.Sprintf("%s/stream=%t", name, stream), func(t *testing.T) {
				if strings.Contains(name, "Watch") {
					patient(t, one)
					return
				}
				one(t)
			})
		}
	}
}

// TestRareObject counts calls, without the cache of compactions.
func TestRareObject(t *testing.T) {
	gate(t, features.ListFromCacheSnapshot, false)
	s := newStand(t)
	storagetesting.RunTestListPaginationRareObject(t.Context(), t, s, s.checkCalls)
}

func TestCompactRevision(t *testing.T) {
	gate(t, features.ListFromCacheSnapshot, true)
	s := newStand(t)
	storagetesting.RunTestCompactRevision(t.Context(), t, s, s.write, s.compact)
}

func TestStats(t *testing.T) {
	for _, sizes := range []bool{false, true} {
		t.Run(fmt.Sprintf("sizes=%t", sizes), func(t *testing.T) {
			s := newStand(t)
			if sizes {
				if err := s.estimate(s.keys); err != nil {
					t.Fatal(err)
				}
			}
			storagetesting.RunTestStats(t.Context(), t, s, s.codec, s.transformer, sizes)
		})
	}
}

// TestUnreadable deletes and lists objects that cannot be decoded any more.
func TestUnreadable(t *testing.T) {
	gate(t, features.AllowUnsafeMalformedObjectDeletion, true)
	for name, run := range map[string]func(ctx context.Context, t *testing.T, s *stand){
		"Decode": func(ctx context.Context, t *testing.T, s *stand) {
			storagetesting.RunTestDeleteExpectedTransformOrDecodeError(ctx, t, s, s.codec.setFailing)
		},
		"Transform": func(ctx context.Context, t *testing.T, s *stand) {
			storagetesting.RunTestDeleteExpectedTransformOrDecodeError(ctx, t, s, s.transformer.setFailing(t))
		},
		"Conflict": func(ctx context.Context, t *testing.T, s *stand) {
			storagetesting.RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError(ctx, t, s, s.codec.setFailing)
		},
		"Suggestion": func(ctx context.Context, t *testing.T, s *stand) {
			storagetesting.RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError(ctx, t, s)
		},
		"Watch": func(ctx context.Context, t *testing.T, s *stand) {
			storagetesting.RunTestWatchWithUnsafeDelete(ctx, t, s, corrupt(t))
		},
		"ErrorAggregation": func(ctx context.Context, t *testing.T, s *stand) {
			s.Interface = etcd3.NewStoreWithUnsafeCorruptObjectDeletion(s.Interface, example.Resource("pods"))
			storagetesting.RunTestGetListWithErrorAggregation(ctx, t, s, corrupt(t))
		},
	} {
		t.Run(name, func(t *testing.T) { run(t.Context(), t, newStand(t)) })
	}
}

func TestWithoutErrorAggregation(t *testing.T) {
	gate(t, features.AllowUnsafeMalformedObjectDeletion, false)
	storagetesting.RunTestGetListWithoutErrorAggregation(t.Context(), t, newStand(t), corrupt(t))
}

// checkStored looks at the stored bytes: an object is stored without its revision.
func (s *stand) checkStored(ctx context.Context, t *testing.T, key string) {
	t.Helper()
	r, err := s.client.KV.Get(ctx, key)
	if err != nil || len(r.Kvs) != 1 {
		t.Fatalf("%s: %v, %v", key, r, err)
	}
	o, err := runtime.Decode(s.codec, r.Kvs[0].Value[len(marker):])
	if err != nil {
		t.Fatalf("%s holds %q: %v", key, r.Kvs[0].Value, err)
	}
	if pod := o.(*example.Pod); pod.ResourceVersion != "" || pod.SelfLink != "" {
		t.Errorf("%s is stored with a revision: %q", key, r.Kvs[0].Value)
	}
}

// write makes a revision of another resource.
func (s *stand) write(ctx context.Context, t *testing.T) int64 {
	t.Helper()
	r, err := s.client.KV.Put(ctx, "elsewhere", "")
	if err != nil {
		t.Fatal(err)
	}
	return r.Header.Revision
}

// compact compacts as kube-apiserver does, and waits until the store has seen it.
func (s *stand) compact(ctx context.Context, t *testing.T, resourceVersion string) {
	t.Helper()
	rv, err := strconv.ParseInt(resourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	for version, at := int64(0), int64(0); at < rv; { // once more, if another was first
		if version, _, at, err = etcd3.Compact(ctx, s.client.Client, version, rv); err != nil {
			t.Fatal(err)
		}
	}
	if !utilfeature.DefaultFeatureGate.Enabled(features.ListFromCacheSnapshot) {
		return
	}
	for s.CompactRevision() < rv {
		select {
		case <-ctx.Done():
			t.Fatalf("compacted at %d, and the store knows of %d", rv, s.CompactRevision())
		case <-time.After(20 * time.Millisecond): // it has no bell
		}
	}
}

// keys are those of the resource.
func (s *stand) keys(ctx context.Context) ([]string, error) {
	r, err := s.client.KV.Get(ctx, "/pods/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return nil, err
	}
	var out []string
	for _, kv := range r.Kvs {
		out = append(out, string(kv.Key))
	}
	return out, nil
}

// mostAtOnce is the maximum number of keys that kube-apiserver requests at once.
const mostAtOnce = 10_000

// checkCalls counts the objects read and the calls they took: pages are doubled
// until they are full.
func (s *stand) checkCalls(t *testing.T, page, objects uint64) {
	t.Helper()
	if read := s.prefix.GetReadsAndReset(); read != objects {
		t.Errorf("%d objects were read, not %d", read, objects)
	}
	want := uint64(1)
	if page != 0 {
		for sum := uint64(1); sum < objects; want++ {
			page = min(2*page, mostAtOnce)
			sum += page
		}
	}
	if calls := s.reads.GetReadsAndReset() + s.reads.GetStreamReadsAndReset(); calls != want {
		t.Fatalf("%d calls, not %d", calls, want)
	}
}
