package etcdserver

import (
	"context"
	"errors"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fairlead.dev/storage"
)

// txn executes a checked transaction; see the package comment.
func (s *Server) txn(ctx context.Context, r *pb.TxnRequest) (*pb.TxnResponse, error) {
	s.compaction.RLock()
	defer s.compaction.RUnlock()
	if p := planWithoutRead(r); p != nil {
		if out, err := s.commitPlan(ctx, p); err != errAgain {
			return out, err
		}
	}
	for {
		v := view{ctx: ctx, store: s.store}
		p, err := planFromView(&v, r)
		if err == nil {
			var out *pb.TxnResponse
			if out, err = s.commitPlan(ctx, p); err == nil {
				return out, nil
			}
		}
		// The state of the decision may be compacted by now.
		if err != errAgain && (!errors.Is(err, storage.ErrCompacted) || v.wanted) {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// errAgain: the transaction must be decided again; it was not written.
var errAgain = errors.New("decide again")

// A plan is a transaction whose comparisons are decided.
type txnPlan struct {
	request *pb.TxnRequest
	branch  branch
	// If holds the conditions of the decisions, read at revision at.
	conds []storage.Condition
	at    storage.Revision
	then  []storage.Op
	// leases are those that puts name.
	leases []storage.LeaseID
	// other returns the answer if the conditions do not hold; nil to decide again.
	other *pb.TxnRequest
}

// branch is the chosen branch of a transaction, and of those nested in it.
type branch struct {
	succeeded bool
	nested    []branch
}

func (b branch) ops(r *pb.TxnRequest) []*pb.RequestOp {
	if b.succeeded {
		return r.Success
	}
	return r.Failure
}

// planWithoutRead plans without a read: for a transaction that compares only revisions of single keys, puts
// and deletes if they match, and only reads if not. It returns nil for other transactions.
func planWithoutRead(r *pb.TxnRequest) *txnPlan {
	p := &txnPlan{request: r, branch: branch{succeeded: true}, other: r}
	for _, c := range r.Compare {
		mod := c.GetModRevision()
		absent := c.Target == pb.Compare_CREATE && c.GetCreateRevision() == 0 ||
			c.Target == pb.Compare_VERSION && c.GetVersion() == 0 || c.Target == pb.Compare_MOD && mod == 0
		if len(c.RangeEnd) > 0 || c.Result != pb.Compare_EQUAL || mod < 0 || !absent && c.Target != pb.Compare_MOD {
			return nil
		}
		p.conds = append(p.conds, storage.Condition{Key: string(c.Key), ModRevision: storage.Revision(mod)})
	}
	for _, op := range r.Success {
		switch {
		case op.GetRequestPut() != nil && !op.GetRequestPut().IgnoreLease && !op.GetRequestPut().IgnoreValue:
			p.then = append(p.then, putOp(op.GetRequestPut()))
		case op.GetRequestDeleteRange() != nil:
			p.then = append(p.then, deleteOp(op.GetRequestDeleteRange()))
		default:
			return nil
		}
	}
	for _, op := range r.Failure {
		if op.GetRequestRange() == nil {
			return nil
		}
	}
	if len(p.then) == 0 {
		return nil
	}
	return p
}

func deleteOp(r *pb.DeleteRangeRequest) storage.Op {
	return storage.Op{Type: storage.Delete, Key: string(r.Key), End: string(r.RangeEnd)}
}

// planFromView reads the keys of the comparisons and plans.
func planFromView(v *view, r *pb.TxnRequest) (*txnPlan, error) {
	p := &txnPlan{request: r}
	var err error
	if p.branch, err = v.chooseBranch(r); err != nil {
		return nil, err
	}
	if err := p.addWrites(v, r, p.branch); err != nil {
		return nil, p.firstError(v, err)
	}
	p.conds, p.at = v.conds, v.at
	if p.at == 0 && len(p.then) == 0 {
		if _, err := v.get("\x00"); err != nil { // no key was read: find the current revision
			return nil, err
		}
		p.at = v.at
	}
	return p, nil
}

// addWrites gathers the writes of a branch, and the conditions they need.
func (p *txnPlan) addWrites(v *view, r *pb.TxnRequest, b branch) error {
	nested := b.nested
	for _, op := range b.ops(r) {
		switch r := op.Request.(type) {
		case *pb.RequestOp_RequestRange:
			if err := v.check(r.RequestRange); err != nil {
				return err
			}
		case *pb.RequestOp_RequestDeleteRange:
			p.then = append(p.then, deleteOp(r.RequestDeleteRange))
		case *pb.RequestOp_RequestTxn:
			if err := p.addWrites(v, r.RequestTxn, nested[0]); err != nil {
				return err
			}
			nested = nested[1:]
		case *pb.RequestOp_RequestPut:
			put := putOp(r.RequestPut)
			if put.Lease != 0 {
				p.leases = append(p.leases, put.Lease)
			}
			if r.RequestPut.IgnoreValue || r.RequestPut.IgnoreLease {
				kv, err := v.get(put.Key)
				if err != nil {
					return err
				}
				if kv == nil {
					return rpctypes.ErrGRPCKeyNotFound
				}
				keepUnset(&put, r.RequestPut, kv)
			}
			p.then = append(p.then, put)
		}
	}
	return nil
}

// firstError returns the error that etcd, which checks one operation after the other, finds first: a
// missing lease may come before err.
func (p *txnPlan) firstError(v *view, err error) error {
	if errors.Is(err, storage.ErrCompacted) && !v.wanted {
		return err
	}
	for _, id := range p.leases {
		if _, missing := v.store.Lease(v.ctx, id); errors.Is(missing, storage.ErrLeaseNotFound) {
			return missing
		}
	}
	return err
}

// keepUnset copies the properties that a put leaves unchanged.
func keepUnset(put *storage.Op, r *pb.PutRequest, kv *storage.KeyValue) {
	if r.IgnoreValue {
		put.Value = kv.Value
	}
	if r.IgnoreLease {
		put.Lease = kv.Lease
	}
}

// commitPlan commits a plan and answers. An error after the commit is final: it is no ErrCompacted then.
func (s *Server) commitPlan(ctx context.Context, p *txnPlan) (*pb.TxnResponse, error) {
	if len(p.then) == 0 {
		e := effects{ctx: ctx, store: s.store, base: p.at, rev: p.at}
		return e.response(p.request, p.branch)
	}
	res, err := s.store.Commit(ctx, storage.Txn{If: p.conds, Then: p.then})
	if err != nil {
		return nil, err
	}
	if !res.Succeeded {
		if p.other == nil {
			return nil, errAgain
		}
		e := effects{ctx: ctx, store: s.store, base: res.Revision, rev: res.Revision}
		out, err := e.response(p.other, branch{})
		if errors.Is(err, storage.ErrCompacted) {
			err = errAgain
		}
		return out, err
	}
	e := effects{ctx: ctx, store: s.store, base: res.Revision, rev: res.Revision}
	if res.Changed {
		e.base--
	}
	for _, c := range p.conds {
		if c.End == "" && c.ModRevision != 0 {
			e.addKnownKey(c.Key)
		}
	}
	out, err := e.response(p.request, p.branch)
	if err != nil {
		return nil, fmt.Errorf("%w: it was written at revision %d, but what it found there cannot be told: %v",
			storage.ErrUnavailable, res.Revision, err)
	}
	return out, nil
}
