package etcdserver

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/protobuf/proto"
)

// Checks of a request by itself, in etcd's order.

func checkSize(r proto.Message) error {
	if proto.Size(r) > MaxRequestBytes {
		return rpctypes.ErrGRPCRequestTooLarge
	}
	return nil
}

func checkRange(r *pb.RangeRequest) error {
	if len(r.GetKey()) == 0 {
		return rpctypes.ErrGRPCEmptyKey
	}
	if _, ok := pb.RangeRequest_SortOrder_name[int32(r.SortOrder)]; !ok {
		return rpctypes.ErrGRPCInvalidSortOption
	}
	if _, ok := pb.RangeRequest_SortTarget_name[int32(r.SortTarget)]; !ok {
		return rpctypes.ErrGRPCInvalidSortOption
	}
	return nil
}

func checkPut(r *pb.PutRequest) error {
	switch {
	case len(r.GetKey()) == 0:
		return rpctypes.ErrGRPCEmptyKey
	case r.IgnoreValue && len(r.Value) != 0:
		return rpctypes.ErrGRPCValueProvided
	case r.IgnoreLease && r.Lease != 0:
		return rpctypes.ErrGRPCLeaseProvided
	}
	return nil
}

func checkDelete(r *pb.DeleteRangeRequest) error {
	if len(r.GetKey()) == 0 {
		return rpctypes.ErrGRPCEmptyKey
	}
	return nil
}

// checkTxn checks a transaction that may hold ops operations at a level.
func checkTxn(r *pb.TxnRequest, ops int) error {
	most := max(len(r.GetCompare()), len(r.GetSuccess()), len(r.GetFailure()))
	if most > ops {
		return rpctypes.ErrGRPCTooManyOps
	}
	for _, c := range r.GetCompare() {
		if len(c.GetKey()) == 0 {
			return rpctypes.ErrGRPCEmptyKey
		}
	}
	for _, branch := range [][]*pb.RequestOp{r.GetSuccess(), r.GetFailure()} {
		for _, op := range branch {
			if err := checkOp(op, ops-most); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkOp(op *pb.RequestOp, ops int) error {
	switch r := op.GetRequest().(type) {
	case *pb.RequestOp_RequestRange:
		return checkRange(r.RequestRange)
	case *pb.RequestOp_RequestPut:
		return checkPut(r.RequestPut)
	case *pb.RequestOp_RequestDeleteRange:
		return checkDelete(r.RequestDeleteRange)
	case *pb.RequestOp_RequestTxn:
		return checkTxn(r.RequestTxn, ops)
	}
	return rpctypes.ErrGRPCKeyNotFound
}

// keySet is the set of keys that the operations of a branch write.
type keySet struct {
	puts map[string]struct{}
	dels [][2]string
}

func (k *keySet) deletes(key string) bool {
	for _, d := range k.dels {
		if inRange(key, d[0], d[1]) {
			return true
		}
	}
	return false
}

func (k *keySet) put(key string) error {
	if _, ok := k.puts[key]; ok || k.deletes(key) {
		return rpctypes.ErrGRPCDuplicateKey
	}
	k.puts[key] = struct{}{}
	return nil
}

// checkKeys refuses a branch that writes a key twice, in any combination of the branches of nested
// transactions.
func checkKeys(branch []*pb.RequestOp) (keySet, error) {
	all := keySet{puts: map[string]struct{}{}}
	for _, op := range branch {
		if d := op.GetRequestDeleteRange(); d != nil {
			all.dels = append(all.dels, [2]string{string(d.Key), string(d.RangeEnd)})
		}
	}
	for _, op := range branch {
		t := op.GetRequestTxn()
		if t == nil {
			continue
		}
		then, err := checkKeys(t.Success)
		if err != nil {
			return all, err
		}
		other, err := checkKeys(t.Failure)
		if err != nil {
			return all, err
		}
		for key := range then.puts {
			if err := all.put(key); err != nil {
				return all, err
			}
		}
		for key := range other.puts {
			if _, ok := then.puts[key]; ok {
				continue // only one of the two is executed
			}
			if err := all.put(key); err != nil {
				return all, err
			}
		}
		all.dels = append(append(all.dels, then.dels...), other.dels...)
	}
	for _, op := range branch {
		if p := op.GetRequestPut(); p != nil {
			if err := all.put(string(p.Key)); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}
