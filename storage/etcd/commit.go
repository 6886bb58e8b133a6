package etcd

import (
	"context"
	"fmt"

	"fairlead.dev/storage"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Commit implements storage.Store: one transaction of the cluster. It is never
// sent twice unless it is certain that it did not arrive.
func (s *Store) Commit(ctx context.Context, t storage.Txn) (storage.TxnResult, error) {
	if err := s.writable(ctx); err != nil {
		return storage.TxnResult{}, err
	}
	puts, err := s.writeOps(t.Then)
	if err != nil {
		return storage.TxnResult{}, err
	}
	cmps, gets, err := s.conditions(ctx, t.If)
	if err != nil {
		return storage.TxnResult{}, err
	}
	ctx, cancel := s.request(ctx)
	defer cancel()
	res, err := s.client.Txn(ctx).If(cmps...).Then(puts...).Else(gets...).Commit()
	if err != nil {
		return storage.TxnResult{}, s.writeFailure(err)
	}
	s.observeRevision(res.Header.Revision)
	out := storage.TxnResult{Succeeded: res.Succeeded, Revision: storage.Revision(res.Header.Revision)}
	for _, r := range res.Responses {
		if r.GetResponsePut() != nil || r.GetResponseDeleteRange().GetDeleted() > 0 {
			out.Changed = true
		}
	}
	if !res.Succeeded {
		out.Current = make([]*storage.KeyValue, len(t.If))
		at := 0
		for i, c := range t.If {
			if c.End != "" {
				continue
			}
			if kvs := res.Responses[at].GetResponseRange().GetKvs(); len(kvs) > 0 {
				out.Current[i] = s.keys.keyValue(kvs[0])
			}
			at++
		}
	}
	return out, nil
}

func (s *Store) writeOps(ops []storage.Op) ([]clientv3.Op, error) {
	out := make([]clientv3.Op, 0, len(ops))
	for _, op := range ops {
		switch {
		case op.Type == storage.Delete && op.End != "":
			if sp, ok := s.keys.span(op.Key, op.End); ok {
				out = append(out, clientv3.OpDelete(sp.start, clientv3.WithRange(sp.end)))
			}
			continue
		case op.End != "":
			return nil, fmt.Errorf("a put of a range: %w", storage.ErrInvalid)
		}
		key, err := s.keys.toCluster(op.Key)
		if err != nil {
			return nil, err
		}
		switch {
		case op.Type == storage.Delete:
			out = append(out, clientv3.OpDelete(key))
		case op.Type == storage.Put && op.Lease >= 0:
			out = append(out, clientv3.OpPut(key, string(op.Value), clientv3.WithLease(clientv3.LeaseID(op.Lease))))
		default:
			return nil, fmt.Errorf("operation of type %d, lease %d: %w", op.Type, op.Lease, storage.ErrInvalid)
		}
	}
	return out, nil
}

// conditions returns the comparisons, and the reads that return the values of the keys if they
// fail.
func (s *Store) conditions(ctx context.Context, ifs []storage.Condition) (cmps []clientv3.Cmp, gets []clientv3.Op, err error) {
	for _, c := range ifs {
		if c.ModRevision < 0 || c.End != "" && c.ModRevision == 0 {
			return nil, nil, fmt.Errorf("condition on revision %d: %w", c.ModRevision, storage.ErrInvalid)
		}
		if c.End != "" {
			more, err := s.unchangedConditions(ctx, c)
			if err != nil {
				return nil, nil, err
			}
			cmps = append(cmps, more...)
			continue
		}
		key, err := s.keys.toCluster(c.Key)
		if err != nil {
			return nil, nil, err
		}
		cmps = append(cmps, clientv3.Compare(clientv3.ModRevision(key), "=", int64(c.ModRevision)))
		gets = append(gets, clientv3.OpGet(key))
	}
	return cmps, gets, nil
}

// maxCompared bounds the keys of a range in a condition: by default the cluster accepts 128
// comparisons.
const maxCompared = 100

// unchangedConditions requires that a range is unchanged: no key in it is younger, and those that existed
// still exist. A key that was both created and deleted meanwhile leaves no trace to compare with;
// the range is then as it was.
func (s *Store) unchangedConditions(ctx context.Context, c storage.Condition) ([]clientv3.Cmp, error) {
	sp, ok := s.keys.span(c.Key, c.End)
	if !ok {
		return nil, nil
	}
	page, err := s.page(ctx, sp, c.ModRevision, maxCompared, false)
	if err != nil {
		return nil, fmt.Errorf("condition on a range as of %d: %w", c.ModRevision, err)
	}
	if page.More {
		return nil, fmt.Errorf("condition on a range of %d keys: %w", page.Count, storage.ErrInvalid)
	}
	cmps := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(sp.start), "<", int64(c.ModRevision)+1).WithRange(sp.end)}
	for _, kv := range page.Kvs {
		cmps = append(cmps, clientv3.Compare(clientv3.ModRevision(string(kv.Key)), "=", kv.ModRevision))
	}
	return cmps, nil
}
