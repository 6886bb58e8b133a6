package trace

import "slices"

// Newest is the newest revision in the Log, or 0.
func (l *Log) Newest() int64 {
	l.lives.Lock()
	defer l.lives.Unlock()
	return l.lives.newest
}

// Tree is the life of a revision and of every event that it caused, in the order of
// revisions: the writes of the reconciles that it queued, the events that those caused, and
// so on. An event with several causes belongs to the first.
func (l *Log) Tree(root int64) []Life {
	if l == nil {
		return nil
	}
	revs := l.descent(root)
	if len(revs) == 0 {
		return nil
	}
	all := l.Lives(Filter{From: root})
	return slices.DeleteFunc(all, func(lf Life) bool { return !revs[lf.Revision] })
}

// descent is the set of revisions of a tree. A cause is older than its effects, so one pass
// in ascending order finds all.
func (l *Log) descent(root int64) map[int64]bool {
	ls := &l.lives
	ls.Lock()
	defer ls.Unlock()
	in := map[int64]bool{}
	for rev := max(root, ls.newest-ls.room()+1); rev <= ls.newest; rev++ {
		lf := ls.find(rev)
		switch {
		case lf == nil:
		case rev == root:
			in[rev] = true
		case len(lf.write.Parent.Causes) > 0 && in[lf.write.Parent.Causes[0]]:
			in[rev] = true
		}
	}
	return in
}
