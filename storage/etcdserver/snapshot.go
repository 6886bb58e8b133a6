package etcdserver

import (
	"bufio"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/version"

	"fairlead.dev/internal/storage/snapshot"
)

// snapshotChunk is how much of a snapshot one message carries.
const snapshotChunk = 32 << 10

// Snapshot sends the store as a file of etcd's; see package snapshot.
func (s *maintenanceServer) Snapshot(_ *pb.SnapshotRequest, out pb.Maintenance_SnapshotServer) error {
	f, err := snapshot.Take(out.Context(), s.store, "", nil)
	if err != nil {
		return rpcError(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(&snapshotWriter{out: out, left: uint64(f.Size)}, snapshotChunk)
	if _, err := f.WriteTo(w); err != nil {
		return err
	}
	return w.Flush()
}

type snapshotWriter struct {
	out  pb.Maintenance_SnapshotServer
	left uint64
}

func (w *snapshotWriter) Write(b []byte) (int, error) {
	w.left -= uint64(len(b))
	blob := append([]byte(nil), b...) // Send may keep it
	err := w.out.Send(&pb.SnapshotResponse{RemainingBytes: w.left, Blob: blob, Version: version.APIVersion + ".0"})
	return len(b), err
}
